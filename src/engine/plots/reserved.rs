//! What the picture of reserved memory is stacked from: the ranges that are wanted, and their order.

use crate::curves::Part;
use crate::groups::Groups;
use crate::open::OpenFile;
use crate::protocol::{Grouping, Highlight, Looks, Only};
use base::units::EventIdx;
use history::replay::{AllocationId, Curve, DeviceHistory, SegmentLives, SegmentPart, Totals};
use history::snapshot::StackId;
use picture::timeline::{self, Order, Paint, Piling};

/// Ranges between two questions for the time.
const ROWS_PER_CHECK: usize = 2048;

/// The ranges of a part of memory, in an order.
pub(super) struct Reserved {
    wanted: Part,
    stacking: Option<Grouping>,
    /// `None`: all are wanted.
    part: Option<SegmentPart>,
    piling: Piling,
    order: Option<Order>,
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
    pub(super) fn step(
        &mut self,
        file: &OpenFile,
        lives: (&DeviceHistory, &SegmentLives),
        has_time: &mut dyn FnMut() -> bool,
    ) -> bool {
        let (history, segments) = lives;
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
                self.piling.push(file.groups.of_range(&file.snapshot, lives, AllocationId(id as u32), by));
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

impl OpenFile {
    /// Lends what was held from the driver as the timeline wants it: its allocations are the ranges of [`SegmentLives`]. It must have been
    /// made ([`OpenFile::prepare_plot`]).
    pub(crate) fn with_reserved<R>(
        &self,
        device: i64,
        looks: Looks,
        work: impl FnOnce(&timeline::Source<'_>) -> R,
    ) -> Option<R> {
        let (history, segments) = (self.history(device)?, self.segments(device)?);
        let Reserved { part, order, .. } = self.reserved(device, looks.plot.only(), looks.stacking)?;
        let all = |event: EventIdx| segments.change(history, event);
        let of_part = |event: EventIdx| part.as_ref().map_or(0, |part| part.change(history, event));
        let reserved = |event: EventIdx| history.reserved_change(event);
        let by = Groups::for_ranges(looks.colouring);
        let paint = |id: AllocationId| {
            let group = self.groups.of_range(&self.snapshot, (history, segments), id, by);
            Paint::new(self.groups.slot(by, group), id.0)
        };
        // Whatever else stands out are allocations.
        let has_stack = match looks.highlight {
            Highlight::Stack(stack) => {
                Some(move |id: AllocationId| segments.stack(&self.snapshot, history, id) == StackId(stack))
            }
            _ => None,
        };
        let nothing = Totals::new(0);
        Some(work(&timeline::Source {
            allocations: part.as_ref().map_or(&segments.ranges, |part| &part.ranges),
            live: &segments.live,
            order: order.as_ref(),
            clock: history.events.times.clock(),
            requested: match part {
                Some(part) => part.curve(&of_part),
                None => Curve::new(&segments.mapped, &all),
            },
            reserved: Curve::new(&history.reserved, &reserved),
            pending: Curve::new(&nothing, &|_| 0),
            paint: &paint,
            highlight: has_stack.as_ref().map(|stands_out| stands_out as _),
        }))
    }
}
