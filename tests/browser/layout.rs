//! Layout check: no view scrolls sideways at common window widths.

use crate::appearance::{open_with_scheme, scrolls_sideways};
use crate::axe::VIEWS;
use crate::chromium::Adapter;
use crate::corpus::real_files;
use crate::screenshots::{MIN_COLOURS, Picture};
use crate::segments::generate_file;
use std::path::PathBuf;

/// Window widths in CSS pixels: a narrow window, common laptops and a desktop screen.
const WIDTHS: [u32; 5] = [600, 1280, 1366, 1440, 1920];

/// A generated file, and real ones with long names, many segments and a wrapped ring buffer.
fn files() -> Vec<PathBuf> {
    let names = [
        "train-annotated-100.pickle",
        "train-fp32-1185-segments.pickle",
        "train-ring-buffer-wrapped.pickle",
        "anonymised-annotations-compile-context.pickle",
    ];
    let real = real_files().unwrap_or_default().into_iter().map(|file| file.path);
    let real = real.filter(|path| names.iter().any(|name| path.ends_with(name)));
    std::iter::once(generate_file("layout.pickle", "--devices 2 --steps 2 --layers 4 --leak --pending --oom"))
        .chain(real)
        .collect()
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn views_do_not_scroll_sideways() {
    let mut wrong = Vec::new();
    for file in files() {
        let page = open_with_scheme("light", Adapter::Missing);
        page.drop_files(&[&file]);
        page.wait_for_state("ready");
        page.wait_until("the timeline is drawn", || Picture::capture(&page, "canvas#timeline").colours >= MIN_COLOURS);
        for view in VIEWS {
            // At 600 px the side panel covers the tabs.
            page.resize(1280, 900);
            page.click(view);
            for width in WIDTHS {
                page.resize(width, 900);
                page.wait_until_idle();
                if scrolls_sideways(&page) {
                    wrong.push(format!("{} {view} at {width} px", file.display()));
                }
            }
        }
        assert_eq!(page.errors(), Vec::<String>::new());
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
