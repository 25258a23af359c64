//! Link keys of the Insights tab: topic, thresholds and numbers of visible rows.

use super::Why;
use crate::link::reading::{Key, Reading, kept, list, step, word};
use engine::protocol::Topic;

/// Maximum length of the key of a threshold or sheet, in bytes.
const LONGEST_KEY: usize = 32;

pub(super) const LINKS: &[Key<Why>] = &[
    step(
        "topic",
        |why, _| word(why.topic != Topic::default(), why.topic.name()),
        |why, _, link| why.topic = link.take(Topic::named(link.text)).unwrap_or_default(),
    ),
    kept(
        "threshold",
        |why, _| of_sheets(why.thresholds()),
        |why, _, link| {
            let all = set_of_sheets(link);
            why.set_thresholds(all);
        },
    ),
    kept(
        "rows",
        |why, _| of_sheets(why.limits()),
        |why, _, link| {
            let all = set_of_sheets(link);
            why.set_limits(all);
        },
    ),
];

/// Formats settings of sheets as `topic:key:number`, where `key` is that of a threshold or sheet.
fn of_sheets(all: &[(Topic, String, u64)]) -> String {
    list(&mut all.iter().map(|(topic, key, value)| [topic.name(), ":", key, ":", &value.to_string()].concat()))
}

/// Parses settings of sheets. Invalid entries are ignored.
fn set_of_sheets(link: &mut Reading<'_>) -> Vec<(Topic, String, u64)> {
    let mut all = Vec::new();
    link.each(&mut |entry| of_sheet(entry).map(|one| all.push(one)));
    all
}

fn of_sheet(entry: &str) -> Option<(Topic, String, u64)> {
    let mut parts = entry.splitn(3, ':');
    let (topic, key, value) = (Topic::named(parts.next()?)?, parts.next()?, parts.next()?.parse().ok()?);
    let is_key = |key: &str| {
        !key.is_empty() && key.len() <= LONGEST_KEY && key.bytes().all(|it| it == b'_' || it.is_ascii_alphanumeric())
    };
    is_key(key).then(|| (topic, key.to_owned(), value))
}
