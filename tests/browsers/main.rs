//! Tests of the page in Firefox and WebKitGTK: it starts, opens files, draws, saves, links and copies as in Chromium,
//! which `tests/browser` tests in detail.
//!
//! The tests need `dist/`, Firefox, and WebKitGTK's driver with Xvfb: `./run test` builds, installs and runs them. If a
//! browser is missing, its tests print a message and pass. No driver crate is needed, since both protocols are JSON
//! over a socket.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "the test harness fails like the tests: with a panic that shows what it found"
)]

mod cached_files;
#[path = "../browser/corpus.rs"]
mod corpus;
mod driver;
#[path = "../browser/expressions.rs"]
mod expressions;
mod files;
mod firefox;
#[path = "../browser/fixtures.rs"]
#[allow(dead_code, reason = "the tests in Chromium use the rest")]
mod fixtures;
#[path = "../generate/mod.rs"]
#[allow(dead_code, reason = "the tests of the generator use the rest")]
mod generate;
mod page;
mod regressions;
#[path = "../browser/site.rs"]
#[allow(dead_code, reason = "the tests in Chromium use the rest")]
mod site;
mod views;
mod webkit;
#[path = "../support/zip.rs"]
#[allow(dead_code, reason = "each test file uses its part")]
mod zip;

use driver::Browser;

/// Defines the same tests for each browser. Tests of one browser run in turn, in one session.
macro_rules! in_each_browser {
    ($($module:ident::$test:ident),* $(,)?) => {
        mod in_firefox {
            $(#[test]
            #[ignore = "needs dist/ and Firefox: ./run test"]
            fn $test() {
                crate::page::run_in(crate::Browser::Firefox, crate::$module::$test);
            })*
        }

        mod in_webkit {
            $(#[test]
            #[ignore = "needs dist/ and WebKitGTK: ./run test"]
            fn $test() {
                crate::page::run_in(crate::Browser::WebKit, crate::$module::$test);
            })*
        }
    };
}

in_each_browser![
    files::real_files_show_expected_summaries,
    files::saved_page_opens_from_disk,
    files::page_from_disk_opens_archives,
    files::page_from_disk_opens_and_saves_files,
    cached_files::large_file_opens_again_with_or_without_cache,
    regressions::drop_overlay_stays_while_dragging,
    regressions::drop_without_files_shows_hint,
    regressions::page_keys_do_not_open_quick_find,
    regressions::wasm_is_fetched_once,
    regressions::wheel_deltas_are_read_in_pixels,
    views::page_starts_with_cpu_renderer,
    views::timeline_is_drawn_and_click_selects_block,
    views::every_tab_opens_and_fills,
    views::link_restores_view,
    views::copy_contains_all_events,
];
