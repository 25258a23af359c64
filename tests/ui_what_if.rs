//! The allocator simulation in the page, without a browser: requests, shown results, and cancelling.
#![allow(clippy::expect_used, clippy::panic, reason = "test helpers fail by panicking")]

use crate::face::{self, CANVAS, Worker};
use memscape::engine::{Answer, Ask, Question, Request};
use memscape::protocol::{DeviceSummary, Report, Topic, WhatIf, WhatIfProgram, WhatIfProof, WhatIfQuestion, WhatIfRun};
use memscape::ui::features::insights::InsightsAction;
use memscape::ui::features::what_if::view::{form, view};
use memscape::ui::features::what_if::{ProgramChange, SimulatorField, WhatIfAction};
use memscape::ui::shell::action::Action;
use memscape::ui::state::effect::{AfterWrite, Effect};
use memscape::ui::text::tab::Tab;

/// A worker that answers everything except simulation requests.
struct FakeWorker;

impl Worker for FakeWorker {
    const KEEPS_EFFECTS: bool = true;

    fn answer(&mut self, request: &Request) -> Option<Answer> {
        match request {
            Request::Ask(Ask { question: Question::Report(question), .. }) => {
                Some(Answer::Report(Box::new(Report { topic: question.topic, ..Report::default() })))
            }
            _ => None,
        }
    }
}

type Page = face::Page<FakeWorker>;

impl Page {
    /// A page that shows the Allocator settings insight.
    fn open_settings() -> Page {
        let mut page = Page::with_canvas(CANVAS, FakeWorker);
        let device = |device| DeviceSummary { device, events: 999, peak_event: 500, ..DeviceSummary::default() };
        page.load(vec![device(0), device(1)]);
        page.act(Action::TabChosen(Tab::Insights));
        assert!(page.simulations().is_empty(), "another insight is visible");
        page.act(Action::feature(InsightsAction::TopicChosen(Topic::Settings)));
        page
    }

    fn what_if(&mut self, action: WhatIfAction) {
        self.effects.clear();
        self.act(Action::feature(action));
    }

    /// Simulation requests: serial, device, question.
    fn simulations(&self) -> Vec<(u32, i64, WhatIfQuestion)> {
        let asked = self.effects.iter().filter_map(|effect| match effect {
            Effect::Ask(Request::Ask(Ask { serial, device, question: Question::WhatIf(question) })) => {
                Some((*serial, *device, (**question).clone()))
            }
            _ => None,
        });
        asked.collect()
    }

    /// Serial of the only simulation request.
    fn serial(&self) -> u32 {
        let all = self.simulations();
        assert_eq!(all.len(), 1, "{all:?}");
        all[0].0
    }

    fn receive_answer(&mut self, serial: u32, runs: &[&str], is_complete: bool) {
        let run = |settings: &&str| WhatIfRun { settings: (*settings).to_owned(), ..WhatIfRun::default() };
        let runs = runs.iter().map(run).collect();
        let answer = WhatIf { runs, is_complete, steps: 4, ..WhatIf::default() };
        self.answer_with(serial, Answer::WhatIf(Box::new(answer)));
    }

    fn rows(&self) -> Vec<String> {
        view(&self.state.what_if, &self.state).rows.into_iter().map(|row| row.settings).collect()
    }

    fn status(&self) -> String {
        form(&self.state.what_if, &self.state).status
    }
}

#[test]
fn reproduction_check_runs_when_visible_and_simulation_on_click() {
    let mut page = Page::open_settings();
    let proof = WhatIfQuestion::default();
    assert_eq!(page.simulations().into_iter().map(|(_, device, it)| (device, it)).collect::<Vec<_>>(), [(0, proof)]);
    assert_eq!(page.status(), "Checking the simulation against this recording…");
    page.receive_answer(page.serial(), &["recorded"], true);
    assert_eq!((page.rows(), page.status()), (vec!["recorded".to_owned()], String::new()));

    page.what_if(WhatIfAction::Typed(SimulatorField::Settings, "expandable_segments:True".into()));
    page.what_if(WhatIfAction::Typed(SimulatorField::Capacity, "40".into()));
    page.what_if(WhatIfAction::SkipEmptyCacheSet(true));
    assert!(page.simulations().is_empty(), "typing does not start a simulation");
    page.what_if(WhatIfAction::Simulate);
    let expected = WhatIfQuestion {
        lines: vec!["expandable_segments:True".into()],
        capacity: Some(40 << 30),
        fits: true,
        never_empties: true,
        partial: true,
        tries: false,
        ..WhatIfQuestion::default()
    };
    assert_eq!(page.simulations()[0].2, expected);
    let serial = page.serial();
    page.receive_answer(serial, &["recorded"], false);
    assert_eq!(page.status(), "Simulating… 1 of 4");
    page.receive_answer(serial, &["recorded", "b"], true);
    assert_eq!((page.rows().len(), page.status()), (2, String::new()));

    // Earlier runs with the same options stay listed.
    page.what_if(WhatIfAction::Search);
    assert!(page.simulations()[0].2.tries && page.simulations()[0].2.lines.is_empty());
    page.receive_answer(page.serial(), &["recorded", "c"], true);
    assert_eq!(page.rows(), ["recorded", "c", "b"]);
    page.what_if(WhatIfAction::SkipEmptyCacheSet(false));
    page.what_if(WhatIfAction::Search);
    page.receive_answer(page.serial(), &["recorded", "c"], true);
    assert_eq!(page.rows(), ["recorded", "c"]);
}

#[test]
fn invalid_field_shows_error_on_simulate_until_corrected() {
    let mut page = Page::open_settings();
    page.receive_answer(page.serial(), &["recorded"], true);
    page.what_if(WhatIfAction::Typed(SimulatorField::Settings, "expandable".into()));
    assert_eq!(form(&page.state.what_if, &page.state).line_error, "");
    page.what_if(WhatIfAction::Simulate);
    let line_error = "expected setting:value at character 1: expandable".to_owned();
    let answer = WhatIf { is_complete: true, line_error, ..WhatIf::default() };
    page.answer_with(page.serial(), Answer::WhatIf(Box::new(answer)));
    assert_eq!(form(&page.state.what_if, &page.state).line_error, "Expected setting:value at character 1: expandable");
    page.what_if(WhatIfAction::Typed(SimulatorField::Settings, "expandable_segments:True".into()));
    assert_eq!(form(&page.state.what_if, &page.state).line_error, "");
    page.what_if(WhatIfAction::Typed(SimulatorField::Capacity, "much".into()));
    page.what_if(WhatIfAction::Search);
    assert!(page.simulations().is_empty());
    let texts = form(&page.state.what_if, &page.state);
    assert_eq!((texts.size_errors[0], texts.line_error.as_str()), ("Expected a size such as 80 GiB or 80 GB.", ""));
}

#[test]
fn changed_program_is_simulated_under_recorded_or_typed_settings() {
    let mut page = Page::open_settings();
    page.receive_answer(page.serial(), &["recorded"], true);
    page.what_if(WhatIfAction::ProgramSet(ProgramChange::OneStream, true));
    page.what_if(WhatIfAction::Typed(SimulatorField::Preallocate, "2 GiB".into()));
    page.what_if(WhatIfAction::Typed(SimulatorField::Total, "80".into()));
    page.what_if(WhatIfAction::Simulate);
    let program = WhatIfProgram { one_stream: true, preallocate: 2 << 30, ..WhatIfProgram::default() };
    let expected = WhatIfQuestion {
        programs: vec![program.clone()],
        total: Some(80 << 30),
        fits: true,
        partial: true,
        ..WhatIfQuestion::default()
    };
    assert_eq!(page.simulations()[0].2, expected);
    let serial = page.serial();
    let run = |program: WhatIfProgram| WhatIfRun { settings: "recorded".to_owned(), program, ..WhatIfRun::default() };
    let runs = vec![run(WhatIfProgram::default()), run(program.clone())];
    page.answer_with(serial, Answer::WhatIf(Box::new(WhatIf { runs, is_complete: true, ..WhatIf::default() })));
    assert_eq!(page.rows(), ["recorded", "recorded"]);
    // The curve is that of the changed program.
    page.what_if(WhatIfAction::DrawToggled(1));
    let question = page.simulations()[0].2.clone();
    assert_eq!((question.course.as_deref(), &question.course_program), (Some("recorded"), &program));
    assert!(question.programs.is_empty());
    // A changed program is not written as a snapshot.
    page.what_if(WhatIfAction::Opened(1, AfterWrite::Open));
    assert!(page.effects.is_empty(), "{:?}", page.effects);

    page.what_if(WhatIfAction::Typed(SimulatorField::Settings, "expandable_segments:True".into()));
    page.what_if(WhatIfAction::Typed(SimulatorField::Preallocate, "much".into()));
    page.what_if(WhatIfAction::Simulate);
    let errors = form(&page.state.what_if, &page.state).size_errors;
    assert_eq!(errors, ["", "", "Expected a size such as 80 GiB or 80 GB."]);
    page.what_if(WhatIfAction::Typed(SimulatorField::Preallocate, String::new()));
    page.what_if(WhatIfAction::Simulate);
    let question = page.simulations()[0].2.clone();
    assert_eq!((question.lines.len(), question.programs.len()), (1, 1));
}

#[test]
fn cancel_stops_simulation_and_drops_late_replies() {
    let mut page = Page::open_settings();
    page.receive_answer(page.serial(), &["recorded"], true);
    page.what_if(WhatIfAction::Search);
    let serial = page.serial();
    page.receive_answer(serial, &["recorded", "a"], false);
    assert!(form(&page.state.what_if, &page.state).can_cancel);
    page.what_if(WhatIfAction::Canceled);
    assert_eq!((&page.effects[..], page.simulations().len()), (&[Effect::CancelSimulation][..], 0));
    assert_eq!((page.status().as_str(), page.rows().len()), ("Canceled.", 2));
    page.receive_answer(serial, &["recorded", "a", "b"], true);
    assert_eq!(page.rows().len(), 2, "late answers are dropped");
    assert!(!form(&page.state.what_if, &page.state).can_cancel);
}

#[test]
fn switching_device_requests_its_check_and_keeps_fields() {
    let mut page = Page::open_settings();
    page.receive_answer(page.serial(), &["recorded"], true);
    page.what_if(WhatIfAction::Typed(SimulatorField::Settings, "expandable_segments:True".into()));
    page.effects.clear();
    page.act(Action::DeviceChosen(1));
    let devices: Vec<i64> = page.simulations().iter().map(|(_, device, _)| *device).collect();
    assert_eq!(devices, [1]);
    assert!(page.rows().is_empty());
    assert_eq!(page.state.what_if.settings, "expandable_segments:True");
    let refused = WhatIfProof { refused: Some("no segments".into()), ..WhatIfProof::default() };
    let answer = WhatIf { proof: refused, is_complete: true, ..WhatIf::default() };
    page.answer_with(page.serial(), Answer::WhatIf(Box::new(answer)));
    assert!(!view(&page.state.what_if, &page.state).predicts);
}

#[test]
fn click_on_oom_row_moves_cursor_and_settings_line_is_copied() {
    let mut page = Page::open_settings();
    page.receive_answer(page.serial(), &["recorded"], true);
    page.what_if(WhatIfAction::OomClicked(77));
    assert_eq!(page.state.cursor.moment, 77);
    page.what_if(WhatIfAction::Copied(0));
    assert!(page.effects.contains(&Effect::Copy("recorded".into())), "{:?}", page.effects);
}
