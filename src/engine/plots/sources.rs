//! Access to the data that the address and reserved plots are drawn from.

use super::layout::AddressLayout;
use super::reserved::ReservedRanges;
use crate::groups::Groups;
use crate::open::OpenFile;
use base::slice::{SliceResult, TimeSlice};
use base::units::EventIdx;
use history::replay::{AllocationId, Curve, Totals};
use history::snapshot::StackId;
use picture::timeline::{self, AddressSource, Paint};
use protocol::{Highlight, MemoryFilter, Plot, PlotSettings};

/// Number of cached layouts per device. This is enough for the current and the previous one.
const CACHED_PER_DEVICE: usize = 2;

impl OpenFile {
    /// Continues building the data that a plot needs in addition to its stacking order. Does nothing if the device is
    /// unknown.
    pub(crate) fn prepare_plot(
        &mut self,
        device: i64,
        plot_settings: PlotSettings,
        slice: &mut TimeSlice,
    ) -> SliceResult {
        if plot_settings.plot == Plot::Stack {
            return Ok(());
        }
        self.compute_segments(device, slice)?;
        let mut plots = std::mem::take(&mut self.plots);
        let result = match self.history(device).zip(self.segments(device)) {
            Some((history, segments)) => {
                let limit = CACHED_PER_DEVICE * self.histories.len().max(1);
                plots.step(self.device_data(history), segments, plot_settings, limit, slice)
            }
            None => Ok(()),
        };
        self.plots = plots;
        result
    }

    /// Returns the layout of the address plot of a part of memory. It is complete once [`OpenFile::prepare_plot`] has
    /// succeeded.
    pub(crate) fn layout(&self, device: i64, only: MemoryFilter) -> Option<&AddressLayout> {
        self.plots.layout(device, only)
    }

    /// Calls `work` with the data of the address plot. [`OpenFile::prepare_plot`] must have succeeded. Returns `None`
    /// for an unknown device.
    pub(crate) fn with_addresses<R>(
        &self,
        device: i64,
        plot_settings: PlotSettings,
        work: impl FnOnce(&AddressSource<'_>) -> R,
    ) -> Option<R> {
        let only = plot_settings.plot.filter();
        let (history, segments, layout) = (self.history(device)?, self.segments(device)?, self.layout(device, only)?);
        let position = |id: AllocationId| layout.position(history, id, self.device_data(history).block_bytes(id));
        let includes = |id: AllocationId| layout.contains(id);
        let range_position = |id: AllocationId| layout.range_position(segments, id);
        self.with_source(device, PlotSettings { plot: Plot::Stack, stacking: None, ..plot_settings }, |source| {
            work(&AddressSource {
                source: *source,
                includes: (only != MemoryFilter::default()).then_some(&includes),
                place: &position,
                ranges: &segments.ranges,
                range_place: &range_position,
            })
        })
    }

    /// Calls `work` with the data of the reserved plot. In this plot, mapped ranges
    /// ([`SegmentLifetimes`](history::replay::SegmentLifetimes)) take the place of allocations.
    /// [`OpenFile::prepare_plot`] must have succeeded.
    pub(crate) fn with_reserved<R>(
        &self,
        device: i64,
        plot_settings: PlotSettings,
        work: impl FnOnce(&timeline::Source<'_>) -> R,
    ) -> Option<R> {
        let (history, segments) = (self.history(device)?, self.segments(device)?);
        let ReservedRanges { part, order, .. } =
            self.plots.reserved(device, plot_settings.plot.filter(), plot_settings.stacking)?;
        let mapped_change = |event: EventIdx| segments.change(history, event);
        let part_change = |event: EventIdx| part.as_ref().map_or(0, |part| part.change(history, event));
        let reserved = |event: EventIdx| history.reserved_change(event);
        let by = Groups::range_grouping(plot_settings.colouring);
        let paint = |id: AllocationId| {
            let group = self.groups.group_of_range(&self.snapshot, (history, segments), id, by);
            Paint::new(self.groups.slot(by, group), id.0)
        };
        // All other highlights apply to allocations, not to ranges.
        let has_stack = match plot_settings.highlight {
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
            clock: history.events.times.time_axis(),
            requested: match part {
                Some(part) => part.curve(&part_change),
                None => Curve::new(&segments.mapped, &mapped_change),
            },
            reserved: Curve::new(&history.reserved, &reserved),
            pending: Curve::new(&nothing, &|_| 0),
            paint: &paint,
            highlight: has_stack.as_ref().map(|is_highlighted| is_highlighted as _),
        }))
    }
}
