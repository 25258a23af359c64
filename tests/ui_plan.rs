//! The planner and the peak without the selection, without a browser: requests, texts, and the drawn curve.
#![allow(clippy::expect_used, clippy::panic, reason = "test helpers fail by panicking")]

use crate::face::{self, CANVAS, Worker, columns};
use memscape::engine::{Answer, Ask, Question, Request};
use memscape::protocol::{
    Details, DeviceSummary, Factor, PlanCurve, PlanGroup, PlanPage, PlanQuestion, Preset, Report, Tally, Topic,
};
use memscape::timeline::{Scene, View};
use memscape::ui::features::insights::InsightsAction;
use memscape::ui::features::plan::view::view;
use memscape::ui::features::plan::{PlanAction, PlanField};
use memscape::ui::plot::planned::{Chip, DrawnCurve, chip};
use memscape::ui::shell::action::Action;
use memscape::ui::shell::commands;
use memscape::ui::state::line::Line;
use memscape::ui::text::tab::Tab;

/// Recorded peak in bytes.
const PEAK: u64 = 1 << 20;

/// A fake engine: leaving a group out halves the peak, any other plan doubles it. Every allocation has stack 3.
#[derive(Default)]
struct Engine {
    plans: Vec<PlanQuestion>,
    curves: Vec<(PlanQuestion, View)>,
}

fn peak(question: &PlanQuestion) -> u64 {
    if question.groups.iter().any(|(_, factor)| *factor == Factor::ZERO) { PEAK / 2 } else { PEAK * 2 }
}

impl Worker for Engine {
    fn answer(&mut self, request: &Request) -> Option<Answer> {
        let Request::Ask(Ask { question: what, .. }) = request else { return None };
        Some(match what {
            Question::Scene { view, .. } => {
                let (columns, quads, identities) = (columns(*view), vec![], vec![]);
                Answer::Scene(Box::new(Scene { columns, view: *view, band_px: 1, quads, ground: None, identities }))
            }
            Question::Plan(question) => {
                self.plans.push((**question).clone());
                let page = PlanPage { recorded: (PEAK, 5), planned: (peak(question), 9), ..PlanPage::default() };
                Answer::Plan(Box::new(page))
            }
            Question::PlanCurve(question, view) => {
                self.curves.push(((**question).clone(), *view));
                let (edge_px, bytes) = (vec![0, 40, 50, 100], vec![0, peak(question), 7]);
                Answer::PlanCurve(Box::new(PlanCurve { view: Some(*view), edge_px, bytes, ..PlanCurve::default() }))
            }
            Question::Details(allocation) => {
                let details = Details { allocation: *allocation, stack: Some(3), ..Details::default() };
                Answer::Details(Some(Box::new(details)))
            }
            Question::Find(_) => Answer::Find(Tally { count: 2, ..Tally::default() }),
            Question::Report(question) => {
                Answer::Report(Box::new(Report { topic: question.topic, ..Report::default() }))
            }
            _ => return None,
        })
    }
}

type Page = face::Page<Engine>;

impl Page {
    fn open() -> Page {
        let device = |device| DeviceSummary {
            device,
            events: 99,
            peak_requested: PEAK as i64,
            drawn_peak: PEAK,
            ..DeviceSummary::default()
        };
        let mut page = Page::with_canvas(CANVAS, Engine::default());
        page.load(vec![device(0), device(1)]);
        page
    }

    /// A page that shows the Savings insight.
    fn open_savings() -> Page {
        let mut page = Page::open();
        page.act(Action::TabChosen(Tab::Insights));
        page.act(Action::feature(InsightsAction::TopicChosen(Topic::Savings)));
        page
    }

    fn plan(&mut self, action: PlanAction) {
        self.act(Action::feature(action));
    }

    fn chip(&self) -> Chip {
        chip(&self.state).expect("something is selected")
    }

    /// Corners of the planned curve, empty if it is not drawn.
    fn curve(&self) -> Vec<[f64; 2]> {
        let lines = memscape::ui::plot::plots::curves::curve_lines(&self.state, &self.state.view().expect("a window"));
        lines.into_iter().filter(|curve| curve.line == Line::Planned).flat_map(|curve| curve.points).collect()
    }

    /// Label of the planned peak in the timeline.
    fn mark(&self) -> Option<String> {
        let lines = memscape::ui::plot::plots::curves::curve_lines(&self.state, &self.state.view().expect("a window"));
        lines.into_iter().find_map(|curve| curve.label).map(|mark| mark.text)
    }
}

fn only(group: PlanGroup) -> PlanQuestion {
    PlanQuestion { groups: vec![(group, Factor::ZERO)], ..PlanQuestion::default() }
}

#[test]
fn peak_excluding_selection_is_requested_and_shown() {
    let mut page = Page::open();
    assert_eq!((chip(&page.state), page.worker.plans.len()), (None, 0), "nothing is selected");
    page.command(commands::SELECT_NEXT);
    assert_eq!(page.worker.plans.last(), Some(&only(PlanGroup::Stack(3))));
    assert_eq!(page.chip().name, "this call stack");
    assert_eq!((&*page.chip().text, &*page.chip().exact), ("512 KiB (−512 KiB)", "524,288 B (−524,288 B)"));

    page.command(commands::TOGGLE_SAME_STACK);
    assert_eq!(page.worker.plans.last(), Some(&only(PlanGroup::NamedIfAny("#0".into()))));
    assert_eq!(page.chip().name, "this allocation");

    page.act(Action::FindTyped("relu".into()));
    assert_eq!(page.worker.plans.last(), Some(&only(PlanGroup::NamedIfAny("relu".into()))));
    assert_eq!(page.chip().name, "“relu”");

    let asked = page.worker.plans.len();
    page.act(Action::FindTyped(String::new()));
    assert_eq!(
        (page.chip().name.as_str(), page.worker.plans.len()),
        ("this allocation", asked),
        "a known answer is not requested again"
    );
    page.act(Action::DeviceChosen(1));
    assert_eq!(chip(&page.state), None);
}

#[test]
fn curve_excluding_selection_follows_selection_until_hidden() {
    let mut page = Page::open();
    page.act(Action::FindTyped("relu".into()));
    assert!(page.worker.curves.is_empty() && page.curve().is_empty());
    page.plan(PlanAction::Drawn(DrawnCurve::Without));
    assert!(page.chip().is_drawn);
    assert_eq!(page.mark().as_deref(), Some("512 KiB without “relu”"));
    let corners = page.curve();
    assert_eq!((corners.len(), corners[2][0], corners[3][0]), (6, 40.0, 50.0), "three columns");
    let (low, high) = (corners[0][1], corners[2][1]);
    assert!(low < 1.0 && (high - 50.0).abs() < 5.0, "half of the picture: {corners:?}");
    page.act(Action::FindTyped("gelu".into()));
    assert_eq!(page.mark().as_deref(), Some("512 KiB without “gelu”"));
    page.act(Action::FindTyped(String::new()));
    assert!(page.curve().is_empty(), "nothing is selected");
    page.plan(PlanAction::Drawn(DrawnCurve::None));
    page.act(Action::FindTyped("relu".into()));
    assert!(page.curve().is_empty());
}

#[test]
fn plan_is_computed_drawn_and_undone() {
    let mut page = Page::open_savings();
    let seen = view(&page.state.plan, &page.state).expect("the planner is visible");
    assert!(seen.rows.is_empty() && seen.facts.is_empty() && !seen.can_undo && !seen.is_drawn);
    let whole = page.state.view().expect("a window");

    page.plan(PlanAction::PresetAdded(Preset::Batch));
    let seen = view(&page.state.plan, &page.state).expect("the planner is visible");
    let batch = PlanQuestion { batch: Factor::new(2, 1).expect("a factor"), ..PlanQuestion::default() };
    assert_eq!(page.worker.plans.last(), Some(&batch));
    assert_eq!(
        seen.facts,
        [
            ("Recorded peak", "1.00 MiB after event 4".to_owned()),
            ("Planned peak", "2.00 MiB after event 8 (+1.00 MiB)".to_owned()),
            ("Reserved (simulated)", "Simulating…".to_owned()),
        ]
    );
    assert!(seen.is_drawn && seen.can_undo);
    assert_eq!(page.mark().as_deref(), Some("2.00 MiB as planned"));
    let raised = page.state.view().expect("a window");
    assert!(raised.bytes_per_px > 1.9 * whole.bytes_per_px, "the planned peak is in the picture");

    // An invalid factor shows an error and hides the computed figures.
    page.plan(PlanAction::Typed(0, PlanField::Factor, "two".into()));
    let seen = view(&page.state.plan, &page.state).expect("the planner is visible");
    assert_eq!(seen.rows[0].error, "Expected a factor such as 2x, 0.5, /8 or fp32->bf16.");
    assert!(seen.facts.is_empty() && page.curve().is_empty());
    page.plan(PlanAction::Undo);

    page.plan(PlanAction::GroupAdded);
    page.plan(PlanAction::Typed(1, PlanField::Group, "optimizer state".into()));
    page.plan(PlanAction::Typed(1, PlanField::Factor, "/8".into()));
    let eighth = Factor::new(1, 8).expect("a factor");
    let groups = vec![(PlanGroup::Named("optimizer state".into()), eighth)];
    assert_eq!(page.worker.plans.last(), Some(&PlanQuestion { groups, ..batch.clone() }));

    page.plan(PlanAction::CapacityTyped("80 GiB".into()));
    let seen = view(&page.state.plan, &page.state).expect("the planner is visible");
    assert_eq!(page.worker.plans.last().and_then(|asked| asked.capacity), Some(80 << 30));
    assert_eq!(seen.facts[2], ("Capacity", "80.0 GiB: 80.0 GiB left".to_owned()));
    page.plan(PlanAction::CapacityTyped("80 parsec".into()));
    let seen = view(&page.state.plan, &page.state).expect("the planner is visible");
    assert_eq!(seen.capacity_error, "Expected a size such as 80 GiB or 80 GB.");
    page.plan(PlanAction::CapacityTyped(String::new()));

    // Undo, step by step.
    let rows = |page: &Page| page.state.plan.rows.len();
    page.plan(PlanAction::Removed(0));
    assert_eq!(rows(&page), 1);
    page.plan(PlanAction::Cleared);
    assert_eq!((rows(&page), page.curve().len()), (0, 0));
    page.plan(PlanAction::Undo);
    page.plan(PlanAction::Undo);
    assert_eq!(rows(&page), 2);
    for _ in 0..4 {
        page.plan(PlanAction::Undo);
    }
    assert_eq!(rows(&page), 0);
    assert!(!view(&page.state.plan, &page.state).expect("the planner is visible").can_undo);
}

#[test]
fn hidden_plan_is_not_computed() {
    let mut page = Page::open_savings();
    page.plan(PlanAction::PresetAdded(Preset::Fsdp));
    let asked = page.worker.plans.len();
    page.plan(PlanAction::Drawn(DrawnCurve::None));
    page.act(Action::TabChosen(Tab::CallTree));
    page.plan(PlanAction::Typed(0, PlanField::Factor, "16".into()));
    page.plan(PlanAction::Drawn(DrawnCurve::None));
    let after = page.worker.plans.len();
    page.plan(PlanAction::Typed(0, PlanField::Factor, "32".into()));
    page.plan(PlanAction::Drawn(DrawnCurve::Plan));
    assert!(page.worker.plans.len() > after.min(asked), "a drawn plan is computed");
    assert_eq!(view(&page.state.plan, &page.state), None, "another tab is visible");
}
