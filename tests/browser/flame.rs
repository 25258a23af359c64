//! The flame graph in the page: boxes under the pointer, selected and zoomed by mouse and by keys, exact to the byte.

use crate::chromium::{Adapter, Chromium};
use crate::corpus::real_files;
use crate::page::Page;
use crate::pictures::keep_drawn;
use crate::site::Site;
use std::path::Path;

/// A page with the file open and its flame graph drawn, which has the focus.
fn flame_of(file: &Path, scheme: &str, size: (u32, u32), script: &str) -> Page {
    let page = Page::blank(Chromium::with(Adapter::Software));
    page.run_before_load(script);
    page.prefer_color_scheme(scheme);
    page.resize(size.0, size.1);
    page.navigate(&Site::shared().page());
    page.wait_for_state("empty");
    page.drop_files(&[file]);
    page.wait_for_state("ready");
    page.click("#tab-flame");
    drawn(&page);
    page
}

/// Waits until boxes are drawn.
fn drawn(page: &Page) {
    page.wait_until("the flame graph is drawn", || page.attribute("#flame-canvas", "data-boxes").is_some());
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn gallery_of_the_flame_graph() {
    let Some(files) = real_files() else { return };
    for (name, scheme, width) in [
        ("train-fp32-1185-segments.pickle", "light", 1280),
        ("train-fp32-1185-segments.pickle", "dark", 1280),
        ("train-ring-buffer-wrapped.pickle", "light", 1280),
        ("train-ring-buffer-wrapped.pickle", "dark", 600),
    ] {
        let Some(file) = files.iter().find(|file| file.path.ends_with(name)) else { continue };
        let page = flame_of(&file.path, scheme, (width, 900), "");
        std::thread::sleep(std::time::Duration::from_millis(700));
        keep_drawn(&page, &format!("flame-{name}-{scheme}-{width}"));
        let (x, y) = page.corners("#flame-canvas").at(0.3, 0.5);
        page.click_at(x, y);
        page.move_to(x + 60.0, y + 22.0);
        std::thread::sleep(std::time::Duration::from_millis(500));
        keep_drawn(&page, &format!("flame-{name}-{scheme}-{width}-hover"));
        page.evaluate("document.getElementById('flame-canvas').focus()");
        page.press("Enter");
        page.press("f");
        page.move_to(3.0, 3.0);
        std::thread::sleep(std::time::Duration::from_millis(700));
        keep_drawn(&page, &format!("flame-{name}-{scheme}-{width}-zoom"));
        let wide = page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth");
        assert_eq!(wide, false, "{name} scrolls sideways");
        assert_eq!(page.complaints(), Vec::<String>::new());
    }
}
