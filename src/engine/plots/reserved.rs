//! Source data of the reserved plot: the mapped ranges of a part of memory, and their stacking order.

use crate::curves::Part;
use crate::device::Open;
use crate::protocol::{Grouping, Only};
use base::slice::{Slice, Sliced};
use history::replay::{AllocationId, SegmentLives, SegmentPart};
use picture::timeline::{Order, Piling};

/// The mapped ranges of a part of memory and their order.
pub(super) struct Reserved {
    wanted: Part,
    stacking: Option<Grouping>,
    /// `None` if the whole device is shown.
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

    pub(super) fn heap_bytes(&self) -> usize {
        self.part.as_ref().map_or(0, SegmentPart::heap_bytes) + self.order.as_ref().map_or(0, Order::heap_bytes)
    }

    /// Builds the data until it is complete.
    pub(super) fn step(&mut self, open: Open<'_>, segments: &SegmentLives, slice: &mut Slice) -> Sliced {
        let Open { snapshot, history, groups, .. } = open;
        if self.is_done {
            return Ok(());
        }
        if self.part.is_none() {
            self.wanted.find(segments);
        }
        let wanted = &self.wanted;
        let is_wanted = |id: AllocationId| wanted.has_range(segments, id);
        if !wanted.is_all() {
            let part = self.part.get_or_insert_with(|| SegmentPart::new(history));
            part.step(segments, history, &is_wanted, slice)?;
        }
        let count = segments.ranges.len();
        if let Some(by) = self.stacking {
            let mut next = self.piling.len();
            while let Some(part) = slice.part(&mut next, count, 1)? {
                for id in part {
                    self.piling.push(groups.of_range(snapshot, (history, segments), AllocationId(id as u32), by));
                }
            }
            self.order = Some(self.piling.step(slice)?);
        }
        self.piling = Piling::default();
        self.is_done = true;
        Ok(())
    }
}
