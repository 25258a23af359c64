//! The alarm: the finding of a file that needs attention first, in one sentence below the header of the page.

use crate::features::insights::data::{Alarm, InsightsTab};
use protocol::Topic;

/// Topics whose headlines raise the alarm, the most important first.
pub(super) const ALARM_TOPICS: [Topic; 3] = [Topic::OutOfMemory, Topic::Leaks, Topic::Savings];

/// Updates the alarm after a report has arrived. It stays as it was while a report is missing.
pub(super) fn update(tab: &mut InsightsTab) {
    for topic in ALARM_TOPICS {
        let Some(report) = tab.report_of(topic) else { return };
        if let Some(headline) = &report.headline {
            tab.alarm = Alarm::Raised { topic, text: headline.text.clone() };
            return;
        }
    }
    tab.alarm = Alarm::None;
}
