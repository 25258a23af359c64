//! The maximum of live bytes in each pixel column, from a run over the changes.

use crate::protocol::{PlanCurve, WhatIfCourse};
use history::replay::DeviceHistory;
use picture::timeline::{View, WindowColumns};

/// The columns, as far as they are.
#[derive(Default)]
pub(super) struct Course {
    pub(super) columns: WindowColumns,
    /// The column that comes next, and the largest of it so far.
    next: usize,
    most: u64,
    /// Live bytes now.
    now: u64,
    pub(super) live: Vec<u64>,
}

impl Course {
    pub(super) fn over(columns: WindowColumns) -> Course {
        Course { live: Vec::with_capacity(columns.moments.len()), columns, ..Course::default() }
    }

    /// From `moment` on so much is live; moments never fall.
    pub(super) fn add(&mut self, moment: u32, live: u64) {
        self.reach(moment);
        self.now = live;
    }

    /// Live bytes have not changed at any moment before this one.
    fn reach(&mut self, moment: u32) {
        while let Some(moments) = self.columns.moments.get(self.next).filter(|moments| moments.start < moment) {
            self.most = self.most.max(self.now);
            if moments.end > moment {
                break;
            }
            self.live.push(self.most);
            (self.next, self.most) = (self.next + 1, 0);
        }
    }

    /// Nothing changes any more.
    pub(super) fn finish(mut self) -> (Vec<i32>, Vec<u64>) {
        self.reach(u32::MAX);
        (self.columns.edge_px, self.live)
    }
}

/// The columns of a window.
pub(super) fn columns(history: &DeviceHistory, view: &View) -> WindowColumns {
    WindowColumns::new(view, history.event_count().saturating_add(1), history.events.times.clock())
}

/// A simulated run over the columns of a window. It has a bounded number of points.
pub(crate) fn course_curve(history: &DeviceHistory, course: &WhatIfCourse, view: View) -> PlanCurve {
    let all = columns(history, &view);
    // The event that the run ends with is still of it.
    let last = course.ends_at.map_or(u32::MAX, |event| u32::try_from(event.saturating_add(1)).unwrap_or(0));
    let count = all.moments.iter().take_while(|moments| moments.start <= last).count();
    let curve = |at_start: u64, points: &[(u32, u64)]| {
        let mut curve = Course::over(all.clone());
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
