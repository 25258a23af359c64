//! The simulated allocator in the page, without a browser: when it is asked, what of it is shown, and how it is canceled.
#![allow(clippy::expect_used, clippy::panic, reason = "the helpers of a test fail as it does, by panicking")]

use crate::face::{self, CANVAS, Worker};
use memscape::engine::protocol::{DeviceSummary, Report, Topic, WhatIf, WhatIfProof, WhatIfQuestion, WhatIfRun};
use memscape::engine::{Answer, Ask, Question, Request};
use memscape::ui::tab::Tab;
use memscape::ui::what_if::view::{form, view};
use memscape::ui::what_if::{Field, WhatIfAction};
use memscape::ui::why::WhyAction;
use memscape::ui::{Action, Effect};

/// Answers whatever must be there before the simulation is asked.
struct Rest;

impl Worker for Rest {
    const KEEPS: bool = true;

    fn answer(&mut self, request: &Request) -> Option<Answer> {
        match request {
            Request::Ask(Ask { what: Question::Report(question), .. }) => {
                Some(Answer::Report(Box::new(Report { topic: question.topic, ..Report::default() })))
            }
            _ => None,
        }
    }
}

type Page = face::Page<Rest>;

impl Page {
    /// A page that shows the allocator settings.
    fn of_settings() -> Page {
        let mut page = Page::on(CANVAS, Rest);
        let device = |device| DeviceSummary { device, events: 999, peak_event: 500, ..DeviceSummary::default() };
        page.load(vec![device(0), device(1)]);
        page.act(Action::TabChosen(Tab::Why));
        assert!(page.simulations().is_empty(), "another insight is seen");
        page.act(Action::of(WhyAction::TopicChosen(Topic::Settings)));
        page
    }

    fn what_if(&mut self, action: WhatIfAction) {
        self.done.clear();
        self.act(Action::of(action));
    }

    /// What the simulator is asked: number, device, question.
    fn simulations(&self) -> Vec<(u32, i64, WhatIfQuestion)> {
        let asked = self.done.iter().filter_map(|effect| match effect {
            Effect::Ask(Request::Ask(Ask { serial, device, what: Question::WhatIf(question) })) => {
                Some((*serial, *device, (**question).clone()))
            }
            _ => None,
        });
        asked.collect()
    }

    /// The number of the one question.
    fn serial(&self) -> u32 {
        let all = self.simulations();
        assert_eq!(all.len(), 1, "{all:?}");
        all[0].0
    }

    fn told(&mut self, serial: u32, runs: &[&str], is_complete: bool) {
        let run = |settings: &&str| WhatIfRun { settings: (*settings).to_owned(), ..WhatIfRun::default() };
        let runs = runs.iter().map(run).collect();
        let answer = WhatIf { runs, is_complete, steps: 4, ..WhatIf::default() };
        self.answered(serial, Answer::WhatIf(Box::new(answer)));
    }

    fn rows(&self) -> Vec<String> {
        view(&self.state.what_if, &self.state).rows.into_iter().map(|row| row.settings).collect()
    }

    fn status(&self) -> String {
        form(&self.state.what_if, &self.state).status
    }
}

#[test]
fn the_proof_is_asked_when_the_insight_is_seen_and_the_rest_when_the_person_asks() {
    let mut page = Page::of_settings();
    let proof = WhatIfQuestion::default();
    assert_eq!(page.simulations().into_iter().map(|(_, device, it)| (device, it)).collect::<Vec<_>>(), [(0, proof)]);
    assert_eq!(page.status(), "Checking the simulation against this recording…");
    page.told(page.serial(), &["recorded"], true);
    assert_eq!((page.rows(), page.status()), (vec!["recorded".to_owned()], String::new()));

    page.what_if(WhatIfAction::Typed(Field::Line, "expandable_segments:True".into()));
    page.what_if(WhatIfAction::Typed(Field::Capacity, "40".into()));
    page.what_if(WhatIfAction::EmptiesLeftOut(true));
    assert!(page.simulations().is_empty(), "nothing is simulated while one types");
    page.what_if(WhatIfAction::Simulated);
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
    page.told(serial, &["recorded"], false);
    assert_eq!(page.status(), "Simulating… 1 of 4");
    page.told(serial, &["recorded", "b"], true);
    assert_eq!((page.rows().len(), page.status()), (2, String::new()));

    // What was simulated on the same terms stays beside it.
    page.what_if(WhatIfAction::Searched);
    assert!(page.simulations()[0].2.tries && page.simulations()[0].2.lines.is_empty());
    page.told(page.serial(), &["recorded", "c"], true);
    assert_eq!(page.rows(), ["recorded", "c", "b"]);
    page.what_if(WhatIfAction::EmptiesLeftOut(false));
    page.what_if(WhatIfAction::Searched);
    page.told(page.serial(), &["recorded", "c"], true);
    assert_eq!(page.rows(), ["recorded", "c"]);
}

#[test]
fn a_wrong_field_is_said_when_it_is_to_be_simulated_and_until_it_is_right() {
    let mut page = Page::of_settings();
    page.told(page.serial(), &["recorded"], true);
    page.what_if(WhatIfAction::Typed(Field::Line, "expandable".into()));
    assert_eq!(form(&page.state.what_if, &page.state).line_error, "");
    page.what_if(WhatIfAction::Simulated);
    let line_error = "expected setting:value at character 1: expandable".to_owned();
    let answer = WhatIf { is_complete: true, line_error, ..WhatIf::default() };
    page.answered(page.serial(), Answer::WhatIf(Box::new(answer)));
    assert_eq!(form(&page.state.what_if, &page.state).line_error, "Expected setting:value at character 1: expandable");
    page.what_if(WhatIfAction::Typed(Field::Line, "expandable_segments:True".into()));
    assert_eq!(form(&page.state.what_if, &page.state).line_error, "");
    page.what_if(WhatIfAction::Typed(Field::Capacity, "much".into()));
    page.what_if(WhatIfAction::Searched);
    assert!(page.simulations().is_empty());
    let said = form(&page.state.what_if, &page.state);
    assert_eq!((said.capacity_error, said.line_error.as_str()), ("Expected a size such as 80 GiB or 80 GB.", ""));
}

#[test]
fn canceled_is_what_nobody_waits_for_any_more() {
    let mut page = Page::of_settings();
    page.told(page.serial(), &["recorded"], true);
    page.what_if(WhatIfAction::Searched);
    let serial = page.serial();
    page.told(serial, &["recorded", "a"], false);
    assert!(form(&page.state.what_if, &page.state).can_cancel);
    page.what_if(WhatIfAction::Canceled);
    assert_eq!((&page.done[..], page.simulations().len()), (&[Effect::CancelSimulation][..], 0));
    assert_eq!((page.status().as_str(), page.rows().len()), ("Canceled.", 2));
    page.told(serial, &["recorded", "a", "b"], true);
    assert_eq!(page.rows().len(), 2, "what comes late is dropped");
    assert!(!form(&page.state.what_if, &page.state).can_cancel);
}

#[test]
fn another_device_has_a_proof_of_its_own_and_the_fields_stay() {
    let mut page = Page::of_settings();
    page.told(page.serial(), &["recorded"], true);
    page.what_if(WhatIfAction::Typed(Field::Line, "expandable_segments:True".into()));
    page.done.clear();
    page.act(Action::DeviceChosen(1));
    let devices: Vec<i64> = page.simulations().iter().map(|(_, device, _)| *device).collect();
    assert_eq!(devices, [1]);
    assert!(page.rows().is_empty());
    assert_eq!(page.state.what_if.settings, "expandable_segments:True");
    let refused = WhatIfProof { refused: Some("no segments".into()), ..WhatIfProof::default() };
    let answer = WhatIf { proof: refused, is_complete: true, ..WhatIf::default() };
    page.answered(page.serial(), Answer::WhatIf(Box::new(answer)));
    assert!(!view(&page.state.what_if, &page.state).predicts);
}

#[test]
fn an_out_of_memory_error_is_gone_to_and_a_line_copied() {
    let mut page = Page::of_settings();
    page.told(page.serial(), &["recorded"], true);
    page.what_if(WhatIfAction::WentTo(77));
    assert_eq!(page.state.pinned.moment, 77);
    page.what_if(WhatIfAction::Copied(0));
    assert!(page.done.contains(&Effect::Copy("recorded".into())), "{:?}", page.done);
}
