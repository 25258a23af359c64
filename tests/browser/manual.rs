//! The manual: the help dialog links to it, and its pages show without the page's program.

use crate::chromium::{Adapter, Chromium};
use crate::page::Page;
use crate::site::Site;

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn help_links_to_manual_whose_pages_have_the_style_of_the_page() {
    let address = Site::shared().page();
    let page = Page::open(Chromium::shared(Adapter::Missing), &address);
    page.wait_for_state("empty");
    let is_manual = |url: &String| url.contains("/docs/");
    assert!(!page.requests().iter().any(is_manual), "the manual is only fetched when it is opened");
    page.press("?");
    page.wait_until("the link is shown", || page.is_shown("#help .manual"));
    let link = page.attribute("#help .manual", "href").expect("a link");
    page.navigate(&format!("{address}{}", link.trim_start_matches("./")));
    assert_eq!(page.text("h1"), "memscape manual");
    assert_eq!(page.evaluate("document.styleSheets.length"), 2);
    page.click("a[href='insight-topics.html']");
    page.wait_for(&"Insights".to_owned(), || page.text("h1"));
    // The text may be there before the style sheets are.
    page.wait_until("the page is loaded", || page.evaluate("document.readyState") == "complete");
    let background = page.evaluate("getComputedStyle(document.body).backgroundColor");
    assert_eq!(background, "rgb(246, 247, 249)", "the colour of the page in light mode");
    assert!(page.requests().iter().any(is_manual));
    assert_eq!(page.errors(), Vec::<String>::new());
}
