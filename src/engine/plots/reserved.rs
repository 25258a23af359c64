//! Data for the reserved plot: the mapped ranges of a part of memory, and their stacking order.

use crate::curves::Part;
use crate::device::DeviceData;
use base::slice::{SliceResult, TimeSlice};
use history::replay::{AllocationId, SegmentLifetimes, SelectedSegments};
use picture::timeline::{Order, OrderBuilder};
use protocol::{Grouping, MemoryFilter};

/// The mapped ranges of a part of memory, and their stacking order.
pub(super) struct ReservedRanges {
    wanted: Part,
    stacking: Option<Grouping>,
    /// Mapped ranges in the shown part of memory. `None` if the whole device is shown.
    pub(super) part: Option<SelectedSegments>,
    builder: OrderBuilder,
    pub(super) order: Option<Order>,
    is_done: bool,
}

base::heap_bytes!(ReservedRanges: part, order);

impl ReservedRanges {
    pub(super) fn new(only: MemoryFilter, stacking: Option<Grouping>) -> ReservedRanges {
        ReservedRanges {
            wanted: Part::new(only),
            stacking,
            part: None,
            builder: OrderBuilder::default(),
            order: None,
            is_done: false,
        }
    }

    /// Continues building the ranges and their order until they are complete or the time slice is used up.
    pub(super) fn step(
        &mut self,
        data: DeviceData<'_>,
        segments: &SegmentLifetimes,
        slice: &mut TimeSlice,
    ) -> SliceResult {
        let DeviceData { snapshot, history, groups, .. } = data;
        if self.is_done {
            return Ok(());
        }
        if self.part.is_none() {
            self.wanted.locate_segment(segments);
        }
        let wanted = &self.wanted;
        let is_wanted = |id: AllocationId| wanted.contains_range(segments, id);
        if !wanted.is_all() {
            let part = self.part.get_or_insert_with(|| SelectedSegments::new(history));
            part.step(segments, history, &is_wanted, slice)?;
        }
        let count = segments.ranges.len();
        if let Some(by) = self.stacking {
            let mut next = self.builder.len();
            while let Some(part) = slice.next_range(&mut next, count, 1)? {
                for id in part {
                    self.builder.push(groups.group_of_range(
                        snapshot,
                        (history, segments),
                        AllocationId(id as u32),
                        by,
                    ));
                }
            }
            self.order = Some(self.builder.step(slice)?);
        }
        self.builder = OrderBuilder::default();
        self.is_done = true;
        Ok(())
    }
}
