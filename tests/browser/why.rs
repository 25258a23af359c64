//! The view "Why": topics and their reports, what a click on evidence does, keys.

use crate::chromium::{Adapter, Chromium};
use crate::fixtures::halves;
use crate::page::{Page, SHIFT};
use crate::pictures::keep;
use crate::site::Site;

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn gallery_of_why() {
    for (scheme, width, height) in [("light", 1280, 900), ("dark", 1280, 900), ("light", 600, 900)] {
        let page = Page::blank(Chromium::with(Adapter::Software));
        page.prefer_color_scheme(scheme);
        page.resize(width, height);
        page.navigate(&Site::shared().page());
        page.drop_files(&[&halves()]);
        page.wait_for_state("ready");
        page.press_held("W", SHIFT);
        page.wait_until("its report", || page.text("#why-statements").len() > 10);
        page.press("Tab");
        page.press("ArrowDown");
        page.press("ArrowDown");
        page.press("ArrowDown");
        page.press(" ");
        page.press("Enter");
        page.evaluate("document.querySelector('#why').scrollIntoView()");
        std::thread::sleep(std::time::Duration::from_millis(400));
        keep(&page, &format!("why-sample-{scheme}-{width}"));
        assert_eq!(page.complaints(), Vec::<String>::new());
    }
}
