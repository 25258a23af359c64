//! The legend as lines of text.

use crate::engine::protocol::{Grouping, LegendEntry};
use crate::units::Bytes;
use crate::units::counted;
use std::collections::BTreeSet;

/// One line of the legend.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Its slot of the palette.
    pub slot: u32,
    /// What the colour means.
    pub label: String,
    /// Bytes of it at the peak.
    pub bytes: String,
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
    }
}

/// The lines: call sites by the area they cover, everything else in its own order; what has no bytes at the peak of an ordered
/// kind is left out.
pub fn lines(entries: &[LegendEntry], faded: &BTreeSet<u32>) -> Vec<Line> {
    let shown = entries.iter().filter(|entry| entry.peak_count > 0 || faded.contains(&entry.slot));
    shown
        .map(|entry| Line {
            slot: entry.slot,
            label: entry.label.clone(),
            bytes: format!("{} · {}", Bytes(entry.peak_requested), counted(entry.peak_count, "block")),
            faded: faded.contains(&entry.slot),
        })
        .collect()
}
