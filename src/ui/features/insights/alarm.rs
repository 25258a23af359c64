//! The alarm: the finding of a file that needs attention first, in one sentence below the header of the page. Of many
//! ranks, the file that ran out of memory, or how the ranks differ. In a comparison, its verdict.

use crate::features::insights::data::{Alarm, InsightsTab, TopicQuestion};
use crate::features::insights::simulation::is_expected;
use crate::features::insights::view::comparison_verdict;
use crate::session::heading::heading;
use crate::state::outbox::{Intent, Outbox};
use crate::state::ranks::Survey;
use crate::state::shared::Shared;
use crate::state::views::Views;
use crate::text::names::shorten;
use crate::text::tab::Tab;
use base::units::Bytes;
use protocol::{DeviceSummary, Report, Tone, Topic};

/// Maximum length of the name of a file, in characters.
const MAX_NAME: usize = 32;

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
        // Users who open many ranks ask first how they differ, and then what one of them could save: the last topic.
        let ranks = ranks_report(tab, shared).and_then(|report| report.headline.as_ref());
        if let Some(headline) = ranks.filter(|_| Topic::ALARMS.last() == Some(&topic)) {
            tab.alarm = Alarm::Raised { topic: Topic::Ranks, text: headline.text.clone() };
            return;
        }
        let Some(report) = tab.report_of(topic) else { return };
        if let Some(headline) = &report.headline {
            tab.alarm = Alarm::Raised { topic, text: whose(shared) + &headline.text };
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

/// Returns the name of the open file and a colon, if several files are open.
fn whose(shared: &Shared) -> String {
    let (name, common) = heading(shared);
    if shared.snapshots.len() > 1 { shorten(&name, common, MAX_NAME) + ": " } else { String::new() }
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

/// Returns the report on all ranks. `None` until all are surveyed.
fn ranks_report<'a>(tab: &'a InsightsTab, shared: &Shared) -> Option<&'a Report> {
    let ranks = &shared.ranks;
    let is_final = |it: &TopicQuestion| it.topic == Topic::Ranks && it.cursor_or_version == Some(ranks.version);
    let found = tab.reports.iter().find(|(question, _)| is_final(question)).filter(|_| ranks.stage == Survey::Done);
    found.map(|(_, report)| &**report)
}

/// Returns the sentence that is shown if nothing was found. A recording of at most one event, such as a ring buffer of
/// one entry, says nothing about leaks.
pub fn no_alarm_text(shared: &Shared) -> String {
    let recorded = match shared.device() {
        None => return String::new(),
        Some(DeviceSummary { events: 0, .. }) => "No events",
        Some(DeviceSummary { events: 1, .. }) => "Only one event",
        Some(_) => return "No out-of-memory error, no leak, no saving above 5\u{a0}% found.".to_owned(),
    };
    let end = shared.device().map_or(0, |device| device.end_requested);
    format!("{recorded} recorded, so leaks are unknown. Live at the snapshot: {}.", Bytes(end))
}

/// Opens the snapshot of the rank that ran out of memory once all ranks are surveyed, unless the user has chosen a
/// snapshot, or is using the open one.
pub(super) fn open_failed_rank(tab: &InsightsTab, shared: &Shared, out: &mut Outbox) {
    let ranks = &shared.ranks;
    let is_in_use = shared.selection.is_some() || shared.cursor.range.is_some();
    if !ranks.tries_next || is_in_use {
        return;
    }
    let first = ranks_report(tab, shared)
        .and_then(|report| report.statements.first())
        .filter(|first| first.tone == Tone::Alarm);
    let open = first.and_then(|first| first.evidence.as_ref()?.open);
    if let Some((index, None)) = open
        && index as usize != shared.snapshot_index
    {
        out.intend(Intent::OpenFile(index as usize, None));
        out.intend(Intent::OpenTopic(Topic::Ranks));
    }
}
