//! The Insights view without a browser: requests, clicks on evidence, marks, thresholds, row limits.
#![allow(clippy::expect_used, clippy::panic, reason = "test helpers fail by panicking")]

use crate::face::{self, Worker};
use memscape::engine::{Answer, Ask, Question, Request};
use memscape::protocol::{
    AxisPoint, Cell, Details, DeviceSummary, Evidence, MomentFacts, MomentSpec, OomPlan, Report, ReportQuestion, Sheet,
    SheetColumn, SheetRow, Span, Statement, Threshold, Tone, Topic, WhatIf, WhatIfProof, WhatIfQuestion, WhatIfRun,
};
use memscape::timeline::Axis;
use memscape::ui::features::State;
use memscape::ui::features::command::Command;
use memscape::ui::features::insights::InsightsAction;
use memscape::ui::features::insights::view::{ColumnKind, ReportView, StackView, TabState, tab_state, view};
use memscape::ui::shell::action::Action;
use memscape::ui::shell::commands;
use memscape::ui::state::effect::Effect;
use memscape::ui::text::tab::Tab;
use memscape::ui::text::url::PageScheme;

fn evidence(from: u32, to: u32) -> Evidence {
    Evidence { span: Some(Span { from, to }), ..Evidence::default() }
}

fn row(name: &str, bytes: u64, evidence: Option<Evidence>, stack: &[&str]) -> SheetRow {
    SheetRow {
        cells: vec![Cell::Bytes(bytes), Cell::Share { part: bytes, whole: 4096 }, Cell::Text(name.into())],
        stack: stack.iter().map(|line| (*line).to_owned()).collect(),
        evidence,
        ..SheetRow::default()
    }
}

fn sheet(key: &str, rows: Vec<SheetRow>, value: u64) -> Sheet {
    let column = |key: &str, label: &str| SheetColumn { key: key.into(), label: label.into() };
    Sheet {
        key: key.into(),
        title: "What waits".into(),
        threshold: Some(Threshold { key: "late".into(), label: "at least".into(), unit: "bytes".into(), value }),
        columns: vec![column("requested", "Requested"), column("share", "Share"), column("site", "Call site")],
        rows,
        total: vec![Cell::Bytes(4096)],
        ..Sheet::default()
    }
}

/// A report with an alarm that has a span, a statement without evidence, and two sheets. The first sheet has 12 rows
/// and 3 left out, and its first row selects and searches. The second has a row with nothing but a stack.
pub(crate) fn report(topic: Topic) -> Report {
    let statement =
        |tone, text: &str, evidence| Statement { tone, text: text.into(), evidence, ..Statement::default() };
    let all = Evidence { moment: Some(40), allocation: Some(7), find: Some("train.py:12".into()), ..evidence(30, 59) };
    let mut rows =
        vec![row("train.py:12", 2048, Some(all), &["a.py:1 f", "b.py:2 g"]), row("b.py:2", 1024, None, &["b.py:2 g"])];
    rows.extend((2..12).map(|at| row("c.py:3", 10 - u64::from(at) / 2, Some(evidence(at, at + 1)), &[])));
    Report {
        topic,
        statements: vec![
            statement(Tone::Alarm, "Something grows.", Some(evidence(100, 199))),
            statement(Tone::Good, "Nothing waits.", None),
        ],
        sheets: vec![
            Sheet { left_out: 3, ..sheet("grows", rows, 1 << 20) },
            sheet("waits", vec![row("d.py:4", 1, Some(Evidence { moment: Some(5), ..Evidence::default() }), &[])], 9),
        ],
        headline: None,
    }
}

pub(crate) fn device(device: i64, actions: &[(&str, u64)]) -> DeviceSummary {
    DeviceSummary {
        device,
        events: 999,
        peak_event: 500,
        drawn_peak: 1 << 20,
        actions: actions.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect(),
        time_us: Some((0, 9_990)),
        ..DeviceSummary::default()
    }
}

/// A worker that sends no replies by itself.
pub(crate) struct SilentWorker;

impl Worker for SilentWorker {}

pub(crate) type Page = face::Page<SilentWorker>;

impl Page {
    /// A page that shows the Peak report.
    fn open_insights() -> Page {
        let mut page = Page::with_devices(SilentWorker, vec![device(0, &[]), device(1, &[])]);
        page.act(Action::TabChosen(Tab::Insights));
        page.answer();
        page
    }

    pub(crate) fn why(&mut self, action: InsightsAction) {
        self.act(Action::feature(action));
    }

    fn step(&mut self, step: Command) {
        self.act(Action::Command(step));
    }

    pub(crate) fn report_request(&self) -> Option<(u32, ReportQuestion)> {
        self.find_request(|request| match request {
            Request::Ask(Ask { serial, question: Question::Report(question), .. }) => Some((*serial, question.clone())),
            _ => None,
        })
    }

    fn copied(&self) -> Option<&str> {
        self.find_effect(|effect| if let Effect::Copy(text) = effect { Some(text.as_str()) } else { None })
    }

    fn question(&self) -> ReportQuestion {
        self.report_request().expect("a question").1
    }

    fn answer(&mut self) {
        let (serial, question) = self.report_request().expect("a question");
        self.answer_with(serial, Answer::Report(Box::new(report(question.topic))));
    }

    /// Answers requests about hidden topics and returns those topics.
    fn answer_others(&mut self) -> Vec<Topic> {
        let mut topics = Vec::new();
        while let Some((serial, question)) =
            self.report_request().filter(|(_, it)| it.topic != self.state.insights.topic)
        {
            topics.push(question.topic);
            self.answer_with(serial, Answer::Report(Box::new(report(question.topic))));
        }
        topics
    }

    /// First and last visible event.
    pub(crate) fn window(&self) -> [u32; 2] {
        let view = self.state.view().expect("a window");
        [0.0, 100.0].map(|column| view.x_from_column(column).round() as u32)
    }

    fn marks(&self) -> TabState {
        tab_state(&self.state.insights, &self.state)
    }

    fn view(&self) -> ReportView {
        view(&self.state.insights)
    }
}

#[test]
fn report_is_requested_once_and_only_while_visible() {
    let mut page = Page::with_devices(SilentWorker, vec![device(0, &[])]);
    assert_eq!(page.report_request(), None, "the call tree is visible");
    page.act(Action::TabChosen(Tab::Insights));
    let (first, question) = page.report_request().expect("Insights are visible");
    assert_eq!((question.topic, question.at, question.rows), (Topic::Peak, Some(501), 10));
    assert_eq!((page.marks().note, page.marks().is_busy), ("Computing…", true));
    page.act(Action::GoToEntered("end".into()));
    assert_eq!(page.report_request(), None, "one question is in flight");
    page.answer_with(first + 1000, Answer::Report(Box::default()));
    assert_eq!(page.view(), ReportView::default(), "an answer to another question is dropped");
    page.answer_with(first, Answer::Report(Box::new(report(Topic::Peak))));
    assert_eq!(page.question().at, Some(999), "the newest cursor position is next");
    assert_eq!(page.view().statements.len(), 2, "the old report stays until then");
    assert!(page.marks().is_busy);
    page.answer();
    assert!(!page.marks().is_busy);
    page.act(Action::TabChosen(Tab::CallTree));
    page.act(Action::GoToEntered("3".into()));
    assert_eq!(page.report_request(), None);
}

#[test]
fn warnings_of_hidden_topics_are_shown() {
    let mut page = Page::open_insights();
    assert_eq!(page.marks().alarms, [Topic::Peak]);
    let others = page.answer_others();
    let whole: Vec<Topic> = Topic::ALL.into_iter().filter(|topic| !topic.depends_on_range()).collect();
    assert_eq!(others.len(), whole.len() - 1, "{others:?} requested one by one");
    // Peak and Fragmentation repeat the out-of-memory error, Peak and Steps the leak, Savings the allocator settings.
    let repeating = [Topic::Peak, Topic::Fragmentation, Topic::Steps, Topic::Savings];
    let counted: Vec<Topic> = whole.iter().copied().filter(|topic| !repeating.contains(topic)).collect();
    assert_eq!(page.marks().alarms, counted);
    assert!(!page.marks().is_busy && page.report_request().is_none());
}

/// The engine of a page cannot simulate, so the reports quote simulations of another worker.
#[test]
fn common_settings_are_simulated_after_all_reports_and_quoted_by_them() {
    let mut page = Page::new(SilentWorker);
    page.state = State::new(PageScheme::default());
    page.act(Action::Resized(face::CANVAS));
    let with_oom = DeviceSummary { allocations: 5, ..device(0, &[("alloc", 5), ("oom", 1)]) };
    page.load(vec![with_oom]);
    let simulation = |page: &Page| {
        page.find_request(|request| match request {
            Request::Ask(Ask { serial, question: Question::WhatIf(question), .. }) => {
                Some((*serial, *question.clone()))
            }
            _ => None,
        })
    };
    // A file with an OOM opens with its report.
    while page.report_request().is_some() {
        assert_eq!(simulation(&page), None, "reports come first");
        assert!(page.question().simulations.is_none());
        page.answer();
    }
    let (serial, question) = simulation(&page).expect("a simulation in the background");
    assert_eq!(question, WhatIfQuestion::common_settings(None));
    assert!(page.state.insights.is_simulating());
    let run = WhatIfRun { settings: "expandable_segments:False".into(), ..WhatIfRun::default() };
    let proof = WhatIfProof { is_exact: true, ..WhatIfProof::default() };
    let answer = WhatIf { proof, runs: vec![run], is_complete: true, ..WhatIf::default() };
    page.answer_with(serial, Answer::WhatIf(Box::new(answer.clone())));
    // Then the plans of the OOM, one by one.
    for _ in OomPlan::ALL {
        assert_eq!(page.report_request(), None, "not all simulations are known");
        let (serial, question) = simulation(&page).expect("a plan");
        assert!(question.is_planned, "{question:?}");
        page.answer_with(serial, Answer::WhatIf(Box::new(answer.clone())));
    }
    assert!(!page.state.insights.is_simulating());
    let mut quoting = Vec::new();
    while let Some((_, question)) = page.report_request() {
        let simulations = question.simulations.expect("simulations");
        assert_eq!((simulations.plans.len(), &simulations.settings), (OomPlan::ALL.len(), &answer));
        quoting.push(question.topic);
        page.answer();
    }
    assert_eq!(quoting.len(), 4, "{quoting:?}");
    assert_eq!((quoting[0], simulation(&page)), (Topic::OutOfMemory, None), "the visible one comes first");
}

#[test]
fn selected_topic_is_requested_first_and_reports_are_cached() {
    let mut page = Page::open_insights();
    assert_eq!(page.marks().alarms, [Topic::Peak]);
    page.act(Action::GoToEntered("end".into()));
    let (late, _) = page.report_request().expect("the same topic at another event");
    page.why(InsightsAction::TopicChosen(Topic::Modules));
    assert_eq!(page.question().topic, Topic::Modules, "the visible topic comes first");
    page.answer_with(late, Answer::Report(Box::default()));
    assert_eq!(page.view(), ReportView::default(), "no report yet");
    let (serial, _) = {
        page.why(InsightsAction::TopicChosen(Topic::Leaks));
        page.report_request().expect("a question")
    };
    page.answer_with(serial, Answer::Report(Box::new(Report { topic: Topic::Leaks, ..Report::default() })));
    assert_eq!(page.marks().note, "Nothing to report for this device.");
    page.why(InsightsAction::TopicChosen(Topic::Peak));
    assert_eq!(page.view().sheets.len(), 2, "the report of the previous cursor position is shown at once");
    page.answer();
    page.why(InsightsAction::TopicChosen(Topic::Leaks));
    assert_eq!(page.report_request(), None, "nothing changed");
    page.act(Action::DeviceChosen(1));
    assert_eq!(page.question().topic, Topic::Leaks, "report of the other device");
    assert_eq!((page.view(), page.marks().alarms), (ReportView::default(), vec![]));
}

#[test]
fn range_topic_opens_with_range_and_closes_with_it() {
    let mut page = Page::open_insights();
    page.answer_others();
    assert!(!page.marks().available.contains(&Topic::Range));
    page.why(InsightsAction::TopicChosen(Topic::Leaks));
    page.step(commands::TOGGLE_RANGE);
    assert!(page.state.cursor.range.is_some());
    assert_eq!((page.marks().topic, page.marks().available[0]), (Topic::Range, Topic::Range));
    assert_eq!(page.question().range, page.state.cursor.range);
    page.answer();
    page.step(commands::CLEAR_SELECTION);
    assert_eq!((page.state.cursor.range, page.marks().topic), (None, Topic::Leaks));
    // In another tab, a range opens nothing.
    page.act(Action::TabChosen(Tab::CallTree));
    page.step(commands::TOGGLE_RANGE);
    page.act(Action::TabChosen(Tab::Insights));
    assert_eq!(page.marks().topic, Topic::Leaks);
}

#[test]
fn evidence_click_applies_search_selection_cursor_and_window() {
    let mut page = Page::open_insights();
    page.state.views.node = Some(3);
    page.act(Action::MinimapRangeDrawn([0.1, 0.2]));
    page.why(InsightsAction::ItemClicked(2));
    assert_eq!(page.state.find.text, "train.py:12");
    let (serial, allocation) = page.details_asked().expect("details are requested for the selection");
    assert_eq!(allocation, 7);
    assert_eq!(
        (page.state.cursor.moment, page.state.cursor.range),
        (40, None),
        "the range is cleared because it would hide the cursor"
    );
    assert_eq!(page.state.views.node, None, "the node is deselected because it would hide the highlight");
    assert_eq!(page.window(), [29, 61], "the span with a margin");
    assert_eq!(page.marks().clicked, Some(2));
    let details = Details { allocation: 7, allocated_event: Some(10), freed_event: Some(90), ..Details::default() };
    page.answer_with(serial, Answer::Details(Some(Box::new(details))));
    assert_eq!(
        (page.window(), page.state.cursor.moment),
        ([29, 61], 40),
        "the allocation is live there, so nothing moves"
    );
    page.act(Action::Command(commands::UNDO_VIEW));
    assert_eq!(page.window(), [0, 1000], "one undo step");

    // Evidence with fewer parts undoes only what the previous click set.
    page.why(InsightsAction::ItemClicked(0));
    assert_eq!((page.window(), page.state.cursor.moment), ([96, 204], 40));
    assert_eq!((page.state.find.text.as_str(), page.state.selection.is_none()), ("", true));
    assert_eq!(page.marks().clicked, Some(0));
    page.act(Action::FindTyped(">1MiB".into()));
    page.why(InsightsAction::ItemClicked(4));
    assert_eq!(page.state.find.text, ">1MiB", "the user typed it");
    page.why(InsightsAction::ItemClicked(1));
    assert_eq!(page.marks().clicked, Some(4), "a statement without evidence does nothing");
    assert_eq!(page.marks().active, 1);
}

#[test]
fn evidence_span_on_time_axis_is_resolved_by_worker() {
    let mut page = Page::open_insights();
    page.state.axis = Axis::Time;
    page.act(Action::Command(commands::FIT_BOTH));
    page.why(InsightsAction::ItemClicked(0));
    let asked = page.effects.iter().find_map(|effect| match effect {
        Effect::Ask(Request::Ask(Ask { serial, question: Question::Moments(at), .. })) if at.len() == 2 => {
            Some((*serial, at.clone()))
        }
        _ => None,
    });
    let (serial, at) = asked.expect("a question");
    assert_eq!(at, [MomentSpec::Moment(100), MomentSpec::Moment(199)]);
    let before = page.window();
    let facts = |moment, time| MomentFacts {
        moment,
        position: AxisPoint { time, ..AxisPoint::default() },
        ..MomentFacts::default()
    };
    page.answer_with(serial + 1000, Answer::Moments(vec![facts(100, 1), facts(199, 2)]));
    assert_eq!(page.window(), before);
    page.answer_with(serial, Answer::Moments(vec![facts(100, 1000), facts(199, 2000)]));
    assert_eq!(page.window(), [961, 2041]);
}

#[test]
fn keys_move_through_summary_sentences_and_rows() {
    let mut page = Page::open_insights();
    page.step(commands::insights::UP);
    assert_eq!(page.marks().active, 0);
    page.step(commands::insights::LAST);
    assert_eq!(page.marks().active, 12, "two statements, ten of the twelve rows, and one");
    page.step(commands::insights::DOWN);
    page.step(commands::insights::SHOW_EVIDENCE);
    assert_eq!((page.marks().clicked, page.state.cursor.moment), (Some(12), 5));
    page.step(commands::insights::FIRST);
    page.step(commands::insights::DOWN);
    page.step(commands::insights::DOWN);
    page.step(commands::insights::TOGGLE_STACK);
    let stack = |page: &Page, row: usize| page.view().sheets[0].rows[row].stack.clone();
    assert_eq!(stack(&page, 0), StackView::Visible(vec!["a.py:1 f".into(), "b.py:2 g".into()], String::new()));
    page.step(commands::insights::TOGGLE_STACK);
    assert_eq!((stack(&page, 0), stack(&page, 2)), (StackView::Hidden, StackView::None));
    page.step(commands::insights::DOWN);
    page.step(commands::insights::SHOW_EVIDENCE);
    assert_eq!(
        stack(&page, 1),
        StackView::Visible(vec!["b.py:2 g".into()], String::new()),
        "a row with only a stack unfolds it"
    );
    page.step(commands::insights::COPY);
    assert!(page.copied().is_some_and(|text| text.starts_with("## Peak: a.pickle · GPU 0")), "{:?}", page.copied());
    page.why(InsightsAction::TopicChosen(Topic::Leaks));
    page.step(commands::insights::COPY);
    assert_eq!(page.copied(), None, "no report yet");
}

#[test]
fn more_rows_are_requested_once() {
    let mut page = Page::open_insights();
    let seen = |page: &Page| {
        let view = page.view();
        view.sheets.iter().map(|sheet| (sheet.rows.len(), sheet.more.clone())).collect::<Vec<_>>()
    };
    assert_eq!(seen(&page), [(10, "5 rows more".to_owned()), (1, String::new())]);
    assert_eq!(page.view().sheets[1].rows[0].index, 12);
    page.why(InsightsAction::ItemClicked(12));
    page.answer();
    page.why(InsightsAction::MoreClicked(0));
    assert_eq!(page.question().rows, 50);
    assert_eq!(seen(&page)[0], (12, "3 rows more".to_owned()), "loaded rows are shown at once");
    assert_eq!(page.marks().clicked, Some(14), "the same row at its new index");
    page.answer();
    page.why(InsightsAction::MoreClicked(0));
    assert_eq!(page.question().rows, 250);
    page.why(InsightsAction::MoreClicked(9));
}

#[test]
fn row_limit_removes_more_button() {
    let mut page = Page::open_insights();
    for rows in [50, 250, 1250, 5000] {
        page.why(InsightsAction::MoreClicked(0));
        assert_eq!(page.question().rows, rows);
        page.answer();
    }
    let sheet = &page.view().sheets[0];
    assert_eq!((sheet.more.as_str(), sheet.not_shown.as_str()), ("", "3 rows more"), "no button at the row limit");
}

#[test]
fn cursor_is_sent_only_for_topics_that_use_it() {
    let mut page = Page::open_insights();
    page.answer_others();
    for topic in Topic::ALL.into_iter().filter(|topic| !topic.depends_on_range()) {
        page.why(InsightsAction::TopicChosen(topic));
        if page.report_request().is_some() {
            assert_eq!(page.question().at.is_some(), topic.depends_on_cursor(), "{topic:?}");
            page.answer();
        }
        page.act(Action::GoToEntered(if page.state.cursor.moment == 4 { "4" } else { "3" }.into()));
        assert_eq!(page.report_request().is_some(), topic.depends_on_cursor(), "{topic:?}");
        if topic.depends_on_cursor() {
            page.answer();
        }
    }
}

#[test]
fn expanded_stack_closes_if_its_row_changes() {
    let mut page = Page::open_insights();
    page.why(InsightsAction::StackToggled(2));
    page.why(InsightsAction::StackToggled(3));
    page.act(Action::GoToEntered("3".into()));
    let (serial, _) = page.report_request().expect("request for another cursor position");
    let mut other = report(Topic::Peak);
    other.sheets[0].rows[0].stack = vec!["else.py:1 f".into()];
    page.answer_with(serial, Answer::Report(Box::new(other)));
    let stacks: Vec<StackView> = page.view().sheets[0].rows[..2].iter().map(|row| row.stack.clone()).collect();
    assert_eq!(stacks, [StackView::Hidden, StackView::Visible(vec!["b.py:2 g".into()], String::new())]);
}

#[test]
fn row_steps_through_its_stacks() {
    let mut page = Page::open_insights();
    page.act(Action::GoToEntered("3".into()));
    let (serial, _) = page.report_request().expect("request for another cursor position");
    let mut other = report(Topic::Peak);
    other.sheets[0].rows[0].other_stacks = vec![vec!["c.py:3 h".into()], vec!["d.py:4 i".into()]];
    page.answer_with(serial, Answer::Report(Box::new(other)));
    let stack = |page: &Page| match page.view().sheets[0].rows[0].stack.clone() {
        StackView::Visible(lines, place) => (lines[0].clone(), place),
        other => panic!("{other:?}"),
    };
    let mut seen = Vec::new();
    for by in [1, 1, 1, 1, -1] {
        page.why(InsightsAction::StackStepped(2, by));
        seen.push(stack(&page));
    }
    let shown = |line: &str, number: u32| (line.to_owned(), format!("{number} of 3 stacks"));
    let [first, second, third] = [shown("a.py:1 f", 1), shown("c.py:3 h", 2), shown("d.py:4 i", 3)];
    assert_eq!(seen, [first.clone(), second, third.clone(), first, third], "the first step opens the row");
    page.step(commands::insights::NEXT_STACK);
    assert_eq!(stack(&page).1, "1 of 3 stacks");
    page.step(commands::insights::PREVIOUS_STACK);
    assert_eq!(stack(&page).1, "3 of 3 stacks");
    page.why(InsightsAction::StackToggled(2));
    assert_eq!(page.view().sheets[0].rows[0].stack, StackView::Hidden);
}

#[test]
fn threshold_changed_before_reply_uses_last_value() {
    let mut page = Page::open_insights();
    page.why(InsightsAction::ThresholdSet(0, "5".into()));
    let (serial, question) = page.report_request().expect("a question");
    page.why(InsightsAction::ThresholdSet(0, "1048576".into()));
    page.answer_with(serial, Answer::Report(Box::new(report(question.topic))));
    assert_eq!(page.question().thresholds, [("late".to_owned(), 1 << 20)], "the threshold typed last");
}

#[test]
fn category_rows_in_rules_dialog_are_not_clickable() {
    let mut page = Page::open_insights();
    page.why(InsightsAction::TopicChosen(Topic::Categories));
    page.answer();
    let sheet = memscape::ui::features::insights::view::categories(&page.state.insights).expect("a categories sheet");
    assert!(sheet.rows.iter().all(|row| !row.has_evidence && row.stack == StackView::None));
    assert!(page.view().sheets[0].rows.iter().any(|row| row.has_evidence && row.stack != StackView::None));
}

#[test]
fn threshold_change_requests_report_and_is_kept_per_topic() {
    let mut page = Page::open_insights();
    page.answer_others();
    let mut set = |text: &str| {
        page.why(InsightsAction::ThresholdSet(0, text.into()));
        let asked = page.report_request().map(|(_, question)| question.thresholds);
        if asked.is_some() {
            page.answer();
        }
        asked
    };
    assert_eq!(set("1048576"), None, "the value does not change");
    assert_eq!((set("-1"), set("many"), set("1e99")), (None, None, None), "not a number");
    assert_eq!(set(" 5 "), Some(vec![("late".to_owned(), 5)]));
    assert_eq!(set("2 KiB"), Some(vec![("late".to_owned(), 2048)]), "sizes have units");
    assert_eq!(set("18446744073709551615"), Some(vec![("late".to_owned(), u64::MAX)]));
    page.why(InsightsAction::TopicChosen(Topic::Leaks));
    assert_eq!(page.question().thresholds, [], "another topic has its own threshold");
    page.answer();
    page.act(Action::DeviceChosen(1));
    page.answer();
    // The first hidden topics are requested first.
    for topic in [Topic::OutOfMemory, Topic::Savings] {
        assert_eq!(page.question().topic, topic);
        page.answer();
    }
    assert_eq!(page.question().topic, Topic::Peak);
    assert_eq!(page.question().thresholds, [("late".to_owned(), u64::MAX)], "a threshold applies to all devices");
    page.answer_others();
    page.why(InsightsAction::TopicChosen(Topic::Peak));
    page.why(InsightsAction::ThresholdSet(0, String::new()));
    assert_eq!(page.question().thresholds, [], "an empty field restores the default");
    let (threshold, short) = page.view().sheets[0].threshold.clone().expect("a threshold");
    assert_eq!((threshold.value, short.as_str()), (1 << 20, "1.00 MiB"));
}

#[test]
fn oom_file_opens_with_oom_insight() {
    let mut page =
        Page::with_devices(SilentWorker, vec![device(0, &[("alloc", 9)]), device(3, &[("alloc", 9), ("oom", 1)])]);
    assert_eq!((page.state.views.visible(), page.question().topic), (Some(Tab::Insights), Topic::OutOfMemory));
    assert_eq!(page.state.device().map(|device| device.device), Some(3), "device with the OOM");
    page.load(vec![device(0, &[("oom", 0)])]);
    assert_eq!(page.question().topic, Topic::Peak, "the next file has no OOM");
    let page = Page::with_devices(SilentWorker, vec![device(0, &[("alloc", 9)])]);
    assert_eq!(page.state.views.visible(), Some(Tab::CallTree));
}

#[test]
fn column_kind_is_derived_from_cells() {
    let page = Page::open_insights();
    let sheet = &page.view().sheets[0];
    let kinds: Vec<ColumnKind> = sheet.columns.iter().map(|(_, kind)| *kind).collect();
    assert_eq!(kinds, [ColumnKind::Number, ColumnKind::Share, ColumnKind::Name]);
    let cells = &sheet.rows[0].cells;
    assert_eq!(
        (cells[0].0.text.as_str(), cells[0].0.exact.as_str(), cells[0].1.as_str()),
        ("2.00 KiB", "2,048 B", "2048")
    );
    assert_eq!(
        (cells[1].0.text.as_str(), cells[1].0.per_mille, cells[1].1.as_str()),
        ("50.0 %", Some(500), "0.500000")
    );
    assert_eq!(sheet.total[0].text, "4.00 KiB");
}

#[test]
fn table_is_copied_with_plain_numbers() {
    let mut page = Page::open_insights();
    page.why(InsightsAction::Copied(1));
    assert_eq!(page.copied(), Some("Requested\tShare\tCall site\n1\t0.000244\td.py:4\n4096\n"));
    let rows = vec![SheetRow {
        cells: vec![
            Cell::Text("a\tb\nc".into()),
            Cell::Empty,
            Cell::Change(-2048),
            Cell::Ratio(1.5),
            Cell::Micros(7),
            Cell::Event(-1),
            Cell::Share { part: 3, whole: 0 },
        ],
        ..SheetRow::default()
    }];
    let mut page = Page::with_devices(SilentWorker, vec![device(0, &[])]);
    page.act(Action::TabChosen(Tab::Insights));
    let (serial, _) = page.report_request().expect("a question");
    let sheets = vec![Sheet { rows, ..Sheet::default() }];
    page.answer_with(serial, Answer::Report(Box::new(Report { sheets, ..Report::default() })));
    page.why(InsightsAction::Copied(0));
    assert_eq!(page.copied(), Some("\na b c\t\t-2048\t1.500000\t7\t-1\t\n"));
}
