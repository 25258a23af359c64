//! Charts of a report: curves, stacked bars, heat maps and differential flame graphs.

use crate::text::amount::{change, per_mille};
use base::units::{Bytes, pluralize};
use protocol::{Chart, DeltaBox, HeatMap};

/// A chart below a summary sentence.
#[derive(Clone, Debug, PartialEq)]
pub struct ChartView {
    pub kind: ChartKind,
    /// Bars of a curve, or sections of a stacked bar.
    pub marks: Vec<ChartMark>,
    /// Description for screen readers, such as the start and end values of a curve. Empty for a stacked bar.
    pub text: String,
    pub map: Option<HeatMap>,
    /// Boxes of a differential flame graph.
    pub boxes: Vec<BoxView>,
}

/// A box of a differential flame graph.
#[derive(Clone, Debug, PartialEq)]
pub struct BoxView {
    pub depth: u32,
    /// Left edge of the box, from 0 to [`DeltaBox::FULL_WIDTH`], the full width.
    pub left: u32,
    pub width: u32,
    /// Difference and name, such as `▲ +1.20 GiB model.py:12 forward`.
    pub label: String,
    pub title: String,
    /// CSS class: `more`, `less` or `same`.
    pub direction: &'static str,
}

/// Type of a chart: bars, a stacked bar, a heat map or a differential flame graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChartKind {
    /// Bars from left to right, one per value.
    Curve,
    /// Sections of a stacked bar.
    Parts,
    Map,
    /// A differential flame graph.
    Delta,
}

/// A bar of a curve, or a section of a stacked bar.
#[derive(Clone, Debug, PartialEq)]
pub struct ChartMark {
    /// Height relative to the highest bar, or share of the stacked bar, in thousandths.
    pub per_mille: u32,
    /// Name and bytes, such as `Live 3.20 GiB`.
    pub label: String,
    /// Palette slot. See [`protocol::ChartPart::slot`].
    pub slot: Option<u32>,
}

/// Formats a chart.
pub(super) fn chart(chart: &Chart) -> ChartView {
    let mark = |whole: u64, bytes: u64, name: &str, slot| ChartMark {
        slot,
        per_mille: per_mille(bytes, whole),
        label: [name, " ", &Bytes(bytes).to_string()].concat().trim().to_owned(),
    };
    match chart {
        Chart::Parts(parts) => {
            let whole = parts.iter().fold(0u64, |sum, part| sum.saturating_add(part.bytes));
            let marks = parts.iter().map(|part| mark(whole, part.bytes, &part.name, part.slot)).collect();
            ChartView { kind: ChartKind::Parts, marks, text: String::new(), map: None, boxes: Vec::new() }
        }
        Chart::Line { values, ends } => {
            let highest = values.iter().copied().max().unwrap_or(0);
            let text = |bytes: Option<&u64>, end: &str| {
                let position = if end == "start" { " at the " } else { " after " };
                [&Bytes(bytes.copied().unwrap_or(0)).to_string(), position, end].concat()
            };
            let text = [text(values.first(), &ends[0]), text(values.last(), &ends[1])].join(" → ");
            let marks = values.iter().map(|&bytes| mark(highest, bytes, "", None)).collect();
            ChartView { kind: ChartKind::Curve, marks, text, map: None, boxes: Vec::new() }
        }
        Chart::HeatMap(map) => ChartView {
            kind: ChartKind::Map,
            marks: Vec::new(),
            text: map_text(map),
            map: Some(map.clone()),
            boxes: Vec::new(),
        },
        Chart::Delta(by, boxes) => ChartView {
            kind: ChartKind::Delta,
            marks: Vec::new(),
            text: ["Live bytes (requested) by ", by, ". Width: the larger of A and B. ▲ more in B, ▼ less."].concat(),
            map: None,
            boxes: boxes.iter().map(box_view).collect(),
        },
    }
}

/// Formats a box of a differential flame graph. A symbol shows the direction of the change in addition to the colour,
/// and the tooltip has both sizes.
fn box_view(delta_box: &DeltaBox) -> BoxView {
    let (direction, glyph) = match delta_box.b.cmp(&delta_box.a) {
        std::cmp::Ordering::Greater => ("more", "▲ "),
        std::cmp::Ordering::Less => ("less", "▼ "),
        std::cmp::Ordering::Equal => ("same", ""),
    };
    let delta = if delta_box.a == delta_box.b { String::new() } else { change(delta_box.a, delta_box.b) + " " };
    let label = [glyph, &delta, &delta_box.name].concat();
    let title = [&label, "\nA ", &Bytes(delta_box.a).to_string(), " · B ", &Bytes(delta_box.b).to_string()].concat();
    BoxView { depth: delta_box.depth, left: delta_box.left, width: delta_box.width, label, title, direction }
}

/// Describes a heat map of ranks for screen readers.
fn map_text(map: &HeatMap) -> String {
    let whole = if map.is_reserved { "the highest peak reserved" } else { "the highest peak" };
    let aligned = match map.steps {
        0 => "from the first event to the last".to_owned(),
        steps => format!("aligned by {}", pluralize(steps.into(), "step")),
    };
    format!("Live bytes (requested) of each rank, {aligned}. Scale: 0 to {}, {whole}.", Bytes(map.max))
}
