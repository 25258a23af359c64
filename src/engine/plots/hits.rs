//! Hit tests, outlines and keyboard steps in the address and reserved plots.

use super::layout::AddressLayout;
use super::neighbours::Neighbours;
use crate::memory_at::{SegmentAt, hit_segment, memory_at, segment_at};
use crate::open::OpenFile;
use crate::side::Side;
use analysis::site;
use base::units::{EventIdx, Moment};
use history::replay::{AllocationId, DeviceHistory, SegmentLifetimes};
use picture::timeline::{self, OutlineRect, View, address_outline};
use protocol::{
    AddressMap, HitAllocation, HitMemory, MappedRange, MemoryFilter, Plot, PlotSettings, Step, StepOutcome, StepResult,
};

/// Maximum number of events that a keyboard step examines, which takes a few milliseconds.
const MAX_EVENTS: u32 = 50_000;
/// Maximum number of ranges that a keyboard step examines, summed over all moments that it passes.
const MAX_RANGES: usize = 1_000_000;

/// Converts a height on the address axis to an address. For a height in a gap, returns the end of the range below the
/// gap.
fn address_near(map: &AddressMap, height: u64) -> Option<u64> {
    let after = map.ranges.partition_point(|range| range.axis_start <= height);
    let MappedRange { address, bytes, axis_start: from, .. } = *map.ranges.get(after.checked_sub(1)?)?;
    Some(address.saturating_add((height - from).min(bytes)))
}

impl OpenFile {
    /// Returns the address axis of a part of memory. The layout must be complete. The axis is empty if the device is
    /// unknown.
    pub(crate) fn map(&self, device: i64, only: MemoryFilter) -> AddressMap {
        self.layout(device, only).map(|layout| layout.map.clone()).unwrap_or_default()
    }

    /// Returns the allocation and the memory at a moment and a height of the address or reserved plot. First prepares
    /// the data of the plot if necessary, without time slices.
    pub(crate) fn hit_in_plot(
        &mut self,
        device: i64,
        plot_settings: PlotSettings,
        moment: u32,
        height: u64,
    ) -> (Option<HitAllocation>, HitMemory) {
        self.prepare_picture_now(device, plot_settings);
        let only = plot_settings.plot.filter();
        let found = match plot_settings.plot {
            Plot::Reserved(_) => self.hit_range(device, plot_settings, moment, height),
            _ => {
                let address = self.layout(device, only).and_then(|layout| layout.map.address_at(height));
                let height_of = |file: &OpenFile, address: u64| {
                    let layout = file.layout(device, only);
                    layout.and_then(|layout| layout.map.height_of(address)).unwrap_or(0)
                };
                address.and_then(|address| memory_at(self, (device, only), Moment(moment), address, height_of))
            }
        };
        found.unwrap_or_default()
    }

    fn hit_range(
        &mut self,
        device: i64,
        plot_settings: PlotSettings,
        moment: u32,
        height: u64,
    ) -> Option<(Option<HitAllocation>, HitMemory)> {
        let hit =
            self.with_reserved(device, plot_settings, |source| timeline::stack_at(source, Moment(moment), height))??;
        let (history, segments) = (self.history(device)?, self.segments(device)?);
        let (id, ranges) = (hit.allocation, &segments.ranges);
        let moment = Moment(moment.min(history.event_count()));
        let alone = SegmentAt {
            range: id,
            address: ranges.address(id),
            end: ranges.address(id).saturating_add(ranges.size(id)),
        };
        let enclosing = segment_at(segments, moment, alone.address).unwrap_or(alone);
        let block = HitAllocation {
            allocation: id.0,
            requested: ranges.size(id),
            allocated_at: ranges.allocated_at(id).0,
            freed_at: ranges.freed_at(id).map(|moment| moment.0),
            lowest_byte: hit.lowest_byte,
            call_site: None,
            category: None,
        };
        let stack = segments.stack(&self.snapshot, history, id);
        let frame = self.sites.call_site(&self.snapshot, stack);
        let site = frame.map(|frame| site::short(&self.snapshot, self.snapshot.frames.frame(frame)));
        let segment = hit_segment(self, device, enclosing);
        Some((Some(HitAllocation { call_site: site, ..block }), HitMemory { segment, free: None }))
    }

    /// Returns the outline of an allocation or mapped range in a window. `None` if the device is unknown.
    pub(crate) fn outline_in_plot(
        &mut self,
        device: i64,
        plot_settings: PlotSettings,
        view: &View,
        id: AllocationId,
    ) -> Option<Vec<OutlineRect>> {
        self.prepare_picture_now(device, plot_settings);
        match plot_settings.plot {
            Plot::Reserved(_) => {
                self.with_reserved(device, plot_settings, |source| timeline::exact_outline(source, view, id))
            }
            _ => {
                let rect = self.with_addresses(device, plot_settings, |source| address_outline(source, view, id))?;
                Some(rect.into_iter().collect())
            }
        }
    }

    /// Returns the height in the plot at which an allocation starts at a moment. `None` if the allocation is not shown
    /// at that moment. In the reserved plot, this is the height of the allocation's first byte within its mapped range.
    pub(crate) fn height_of(
        &mut self,
        device: i64,
        plot_settings: PlotSettings,
        id: AllocationId,
        moment: Moment,
    ) -> Option<u64> {
        self.prepare_picture_now(device, plot_settings);
        let history = self.history(device)?;
        match plot_settings.plot {
            Plot::Stack => {
                self.with_source(device, plot_settings, |source| timeline::lowest_byte_of(source, id, moment)).flatten()
            }
            Plot::Addresses(only) => self.layout(device, only)?.position(history, id, 0).map(|[lowest, _]| lowest),
            Plot::Reserved(_) => {
                let (segments, address) = (self.segments(device)?, history.allocations.address(id));
                let SegmentAt { range, .. } = segment_at(segments, moment, address)?;
                let lowest = self.with_reserved(device, plot_settings, |source| {
                    timeline::lowest_byte_of(source, range, moment).filter(|_| source.allocations.size(range) > 0)
                });
                Some(lowest.flatten()?.saturating_add(address - segments.ranges.address(range)))
            }
        }
    }

    /// Moves the cursor by one keyboard step in the address plot. Returns `None` if the device is unknown.
    pub(crate) fn step_in_addresses(
        &mut self,
        device: i64,
        plot_settings: PlotSettings,
        (moment, height): (u32, u64),
        step: Step,
    ) -> Option<StepResult> {
        self.prepare_picture_now(device, plot_settings);
        let (history, layout) = (self.history(device)?, self.layout(device, plot_settings.plot.filter())?);
        let moment = moment.min(history.event_count());
        let arrive_at = |id: AllocationId| {
            let [lowest, above] = layout.position(history, id, self.device_data(history).block_bytes(id))?;
            Some((moment, lowest + (above - lowest) / 2, StepOutcome::Arrived))
        };
        let around = || {
            let address = address_near(&layout.map, height)?;
            Some(Neighbours::find(Side { file: self, history }, Moment(moment), address, |id| layout.contains(id)))
        };
        let found = match step {
            Step::Above => around().and_then(|around| arrive_at(around.above?.id)),
            Step::Below => around().and_then(|around| arrive_at(around.below?.id)),
            Step::To(id) => {
                let id = AllocationId(id);
                let is_live = |history: &DeviceHistory| {
                    (id.0 as usize) < history.allocations.len()
                        && history.allocations.allocated_at(id).0 <= moment
                        && history.allocations.outlives(id, Moment(moment))
                };
                Some(id).filter(|_| is_live(history)).and_then(arrive_at)
            }
            Step::Earlier | Step::Later => layout.map.address_at(height).and_then(|address| {
                let (moment, outcome) = self.walk_to_block(history, layout, (moment, address), step)?;
                Some((moment, height, outcome))
            }),
        };
        let (moment, byte, outcome) = found.unwrap_or((moment, height, StepOutcome::NotFound));
        Some(StepResult { moment, byte, outcome })
    }

    /// Searches event by event for a block that covers the address: forwards to the next event that allocates such a
    /// block, or backwards to the last event that frees one.
    fn walk_to_block(
        &self,
        history: &DeviceHistory,
        layout: &AddressLayout,
        (start, address): (u32, u64),
        step: Step,
    ) -> Option<(u32, StepOutcome)> {
        let mut moment = start;
        for _ in 0..MAX_EVENTS {
            let (next, event) = next_moment(history, moment, step)?;
            if let Some((id, starts_lifetime)) = history.lifetime_change(EventIdx(event))
                && starts_lifetime == (step == Step::Later)
                && layout.contains(id)
                && let Some(offset) = address.checked_sub(history.allocations.address(id))
                && offset < self.device_data(history).block_bytes(id)
            {
                return Some((next, StepOutcome::Arrived));
            }
            moment = next;
        }
        Some((moment, StepOutcome::Unfinished))
    }
}

/// Returns the next moment in the direction of `step`, and the event in between.
fn next_moment(history: &DeviceHistory, moment: u32, step: Step) -> Option<(u32, u32)> {
    match step {
        Step::Earlier => Some((moment.checked_sub(1)?, moment - 1)),
        _ => (moment < history.event_count()).then_some((moment + 1, moment)),
    }
}

/// Searches the reserved plot for the next moment at which another range covers `byte`, in the direction of `step`.
pub(crate) fn walk_ranges(
    (history, segments): (&DeviceHistory, &SegmentLifetimes),
    source: &timeline::Source<'_>,
    (start, byte): (u32, u64),
    step: Step,
) -> Option<(u32, StepOutcome)> {
    let at = |moment: u32| timeline::stack_at(source, Moment(moment), byte).map(|hit| hit.allocation);
    let mut this = at(start);
    let (mut moment, mut examined) = (start, 0);
    for _ in 0..MAX_EVENTS {
        let (next, event) = next_moment(history, moment, step)?;
        moment = next;
        if segments.change(history, EventIdx(event)) == 0 {
            continue;
        }
        let found = at(moment);
        if found.is_some() && found != this {
            return Some((moment, StepOutcome::Arrived));
        }
        this = found;
        examined += source.live.candidates(source.allocations, Moment(moment)).len();
        if examined > MAX_RANGES {
            break;
        }
    }
    Some((moment, StepOutcome::Unfinished))
}
