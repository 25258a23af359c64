//! Link key of the Source tab: the expanded files.

use crate::features::sources::Sources;
use crate::state::link_value::{Key, MAX_LIST, MAX_VALUE, ValueReader, view_key};
use crate::state::shared::Shared;
use crate::text::url::percent_decoded;

pub(super) const LINKS: &[Key<Sources>] = &[view_key("files", files, set_files)];

/// Formats the paths of the expanded files, up to the maximum length. A single comma means that no file is expanded.
fn files(sources: &Sources, _: &Shared) -> String {
    let Some(open) = sources.expanded() else { return String::new() };
    let mut text = String::new();
    for path in open.iter().take(MAX_LIST) {
        // Commas separate the entries.
        let entry = path.replace('%', "%25").replace(',', "%2C");
        if text.len() + entry.len() < MAX_VALUE {
            text.extend([if text.is_empty() { "" } else { "," }, &entry]);
        }
    }
    if text.is_empty() { ",".to_owned() } else { text }
}

fn set_files(sources: &mut Sources, _: &Shared, link: &mut ValueReader<'_>) {
    let mut open = Vec::new();
    link.for_each_entry(&mut |entry| {
        if !entry.is_empty() {
            open.push(percent_decoded(entry));
        }
        Some(())
    });
    sources.set_expanded(Some(open).filter(|_| !link.text.is_empty()));
}
