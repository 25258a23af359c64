//! Curves of the Reserved plot: requests for their values in each pixel column, their points, and their values at the
//! crosshair.

use super::line::{Curve, CurveKeyEntry, CurvesKey, CurvesRequest, Line};
use super::{Plots, lookup, push_bounded};
use crate::crosshair::column_under_edges;
use crate::navigate::Plane;
use crate::shared::Shared;
use base::units::{Bytes, group_digits, percent};
use picture::timeline::{Axis, View};
use protocol::{Curves, MemoryFilter, Overview, Plot};
use std::rc::Rc;

/// Number of pixel columns of the overview curve for a filtered part of memory.
const OVERVIEW_PX: u32 = 2048;

impl Shared {
    /// Returns the next request for curve values. Requests for the whole axis come first, because the heights of plots
    /// depend on them.
    pub(super) fn missing_curves(&self) -> Option<CurvesRequest> {
        let is_reserved = matches!(self.plot_settings.plot, Plot::Reserved(_));
        for index in self.lane_indices() {
            let (device, part) = (self.device_at(index)?, self.memory_part(index)?);
            let is_needed = is_reserved || index == self.device_index;
            let without_time = self.axis == Axis::Time && device.time_us.is_none();
            if !is_needed
                || without_time
                || part.1 == MemoryFilter::default()
                || lookup(&self.plots.overviews, (part, self.axis)).is_some()
            {
                continue;
            }
            let mut whole = Plane::for_device(device, self.axis);
            whole.extent.bytes = 1;
            return Some(CurvesRequest::WholeAxis(part, self.axis, whole.fit_px(OVERVIEW_PX, 1)));
        }
        let key = self.curves_key().filter(|_| is_reserved)?;
        self.plots.curves.answer_to(&key).is_none().then_some(CurvesRequest::Window(key))
    }

    /// Returns the inputs of the curve values for the window of the current scene, so that the curves move with the
    /// scene while panning.
    fn curves_key(&self) -> Option<CurvesKey> {
        let (device, only) = self.memory_part(self.device_index)?;
        let with_stranded = only == MemoryFilter::default() && !self.plots.hidden_lines.contains(&Line::Stranded);
        Some(CurvesKey { device, view: self.geometry.scene.as_ref()?.view, only, with_stranded })
    }

    /// Returns the latest curve values of the shown device, which may belong to an earlier window.
    fn curves(&self) -> Option<&Curves> {
        let (device, only) = self.memory_part(self.device_index)?;
        let key = self.plots.curves.answered_question()?;
        let is_current = (key.device, key.only, key.view.axis) == (device, only, self.axis);
        self.plots
            .curves
            .latest()
            .filter(|_| is_current && matches!(self.plot_settings.plot, Plot::Reserved(_)))
            .map(|it| &**it)
    }

    /// Returns the visible curves in pixels of the window `view`.
    pub fn curve_lines(&self, view: &View) -> Vec<Curve> {
        let mut lines = self.reserved_lines(view).unwrap_or_default();
        lines.extend(self.planned_lines(view));
        lines
    }

    fn reserved_lines(&self, view: &View) -> Option<Vec<Curve>> {
        let curves = self.curves()?;
        let curves_view = curves.view?;
        let is_seen = |line: &Line| !self.plots.hidden_lines.contains(line) && !self.is_redundant(curves, *line);
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

    /// Returns true if the curve adds no information. If nothing is awaiting free, the bytes in use equal the live
    /// bytes. Stranded bytes are known for whole devices only.
    fn is_redundant(&self, curves: &Curves, line: Line) -> bool {
        match line {
            Line::AwaitingFree | Line::InUse => curves.awaiting_free.iter().all(|&bytes| bytes == 0),
            Line::Stranded => curves.stranded.is_empty(),
            _ => false,
        }
    }

    /// Returns the legend entries of the curves. Empty if the plot has no curves.
    pub fn curve_key(&self) -> Vec<CurveKeyEntry> {
        if !matches!(self.plot_settings.plot, Plot::Reserved(_)) {
            return Vec::new();
        }
        Line::ALL
            .into_iter()
            .map(|line| CurveKeyEntry { line, is_visible: !self.plots.hidden_lines.contains(&line) })
            .collect()
    }

    /// Returns the index of the curve column under the crosshair.
    fn crosshair_column(&self) -> Option<usize> {
        let (curves, view, at) = (self.curves()?, self.view?, self.crosshair_px()?);
        column_under_edges(&curves.edge_px, &curves.view?, &view, at.x)
    }

    /// Returns the values of the curves at the crosshair for the status line: first abbreviated, then in exact bytes.
    pub(crate) fn curve_values(&self) -> Option<[String; 2]> {
        let (curves, at) = (self.curves()?, self.crosshair_column()?);
        let mut texts = [String::new(), String::new()];
        for line in Line::ALL {
            if self.is_redundant(curves, line) || (line != Line::Reserved && self.plots.hidden_lines.contains(&line)) {
                continue;
            }
            // Both are parts of the live bytes, which are already labelled as requested.
            let values =
                matches!(line, Line::InUse | Line::AwaitingFree) && !self.plots.hidden_lines.contains(&Line::Requested);
            for (text, exactly) in texts.iter_mut().zip([false, true]) {
                if !text.is_empty() {
                    text.push_str(" · ");
                }
                let value = value_at(curves, line, at, exactly)?;
                text.push_str(&if values { value.replace(" (requested)", "") } else { value });
            }
        }
        Some(texts)
    }
}

/// Returns the points of a step curve in pixels of the second view. `edge_px` are column edges in pixels of the first
/// view. `row` returns the height of a column, given by its index.
pub(crate) fn steps(
    edge_px: &[i32],
    [edge_view, view]: [&View; 2],
    row: &dyn Fn(usize) -> Option<f64>,
) -> Vec<[f64; 2]> {
    let mut points: Vec<[f64; 2]> = Vec::new();
    for (column, edges) in edge_px.windows(2).enumerate() {
        let (&[left, right], Some(y)) = (edges, row(column)) else { break };
        let [left, right] = [left, right].map(|edge| view.column_from_x(edge_view.x_from_column(f64::from(edge))));
        if right < 0.0 || left > f64::from(view.width_px) {
            continue;
        }
        // Adjacent columns of equal height share a segment.
        match points.as_mut_slice() {
            [.., last] if last[1] == y => last[0] = right,
            _ => points.extend([[left, y], [right, y]]),
        }
    }
    points
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
        Line::InUse => ("", " in use (requested)"),
        Line::AwaitingFree => ("", " awaiting free (requested)"),
        Line::Stranded => ("", " stranded"),
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

/// Stores a reply with curve values.
pub(super) fn on_curves(state: &mut Shared, serial: u32, curves: Curves) {
    let Some((_, wanted)) = state.plots.pending_curves.take_if(|(asked, _)| *asked == serial) else { return };
    match wanted {
        CurvesRequest::Window(key) => {
            state.plots.curves.store(key, Rc::new(curves));
        }
        CurvesRequest::WholeAxis(part, axis, _) => {
            let overview = Rc::new(Overview { axis, total: curves.requested, reserved: curves.reserved });
            state.apply_reply(|plots: &mut Plots| push_bounded(&mut plots.overviews, ((part, axis), overview)));
        }
    }
}
