//! Live bytes by compiled region and by annotation. As in Mosaic, only allocations made in the trace are counted,
//! without the baseline.

use crate::innermost::{InnermostAnnotations, MarkScope};
use crate::regions::compile_context;
use base::slice::{SliceResult, TimeSlice};
use base::sorted::{sorted_by_key, two_part_key};
use base::units::{EventIdx, Moment};
use hashbrown::HashMap;
use history::replay::{AllocationId, DeviceHistory};
use history::snapshot::{Action, Snapshot, StringId};
use protocol::Span;

/// Totals of the allocations made in a torch.compile region, in requested bytes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Region {
    /// Name of the region. `None` if the region is not recorded, or recorded as `N/A`.
    pub(super) name: Option<StringId>,
    live: u64,
    /// Bytes that are live at the device's peak.
    pub(super) at_peak: u64,
    /// Peak of the region's live bytes. `peak_moment` is the first moment with this value.
    pub(super) peak: u64,
    pub(super) peak_moment: u32,
    pub(super) allocated: u64,
    pub(super) count: u64,
    /// Bytes that are live at the device's peak as determined by Mosaic.
    pub(super) mosaic_at_peak: u64,
}

/// Peak of live bytes as determined by Mosaic, and the first moment with this value.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct MosaicPeak {
    pub(super) bytes: u64,
    pub(super) moment: u32,
}

/// Pass over the events that counts live bytes by compiled region and annotation.
#[derive(Default)]
pub(super) struct RegionPass {
    event: u32,
    next: u32,
    live: u64,
    pub(super) regions: Vec<Region>,
    by_name: HashMap<u32, u32, foldhash::fast::RandomState>,
    /// Peak of the whole trace. `window_peak` is the peak within a range, if one was requested.
    pub(super) mosaic_peak: MosaicPeak,
    pub(super) window_peak: Option<(Span, MosaicPeak)>,
    /// Requested moments in ascending order, each with its index in `usages`.
    requested: Vec<(u32, u32)>,
    answered: usize,
    /// Live bytes at each requested moment. The order is that of the moments in [`RegionPass::request_usages`].
    pub(super) usages: Vec<u64>,
    /// Maps the labels id of an event to a 1-based index into `regions`. 0 if the id was not looked up yet.
    by_labels: Vec<u32>,
    innermost: InnermostAnnotations,
    /// Cursor for lookups in `innermost`, which continue from the previous event.
    innermost_position: usize,
    /// Live bytes at Mosaic's peak, by the innermost annotation that was open when the memory was allocated. `None`
    /// means no annotation.
    pub(super) annotations: Vec<(Option<StringId>, u64)>,
    by_annotation: HashMap<u32, u32, foldhash::fast::RandomState>,
}

/// Returns the hash key for a name. For `None`, returns `u32::MAX`, which no name has.
fn name_key(name: Option<StringId>) -> u32 {
    name.map_or(u32::MAX, |name| name.0)
}

impl RegionPass {
    /// Prepares the pass. If `window` is given, the pass also determines the peak within this range.
    pub(super) fn new(window: Option<Span>) -> RegionPass {
        let window_peak = window.map(|span| (span, MosaicPeak { bytes: 0, moment: span.from }));
        RegionPass { window_peak, innermost: InnermostAnnotations::new(MarkScope::File), ..RegionPass::default() }
    }

    /// Requests the live bytes at these moments. [`RegionPass::usages`] has the results.
    pub(super) fn request_usages(&mut self, moments: impl Iterator<Item = u32>) {
        self.requested =
            sorted_by_key(moments.zip(0..).collect(), |&(moment, number)| two_part_key(moment.into(), number.into()));
        self.usages = vec![0; self.requested.len()];
    }

    /// Stores the live bytes for all requested moments up to the current moment.
    fn store_usages(&mut self) {
        while let Some(&(_, number)) = self.requested.get(self.answered).filter(|&&(moment, _)| moment <= self.event) {
            self.usages.get_mut(number as usize).into_iter().for_each(|usage| *usage = self.live);
            self.answered += 1;
        }
    }

    /// Continues processing the events, and then the allocations that are live at Mosaic's peak.
    pub(super) fn step(&mut self, snapshot: &Snapshot, history: &DeviceHistory, slice: &mut TimeSlice) -> SliceResult {
        let (events, allocations) = (history.event_count(), &history.allocations);
        let peak = Moment::after_event_or_minus_one(history.numbers.peak_event).0;
        for event in self.event..events {
            slice.tick()?;
            self.store_usages();
            self.event += 1;
            self.process_event(snapshot, history, event);
            if let Some((span, highest)) = &mut self.window_peak
                && (span.from < self.event && self.event <= span.to)
                && self.live > highest.bytes
            {
                *highest = MosaicPeak { bytes: self.live, moment: self.event };
            }
            if self.event == peak {
                self.regions.iter_mut().for_each(|region| region.at_peak = region.live);
            }
        }
        self.store_usages();
        self.innermost.step(snapshot, history, slice)?;
        let (first, count) = (allocations.early_count() as u32, allocations.len() as u32);
        for id in first + self.next..count {
            slice.tick()?;
            self.next += 1;
            let (allocated_at, freed_at, size) = allocations.span(AllocationId(id));
            // Allocations are sorted by moment.
            if allocated_at > self.mosaic_peak.moment {
                break;
            }
            // Mosaic ends an allocation only at free_completed.
            let is_freed = freed_at <= self.mosaic_peak.moment && is_completed(history, freed_at);
            if is_freed {
                continue;
            }
            let number = self.region(snapshot, history, allocated_at);
            if let Some(region) = self.regions.get_mut(number) {
                region.mosaic_at_peak = region.mosaic_at_peak.saturating_add(size);
            }
            let name = self.innermost.at_event(&mut self.innermost_position, allocated_at.saturating_sub(1));
            let next = self.annotations.len() as u32;
            let number = *self.by_annotation.entry(name_key(name)).or_insert(next);
            if number == next {
                self.annotations.push((name, 0));
            }
            if let Some((_, bytes)) = self.annotations.get_mut(number as usize) {
                *bytes = bytes.saturating_add(size);
            }
        }
        Ok(())
    }

    fn process_event(&mut self, snapshot: &Snapshot, history: &DeviceHistory, event: u32) {
        let Some((id, is_alloc)) = history.lifetime_change(EventIdx(event)) else { return };
        let (allocated_at, _, size) = history.allocations.span(id);
        if allocated_at == 0 {
            return;
        }
        let moment = event + 1;
        let number = self.region(snapshot, history, allocated_at);
        let Some(region) = self.regions.get_mut(number) else { return };
        if !is_alloc {
            region.live = region.live.saturating_sub(size);
            if is_completed(history, moment) {
                self.live = self.live.saturating_sub(size);
            }
            return;
        }
        region.live = region.live.saturating_add(size);
        region.allocated = region.allocated.saturating_add(size);
        region.count += 1;
        if region.live > region.peak {
            (region.peak, region.peak_moment) = (region.live, moment);
        }
        self.live = self.live.saturating_add(size);
        if self.live > self.mosaic_peak.bytes {
            self.mosaic_peak = MosaicPeak { bytes: self.live, moment };
        }
    }

    /// Returns the index of an allocation's compiled region, given the moment of the allocation.
    fn region(&mut self, snapshot: &Snapshot, history: &DeviceHistory, allocated_at: u32) -> usize {
        let event = EventIdx(allocated_at.saturating_sub(1));
        let labels = history.events.labels(event.0).0 as usize;
        if self.by_labels.is_empty() {
            self.by_labels = vec![0; snapshot.labels.len()];
        }
        if let Some(known) = self.by_labels.get(labels).and_then(|known| known.checked_sub(1)) {
            return known as usize;
        }
        let name = compile_context(snapshot, history, event);
        let next = self.regions.len();
        let number = *self.by_name.entry(name_key(name)).or_insert(next as u32) as usize;
        if number >= self.regions.len() {
            self.regions.push(Region { name, ..Region::default() });
        }
        self.by_labels.get_mut(labels).into_iter().for_each(|known| *known = number as u32 + 1);
        number
    }
}

/// Returns whether the free at this moment is recorded as a `free_completed` event.
fn is_completed(history: &DeviceHistory, freed_at: u32) -> bool {
    Moment(freed_at).event().is_some_and(|event| history.events.action(event.0) == Action::FreeCompleted)
}
