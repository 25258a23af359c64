//! Maximum live bytes per pixel column of a window, computed from a sequence of changes.

use history::replay::DeviceHistory;
use picture::timeline::{View, WindowColumns};
use protocol::{PlanCurve, WhatIfCourse};

/// Builder of a curve of maxima per column.
#[derive(Default)]
pub(super) struct CurveBuilder {
    pub(super) columns: WindowColumns,
    /// Index of the current column. `column_max` is the maximum of this column so far.
    next: usize,
    column_max: u64,
    live_now: u64,
    pub(super) maxima: Vec<u64>,
}

impl CurveBuilder {
    pub(super) fn new(columns: WindowColumns) -> CurveBuilder {
        CurveBuilder { maxima: Vec::with_capacity(columns.moments.len()), columns, ..CurveBuilder::default() }
    }

    /// Sets the live bytes from `moment` on. Each call must pass the same or a later moment than the previous call.
    pub(super) fn add(&mut self, moment: u32, live: u64) {
        self.advance_to(moment);
        self.live_now = live;
    }

    /// Completes the columns before `moment`. The live bytes do not change until then.
    fn advance_to(&mut self, moment: u32) {
        while let Some(moments) = self.columns.moments.get(self.next).filter(|moments| moments.start < moment) {
            self.column_max = self.column_max.max(self.live_now);
            if moments.end > moment {
                break;
            }
            self.maxima.push(self.column_max);
            (self.next, self.column_max) = (self.next + 1, 0);
        }
    }

    /// Completes the remaining columns. Returns the column edges in pixels and the maximum of each column.
    pub(super) fn finish(mut self) -> (Vec<i32>, Vec<u64>) {
        self.advance_to(u32::MAX);
        (self.columns.edge_px, self.maxima)
    }
}

/// Returns the pixel columns of a window, with the moments that each column covers.
pub(super) fn columns(history: &DeviceHistory, view: &View) -> WindowColumns {
    WindowColumns::new(view, history.event_count().saturating_add(1), history.events.times.time_axis())
}

/// Returns the curves of a simulated run over a window. A run has a bounded number of points, so no time slice is
/// needed.
pub(crate) fn run_curve(history: &DeviceHistory, course: &WhatIfCourse, view: View) -> PlanCurve {
    let all = columns(history, &view);
    // The event at which the run ends still belongs to it.
    let last = course.ends_at.map_or(u32::MAX, |event| u32::try_from(event.saturating_add(1)).unwrap_or(0));
    let count = all.moments.iter().take_while(|moments| moments.start <= last).count();
    let curve = |at_start: u64, points: &[(u32, u64)]| {
        let mut curve = CurveBuilder::new(all.clone());
        curve.add(0, at_start);
        points.iter().for_each(|&(event, bytes)| curve.add(event.saturating_add(1), bytes));
        let (_, mut bytes) = curve.finish();
        bytes.truncate(count);
        bytes
    };
    let bytes = curve(course.reserved_at_start, &course.reserved);
    let allocated = curve(course.allocated_at_start, &course.allocated);
    PlanCurve { view: Some(view), edge_px: all.edge_px, bytes, allocated }
}
