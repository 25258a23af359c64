//! Planner below the savings, and the peak without the selection: numbers compared with the engine, and a curve in the
//! plot.

use crate::opened::open;
use crate::opening::open_empty_page;
use crate::page::{Page, SHIFT};
use crate::screenshots::{Picture, settled_picture};
use memscape::engine::{Answer, Ask, Question, Reply, Request};
use memscape::protocol::{Factor, PlanGroup, PlanPage, PlanQuestion};
use memscape::ui::features::plan::words::{PlanBasis, facts};
use memscape::units::{Bytes, group_digits};
use std::path::{Path, PathBuf};

/// Path of the training sample that ships with the page.
fn sample_path() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("www/training.pickle.gz")
}

/// Answer of an engine without a page.
fn engine_plan(question: PlanQuestion) -> PlanPage {
    let mut opened = open(&std::fs::read(sample_path()).expect("the sample exists")).expect("the sample is valid");
    let (device, what) = (opened.summary.devices[0].device, Question::Plan(Box::new(question)));
    match opened.reply(Request::Ask(Ask { serial: 1, device, question: what })) {
        Reply::Answer { answer: Answer::Plan(page), .. } => *page,
        other => panic!("expected a plan, got {other:?}"),
    }
}

fn factor(text: &str) -> Factor {
    Factor::parse(text).expect("a valid factor")
}

/// Labels and values of the planner, one line each, without the simulator's, which arrive later.
fn shown_facts(page: &Page) -> Vec<String> {
    let lines = page.evaluate(
        "[...document.querySelectorAll('#plan-facts dt')].map(label => `${label.textContent}: ${label.nextElementSibling.textContent}`)",
    );
    let lines: Vec<String> = serde_json::from_value(lines).expect("the lines are strings");
    lines.into_iter().filter(|line| !line.starts_with("Reserved (simulated)")).collect()
}

fn expected_facts(question: PlanQuestion) -> Vec<String> {
    let capacity = question.capacity;
    facts(&engine_plan(question), capacity, PlanBasis::Estimated)
        .into_iter()
        .map(|(label, value)| format!("{label}: {value}"))
        .collect()
}

/// Replaces the text of a field and presses Enter.
fn type_in(page: &Page, selector: &str, text: &str) {
    page.click(selector);
    page.evaluate(&format!("document.querySelector('{selector}').select()"));
    text.chars().for_each(|letter| page.press(&letter.to_string()));
    page.press_enter();
}

/// Picture of the labels around the plot, including curves, once it no longer changes.
fn labels_picture(page: &Page) -> Picture {
    settled_picture(page, || Picture::capture(page, "canvas#labels"))
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn plan_is_computed_drawn_undone_and_linked() {
    let page = open_empty_page();
    page.drop_files(&[&sample_path()]);
    page.wait_for_state("ready");
    page.press_with("W", SHIFT);
    page.click("[data-topic=savings]");
    page.wait_until("the planner is shown", || page.is_shown("#plan"));
    let before = labels_picture(&page);

    // Doubles the batch size: the first change in the list.
    page.click("#plan-add");
    let batch = PlanQuestion { batch: factor("2x"), ..PlanQuestion::default() };
    page.wait_for(&expected_facts(batch.clone()), || shown_facts(&page));
    assert_eq!(page.attribute("#plan-draw", "aria-pressed").as_deref(), Some("true"));
    page.wait_until("simulated reserved bytes are shown", || {
        let facts = page.text("#plan-facts");
        facts.contains("Reserved (simulated)") && facts.contains("GiB with the recorded settings")
    });
    let drawn = labels_picture(&page);
    assert!(before != drawn, "the curve is drawn");

    // Adds a named group and a capacity.
    page.evaluate(
        "document.getElementById('plan-preset').selectedIndex = document.getElementById('plan-preset').length - 1",
    );
    page.click("#plan-add");
    page.wait_until("the field of the group has the focus", || {
        page.evaluate("document.activeElement.dataset.planGroup") == "1"
    });
    type_in(&page, "[data-plan-group=\"1\"]", "optimizer state");
    type_in(&page, "[data-plan-by=\"1\"]", "half");
    page.wait_until("the error is shown", || page.text("#plan-rows .wrong").starts_with("Expected a factor such as"));
    assert_eq!(shown_facts(&page), Vec::<String>::new());
    type_in(&page, "[data-plan-by=\"1\"]", "/8");
    let groups = vec![(PlanGroup::Named("optimizer state".to_owned()), factor("/8"))];
    let both = PlanQuestion { groups, ..batch.clone() };
    page.wait_for(&expected_facts(both.clone()), || shown_facts(&page));
    page.click("#plan-capacity");
    "4 GiB".chars().for_each(|letter| page.press(&letter.to_string()));
    let beside_capacity = both.clone();
    let fits = PlanQuestion { capacity: Some(4 << 30), ..both };
    page.wait_for(&expected_facts(fits), || shown_facts(&page));
    assert!(shown_facts(&page).iter().any(|line| line.starts_with("Largest batch: ≥ × ")), "{:?}", shown_facts(&page));

    page.wait_until("the link contains the plan", || {
        let link = page.evaluate("location.hash");
        let link = link.as_str().unwrap_or_default();
        link.contains("&plan=batch%3D2%0Aoptimizer%20state%3D/8&fits=4%20GiB&curve=plan")
    });

    // Undo returns to the batch alone. Without a plan there is no curve.
    page.evaluate(
        "{ const field = document.getElementById('plan-capacity'); field.value = ''; field.dispatchEvent(new Event('input', { bubbles: true })) }",
    );
    page.wait_for(&expected_facts(beside_capacity), || shown_facts(&page));
    // Two changes of the factor, one of the group, and the row itself.
    for _ in 0..4 {
        page.click("#plan-undo");
    }
    page.wait_for(&expected_facts(batch), || shown_facts(&page));
    page.click("#plan-clear");
    page.wait_until("the plan is empty", || shown_facts(&page).is_empty());
    page.click("#fit-both");
    assert_eq!(labels_picture(&page), before, "the labels have changed");
    assert_eq!(page.errors(), Vec::<String>::new());
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn peak_excluding_selection_is_shown() {
    let page = open_empty_page();
    page.drop_files(&[&sample_path()]);
    page.wait_for_state("ready");
    assert!(page.attribute("#without", "hidden").is_some(), "the peak without a selection is hidden");
    page.click("#find");
    "optimizer.py".chars().for_each(|letter| page.press(&letter.to_string()));
    let groups = vec![(PlanGroup::NamedIfAny("optimizer.py".to_owned()), Factor::ZERO)];
    let without = engine_plan(PlanQuestion { groups, ..PlanQuestion::default() });
    let (old, new) = (without.recorded.0, without.planned.0);
    let text = if old == new { "unchanged".to_owned() } else { format!("{} (−{})", Bytes(new), Bytes(old - new)) };
    page.wait_for(&("“optimizer.py”".to_owned(), text), || {
        (page.text("#without-name"), page.text("#without-text"))
    });
    let exact = page.attribute("#without-text", "title").unwrap_or_default();
    assert!(exact.starts_with(&format!("{} B", group_digits(new))), "{exact}");

    page.press("Escape");
    let before = labels_picture(&page);
    page.press(";");
    page.wait_for(&Some("true".to_owned()), || page.attribute("#without-show", "aria-pressed"));
    assert!(labels_picture(&page) != before, "the curve is drawn");
    page.press(";");
    page.wait_for(&Some("false".to_owned()), || page.attribute("#without-show", "aria-pressed"));
    assert_eq!(labels_picture(&page), before);

    // Selects a node of the call tree.
    page.click("#find-clear");
    page.wait_until("the peak without a selection is hidden", || page.attribute("#without", "hidden").is_some());
    page.press("Escape");
    page.press_with("T", SHIFT);
    page.wait_until("the tree is shown", || page.text("#tree-rows").contains("train.py"));
    page.evaluate("document.querySelectorAll('#tree-rows .row:not([hidden])')[1].click()");
    page.wait_until("the peak without the node is shown", || page.text("#without-text").contains("MiB"));
    assert!(page.text("#without-name").starts_with('“'), "{}", page.text("#without-name"));
    assert_eq!(page.errors(), Vec::<String>::new());
}
