//! The single-file page opened from `file://`, without a server.

use crate::chromium::{Adapter, Chromium};
use crate::fixtures::halves;
use crate::opening::wait_for_halves;
use crate::page::Page;
use crate::screenshots::save_drawn_screenshot;

/// Opens the single-file page from the disk with WebGPU, which its content security policy must allow.
fn open_from_disk() -> Page {
    let path = crate::site::dist().join("memscape.html");
    let address = format!("file://{}?renderer=webgpu", path.display());
    let page = Page::open(Chromium::shared(Adapter::Software), &address);
    page.wait_for_state("empty");
    page
}

/// Requests that leave the page, that is without `blob:` and `data:` URLs.
fn external_requests(page: &Page) -> Vec<String> {
    page.requests().into_iter().filter(|url| !url.starts_with("blob:") && !url.starts_with("data:")).collect()
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn single_file_page_opens_dropped_file() {
    let page = open_from_disk();
    page.drop_files(&[&halves()]);
    wait_for_halves(&page);
    page.wait_until("WebGPU draws", || page.attribute("#timeline", "data-renderer").as_deref() == Some("webgpu"));
    assert_eq!(external_requests(&page).len(), 1, "only the page itself is requested: {:?}", external_requests(&page));
    assert_eq!(page.errors(), Vec::<String>::new());
    save_drawn_screenshot(&page, "single");
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn single_file_page_contains_example() {
    let page = open_from_disk();
    page.click("#open-example");
    page.wait_for_state("ready");
    assert_eq!(external_requests(&page).len(), 1, "only the page itself is requested: {:?}", external_requests(&page));
    assert_eq!(page.errors(), Vec::<String>::new());
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn snapshot_of_saved_report_opens() {
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
        let page = Page::open(Chromium::shared(Adapter::Missing), &format!("file://{}", out.display()));
        page.wait_for_state("ready");
        let expected = crate::opening::SUMMARY_KEYS.map(|(_, field)| file.devices[0][field].to_string());
        page.wait_for(&expected, || crate::opening::summary_values(&page));
        assert_eq!(
            external_requests(&page).len(),
            1,
            "only the page itself is requested: {:?}",
            external_requests(&page)
        );
        assert_eq!(page.errors(), Vec::<String>::new());
    }
}
