//! What the picture of reserved memory is stacked from: the ranges that are wanted, and their order.

use crate::curves::Part;
use crate::device::Open;
use crate::protocol::{Grouping, Only};
use history::replay::{AllocationId, SegmentLives, SegmentPart};
use picture::timeline::{Order, Piling};

/// Ranges between two questions for the time.
const ROWS_PER_CHECK: usize = 2048;

/// The ranges of a part of memory, in an order.
pub(super) struct Reserved {
    wanted: Part,
    stacking: Option<Grouping>,
    /// `None`: all are wanted.
    pub(super) part: Option<SegmentPart>,
    piling: Piling,
    pub(super) order: Option<Order>,
    is_done: bool,
}

impl Reserved {
    pub(super) fn new(only: Only, stacking: Option<Grouping>) -> Reserved {
        Reserved {
            wanted: Part::new(only),
            stacking,
            part: None,
            piling: Piling::default(),
            order: None,
            is_done: false,
        }
    }

    /// Bytes on the heap.
    pub(super) fn heap_bytes(&self) -> usize {
        self.part.as_ref().map_or(0, SegmentPart::heap_bytes) + self.order.as_ref().map_or(0, Order::heap_bytes)
    }

    /// Works while there is time; `true` when done.
    pub(super) fn step(&mut self, open: Open<'_>, segments: &SegmentLives, has_time: &mut dyn FnMut() -> bool) -> bool {
        let Open { snapshot, history, groups, .. } = open;
        if self.is_done {
            return true;
        }
        if self.part.is_none() {
            self.wanted.find(segments);
        }
        let wanted = &self.wanted;
        let is_wanted = |id: AllocationId| wanted.has_range(segments, id);
        if !wanted.is_all()
            && !self.part.get_or_insert_with(|| SegmentPart::new(history)).step(segments, history, &is_wanted, has_time)
        {
            return false;
        }
        let count = segments.ranges.len();
        while let Some(by) = self.stacking.filter(|_| self.piling.len() < count) {
            for id in self.piling.len()..count.min(self.piling.len() + ROWS_PER_CHECK) {
                self.piling.push(groups.of_range(snapshot, (history, segments), AllocationId(id as u32), by));
            }
            if !has_time() {
                return false;
            }
        }
        if self.stacking.is_some() {
            self.order = self.piling.step(has_time);
            if self.order.is_none() {
                return false;
            }
        }
        self.piling = Piling::default();
        self.is_done = true;
        true
    }
}
