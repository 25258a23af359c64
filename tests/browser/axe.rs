//! Accessibility checks with axe-core: no violations in any view or dialog, in light and dark, in wide and narrow
//! windows.

use crate::appearance::open_with_scheme;
use crate::chromium::Adapter;
use crate::fixtures::write_file;
use crate::page::Page;
use crate::screenshots::{MIN_COLOURS, Picture};
use crate::segments::generate_file;
use serde_json::{Value, json};

/// Source of axe-core, which `./run` installs. `None`, with a message, if it is missing.
fn axe() -> Option<String> {
    let place = crate::site::tools().join("axe/node_modules/axe-core/axe.min.js");
    let axe = std::fs::read_to_string(place).ok();
    if axe.is_none() {
        println!("SKIPPED: no axe-core: accessibility is not checked");
    }
    axe
}

/// Violations of what the page shows now: rule, element and reason.
fn violations(page: &Page) -> Value {
    page.evaluate(
        "axe.run(document, { resultTypes: ['violations'] }).then(found => found.violations.flatMap(rule =>
            rule.nodes.map(node => [rule.id, node.target.join(' '), node.failureSummary.split('\\n')[1]])))",
    )
}

/// Appends the violations of what the page shows now to `wrong`, prefixed with `what`.
fn collect_violations(page: &Page, wrong: &mut Vec<String>, what: &str) {
    for found in violations(page).as_array().into_iter().flatten() {
        wrong.push(format!("{what}: {found}"));
    }
}

/// Selectors of the tabs that show the views.
pub(crate) const VIEWS: [&str; 9] = [
    "#tab-insights",
    "#tab-tree",
    "#tab-flame",
    "#tab-sources",
    "#tab-table",
    "#tab-histograms",
    "#tab-segments",
    "#tab-events",
    "#side-file",
];
/// Selectors of the buttons that open the dialogs.
const DIALOGS: [&str; 5] = ["#help-open", "#settings-open", "#rules-open", "#export-open", "#palette-open"];

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn views_and_dialogs_have_no_violations() {
    let Some(axe) = axe() else { return };
    let snapshot = generate_file("axe.pickle", "--steps 3 --layers 3 --leak --pending");
    let mut wrong = Vec::new();
    for (scheme, width) in [("light", 1440), ("dark", 1280), ("light", 600)] {
        println!("{scheme}, {width} px");
        let page = open_with_scheme(scheme, Adapter::Missing);
        page.resize(width, 900);
        let of = |what: &str| format!("{scheme}, {width} px, {what}");
        page.evaluate(&axe);
        collect_violations(&page, &mut wrong, &of("start page"));
        page.drop_files(&[&snapshot]);
        page.wait_for_state("ready");
        page.wait_for_frames();
        page.wait_until("blocks are drawn", || Picture::capture(&page, "canvas#timeline").colours >= MIN_COLOURS);
        let (x, y) = page.bounding_box("canvas#timeline").at(0.5, 0.9);
        page.click_at(x, y);
        page.wait_until("a block is selected", || page.attribute("#details", "data-size").is_some());
        collect_violations(&page, &mut wrong, &of("selection"));
        if width == 600 {
            // In a narrow window the selection covers the views.
            page.press("Escape");
        }
        page.click("#scope-change");
        page.click("#tab-tree");
        page.wait_until_settled("the changed rows", || page.text("#tree-rows"));
        collect_violations(&page, &mut wrong, &of("A → B"));
        for view in VIEWS {
            page.click(view);
            page.wait_until_settled("the view", || page.text("#answer"));
            collect_violations(&page, &mut wrong, &of(view));
        }
        if width == 600 {
            page.press("Escape");
        }
        page.click("#tab-insights");
        page.click("[data-topic=settings]");
        page.wait_until("the check against the recording is shown", || {
            page.text("#what-if-proof").contains("Simulator check")
        });
        page.click("#what-if-search");
        page.wait_until("the simulation is finished", || {
            page.text("#what-if-status").is_empty() && page.text("#what-if-answer").contains("expandable_segments:True")
        });
        collect_violations(&page, &mut wrong, &of("what if"));
        page.click("[data-topic=savings]");
        page.evaluate("document.getElementById('plan-add').click()");
        page.evaluate(
            "document.getElementById('plan-preset').selectedIndex = document.getElementById('plan-preset').length - 1",
        );
        page.evaluate("document.getElementById('plan-add').click()");
        page.wait_until("the plan is computed", || page.text("#plan-facts").contains("Planned peak"));
        collect_violations(&page, &mut wrong, &of("what fits"));
        for opener in DIALOGS {
            page.click(opener);
            page.wait_until("a dialog is open", || {
                page.evaluate("!!document.querySelector('dialog[open]')") == json!(true)
            });
            collect_violations(&page, &mut wrong, &of(opener));
            page.press("Escape");
            page.wait_until("the dialog is closed", || {
                page.evaluate("!!document.querySelector('dialog[open]')") == json!(false)
            });
        }
        page.drop_files(&[&write_file("axe-wrong.pickle", b"\x80\x04")]);
        page.wait_until("the toast is shown", || page.is_shown("#toast"));
        // The heading of the view is empty until its answer arrives.
        page.wait_until("the heading is shown", || !page.text("#answer-title").is_empty());
        collect_violations(&page, &mut wrong, &of("toast"));
    }
    assert!(wrong.is_empty(), "{} violations:\n{}", wrong.len(), wrong.join("\n"));
}
