//! The legend as lines of text.

use crate::engine::protocol::{Grouping, LegendEntry};
use crate::sorted::sorted_by_key;
use crate::units::{Bytes, counted, grouped};
use std::collections::BTreeSet;

/// One line of the legend.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Its slot of the palette.
    pub slot: u32,
    /// What the colour means.
    pub label: String,
    /// Bytes of it at the peak, and how many allocations they are.
    pub bytes: String,
    /// Bytes of it at the moment, and at the peak.
    pub columns: [String; 2],
    /// Both to the byte.
    pub exact: String,
    /// Whether it is faded.
    pub faded: bool,
}

/// What stands above the lines.
pub fn title(colouring: Grouping) -> String {
    format!("Colour: {} (requested bytes at the peak)", noun(colouring))
}

/// What a grouping goes by.
pub fn noun(grouping: Grouping) -> &'static str {
    match grouping {
        Grouping::CallSite => "call site",
        Grouping::Size => "size",
        Grouping::Lifetime => "lifetime",
        Grouping::Age => "age",
        Grouping::Stream => "stream",
        Grouping::Pool => "pool",
        Grouping::Category => "category",
        Grouping::Annotation => "annotation",
        Grouping::CompileContext => "compiled region",
    }
}

/// The lines: what has an order in it, everything else with the most bytes first; what has none at the peak and at the moment is left
/// out, unless it is faded.
pub fn lines(colouring: Grouping, entries: &[LegendEntry], faded: &BTreeSet<u32>) -> Vec<Line> {
    let has_some = |entry: &&LegendEntry| entry.peak_count > 0 || entry.at.count > 0 || faded.contains(&entry.slot);
    let shown = entries.iter().filter(has_some);
    let most_first = |entry: &&LegendEntry| if colouring.is_ordered() { 0 } else { u128::from(!entry.peak_requested) };
    let shown = sorted_by_key(shown.collect(), most_first);
    shown
        .into_iter()
        .map(|entry| Line {
            slot: entry.slot,
            label: entry.label.clone(),
            bytes: format!("{} · {}", Bytes(entry.peak_requested), counted(entry.peak_count, "block")),
            columns: [entry.at.bytes, entry.peak_requested].map(|bytes| Bytes(bytes).to_string()),
            exact: exact(entry),
            faded: faded.contains(&entry.slot),
        })
        .collect()
}

fn exact(entry: &LegendEntry) -> String {
    let mut text = entry.label.clone();
    let parts = [("moment", entry.at.bytes, entry.at.count.into()), ("peak", entry.peak_requested, entry.peak_count)];
    for (when, bytes, count) in parts {
        for part in ["\nat the ", when, " ", &grouped(bytes), " B requested in ", &counted(count, "allocation")] {
            text.push_str(part);
        }
    }
    text
}
