//! Screenshots of timelines in `target/screenshots/gallery-*.png`: real training at several zooms, orders and axes, an
//! OOM, two devices and a worst case, in light, dark and narrow windows.

use crate::chromium::{Adapter, Chromium};
use crate::corpus::real_files;
use crate::fixtures;
use crate::generate::{Options, generate};
use crate::page::Page;
use crate::screenshots::save_drawn_screenshot;
use crate::site::Site;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Opens a file in a new page and keeps a screenshot after each step, which is a list of keys and a name.
fn take_screenshots(file: &Path, scheme: &str, width: u32, steps: &[(&[&str], &str)]) {
    let page = Page::blank(Chromium::shared(Adapter::Missing));
    page.prefer_color_scheme(scheme);
    page.resize(width, 800);
    page.navigate(&Site::shared().page());
    page.wait_for_state("empty");
    page.drop_files(&[file]);
    page.wait_for_state("ready");
    for (keys, name) in steps {
        keys.iter().for_each(|key| page.press(key));
        page.wait_until_idle();
        save_drawn_screenshot(&page, &format!("gallery-{name}"));
        let wide = page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth");
        assert_eq!(wide, false, "{name} scrolls sideways");
    }
    assert_eq!(page.errors(), Vec::<String>::new());
}

fn generate_file(name: &str, words: &str) -> PathBuf {
    let (options, _) = Options::parse(words.split_whitespace().map(str::to_owned)).expect("known options");
    let (bytes, _) = generate(&options, Vec::new()).expect("writing to a Vec succeeds");
    fixtures::write_file(name, &bytes)
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn screenshots_of_real_training_are_saved() {
    let Some(files) = real_files() else { return };
    let file = |name: &str| files.iter().find(|file| file.path.ends_with(name)).map(|file| file.path.clone());
    let zoomed = ["p", ".", ".", ".", ".", ".", ".", ".", ".", ".", ".", ".", ".", ".", ".", ".", ".", ".", "."];
    if let Some(training) = file("train-fp32-1185-segments.pickle") {
        let steps: &[(&[&str], &str)] =
            &[(&[], "everything"), (&["p"], "one-step"), (&zoomed, "single-events"), (&["0", "g", "h"], "by-site")];
        take_screenshots(&training, "light", 1280, steps);
        take_screenshots(&training, "dark", 1440, &[(&[], "everything-dark"), (&["p"], "one-step-dark")]);
        take_screenshots(&training, "light", 600, &[(&[], "everything-600")]);
    }
    if let Some(annotated) = file("train-annotated-mixed-precision.pickle") {
        take_screenshots(&annotated, "light", 1280, &[(&[], "annotated"), (&["t"], "annotated-wall-clock")]);
        take_screenshots(&annotated, "dark", 600, &[(&["t"], "annotated-600-dark")]);
    }
    if let Some(wrapped) = file("train-ring-buffer-wrapped.pickle") {
        take_screenshots(&wrapped, "dark", 1280, &[(&[], "wrapped-dark"), (&["h", "h"], "wrapped-by-lifetime-dark")]);
    }
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn screenshots_of_generated_training_runs_are_saved() {
    let two = generate_file("two-devices.pickle", "--devices 2 --steps 2 --layers 8 --pending --snapshots");
    take_screenshots(&two, "light", 1280, &[(&[], "two-devices"), (&["p"], "two-devices-peak")]);
    take_screenshots(&two, "dark", 600, &[(&[], "two-devices-600-dark")]);
    let failed = generate_file("out-of-memory.pickle", "--example --layers 6");
    take_screenshots(&failed, "light", 1280, &[(&[], "out-of-memory")]);
    take_screenshots(&failed, "dark", 1280, &[(&["t"], "out-of-memory-wall-clock-dark")]);
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn screenshots_of_worst_case_are_saved() {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/tools/worst_case.py");
    let file = fixtures::write_file("worst-case.pickle", b"");
    let made = Command::new("python3").arg(&script).arg("44000").arg(&file).status();
    if !made.is_ok_and(|status| status.success()) {
        eprintln!("SKIPPED: the worst case can't be made here (python3 and ../shared/tools/worst_case.py)");
        return;
    }
    take_screenshots(
        &file,
        "light",
        1280,
        &[(&[], "worst-case"), (&["p", ".", ".", ".", ".", ".", "."], "worst-case-close")],
    );
}
