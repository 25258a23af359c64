//! The alarm below the header: the most important headline of all reports.

use crate::ui_report::{Page, SilentWorker, device, report};
use memscape::engine::Answer;
use memscape::protocol::{Headline, Report, Topic};
use memscape::ui::features::insights::{Alarm, InsightsAction};
use memscape::ui::shell::action::Action;
use memscape::ui::text::tab::Tab;

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
fn alarm_opens_its_report_with_half_of_the_height() {
    let mut page = Page::with_devices(SilentWorker, vec![device(0, &[])]);
    page.act(Action::TabChosen(Tab::Insights));
    answer_with_headlines(&mut page, &[Topic::Leaks]);
    assert_eq!(page.state.views.shown_height(), 30, "a late alarm moves nothing");
    page.act(Action::TabChosen(Tab::CallTree));
    page.why(InsightsAction::AlarmClicked);
    assert_eq!((page.state.views.tab, page.state.insights.topic), (Tab::Insights, Topic::Leaks));
    assert_eq!(page.state.views.shown_height(), 50);
    let [from, to] = page.window();
    assert!(from <= 100 && to >= 199 && to - from < 120, "the evidence of the headline is shown: {from}–{to}");
    page.act(Action::ViewsResized(40));
    assert_eq!(page.state.views.shown_height(), 40, "the user's height counts");
}

#[test]
fn file_that_ran_out_of_memory_opens_with_half_of_the_height() {
    let mut page = Page::with_devices(SilentWorker, vec![device(0, &[("oom", 1)])]);
    assert_eq!((page.state.views.tab, page.state.insights.topic), (Tab::Insights, Topic::OutOfMemory));
    assert_eq!(page.state.views.shown_height(), 50);
    page.load(vec![device(0, &[])]);
    assert_eq!(page.state.views.shown_height(), 30, "the next file has no alarm");
}
