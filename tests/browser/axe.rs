//! Accessibility, as axe-core checks it: no violation in any view or dialog, in light and dark, in a wide and in a narrow window.

use crate::chromium::Adapter;
use crate::fixtures::file;
use crate::looks::page_in;
use crate::memory::generated;
use crate::page::Page;
use crate::pictures::{LEAST_COLOURS, Picture};
use serde_json::{Value, json};

/// The script of axe-core, which `./run` installs. `None`, with a message, if it is missing.
fn axe() -> Option<String> {
    let place = crate::site::tools().join("axe/node_modules/axe-core/axe.min.js");
    let axe = std::fs::read_to_string(place).ok();
    if axe.is_none() {
        println!("SKIPPED: no axe-core: accessibility is not checked");
    }
    axe
}

/// What axe finds wrong with what is seen: rule, element, why.
fn violations(page: &Page) -> Value {
    page.evaluate(
        "axe.run(document, { resultTypes: ['violations'] }).then(found => found.violations.flatMap(rule =>
            rule.nodes.map(node => [rule.id, node.target.join(' '), node.failureSummary.split('\\n')[1]])))",
    )
}

/// Checks what is seen.
fn check(page: &Page, wrong: &mut Vec<String>, what: &str) {
    for found in violations(page).as_array().into_iter().flatten() {
        wrong.push(format!("{what}: {found}"));
    }
}

/// Views by what is clicked to see them.
pub(crate) const VIEWS: [&str; 9] = [
    "#tab-why",
    "#tab-tree",
    "#tab-flame",
    "#tab-sources",
    "#tab-table",
    "#tab-histograms",
    "#tab-state",
    "#tab-events",
    "#side-file",
];
/// Dialogs by what opens them.
const DIALOGS: [&str; 5] = ["#help-open", "#settings-open", "#rules-open", "#export-open", "#palette-open"];

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn no_view_has_a_violation() {
    let Some(axe) = axe() else { return };
    let snapshot = generated("axe.pickle", "--steps 3 --layers 3 --leak --pending");
    let mut wrong = Vec::new();
    for (scheme, width) in [("light", 1440), ("dark", 1280), ("light", 600)] {
        println!("{scheme}, {width} px");
        let page = page_in(scheme, Adapter::Missing);
        page.resize(width, 900);
        let of = |what: &str| format!("{scheme}, {width} px, {what}");
        page.evaluate(&axe);
        check(&page, &mut wrong, &of("start page"));
        page.drop_files(&[&snapshot]);
        page.wait_for_state("ready");
        page.wait_for_frames();
        page.wait_until("it has blocks", || Picture::of(&page, "canvas#timeline").colours >= LEAST_COLOURS);
        let (x, y) = page.corners("canvas#timeline").at(0.5, 0.9);
        page.click_at(x, y);
        page.wait_until("a block is selected", || page.attribute("#details", "data-size").is_some());
        check(&page, &mut wrong, &of("selection"));
        if width == 600 {
            // There it lies over the views.
            page.press("Escape");
        }
        page.click("#scope-change");
        page.click("#tab-tree");
        page.settled("what changed is there", || page.text("#tree-rows"));
        check(&page, &mut wrong, &of("A → B"));
        for view in VIEWS {
            page.click(view);
            page.settled("the view is there", || page.text("#answer"));
            check(&page, &mut wrong, &of(view));
        }
        if width == 600 {
            page.press("Escape");
        }
        page.click("#tab-why");
        page.click("[data-topic=settings]");
        page.wait_until("the proof", || page.text("#what-if-proof").contains("reproduces"));
        page.click("#what-if-search");
        page.wait_until("it was simulated", || {
            page.text("#what-if-status").is_empty() && page.text("#what-if-answer").contains("expandable_segments:True")
        });
        check(&page, &mut wrong, &of("what if"));
        page.click("[data-topic=savings]");
        page.evaluate("document.getElementById('plan-add').click()");
        page.evaluate(
            "document.getElementById('plan-preset').selectedIndex = document.getElementById('plan-preset').length - 1",
        );
        page.evaluate("document.getElementById('plan-add').click()");
        page.wait_until("it was planned", || page.text("#plan-facts").contains("Planned peak"));
        check(&page, &mut wrong, &of("what fits"));
        for opener in DIALOGS {
            page.click(opener);
            page.wait_until("a dialog is open", || {
                page.evaluate("!!document.querySelector('dialog[open]')") == json!(true)
            });
            check(&page, &mut wrong, &of(opener));
            page.press("Escape");
            page.wait_until("none is", || page.evaluate("!!document.querySelector('dialog[open]')") == json!(false));
        }
        page.drop_files(&[&file("axe-wrong.pickle", b"\x80\x04")]);
        page.wait_until("it is said", || page.shows("#toast"));
        // The view behind it has a heading again once its answer is there.
        page.wait_until("its heading is there", || !page.text("#answer-title").is_empty());
        check(&page, &mut wrong, &of("toast"));
    }
    assert!(wrong.is_empty(), "{} violations:\n{}", wrong.len(), wrong.join("\n"));
}
