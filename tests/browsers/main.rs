//! The page in Firefox and in WebKitGTK: that it starts, reads, draws, saves, links and copies there as it does in Chromium, which
//! tests/browser looks at more closely.
//!
//! The tests need `dist/`, Firefox, and WebKitGTK's driver with Xvfb: `./run test` builds, installs and runs them. Where a browser is
//! missing, they say so and pass. No driver crate: both speak JSON over a socket.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "the harness around the tests fails as they do: by panicking with what it saw"
)]

#[path = "../browser/asking.rs"]
mod asking;
#[path = "../browser/corpus.rs"]
mod corpus;
mod driver;
mod files;
mod firefox;
#[path = "../browser/fixtures.rs"]
#[allow(dead_code, reason = "the tests in Chromium use the rest")]
mod fixtures;
#[path = "../generate/mod.rs"]
#[allow(dead_code, reason = "its own tests use the rest")]
mod generate;
mod kept;
mod mended;
mod page;
#[path = "../browser/site.rs"]
#[allow(dead_code, reason = "the tests in Chromium use the rest")]
mod site;
mod views;
mod webkit;
#[path = "../support/zip.rs"]
#[allow(dead_code, reason = "each test file uses its part")]
mod zip;

use driver::Kind;

/// The same tests in each browser. Those of one browser run one after another, in one session.
macro_rules! in_each_browser {
    ($($module:ident::$test:ident),* $(,)?) => {
        mod in_firefox {
            $(#[test]
            #[ignore = "needs dist/ and Firefox: ./run test"]
            fn $test() {
                crate::page::with(crate::Kind::Firefox, crate::$module::$test);
            })*
        }

        mod in_webkit {
            $(#[test]
            #[ignore = "needs dist/ and WebKitGTK: ./run test"]
            fn $test() {
                crate::page::with(crate::Kind::WebKit, crate::$module::$test);
            })*
        }
    };
}

in_each_browser![
    files::every_real_file_shows_the_reference_numbers,
    files::a_saved_page_opens_from_the_disk,
    files::the_page_on_the_disk_reads_archives,
    files::the_page_on_the_disk_reads_files_and_saves_them,
    kept::a_large_file_opens_again,
    mended::dragging_over_the_page_keeps_its_sign,
    mended::a_drop_without_files_is_answered,
    mended::no_key_opens_the_quick_find,
    mended::the_program_is_fetched_once,
    mended::the_wheel_is_read_in_pixels,
    views::it_starts_and_the_cpu_draws,
    views::a_picture_is_drawn_and_a_click_selects,
    views::every_tab_opens_and_fills,
    views::a_link_leads_back,
    views::all_events_are_copied,
];
