//! View models of the comparison: the comparison bar above the timeline, and the difference curve below the timeline.

use crate::plot::comparing;
use crate::state::compared_at::ComparedAt;
use crate::state::comparing::SecondFile;
use crate::state::line::{Curve, CurveLabel, Line, steps};
use crate::state::shared::Shared;
use crate::text::amount::{change, event_name};
use base::units::{Bytes, group_digits};
use picture::timeline::View;
use protocol::{Align, DeltaCurve, MatchKey, split_ordinal};

/// Contents of the comparison bar above the timeline.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ComparisonBar {
    /// Name and progress of the second file while it loads, otherwise empty.
    pub loading: String,
    /// Names of A and B, each with file and device. Empty until both are known.
    pub sides: [String; 2],
    /// Index in [`ComparedAt::ALL`] of the moments to compare.
    pub at: usize,
    /// Index of the match key in the picker, where 0 is "automatic".
    pub key: usize,
    /// Index of the alignment in the picker, where 0 is "automatic".
    pub align: usize,
    /// Label of the picker's entry "automatic", with the alignment that was selected automatically.
    pub automatic_label: String,
    pub paths: String,
    /// Live bytes of A and B at the cursor, with three significant digits.
    pub cursor: String,
    /// Exact live bytes of A and B at the cursor.
    pub cursor_exact: String,
    pub is_overlaid: bool,
}

/// Builds the comparison bar. `None` if nothing is compared.
pub fn bar(state: &Shared) -> Option<ComparisonBar> {
    let comparing = &state.comparing;
    let loading = match &comparing.second {
        SecondFile::Loading(loading, _) => {
            let part = loading.total_bytes.filter(|total| *total > 0).map(|total| loading.bytes * 100 / total);
            let part = part.map_or_else(String::new, |part| format!(" {} %", part.min(100)));
            ["Loading ", &loading.name, "…", &part].concat()
        }
        _ => String::new(),
    };
    if loading.is_empty() && comparing.pair.is_none() {
        return None;
    }
    let sides = comparing.pair.map(|pair| pair.map(|index| side(state, index))).unwrap_or_default();
    let picker_index = |index: Option<usize>| index.map_or(0, |index| index + 1);
    let (cursor, cursor_exact) =
        comparing::part::aligned_cursor(state).map(|at| cursor_text(at.0, at.1)).unwrap_or_default();
    let aligned = comparing.map.latest().and_then(|map| map.align).filter(|_| comparing.align.is_none());
    let automatic_label =
        aligned.map_or_else(|| "automatic".to_owned(), |align| ["automatic: ", align.title()].concat());
    Some(ComparisonBar {
        loading,
        sides,
        at: ComparedAt::ALL.iter().position(|at| *at == comparing.at).unwrap_or(0),
        key: picker_index(MatchKey::ALL.iter().position(|key| Some(*key) == comparing.key)),
        align: picker_index(Align::ALL.iter().position(|align| Some(*align) == comparing.align)),
        automatic_label,
        paths: comparing.paths.clone(),
        cursor,
        cursor_exact,
        is_overlaid: comparing.is_overlaid,
    })
}

/// Returns the ordinals and names of the devices that the shown device can be compared with.
pub fn other_devices(state: &Shared) -> Vec<(i64, String)> {
    let others = state.file().into_iter().flat_map(|file| file.devices.iter().enumerate());
    let others = others.filter(|(index, _)| *index != state.device_index);
    others.map(|(index, device)| (device.device, side(state, index))).collect()
}

/// Returns the name of a compared device, preceded by its file name if there are two files.
pub(crate) fn side(state: &Shared, index: usize) -> String {
    let Some(device) = state.device_at(index) else { return String::new() };
    let (ordinal, is_second) = split_ordinal(device.device);
    let file = match &state.comparing.second {
        SecondFile::Open(second, ..) if is_second => second.file.as_str(),
        SecondFile::Open(..) => state.file().map_or("", |file| &file.file),
        _ => "",
    };
    let name = device.backend.name_of(ordinal);
    if file.is_empty() { name } else { [file, " · ", &name].concat() }
}

/// Formats the live bytes of A and B at the given moments, with three significant digits and exactly.
fn cursor_text([a, b]: [u32; 2], [live_a, live_b]: [u64; 2]) -> (String, String) {
    let short =
        ["A ", &Bytes(live_a).to_string(), " · B ", &Bytes(live_b).to_string(), " (", &change(live_a, live_b), ")"];
    let exact = [
        "A, ",
        &event_name(a),
        ": ",
        &group_digits(live_a),
        " B live (requested). B, ",
        &event_name(b),
        ": ",
        &group_digits(live_b),
        " B.",
    ];
    (short.concat(), exact.concat())
}

/// The difference curve: live bytes of B minus live bytes of A, over A's window.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DeltaStrip {
    /// For each column, its left and right edge in device pixels of A's window, and the minimum and maximum difference.
    pub columns: Vec<([f64; 2], [i64; 2])>,
    /// Largest absolute difference in the window, in bytes.
    pub max_delta: u64,
    /// Marks at the visible ones of the trace's largest differences: column in device pixels, label, and moment of A.
    pub marks: Vec<(f64, String, u32)>,
}

/// Returns the curve of the compared devices, with its window. `None` unless it has the axis of `view`.
fn curve<'a>(state: &'a Shared, view: &View) -> Option<(&'a View, &'a DeltaCurve)> {
    let (of, curve) = (comparing::part::pairing(state)?, state.comparing.curve.latest()?);
    let (known, curve_view) = state.comparing.curve.answered_question()?;
    (*known == of && curve_view.axis == view.axis).then_some((curve_view, curve))
}

/// Builds the difference curve. `None` if nothing is compared or the worker has not responded yet.
pub fn strip(state: &Shared) -> Option<DeltaStrip> {
    let pair = state.comparing.pair?;
    let view = state.shown_lanes().find(|lane| lane.index == pair[0]).map(|lane| *lane.view)?;
    let (curve_view, curve) = curve(state, &view)?;
    let x = |px: i32| view.column_from_x(curve_view.x_from_column(f64::from(px)));
    let edges = curve.edge_px.windows(2);
    let columns: Vec<([f64; 2], [i64; 2])> = edges
        .zip(curve.min.iter().zip(&curve.max))
        .filter_map(|(edges, (least, most))| Some(([x(*edges.first()?), x(*edges.last()?)], [*least, *most])))
        .filter(|([left, right], _)| *right > 0.0 && *left < f64::from(view.width_px))
        .collect();
    let max_delta = columns.iter().flat_map(|(_, delta)| delta.iter().map(|it| it.unsigned_abs())).max().unwrap_or(0);
    let marks = match view.axis {
        picture::timeline::Axis::Time => Vec::new(),
        picture::timeline::Axis::Events => curve
            .largest_at
            .iter()
            .zip(&curve.largest)
            .map(|(&moment, &delta)| (view.column_from_x(f64::from(moment) + 0.5), signed(delta), moment))
            .filter(|(x, ..)| (0.0..f64::from(view.width_px)).contains(x))
            .collect(),
    };
    Some(DeltaStrip { columns, max_delta, marks })
}

/// Label of a mark in the strip of differences: its left and right edge, and its upper and lower edge.
pub type MarkLabel = [[f64; 2]; 2];

/// Returns the upper and lower end of the line of a mark at column `x`. It leaves out the labels that it would cross.
pub fn mark_line(x: f64, height: f64, labels: &[MarkLabel]) -> [f64; 2] {
    let crossed = labels.iter().filter(|[[left, right], _]| (*left..*right).contains(&x));
    crossed.fold([0.0, height], |[top, bottom], [_, [upper, lower]]| match *upper <= height / 2.0 {
        true => [f64::max(top, *lower), bottom],
        false => [top, f64::min(bottom, *upper)],
    })
}

/// Formats a difference with its sign: `+1.20 GiB`, `−300 MiB`.
fn signed(delta: i64) -> String {
    let sign = if delta < 0 { "−" } else { "+" };
    [sign, &Bytes(delta.unsigned_abs()).to_string()].concat()
}

/// Returns the curve of B's live bytes over A's window. `None` unless the curve is enabled and A is shown.
pub(crate) fn overlaid_line(state: &Shared, view: &View) -> Option<Curve> {
    let pair = state.comparing.pair.filter(|pair| state.comparing.is_overlaid && pair[0] == state.device_index)?;
    let (curve_view, curve) = curve(state, view)?;
    let row = |at: usize| curve.b.get(at).map(|&bytes| view.row_from_bytes(bytes) as f64);
    let peak = state.device_at(pair[1])?.drawn_peak;
    let at = curve.b.iter().position(|&bytes| bytes == peak && bytes > 0);
    let label = at.and_then(|at| {
        let middle = f64::from(*curve.edge_px.get(at)?).midpoint(f64::from(*curve.edge_px.get(at + 1)?));
        let at = [view.column_from_x(curve_view.x_from_column(middle)), view.row_from_bytes(peak) as f64];
        Some(CurveLabel { at, text: ["B: ", &Bytes(peak).to_string()].concat() })
    });
    Some(Curve { line: Line::Planned, points: steps(&curve.edge_px, [curve_view, view], &row), label })
}
