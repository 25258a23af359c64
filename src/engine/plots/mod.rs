//! Pictures other than the stack: where memory lies, and what was held from the driver. What they need beyond the history is made here, in
//! slices, and the latest of it kept.

mod around;
mod asked;
mod layout;
mod reserved;

pub(super) use around::Around;
pub(super) use asked::along_ranges;
pub(super) use layout::Layout;

use super::open::OpenFile;
use super::protocol::{Grouping, Looks, Only, Plot};
use history::replay::{AllocationId, DeviceHistory};
use picture::timeline::AddressSource;
use reserved::Reserved;

/// Layouts and the like that are kept: so many of all allocations of a file, four bytes each.
const KEPT: usize = 2;

/// What was made for pictures, those asked for last at the end.
#[derive(Default)]
pub(super) struct Plots {
    layouts: Vec<(i64, Only, Layout)>,
    reserved: Vec<(i64, Only, Option<Grouping>, Reserved)>,
}

impl Plots {
    /// Bytes on the heap.
    pub(super) fn heap_bytes(&self) -> usize {
        let layouts = self.layouts.iter().map(|(.., layout)| layout.heap_bytes());
        layouts.sum::<usize>() + self.reserved.iter().map(|(.., reserved)| reserved.heap_bytes()).sum::<usize>()
    }
}

impl OpenFile {
    /// Makes what a picture needs beside its order: `true` when it is there. On a device that there is not nothing is needed.
    pub(super) fn prepare_plot(&mut self, device: i64, looks: Looks, has_time: &mut dyn FnMut() -> bool) -> bool {
        match looks.plot {
            Plot::Stack => true,
            _ if self.history(device).is_none() => true,
            _ if !self.segment_lives(device, has_time) => false,
            Plot::Addresses(only) => self.lay_out(device, only, has_time),
            Plot::Reserved(only) => self.hold(device, only, looks.stacking, has_time),
        }
    }

    fn lay_out(&mut self, device: i64, only: Only, has_time: &mut dyn FnMut() -> bool) -> bool {
        let known = self.plots.layouts.iter().position(|&(of, part, _)| (of, part) == (device, only));
        let mut layout = known.map_or_else(|| Layout::new(only), |at| self.plots.layouts.remove(at).2);
        let is_done = match self.history(device).zip(self.segments(device)) {
            Some((history, segments)) => layout.step(self, (history, segments), has_time),
            None => true,
        };
        self.plots.layouts.push((device, only, layout));
        // Of several devices beside each other each has its own.
        let most = KEPT * self.histories.len().max(1);
        let forgotten = self.plots.layouts.len().saturating_sub(most);
        self.plots.layouts.drain(..forgotten);
        is_done
    }

    fn hold(
        &mut self,
        device: i64,
        only: Only,
        stacking: Option<Grouping>,
        has_time: &mut dyn FnMut() -> bool,
    ) -> bool {
        let key = (device, only, stacking);
        let known = self.plots.reserved.iter().position(|&(device, only, by, _)| (device, only, by) == key);
        let new = || Reserved::new(only, stacking);
        let mut reserved = known.map_or_else(new, |at| self.plots.reserved.remove(at).3);
        let is_done = match self.history(device).zip(self.segments(device)) {
            Some(lives) => reserved.step(self, lives, has_time),
            None => true,
        };
        self.plots.reserved.push((device, only, stacking, reserved));
        let most = KEPT * self.histories.len().max(1);
        let forgotten = self.plots.reserved.len().saturating_sub(most);
        self.plots.reserved.drain(..forgotten);
        is_done
    }

    /// The layout of a part of memory: complete once [`OpenFile::prepare_plot`] has said so.
    pub(super) fn layout(&self, device: i64, only: Only) -> Option<&Layout> {
        self.plots.layouts.iter().find(|&&(of, part, _)| (of, part) == (device, only)).map(|(.., layout)| layout)
    }

    fn reserved(&self, device: i64, only: Only, stacking: Option<Grouping>) -> Option<&Reserved> {
        let key = (device, only, stacking);
        let found = self.plots.reserved.iter().find(|&&(device, only, by, _)| (device, only, by) == key);
        found.map(|(.., reserved)| reserved)
    }

    /// Lends what the picture of addresses is drawn from. It must have been made ([`OpenFile::prepare_plot`]).
    pub(super) fn with_addresses<R>(
        &self,
        device: i64,
        looks: Looks,
        work: impl FnOnce(&AddressSource<'_>) -> R,
    ) -> Option<R> {
        let only = looks.plot.only();
        let (history, segments, layout) = (self.history(device)?, self.segments(device)?, self.layout(device, only)?);
        let place = |id: AllocationId| layout.place(history, id, self.block_bytes(history, id));
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

    /// The bytes a block takes: rounded, as recorded where it is there at the end, else at least so many.
    pub(super) fn block_bytes(&self, history: &DeviceHistory, id: AllocationId) -> u64 {
        // What is dead has no block; looking it up costs more than all else.
        match history.allocations.died(id) {
            Some(_) => self.rounding.rounded(history.allocations.size(id)),
            None => super::report::rounded(self, history, id).0,
        }
    }
}
