//! Parses and formats a range of events to load, as typed or in a link.

use base::units::group_digits;
use protocol::LoadRange;

/// Key of the range in links.
pub(crate) const LINK_KEY: &str = "load";

/// Parses a range: `last 1,000,000`, `2000000..3000000`, `2000000..`, `..3000000`. Both ends are inclusive.
pub(crate) fn parse(text: &str) -> Option<LoadRange> {
    let text: String = text.chars().filter(|c| !c.is_whitespace() && !matches!(c, ',' | '_')).collect();
    let text = text.to_ascii_lowercase();
    if text == "all" {
        return Some(LoadRange::ALL);
    }
    if let Some(count) = text.strip_prefix("last") {
        return count
            .parse()
            .ok()
            .filter(|&last| last > 0)
            .map(|last| LoadRange { max_events: last, ..LoadRange::ALL });
    }
    let (from, to) = text.split_once("..").or_else(|| text.split_once(['-', '–']))?;
    let number = |text: &str, none: u32| if text.is_empty() { Some(none) } else { text.parse().ok() };
    let (from, to) = (number(from, 0)?, number(to, u32::MAX)?);
    (from <= to).then(|| LoadRange { from, to: to.saturating_add(1), ..LoadRange::ALL })
}

/// Formats a range for display, in the syntax of [`parse`].
pub(crate) fn to_text(range: LoadRange) -> String {
    let LoadRange { from, to, max_events: last } = range;
    match (to, last) {
        (u32::MAX, u32::MAX) => [&group_digits(from.into()), ".."].concat(),
        (to, u32::MAX) => [&group_digits(from.into()), "..", &group_digits(u64::from(to).saturating_sub(1))].concat(),
        (_, last) => ["last ", &group_digits(last.into())].concat(),
    }
}

/// Formats a range for a link. Empty if all events are loaded.
pub(crate) fn link_value(range: Option<LoadRange>) -> String {
    range
        .filter(|range| *range != LoadRange::ALL)
        .map_or_else(String::new, |range| to_text(range).chars().filter(|c| !matches!(c, ',' | ' ')).collect())
}

#[cfg(test)]
#[path = "../../../tests/units/ui/load_range.rs"]
mod tests;
