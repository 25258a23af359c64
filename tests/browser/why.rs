//! The view "Why": topics and their reports, what a click on evidence does, keys.

use crate::chromium::{Adapter, Chromium};
use crate::corpus::real_files;
use crate::fixtures::file;
use crate::generate::{self, Options};
use crate::page::{Page, SHIFT};
use crate::pictures::keep;
use crate::site::Site;
use std::path::PathBuf;
use std::time::Duration;

/// A generated snapshot that leaks, waits, compiles, and runs out of memory at last.
fn troubled() -> PathBuf {
    let words = "--events 6000 --leak --oom --pending --compile-contexts";
    let (options, _) = Options::parse(words.split_whitespace().map(str::to_owned)).expect("words it knows");
    let (bytes, _) = generate::generate(&options, Vec::new()).expect("a vector takes everything");
    file("troubled.pickle", &bytes)
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn gallery_of_why() {
    let Some(files) = real_files() else { return };
    let Some(training) = files.iter().find(|file| file.path.ends_with("train-annotated-100.pickle")) else { return };
    for (scheme, width, height) in [("light", 1280, 900), ("dark", 1280, 900), ("light", 600, 900)] {
        let page = Page::blank(Chromium::with(Adapter::Software));
        page.prefer_color_scheme(scheme);
        page.resize(width, height);
        for (name, path) in [("real", &training.path), ("made", &troubled())] {
            page.navigate(&Site::shared().page());
            page.drop_files(&[path]);
            page.wait_for_state("ready");
            page.press_held("W", SHIFT);
            if width > 1000 {
                page.evaluate("document.querySelector('#divider').focus()");
                (0..8).for_each(|_| page.press("ArrowUp"));
            }
            for topic in ["report", "oom", "categories", "stages", "layers", "leaks"] {
                page.evaluate(&format!("document.querySelector('[data-topic={topic}]').click()"));
                page.wait_until("its report", || {
                    page.attribute("#why-report", "data-topic").as_deref() == Some(topic)
                        && page.attribute("#why-report", "aria-busy").as_deref() == Some("false")
                });
                if width < 1000 {
                    page.evaluate("document.querySelector('#answer').scrollIntoView()");
                }
                std::thread::sleep(Duration::from_millis(150));
                keep(&page, &format!("why-{name}-{topic}-{scheme}-{width}"));
            }
            if name == "real" {
                page.evaluate("document.querySelector('#rules-open').click()");
                std::thread::sleep(Duration::from_millis(500));
                keep(&page, &format!("rules-{scheme}-{width}"));
            }
        }
        assert_eq!(page.complaints(), Vec::<String>::new());
    }
}
