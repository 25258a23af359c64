//! The page in one file, from `file://`: no server at all.

use crate::chromium::{Adapter, Chromium};
use crate::fixtures::halves;
use crate::opening::shows_halves;
use crate::page::Page;
use crate::pictures::keep_drawn;

/// The page in one file, opened as a person opens a file; it asks for WebGPU, which its policy must not forbid.
fn from_file() -> Page {
    let path = crate::site::dist().join("memscape.html");
    let address = format!("file://{}?renderer=webgpu", path.display());
    let page = Page::open(Chromium::with(Adapter::Software), &address);
    page.wait_for_state("empty");
    page
}

/// Requests that leave the page: a part of itself (blob:, data:) does not.
fn asked(page: &Page) -> Vec<String> {
    page.requests().into_iter().filter(|url| !url.starts_with("blob:") && !url.starts_with("data:")).collect()
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn one_file_from_the_disk_opens_what_is_dropped() {
    let page = from_file();
    page.drop_files(&[&halves()]);
    shows_halves(&page);
    page.wait_until("the renderer", || page.attribute("#timeline", "data-renderer").as_deref() == Some("webgpu"));
    assert_eq!(asked(&page).len(), 1, "itself alone: {:?}", asked(&page));
    assert_eq!(page.complaints(), Vec::<String>::new());
    keep_drawn(&page, "single");
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn its_example_is_in_it() {
    let page = from_file();
    page.click("#open-example");
    page.wait_for_state("ready");
    assert_eq!(asked(&page).len(), 1, "itself alone: {:?}", asked(&page));
    assert_eq!(page.complaints(), Vec::<String>::new());
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn a_saved_report_opens_with_its_snapshot() {
    let Some(files) = crate::corpus::real_files() else { return };
    for file in files.iter().take(3) {
        let out = crate::fixtures::folder().join("report.html");
        let status = std::process::Command::new(env!("CARGO_BIN_EXE_memscape"))
            .args(["html", &file.path.display().to_string(), "--viewer"])
            .arg(crate::site::dist().join("memscape.html"))
            .arg("-o")
            .arg(&out)
            .status();
        assert!(status.expect("it runs").success());
        let page = Page::open(Chromium::with(Adapter::Software), &format!("file://{}", out.display()));
        page.wait_for_state("ready");
        let expected = crate::opening::SUMMARY.map(|(_, field)| file.devices[0][field].to_string());
        page.wait_for(&expected, || crate::opening::summary(&page));
        assert_eq!(asked(&page).len(), 1, "itself alone: {:?}", asked(&page));
        assert_eq!(page.complaints(), Vec::<String>::new());
    }
}
