//! What pictures other than the stack are drawn from, made for a file and lent.

use super::layout::Layout;
use super::reserved::Reserved;
use crate::groups::Groups;
use crate::open::OpenFile;
use crate::protocol::{Highlight, Looks, Only, Plot};
use base::slice::{Slice, Sliced};
use base::units::EventIdx;
use history::replay::{AllocationId, Curve, Totals};
use history::snapshot::StackId;
use picture::timeline::{self, AddressSource, Paint};

/// Layouts and the like that are kept of a device: the one before and the one that comes.
const KEPT: usize = 2;

impl OpenFile {
    /// Makes what a picture needs beside its order; an unknown device needs nothing.
    pub(crate) fn prepare_plot(&mut self, device: i64, looks: Looks, slice: &mut Slice) -> Sliced {
        if looks.plot == Plot::Stack {
            return Ok(());
        }
        self.segment_lives(device, slice)?;
        let mut plots = std::mem::take(&mut self.plots);
        let result = match self.history(device).zip(self.segments(device)) {
            Some((history, segments)) => {
                let most = KEPT * self.histories.len().max(1);
                plots.step(self.about(history), segments, looks, most, slice)
            }
            None => Ok(()),
        };
        self.plots = plots;
        result
    }

    /// The layout of a part of memory: complete once [`OpenFile::prepare_plot`] has said so.
    pub(crate) fn layout(&self, device: i64, only: Only) -> Option<&Layout> {
        self.plots.layout(device, only)
    }

    /// Lends what the picture of addresses is drawn from. It must have been made ([`OpenFile::prepare_plot`]).
    pub(crate) fn with_addresses<R>(
        &self,
        device: i64,
        looks: Looks,
        work: impl FnOnce(&AddressSource<'_>) -> R,
    ) -> Option<R> {
        let only = looks.plot.only();
        let (history, segments, layout) = (self.history(device)?, self.segments(device)?, self.layout(device, only)?);
        let place = |id: AllocationId| layout.place(history, id, self.about(history).block_bytes(id));
        let has = |id: AllocationId| layout.has(id);
        let range_place = |id: AllocationId| layout.place_of_range(segments, id);
        self.with_source(device, Looks { plot: Plot::Stack, stacking: None, ..looks }, |source| {
            work(&AddressSource {
                source: *source,
                has: (only != Only::default()).then_some(&has),
                place: &place,
                ranges: &segments.ranges,
                range_place: &range_place,
            })
        })
    }

    /// Lends what was held from the driver as the timeline wants it: its allocations are the ranges of [`SegmentLives`]. It must have been
    /// made ([`OpenFile::prepare_plot`]).
    pub(crate) fn with_reserved<R>(
        &self,
        device: i64,
        looks: Looks,
        work: impl FnOnce(&timeline::Source<'_>) -> R,
    ) -> Option<R> {
        let (history, segments) = (self.history(device)?, self.segments(device)?);
        let Reserved { part, order, .. } = self.plots.reserved(device, looks.plot.only(), looks.stacking)?;
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
