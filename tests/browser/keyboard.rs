//! Keyboard navigation: Tab reaches every view, each stop is visible and has a focus mark, and dialogs restore the
//! focus.

use crate::fixtures::halves;
use crate::opening::{open_empty_page, wait_for_halves};
use crate::page::Page;
use crate::screenshots::{save_screenshot, settled_timeline};
use crate::segments::generate_file;

/// Function that checks the focused element: `[is in the view, is outside the views, fault or ""]`.
const CHECK_FOCUS: &str = "(view => { const it = document.activeElement, style = getComputedStyle(it), box = it.getBoundingClientRect(); \
    const name = it.id || it.textContent.trim().slice(0, 30); \
    const on = document.elementFromPoint(box.left + box.width / 2, box.top + box.height / 2); \
    const marked = style.outlineStyle !== 'none' || getComputedStyle(it.firstElementChild ?? it).boxShadow !== 'none'; \
    const seen = on && (it.contains(on) || on.contains(it)); \
    return [!!it.closest('#' + view), !it.closest('#answer'), marked && seen ? '' : name + (seen ? ' is not marked' : ' is not seen')]; })";

/// Presses Tab from the tab of a view until the focus leaves the views, and returns the faults of all stops.
fn focus_faults(page: &Page, view: &str) -> Vec<String> {
    page.click(&format!("#tab-{view}"));
    page.evaluate(&format!("document.querySelector('#tab-{view}').focus()"));
    let (mut faults, mut inside) = (Vec::new(), 0);
    for _ in 0..40 {
        page.press("Tab");
        let stop = page.evaluate(&format!("{CHECK_FOCUS}('{view}')"));
        if stop[1] == true {
            break;
        }
        inside += u32::from(stop[0] == true);
        faults.extend(stop[2].as_str().filter(|fault| !fault.is_empty()).map(str::to_owned));
    }
    if inside == 0 {
        faults.push(format!("nothing in {view} can be reached"));
    }
    faults
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn tab_key_reaches_every_view() {
    let page = open_empty_page();
    page.drop_files(&[&halves()]);
    wait_for_halves(&page);
    for view in ["insights", "tree", "flame", "table", "histograms", "sources", "segments", "events"] {
        page.click(&format!("#tab-{view}"));
        // The view's content arrives later.
        page.wait_for(&Vec::new(), || focus_faults(&page, view));
    }
}

/// The focused figure of the header: its position, and whether all of it is visible.
const FOCUSED_FIGURE: &str = "(() => { const it = document.activeElement, box = it.getBoundingClientRect(); \
    const corners = [[box.left + 2, box.top + 2], [box.right - 2, box.bottom - 2]]; \
    return [it.dataset.place ?? '', corners.every(([x, y]) => it.contains(document.elementFromPoint(x, y)))]; })()";

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn focused_figures_of_header_are_visible() {
    let page = open_empty_page();
    page.drop_files(&[&generate_file(
        "a-long-name-that-takes-much-room-in-the-header.pickle",
        "--steps 2 --layers 2 --oom",
    )]);
    page.wait_for_state("ready");
    let hidden = "[...document.querySelectorAll('#headlines button')].filter(it => \
                  it.getBoundingClientRect().top >= document.querySelector('#bar').getBoundingClientRect().bottom - 1).length";
    let mut most_hidden = 0;
    for width in [560, 990, 1100, 1280] {
        page.resize(width, 800);
        page.wait_until_idle();
        page.evaluate("document.activeElement.blur()");
        most_hidden = most_hidden.max(page.evaluate(hidden).as_u64().expect("a number"));
        let height = page.bounding_box("#bar").height;
        page.evaluate("document.querySelector('#home').focus()");
        let mut seen = Vec::new();
        while seen.len() < 4 {
            page.press("Tab");
            let stop = page.evaluate(FOCUSED_FIGURE);
            if stop[0] != "" {
                assert_eq!(stop[1], true, "{} at {width} px", stop[0]);
                seen.push(stop[0].clone());
            }
        }
        assert_eq!(seen, ["oom", "peak", "reserved-peak", "end"]);
        assert_eq!(page.bounding_box("#bar").height, height, "nothing moves");
        save_screenshot(&page, &format!("header-focus-{width}"));
    }
    assert!(most_hidden > 0, "a figure has no room at some width");
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn dialogs_trap_and_restore_focus() {
    let page = open_empty_page();
    page.drop_files(&[&halves()]);
    wait_for_halves(&page);
    // The export needs a drawn timeline.
    settled_timeline(&page);
    let focus = || page.evaluate("document.activeElement.id");
    let is_open = |dialog: &str| page.evaluate(&format!("document.querySelector('#{dialog}').open"));
    for (menu, opener, dialog) in [
        ("more", "settings-open", "settings"),
        ("more", "help-open", "help"),
        ("share", "export-open", "export"),
        ("more", "rules-open", "rules"),
    ] {
        page.evaluate(&format!("document.querySelector('#{menu}').focus()"));
        page.press_enter();
        page.wait_until("the menu is open", || page.bounding_box(&format!("#{opener}")).height > 0.0);
        page.evaluate(&format!("document.querySelector('#{opener}').focus()"));
        page.press_enter();
        page.wait_for(&true.into(), || is_open(dialog));
        for _ in 0..12 {
            page.press("Tab");
            // Between the last and the first stop the focus is in the browser's own controls.
            let kept =
                format!("document.activeElement === document.body || !!document.activeElement.closest('#{dialog}')");
            assert_eq!(page.evaluate(&kept), true, "{dialog}: {}", focus());
        }
        page.press_escape_in(&format!("#{dialog}"));
        page.wait_for(&false.into(), || is_open(dialog));
        page.wait_for(&menu.into(), focus);
    }
}
