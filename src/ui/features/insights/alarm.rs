//! The alarm: the finding of a file that needs attention first, in one sentence below the header of the page. Of many
//! ranks, the file that ran out of memory. In a comparison, its verdict.

use crate::features::insights::data::{Alarm, InsightsTab, TopicQuestion};
use crate::features::insights::simulation::is_expected;
use crate::features::insights::view::comparison_verdict;
use crate::state::outbox::{Intent, Outbox};
use crate::state::ranks::Survey;
use crate::state::shared::Shared;
use crate::state::views::Views;
use crate::text::tab::Tab;
use protocol::{Tone, Topic};

/// Updates the alarm, and opens the report of a leak when it is found. The alarm stays as it was while a report is
/// missing, or the simulation that may find a saving.
pub(super) fn update(tab: &mut InsightsTab, shared: &Shared, out: &mut Outbox) {
    let was_known = tab.alarm != Alarm::Unknown;
    let is_verdict = matches!(tab.alarm, Alarm::Raised { topic: Topic::Comparison, .. });
    if shared.comparing.pair.is_some() {
        // A finding about A alone would be read as one about both.
        match comparison_verdict(tab, shared) {
            Some(text) => tab.alarm = Alarm::Raised { topic: Topic::Comparison, text },
            None if !is_verdict => tab.alarm = Alarm::Unknown,
            None => {}
        }
        return;
    }
    if is_verdict {
        tab.alarm = Alarm::Unknown;
    }
    for topic in Topic::ALARMS {
        let Some(report) = tab.report_of(topic) else { return };
        if let Some(headline) = &report.headline {
            tab.alarm = Alarm::Raised { topic, text: headline.text.clone() };
            if topic == Topic::Leaks && !was_known {
                open_leak(tab, shared, out);
            }
            return;
        }
    }
    if !is_expected(tab, shared) {
        tab.alarm = Alarm::None;
    }
}

/// Opens the report of a leak with half of the height of the window, unless the user is using the page already.
fn open_leak(tab: &mut InsightsTab, shared: &Shared, out: &mut Outbox) {
    let views = &shared.views;
    let is_at_start = [Topic::default(), Topic::Leaks].contains(&tab.topic)
        && views.visible() == Some(Tab::Insights)
        && views.height == Views::default().height;
    let is_in_use = tab.clicked.is_some()
        || !tab.open_stacks.is_empty()
        || shared.selection.is_some()
        || shared.cursor.range.is_some()
        || shared.comparing.pair.is_some()
        || shared.plane().zip(shared.view()).is_none_or(|(plane, view)| plane.fit_like(view).x_per_px != view.x_per_px);
    if is_at_start && !is_in_use {
        (tab.topic, tab.active) = (Topic::Leaks, 0);
        out.intend(Intent::GiveRoom(true));
    }
}

/// Opens the snapshot of the rank that ran out of memory once all ranks are surveyed, unless the user has chosen a
/// snapshot, or is using the open one.
pub(super) fn open_failed_rank(tab: &InsightsTab, shared: &Shared, out: &mut Outbox) {
    let ranks = &shared.ranks;
    let is_in_use = shared.selection.is_some() || shared.cursor.range.is_some();
    if ranks.stage != Survey::Done || !ranks.tries_next || is_in_use {
        return;
    }
    let is_final = |it: &TopicQuestion| it.topic == Topic::Ranks && it.cursor_or_version == Some(shared.ranks.version);
    let report = tab.reports.iter().find(|(question, _)| is_final(question)).map(|(_, report)| report);
    let first = report.and_then(|report| report.statements.first()).filter(|first| first.tone == Tone::Alarm);
    let open = first.and_then(|first| first.evidence.as_ref()?.open);
    if let Some((index, None)) = open
        && index as usize != shared.snapshot_index
    {
        out.intend(Intent::OpenFile(index as usize, None));
        out.intend(Intent::OpenTopic(Topic::Ranks));
    }
}
