//! The call tree in the page: its numbers, its keys, what it is linked with, and how it scrolls.

use crate::chromium::{Adapter, Chromium};
use crate::corpus::real_files;
use crate::fixtures;
use crate::fixtures::{LOWER, UPPER, halves};
use crate::generate::{Options, generate};
use crate::interactions::{at, drawn};
use crate::opening::empty_page;
use crate::page::{CTRL, Page, SHIFT};
use crate::pictures::keep;
use crate::site::Site;
use std::path::{Path, PathBuf};

const ACTIVE: &str = "#tree-space .row.active";

fn generated(name: &str, words: &str) -> PathBuf {
    let (options, _) = Options::parse(words.split_whitespace().map(str::to_owned)).expect("words it knows");
    let (bytes, _) = generate(&options, Vec::new()).expect("a vector takes everything");
    fixtures::file(name, &bytes)
}

fn real(name: &str) -> Option<PathBuf> {
    real_files()?.into_iter().map(|file| file.path).find(|path| path.ends_with(name))
}

/// A page with a file whose tree is seen.
fn opened(file: &Path) -> Page {
    let page = empty_page();
    page.drop_files(&[file]);
    page.wait_for_state("ready");
    page.wait_until("the tree has rows", || page.attribute("#tree-space .row", "data-bytes").is_some());
    page
}

/// A number of the active row, once the worker has nothing more to say.
fn active(page: &Page, attribute: &str) -> Option<String> {
    page.attribute(ACTIVE, attribute)
}

fn name(page: &Page) -> String {
    page.text(&format!("{ACTIVE} .name"))
}

/// Waits until the active row is called so.
#[track_caller]
fn is_on(page: &Page, wanted: &str) {
    page.wait_for(&wanted.to_owned(), || name(page));
}

fn row_count(page: &Page) -> u64 {
    let rows = page.attribute("#tree-rows", "aria-rowcount").and_then(|rows| rows.parse::<u64>().ok());
    rows.unwrap_or(0).saturating_sub(1)
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn gallery_of_trees() {
    let show = |file: &Path, scheme: &str, width: u32, height: u32, steps: &[(&[(&str, u32)], &str)]| {
        let page = Page::blank(Chromium::with(Adapter::Software));
        page.prefer_color_scheme(scheme);
        page.resize(width, height);
        page.navigate(&Site::shared().page());
        page.wait_for_state("empty");
        page.drop_files(&[file]);
        page.wait_for_state("ready");
        for (keys, name) in steps {
            for (key, held) in *keys {
                page.press_held(key, *held);
                std::thread::sleep(std::time::Duration::from_millis(150));
            }
            std::thread::sleep(std::time::Duration::from_millis(600));
            keep(&page, &format!("gallery-tree-{name}"));
            let wide = page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth");
            assert_eq!(wide, false, "{name} scrolls sideways");
        }
        assert_eq!(page.complaints(), Vec::<String>::new());
    };
    let Some(training) = real("train-fp32-1185-segments.pickle") else { return };
    let down = ("ArrowDown", 0);
    let steps: &[(&[(&str, u32)], &str)] = &[
        (&[("j", 0)], "first"),
        (&[down, down, down, ("e", 0), down, down, down, ("Enter", 0)], "opened"),
        (&[("f", 0)], "focused"),
        (&[("Backspace", 0), ("Escape", 0), ("r", 0), ("h", 0), down], "inverted"),
        (&[("?", 0)], "help"),
        (&[("?", 0), (",", CTRL)], "settings"),
    ];
    show(&training, "light", 1280, 900, steps);
    show(&training, "dark", 1280, 900, &steps[..2]);
    show(&training, "light", 600, 900, &steps[..2]);
    if let Some(deep) = real("deep-stacks-no-time.pickle") {
        show(&deep, "light", 1280, 900, &[(&[("j", 0), ("e", SHIFT), ("PageDown", 0)], "deep")]);
    }
}
