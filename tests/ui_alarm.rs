//! The alarm below the header: the most important headline of all reports.

use crate::face;
use crate::ui_report::{Page, SilentWorker, device, report};
use memscape::engine::{Answer, Ask, Question, Request};
use memscape::protocol::{DeviceSummary, Headline, Report, ReportQuestion, Tone, Topic};
use memscape::timeline::Scene;
use memscape::ui::features::State;
use memscape::ui::features::insights::view::alarms;
use memscape::ui::features::insights::{Alarm, InsightsAction, no_alarm_text};
use memscape::ui::shell::action::Action;
use memscape::ui::shell::commands;
use memscape::ui::state::comparing::ComparingAction;
use memscape::ui::text::tab::Tab;
use memscape::ui::text::url::PageScheme;

/// Answers all report requests. The reports of `topics` have a headline, which is about the first statement.
fn answer_with_headlines(page: &mut Page, topics: &[Topic]) {
    while let Some((serial, question)) = page.report_request() {
        let headline = Headline { text: format!("{:?} needs attention.", question.topic), statement: 0 };
        let headline = topics.contains(&question.topic).then_some(headline);
        page.answer_with(serial, Answer::Report(Box::new(Report { headline, ..report(question.topic) })));
    }
}

#[test]
fn alarm_is_headline_of_most_important_topic() {
    let all = [Topic::Savings, Topic::Leaks, Topic::OutOfMemory];
    let raised = |topic: Topic| Alarm::Raised { topic, text: format!("{topic:?} needs attention.") };
    for (topics, expected) in [
        (&all[..], raised(Topic::OutOfMemory)),
        (&all[..2], raised(Topic::Leaks)),
        (&all[..1], raised(Topic::Savings)),
        (&[Topic::Peak], Alarm::None),
    ] {
        let mut page = Page::with_devices(SilentWorker, vec![device(0, &[]), device(1, &[])]);
        assert_eq!(page.state.insights.alarm, Alarm::Unknown, "no report is known");
        page.act(Action::TabChosen(Tab::Insights));
        answer_with_headlines(&mut page, topics);
        assert_eq!(page.state.insights.alarm, expected);
        page.act(Action::DeviceChosen(1));
        assert_eq!(page.state.insights.alarm, Alarm::Unknown, "of another device");
    }
}

#[test]
fn alarm_of_several_files_names_its_file() {
    let mut page = Page::with_devices(SilentWorker, vec![device(0, &[])]);
    let long = "a_run_of_2026-11-27_with_a_long_name_rank_";
    for (names, expected) in [
        (["before.pickle".to_owned(), "rank1.pickle".to_owned(), "rank2.pickle".to_owned()], "before.pickle"),
        ([1, 2, 3].map(|rank| format!("{long}{rank}.pickle")), "a_run_of_2026-11-27_wit…1.pickle"),
    ] {
        page.give_files(&names.each_ref().map(String::as_str));
        page.reply(face::opened_reply(vec![device(0, &[])]));
        page.why(InsightsAction::TopicChosen(Topic::Peak));
        answer_with_headlines(&mut page, &[Topic::OutOfMemory]);
        let text = format!("{expected}: OutOfMemory needs attention.");
        assert_eq!(page.state.insights.alarm, Alarm::Raised { topic: Topic::OutOfMemory, text });
    }
}

#[test]
fn warning_about_settings_is_counted_once() {
    let mut page = Page::with_devices(SilentWorker, vec![device(0, &[])]);
    page.act(Action::TabChosen(Tab::Insights));
    while let Some((serial, question)) = page.report_request() {
        let mut report = report(question.topic);
        if ![Topic::Savings, Topic::Fragmentation, Topic::Settings].contains(&question.topic) {
            report.statements.clear();
        }
        page.answer_with(serial, Answer::Report(Box::new(report)));
    }
    assert_eq!(alarms(&page.state.insights), [Topic::Settings]);
}

#[test]
fn recording_of_at_most_one_event_says_what_is_known() {
    for (events, expected) in [
        (0, "No events recorded, so leaks are unknown. Live at the snapshot: 3.00 MiB."),
        (1, "Only one event recorded, so leaks are unknown. Live at the snapshot: 3.00 MiB."),
        (2, "No out-of-memory error, no leak, no saving above 5\u{a0}% found."),
    ] {
        let page =
            Page::with_devices(SilentWorker, vec![DeviceSummary { events, end_requested: 3 << 20, ..device(0, &[]) }]);
        assert_eq!(no_alarm_text(&page.state), expected);
    }
}

#[test]
fn alarm_opens_its_report_with_half_of_the_height() {
    let mut page = Page::with_devices(SilentWorker, vec![device(0, &[])]);
    page.act(Action::TabChosen(Tab::Insights));
    answer_with_headlines(&mut page, &[Topic::Savings]);
    assert_eq!(page.state.views.shown_height(), 30, "a late saving moves nothing");
    page.act(Action::TabChosen(Tab::CallTree));
    page.why(InsightsAction::AlarmClicked);
    assert_eq!((page.state.views.tab, page.state.insights.topic), (Tab::Insights, Topic::Savings));
    assert_eq!(page.state.views.shown_height(), 50);
    let [from, to] = page.window();
    assert!(from <= 100 && to >= 199 && to - from < 120, "the evidence of the headline is shown: {from}–{to}");
    page.act(Action::ViewsResized(40));
    assert_eq!(page.state.views.shown_height(), 40, "the user's height counts");
}

#[test]
fn leak_opens_its_report_unless_the_page_is_in_use() {
    let nothing: fn(&mut Page) = |_| {};
    type Start = (&'static str, fn(&mut Page), Topic, u32);
    let open_stack: fn(&mut Page) = |page| {
        let answer = |page: &mut Page, (serial, question): (u32, ReportQuestion)| {
            page.answer_with(serial, Answer::Report(Box::new(report(question.topic))));
            page.report_request().expect("the next request")
        };
        let peak = page.report_request().expect("a request");
        let next = answer(page, peak);
        page.why(InsightsAction::StackToggled(2));
        answer(page, next);
    };
    let starts: [Start; 7] = [
        ("untouched", nothing, Topic::Leaks, 50),
        ("another tab", |page| page.act(Action::TabChosen(Tab::CallTree)), Topic::Peak, 30),
        ("another topic", |page| page.why(InsightsAction::TopicChosen(Topic::Modules)), Topic::Modules, 30),
        ("a selected range", |page| page.command(commands::TOGGLE_RANGE), Topic::Range, 30),
        ("another height", |page| page.act(Action::ViewsResized(40)), Topic::Peak, 40),
        ("an open stack", open_stack, Topic::Peak, 30),
        ("zoomed", |page| page.command(commands::ZOOM_EVENTS_IN), Topic::Peak, 30),
    ];
    for (name, prepare, topic, height) in starts {
        let mut page = Page::with_devices(SilentWorker, vec![device(0, &[])]);
        page.act(Action::TabChosen(Tab::Insights));
        prepare(&mut page);
        answer_with_headlines(&mut page, &[Topic::Leaks, Topic::Savings]);
        assert_eq!((page.state.insights.topic, page.state.views.shown_height()), (topic, height), "{name}");
    }
}

/// The engine of a page cannot simulate, so a saving by a setting is known after the reports.
#[test]
fn no_alarm_is_claimed_before_settings_are_simulated() {
    for is_saving in [false, true] {
        let mut page = Page::new(SilentWorker);
        page.state = State::new(PageScheme::default());
        page.act(Action::Resized(face::CANVAS));
        page.load(vec![DeviceSummary { allocations: 5, ..device(0, &[("alloc", 5)]) }]);
        answer_with_headlines(&mut page, &[]);
        assert_eq!(page.state.insights.alarm, Alarm::Unknown, "the settings are not simulated");
        let serial = page.find_request(|request| match request {
            Request::Ask(Ask { serial, question: Question::WhatIf(_), .. }) => Some(*serial),
            _ => None,
        });
        page.answer_with(serial.expect("a simulation"), Answer::WhatIf(Box::default()));
        assert_eq!(page.state.insights.alarm, Alarm::Unknown, "the report does not quote the simulation");
        answer_with_headlines(&mut page, if is_saving { &[Topic::Savings] } else { &[] });
        let raised = Alarm::Raised { topic: Topic::Savings, text: "Savings needs attention.".to_owned() };
        assert_eq!(page.state.insights.alarm, if is_saving { raised } else { Alarm::None });
    }
}

/// Answers scene requests until there is none.
fn draw(page: &mut Page) {
    while let Some((serial, _, view)) = page.scene_asked() {
        let columns = face::columns(view);
        let scene = Scene { view, band_px: 1, columns, quads: vec![], identities: vec![], ground: None };
        page.answer_with(serial, Answer::Scene(Box::new(scene)));
    }
}

/// A leak of A would be read as a difference between A and B.
#[test]
fn comparison_raises_its_verdict_on_every_tab() {
    let mut page = Page::with_devices(SilentWorker, vec![device(0, &[]), device(1, &[])]);
    draw(&mut page);
    page.act(Action::TabChosen(Tab::Insights));
    answer_with_headlines(&mut page, &[Topic::Savings]);
    let raised = |topic: Topic, text: &str| Alarm::Raised { topic, text: text.to_owned() };
    assert_eq!(page.state.insights.alarm, raised(Topic::Savings, "Savings needs attention."));
    page.act(Action::TabChosen(Tab::CallTree));
    page.act(Action::Comparing(ComparingAction::DeviceChosen(1)));
    assert_eq!(page.state.insights.alarm, Alarm::Unknown, "of A alone");
    let serial = page.find_request(|request| match request {
        Request::Ask(Ask { serial, question: Question::Comparison(..), .. }) => Some(*serial),
        _ => None,
    });
    let verdict = report(Topic::Comparison);
    let [oom, peaks] = &verdict.statements[..] else { panic!("{verdict:?}") };
    assert!(oom.tone == Tone::Alarm && peaks.tone != Tone::Alarm, "{verdict:?}");
    let text = [oom.text.as_str(), &peaks.text].join(" ");
    page.answer_with(serial.expect("the comparison is requested"), Answer::Report(Box::new(verdict)));
    assert_eq!(page.state.insights.alarm, raised(Topic::Comparison, &text));
    page.why(InsightsAction::AlarmClicked);
    assert_eq!((page.state.views.tab, page.state.insights.topic), (Tab::Insights, Topic::Comparison));
    page.command(commands::COMPARE_END);
    answer_with_headlines(&mut page, &[Topic::Savings]);
    assert_eq!(page.state.insights.alarm, raised(Topic::Savings, "Savings needs attention."));
}

#[test]
fn file_that_ran_out_of_memory_opens_with_half_of_the_height() {
    let mut page = Page::with_devices(SilentWorker, vec![device(0, &[("oom", 1)])]);
    assert_eq!((page.state.views.tab, page.state.insights.topic), (Tab::Insights, Topic::OutOfMemory));
    assert_eq!(page.state.views.shown_height(), 50);
    page.load(vec![device(0, &[])]);
    assert_eq!(page.state.views.shown_height(), 30, "the next file has no alarm");
}
