//! The moment that is asked about, and the frame of the views below the timeline.

use crate::chromium::{Adapter, Chromium};
use crate::corpus::real_files;
use crate::page::Page;
use crate::pictures::keep_drawn;
use crate::site::Site;

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn gallery_of_the_moment() {
    let Some(files) = real_files() else { return };
    let Some(file) = files.iter().find(|file| file.path.ends_with("train-fp32-1185-segments.pickle")) else { return };
    for (scheme, width, height) in [("light", 1280, 900), ("dark", 1280, 900), ("light", 600, 900)] {
        let page = Page::blank(Chromium::with(Adapter::Software));
        page.prefer_color_scheme(scheme);
        page.resize(width, height);
        page.navigate(&Site::shared().page());
        page.wait_for_state("empty");
        page.drop_files(&[&file.path]);
        page.wait_for_state("ready");
        let settle = || std::thread::sleep(std::time::Duration::from_millis(600));
        settle();
        keep_drawn(&page, &format!("moment-{scheme}-{width}"));
        let plot = page.corners("canvas#timeline");
        let axis = plot.top + plot.height + 10.0;
        page.drag((plot.left + plot.width * 0.3, axis), (plot.left + plot.width * 0.6, axis), 0);
        page.move_to(2.0, 2.0);
        settle();
        keep_drawn(&page, &format!("moment-range-{scheme}-{width}"));
        let wide = page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth");
        assert_eq!(wide, false, "{width} scrolls sideways");
        assert_eq!(page.complaints(), Vec::<String>::new());
    }
}
