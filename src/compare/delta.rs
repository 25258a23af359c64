//! Difference of live bytes between two traces, in the columns of a visible window and over the whole trace.

use crate::alignment::Alignment;
use base::slice::{SliceResult, TimeSlice};
use base::sorted::sorted_numbers;
use base::units::Moment;
use engine::Side;
use history::replay::{Curve, DeviceHistory};
use picture::timeline::{View, WindowColumns};
use protocol::DeltaCurve;

/// Number of equal parts of the trace. The largest difference is found in each part.
const PARTS: usize = 256;
/// Maximum number of listed differences.
const MAX_DIFFERENCES: usize = 5;
/// Minimum distance between two listed differences, in parts of the trace.
const MIN_DISTANCE: usize = 16;

/// Resumable computation of the differences of live bytes.
#[derive(Default)]
pub(crate) struct Delta {
    /// Largest difference in each part of the trace, as the moment of A and the value of B − A.
    parts: Vec<(u32, i64)>,
    largest_differences: Option<Vec<(u32, i64)>>,
    /// Visible window, its columns, and the curve computed for them so far.
    window: Option<(View, WindowColumns, DeltaCurve)>,
}

impl Delta {
    /// Continues computing the differences in the columns of a window of A. Returns the curve once it is complete.
    pub(crate) fn curve(
        &mut self,
        sides: [&Side; 2],
        alignment: &Alignment,
        view: View,
        slice: &mut TimeSlice,
    ) -> SliceResult<DeltaCurve> {
        let [a, b] = sides.map(|side| side.history);
        self.search(a, b, alignment, slice)?;
        let moments = a.event_count().saturating_add(1);
        let (_, columns, curve) = match &mut self.window {
            Some(window) if window.0 == view => window,
            window => {
                let columns = WindowColumns::new(&view, moments, a.events.times.time_axis());
                let edge_px = columns.edge_px.clone();
                window.insert((view, columns, DeltaCurve { edge_px, ..DeltaCurve::default() }))
            }
        };
        let change = |event| b.drawn_change(event);
        let drawn = Curve::new(&b.drawn, &change);
        while let Some(column) = columns.moments.get(curve.b.len()) {
            slice.spend(column.len() as u32)?;
            let ends = [column.start, column.end.saturating_sub(1)].map(|moment| alignment.to_b(Moment(moment)).0);
            let highest = drawn.max_in(ends[0]..ends[1].saturating_add(1)).map_or(0, |(_, bytes)| bytes);
            let mut extremes = [i64::MAX, i64::MIN];
            for_each_delta(a, b, alignment, column.clone(), |_, delta| {
                extremes = [extremes[0].min(delta), extremes[1].max(delta)];
            });
            let [least, most] = if column.is_empty() { [0; 2] } else { extremes };
            curve.b.push(u64::try_from(highest).unwrap_or(0));
            curve.min.push(least);
            curve.max.push(most);
        }
        let mut curve = self.window.take().map(|(.., curve)| curve).unwrap_or_default();
        (curve.largest_at, curve.largest) = self.largest_differences.iter().flatten().copied().unzip();
        Ok(curve)
    }

    /// Continues searching the whole trace for the largest differences.
    fn search(
        &mut self,
        a: &DeviceHistory,
        b: &DeviceHistory,
        alignment: &Alignment,
        slice: &mut TimeSlice,
    ) -> SliceResult {
        if self.largest_differences.is_some() {
            return Ok(());
        }
        let moments = u64::from(a.event_count()) + 1;
        let edge = |part: usize| (moments * part as u64 / PARTS as u64) as u32;
        while self.parts.len() < PARTS {
            let part = edge(self.parts.len())..edge(self.parts.len() + 1);
            slice.spend(part.len() as u32)?;
            let mut largest_delta = (part.start, 0i64);
            for_each_delta(a, b, alignment, part, |moment, delta| {
                if delta.unsigned_abs() > largest_delta.1.unsigned_abs() {
                    largest_delta = (moment, delta);
                }
            });
            self.parts.push(largest_delta);
        }
        let order = self.parts.iter().zip(0..).map(|((_, delta), index)| (!u128::from(delta.unsigned_abs()), index));
        let mut largest: Vec<usize> = Vec::new();
        for index in sorted_numbers(order.collect()) {
            let index = index as usize;
            let is_some = self.parts.get(index).is_some_and(|(_, delta)| *delta != 0);
            if is_some && largest.iter().all(|known| known.abs_diff(index) >= MIN_DISTANCE) {
                largest.push(index);
            }
            if largest.len() == MAX_DIFFERENCES {
                break;
            }
        }
        self.largest_differences =
            Some(largest.into_iter().filter_map(|index| self.parts.get(index).copied()).collect());
        Ok(())
    }
}

/// Calls `visit` with each moment of A in `moments`, and the difference B − A at this moment.
fn for_each_delta(
    a: &DeviceHistory,
    b: &DeviceHistory,
    alignment: &Alignment,
    moments: std::ops::Range<u32>,
    mut visit: impl FnMut(u32, i64),
) {
    let mut live: Option<i64> = None;
    let mut previous: Option<(Moment, i64)> = None;
    for moment in moments {
        let now = match (live, Moment(moment).event()) {
            (Some(live), Some(event)) => live.saturating_add(a.drawn_change(event)),
            _ => a.drawn_at(Moment(moment)),
        };
        live = Some(now);
        let to = alignment.to_b(Moment(moment));
        // If B advances by few events, their changes are summed. Otherwise the total is looked up.
        let then = match previous {
            Some((from, bytes)) if to.0 >= from.0 && to.0 - from.0 < 64 => (from.0 + 1..=to.0)
                .filter_map(|moment| Moment(moment).event())
                .fold(bytes, |bytes, event| bytes.saturating_add(b.drawn_change(event))),
            _ => b.drawn_at(to),
        };
        previous = Some((to, then));
        visit(moment, then.saturating_sub(now));
    }
}
