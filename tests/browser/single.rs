//! The single-file page opened from `file://`, without a server.

use crate::chromium::{Adapter, Chromium};
use crate::fixtures::halves;
use crate::opening::shows_halves;
use crate::page::Page;
use crate::pictures::keep_drawn;

/// Opens the single-file page from the disk with WebGPU, which its content security policy must allow.
fn from_file() -> Page {
    let path = crate::site::dist().join("memscape.html");
    let address = format!("file://{}?renderer=webgpu", path.display());
    let page = Page::open(Chromium::with(Adapter::Software), &address);
    page.wait_for_state("empty");
    page
}

/// Requests that leave the page, that is without `blob:` and `data:` URLs.
fn asked(page: &Page) -> Vec<String> {
    page.requests().into_iter().filter(|url| !url.starts_with("blob:") && !url.starts_with("data:")).collect()
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn single_file_page_opens_dropped_file() {
    let page = from_file();
    page.drop_files(&[&halves()]);
    shows_halves(&page);
    page.wait_until("WebGPU draws", || page.attribute("#timeline", "data-renderer").as_deref() == Some("webgpu"));
    assert_eq!(asked(&page).len(), 1, "only the page itself is requested: {:?}", asked(&page));
    assert_eq!(page.complaints(), Vec::<String>::new());
    keep_drawn(&page, "single");
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn single_file_page_contains_example() {
    let page = from_file();
    page.click("#open-example");
    page.wait_for_state("ready");
    assert_eq!(asked(&page).len(), 1, "only the page itself is requested: {:?}", asked(&page));
    assert_eq!(page.complaints(), Vec::<String>::new());
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn saved_report_opens_its_snapshot() {
    let Some(files) = crate::corpus::real_files() else { return };
    for file in files.iter().take(3) {
        let out = crate::fixtures::folder().join("report.html");
        let status = std::process::Command::new(env!("CARGO_BIN_EXE_memscape"))
            .args(["html", &file.path.display().to_string(), "--viewer"])
            .arg(crate::site::dist().join("memscape.html"))
            .arg("-o")
            .arg(&out)
            .status();
        assert!(status.expect("the command runs").success());
        let page = Page::open(Chromium::with(Adapter::Software), &format!("file://{}", out.display()));
        page.wait_for_state("ready");
        let expected = crate::opening::SUMMARY.map(|(_, field)| file.devices[0][field].to_string());
        page.wait_for(&expected, || crate::opening::summary(&page));
        assert_eq!(asked(&page).len(), 1, "only the page itself is requested: {:?}", asked(&page));
        assert_eq!(page.complaints(), Vec::<String>::new());
    }
}
