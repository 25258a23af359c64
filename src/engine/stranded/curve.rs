//! Stranded bytes over the trace, as a step curve.

use super::memory::Extent;
use super::request::DriverRequest;
use base::units::{EventIdx, Moment};
use std::ops::Range;

/// Changes of the stranded bytes, in any order. A change is a moment and a number of bytes.
#[derive(Default)]
pub(super) struct Changes(Vec<(u32, i64)>);

impl Changes {
    /// Adds a free piece: its bytes are stranded from its free to the last driver request that found it free. `first`
    /// and `last` are the first and the last such request.
    pub(super) fn add(&mut self, bytes: u64, piece: &Extent, [first, last]: [&DriverRequest; 2]) {
        let bytes = i64::try_from(bytes).unwrap_or(i64::MAX);
        // An allocation may need several driver requests. The memory of the first is found free by the next, although
        // it counts as free since the allocation.
        let start = Moment::after(EventIdx(piece.since)).0.min(first.event);
        self.0.push((start, bytes));
        self.0.push((Moment::after(EventIdx(last.event)).0, -bytes));
    }

    /// Returns the curve of these changes.
    pub(super) fn curve(mut self) -> StrandedCurve {
        self.0.sort_unstable_by_key(|change| change.0);
        let mut curve = StrandedCurve::default();
        let mut total = 0_i64;
        for (moment, change) in self.0 {
            total = total.saturating_add(change);
            let bytes = u64::try_from(total).unwrap_or(0);
            match (curve.moments.last(), curve.bytes.last_mut()) {
                (Some(&last), Some(value)) if last == moment => *value = bytes,
                _ => {
                    curve.moments.push(moment);
                    curve.bytes.push(bytes);
                }
            }
        }
        curve
    }
}

/// Stranded bytes over the trace. Constant between the listed moments, and 0 before the first one.
#[derive(Debug, Default)]
pub(crate) struct StrandedCurve {
    moments: Vec<u32>,
    /// Stranded bytes from each of [`StrandedCurve::moments`] on.
    bytes: Vec<u64>,
}

base::heap_bytes!(StrandedCurve: moments, bytes);

impl StrandedCurve {
    /// Returns the maximum over a range of moments, in bytes. 0 for an empty range.
    pub(crate) fn max_in(&self, moments: Range<u32>) -> u64 {
        let [first, end] = [moments.start.saturating_add(1), moments.end]
            .map(|limit| self.moments.partition_point(|&moment| moment < limit));
        let steps = first.saturating_sub(1)..end.max(first);
        if moments.is_empty() {
            0
        } else {
            self.bytes.get(steps).and_then(|bytes| bytes.iter().max()).map_or(0, |&max| max)
        }
    }
}
