//! The alarm: the finding of a file that needs attention first, in one sentence below the header of the page. Of many
//! ranks, the file that ran out of memory.

use crate::features::insights::data::{Alarm, InsightsTab, TopicQuestion};
use crate::state::outbox::{Intent, Outbox};
use crate::state::ranks::Survey;
use crate::state::shared::Shared;
use protocol::{Tone, Topic};

/// Updates the alarm after a report has arrived. It stays as it was while a report is missing.
pub(super) fn update(tab: &mut InsightsTab) {
    for topic in Topic::ALARMS {
        let Some(report) = tab.report_of(topic) else { return };
        if let Some(headline) = &report.headline {
            tab.alarm = Alarm::Raised { topic, text: headline.text.clone() };
            return;
        }
    }
    tab.alarm = Alarm::None;
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
