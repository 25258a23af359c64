//! Memory outside the allocator and paused memory per column of a window, from the recorder's observations.

use crate::recorder_facts::{paused_over_time, recorded_capacity, sampled};
use crate::side::Side;
use history::recorder::Sample;
use history::replay::TimeAxis;
use picture::timeline::{Axis, View};
use protocol::Curves;

/// Adds the observed memory to the curves of a window. They get no values where the recorder observed nothing.
pub(super) fn add(Side { file, history }: Side<'_>, view: &View, curves: &mut Curves) {
    let Some(clock) = history.events.times.time_axis() else { return };
    let (snapshot, device) = (&file.snapshot, history.device);
    let columns = Columns { view, clock, edge_px: &curves.edge_px };
    let samples = || snapshot.recorder.observed.samples.iter().filter(|sample| sample.device == device);
    let (capacity, paused) = (recorded_capacity(snapshot, history), paused_over_time(snapshot, device));
    let of = |which: usize| {
        let bytes = |sample: &Sample| *sampled(sample, capacity, &paused).get(which)?;
        columns.maxima(samples().filter_map(|sample| Some((sample.time_us, bytes(sample)?))))
    };
    [curves.outside, curves.resident, curves.pinned] = [0, 1, 2].map(of);
    curves.paused = columns.maxima(paused.changes());
}

/// Columns of a window.
struct Columns<'a> {
    view: &'a View,
    clock: TimeAxis<'a>,
    edge_px: &'a [i32],
}

impl Columns<'_> {
    /// Returns the position of a time (µs since 1970) in pixels of the window.
    fn position(&self, us: i64) -> f64 {
        let clock = &self.clock;
        self.view.column_from_x(match self.view.axis {
            // In the middle of the moment after the events until then.
            Axis::Events => f64::from(clock.events_before_us(us.saturating_add(1))) + 0.5,
            Axis::Time => us.saturating_sub(clock.first_us()) as f64 + clock.margin() as f64,
        })
    }

    /// Returns the maximum of each column of a value that changes at these times, which ascend. It is 0 before the
    /// first one. Empty if there are no times.
    fn maxima(&self, changes: impl Iterator<Item = (i64, u64)>) -> Vec<u64> {
        let mut changes = changes.map(|(us, bytes)| (self.position(us), bytes)).peekable();
        if changes.peek().is_none() {
            return Vec::new();
        }
        let mut now = 0;
        let column = |edges: &[i32]| {
            let &[start, end] = edges else { return 0 };
            while let Some((_, bytes)) = changes.next_if(|(position, _)| *position < f64::from(start)) {
                now = bytes;
            }
            let mut highest = now;
            while let Some((_, bytes)) = changes.next_if(|(position, _)| *position < f64::from(end)) {
                now = bytes;
                highest = highest.max(now);
            }
            highest
        };
        self.edge_px.windows(2).map(column).collect()
    }
}
