//! Link keys of the Insights tab: topic, thresholds and numbers of visible rows.

use crate::features::insights::InsightsTab;
use crate::state::link_value::{Key, ValueReader, format_list, history_key, view_key, word_if};
use protocol::Topic;

/// Maximum length of the key of a threshold or table, in bytes.
const MAX_KEY: usize = 32;

pub(super) const LINKS: &[Key<InsightsTab>] = &[
    history_key(
        "topic",
        |tab, _| word_if(tab.topic != Topic::default(), tab.topic.name()),
        |tab, _, link| tab.topic = link.check(Topic::from_name(link.text)).unwrap_or_default(),
    ),
    view_key(
        "threshold",
        |tab, _| format_sheet_values(tab.thresholds()),
        |tab, _, link| {
            let all = parse_sheet_values(link);
            tab.set_thresholds(all);
        },
    ),
    view_key(
        "rows",
        |tab, _| format_sheet_values(tab.row_limits()),
        |tab, _, link| {
            let all = parse_sheet_values(link);
            tab.set_row_limits(all);
        },
    ),
];

/// Formats thresholds or numbers of rows as a list of `topic:key:number`. The key names the threshold or the table.
fn format_sheet_values(all: &[(Topic, String, u64)]) -> String {
    format_list(&mut all.iter().map(|(topic, key, value)| [topic.name(), ":", key, ":", &value.to_string()].concat()))
}

/// Parses a list of thresholds or numbers of rows. Ignores invalid entries.
fn parse_sheet_values(link: &mut ValueReader<'_>) -> Vec<(Topic, String, u64)> {
    let mut all = Vec::new();
    link.for_each_entry(&mut |entry| parse_sheet_value(entry).map(|one| all.push(one)));
    all
}

fn parse_sheet_value(entry: &str) -> Option<(Topic, String, u64)> {
    let mut parts = entry.splitn(3, ':');
    let (topic, key, value) = (Topic::from_name(parts.next()?)?, parts.next()?, parts.next()?.parse().ok()?);
    let is_key = |key: &str| {
        !key.is_empty() && key.len() <= MAX_KEY && key.bytes().all(|it| it == b'_' || it.is_ascii_alphanumeric())
    };
    is_key(key).then(|| (topic, key.to_owned(), value))
}
