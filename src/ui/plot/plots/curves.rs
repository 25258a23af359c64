//! Curves of the Reserved plot: requests for their values in each pixel column, their points, and their values at the
//! crosshair.

use crate::plot::{crosshair, planned};
use crate::state::crosshair::column_under_edges;
use crate::state::line::{Curve, CurveKeyEntry, CurvesKey, CurvesRequest, Line, steps};
use crate::state::navigate::Plane;
use crate::state::plots::lookup;
use crate::state::shared::Shared;
use base::units::{Bytes, group_digits, percent};
use picture::shapes::Band;
use picture::timeline::{Axis, View};
use protocol::{Curves, MemoryFilter, Plot};

/// Number of pixel columns of the overview curve for a filtered part of memory.
const OVERVIEW_PX: u32 = 2048;

/// Returns the next request for curve values. Requests for the whole axis come first, because the heights of plots
/// depend on them.
pub(super) fn missing_curves(state: &Shared) -> Option<CurvesRequest> {
    let is_reserved = matches!(state.plot_settings.plot, Plot::Reserved(_));
    for index in state.lane_indices() {
        let (device, part) = (state.device_at(index)?, state.memory_part(index)?);
        let is_needed = is_reserved || index == state.device_index;
        let without_time = state.axis == Axis::Time && device.time_us.is_none();
        if !is_needed
            || without_time
            || part.1 == MemoryFilter::default()
            || lookup(&state.plots.overviews, (part, state.axis)).is_some()
        {
            continue;
        }
        let mut whole = Plane::for_device(device, state.axis);
        whole.extent.bytes = 1;
        return Some(CurvesRequest::WholeAxis(part, state.axis, whole.fit_px(OVERVIEW_PX, 1)));
    }
    let key = curves_key(state).filter(|_| is_reserved)?;
    state.plots.curves.answer_to(&key).is_none().then_some(CurvesRequest::Window(key))
}

/// Returns the inputs of the curve values for the window of the current scene, so that the curves move with the
/// scene while panning.
fn curves_key(state: &Shared) -> Option<CurvesKey> {
    let (device, only) = state.memory_part(state.device_index)?;
    let with_stranded = only == MemoryFilter::default() && !state.plots.hidden_lines.contains(&Line::Stranded);
    Some(CurvesKey { device, view: state.scene()?.view, only, with_stranded })
}

/// Returns the latest curve values of the shown device, which may belong to an earlier window.
fn curves(state: &Shared) -> Option<&Curves> {
    let (device, only) = state.memory_part(state.device_index)?;
    let key = state.plots.curves.answered_question()?;
    let is_current = (key.device, key.only, key.view.axis) == (device, only, state.axis);
    state
        .plots
        .curves
        .latest()
        .filter(|_| is_current && matches!(state.plot_settings.plot, Plot::Reserved(_)))
        .map(|it| &**it)
}

/// Returns the visible curves in pixels of the window `view`.
pub fn curve_lines(state: &Shared, view: &View) -> Vec<Curve> {
    let mut lines = reserved_lines(state, view).unwrap_or_default();
    lines.extend(planned::planned_lines(state, view));
    lines
}

fn reserved_lines(state: &Shared, view: &View) -> Option<Vec<Curve>> {
    let curves = curves(state)?;
    let curves_view = curves.view?;
    let is_seen = |line: &Line| !state.plots.hidden_lines.contains(line) && !is_redundant(curves, *line);
    let height = f64::from(view.height_px);
    let curve = |line: Line| {
        let row = |at: usize| {
            line.values(curves).get(at).map(|&value| match line {
                Line::Free => ratio(value, curves.reserved_at_max_free.get(at).copied().unwrap_or(0)) * height,
                _ => view.row_from_bytes(value) as f64,
            })
        };
        Curve { line, points: steps(&curves.edge_px, [&curves_view, view], &row), label: None }
    };
    Some(Line::ALL.into_iter().filter(is_seen).map(curve).filter(|curve| !curve.points.is_empty()).collect())
}

/// Returns the paused part of the reserved memory in pixels of the window `view`: bands below the curve of reserved
/// bytes.
pub fn paused_bands(state: &Shared, view: &View) -> Vec<Band> {
    let Some((curves, curves_view)) = curves(state).and_then(|curves| Some((curves, curves.view?))) else {
        return Vec::new();
    };
    let mut bands: Vec<Band> = Vec::new();
    for (edges, (&paused, &reserved)) in curves.edge_px.windows(2).zip(curves.paused.iter().zip(&curves.reserved)) {
        let (&[left, right], true) = (edges, paused > 0) else { continue };
        let x = [left, right].map(|edge| view.column_from_x(curves_view.x_from_column(f64::from(edge))));
        let y = [reserved.saturating_sub(paused), reserved].map(|bytes| view.row_from_bytes(bytes) as f64);
        match bands.last_mut().filter(|last| last.y == y && last.x[1] == x[0]) {
            Some(last) => last.x[1] = x[1],
            None => bands.push(Band { x, y }),
        }
    }
    bands
}

/// Returns true if the curve adds no information. If nothing is awaiting free, live bytes that are not awaiting free
/// equal all live bytes. Stranded bytes and samples are known for whole devices only, and not of every file.
fn is_redundant(curves: &Curves, line: Line) -> bool {
    match line {
        Line::AwaitingFree | Line::NotAwaitingFree => curves.awaiting_free.iter().all(|&bytes| bytes == 0),
        Line::Stranded | Line::Outside | Line::Resident | Line::Pinned => line.values(curves).is_empty(),
        _ => false,
    }
}

/// Returns the legend entries of the curves. Empty if the plot has no curves.
pub fn curve_key(state: &Shared) -> Vec<CurveKeyEntry> {
    if !matches!(state.plot_settings.plot, Plot::Reserved(_)) {
        return Vec::new();
    }
    let curves = curves(state);
    let entry = |line: Line| CurveKeyEntry {
        line,
        is_visible: !state.plots.hidden_lines.contains(&line),
        is_listed: !line.is_sampled() || curves.is_some_and(|curves| !is_redundant(curves, line)),
    };
    Line::ALL.into_iter().map(entry).collect()
}

/// Returns the index of the curve column under the crosshair.
fn crosshair_column(state: &Shared) -> Option<usize> {
    let (curves, view, at) = (curves(state)?, state.view()?, crosshair::px(state)?);
    column_under_edges(&curves.edge_px, &curves.view?, &view, at.x)
}

/// Returns the values of the curves at the crosshair for the status line: first abbreviated, then in exact bytes.
pub(crate) fn curve_values(state: &Shared) -> Option<[String; 2]> {
    let (curves, at) = (curves(state)?, crosshair_column(state)?);
    let mut texts = [String::new(), String::new()];
    for line in Line::ALL {
        if is_redundant(curves, line) || (line != Line::Reserved && state.plots.hidden_lines.contains(&line)) {
            continue;
        }
        // Both are parts of the live bytes, which are already labelled as requested.
        let is_part = matches!(line, Line::NotAwaitingFree | Line::AwaitingFree);
        let is_labelled = is_part && !state.plots.hidden_lines.contains(&Line::Requested);
        for (text, exactly) in texts.iter_mut().zip([false, true]) {
            if !text.is_empty() {
                text.push_str(" · ");
            }
            let value = value_at(curves, line, at, exactly)?;
            text.push_str(&if is_labelled { value.replace(" (requested)", "") } else { value });
        }
    }
    Some(texts)
}

/// Formats the value and the name of a curve in a column, in exact bytes or abbreviated.
fn value_at(curves: &Curves, line: Line, column: usize, exactly: bool) -> Option<String> {
    let value = *line.values(curves).get(column)?;
    let bytes = |value: u64| if exactly { group_digits(value) + " B" } else { Bytes(value).to_string() };
    let (sign, noun) = match line {
        Line::Reserved => ("", " reserved"),
        Line::Rounded => ("≥ ", " allocated (rounded)"),
        Line::Requested if exactly => ("", " live (requested)"),
        Line::Requested | Line::Planned => ("", " live"),
        Line::NotAwaitingFree => ("", " live, not awaiting free (requested)"),
        Line::AwaitingFree => ("", " awaiting free (requested)"),
        Line::Stranded => ("", " stranded"),
        Line::Outside => ("", " outside the allocator"),
        Line::Resident => ("", " resident (host)"),
        Line::Pinned => ("", " pinned (host)"),
        Line::Free => {
            let reserved = *curves.reserved_at_max_free.get(column)?;
            let share = ["≤ ", &percent(value, reserved), " free"].concat();
            return Some(if exactly {
                [&share, " (", &group_digits(value), " of ", &bytes(reserved), ")"].concat()
            } else {
                share
            });
        }
    };
    Some([sign, &bytes(value), noun].concat())
}

/// Returns `part / whole`, limited to 0–1. 0 if `whole` is 0.
fn ratio(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { (part as f64 / whole as f64).min(1.0) }
}
