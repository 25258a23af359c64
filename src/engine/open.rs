//! An open file: its snapshot, the history of each device, and what is asked of them.

use super::protocol::{DeviceSummary, FileSummary, HitAllocation, Warning};
use crate::analysis::{Sites, site};
use crate::column::Column;
use crate::replay::{AllocationId, Curve, DeviceHistory, Rounding, Source};
use crate::snapshot::{Action, FrameId, Snapshot, StackId, Warnings};
use crate::timeline::{self, Paint, paint};
use crate::units::{EventIdx, Moment};
use hashbrown::HashMap;

/// Allocations between two questions for the time.
const ALLOCATIONS_PER_CHECK: usize = 2048;

/// An open file.
pub(super) struct OpenFile {
    pub(super) snapshot: Snapshot,
    pub(super) histories: Vec<DeviceHistory>,
    pub(super) sites: Sites,
    pub(super) rounding: Rounding,
    name: String,
    format: String,
    warnings: Warnings,
    /// Palette slot of each stack, by its id; 0 where no allocation has it.
    slots: Column<u8>,
    indexing: Indexing,
}

/// How far the palette is.
#[derive(Default)]
struct Indexing {
    device: usize,
    next: usize,
    /// Bytes of each site at the device peaks.
    at_peak: HashMap<FrameId, u64, foldhash::fast::RandomState>,
    ranked: Option<HashMap<FrameId, u8, foldhash::fast::RandomState>>,
}

impl OpenFile {
    pub(super) fn new(
        name: String,
        format: String,
        snapshot: Snapshot,
        histories: Vec<DeviceHistory>,
        warnings: Warnings,
        sites: Sites,
    ) -> OpenFile {
        let rounding = Rounding::from_settings(&snapshot.settings);
        let slots = (0..snapshot.stacks.len()).map(|_| 0).collect();
        let indexing = Indexing::default();
        OpenFile { snapshot, histories, sites, rounding, name, format, warnings, slots, indexing }
    }

    /// Gives each call site its palette slot, the heaviest at the peaks first: `true` when done.
    pub(super) fn index(&mut self, has_time: &mut dyn FnMut() -> bool) -> bool {
        while self.indexing.ranked.is_none() {
            let Some(history) = self.histories.get(self.indexing.device) else {
                self.indexing.ranked = Some(rank(&self.indexing.at_peak));
                (self.indexing.device, self.indexing.next) = (0, 0);
                break;
            };
            let peak = (history.numbers.peak_event + 1) as u32;
            let ids = self.indexing.next..history.allocations.len().min(self.indexing.next + ALLOCATIONS_PER_CHECK);
            for (id, (born, died, size)) in ids.clone().zip(history.allocations.spans_in(ids.clone())) {
                if born <= peak && peak < died {
                    let stack = stack_of(&self.snapshot, history, AllocationId(id as u32));
                    if let Some(site) = self.sites.of(&self.snapshot, stack) {
                        let bytes = self.indexing.at_peak.entry(site).or_default();
                        *bytes = bytes.saturating_add(size);
                    }
                }
            }
            self.advance(ids.end);
            if !has_time() {
                return false;
            }
        }
        while let Some(history) = self.histories.get(self.indexing.device) {
            let ids = self.indexing.next..history.allocations.len().min(self.indexing.next + ALLOCATIONS_PER_CHECK);
            for id in ids.clone() {
                let stack = stack_of(&self.snapshot, history, AllocationId(id as u32));
                if self.slots.get(stack.0 as usize) == Some(0) {
                    let site = self.sites.of(&self.snapshot, stack);
                    let known = self.indexing.ranked.as_ref().and_then(|ranked| ranked.get(&site?).copied());
                    let slot = known.unwrap_or_else(|| site.map_or(1, |frame| site_slot(frame.0)));
                    self.slots.set(stack.0 as usize, slot);
                }
            }
            self.advance(ids.end);
            if !has_time() {
                return false;
            }
        }
        self.indexing = Indexing::default();
        true
    }

    fn advance(&mut self, to: usize) {
        let finished = self.histories.get(self.indexing.device).is_none_or(|history| to >= history.allocations.len());
        self.indexing.next = if finished { 0 } else { to };
        self.indexing.device += usize::from(finished);
    }

    /// The device with this ordinal.
    pub(super) fn history(&self, device: i64) -> Option<&DeviceHistory> {
        self.histories.iter().find(|history| history.device == device)
    }

    /// The stack that tells where an allocation came from: its own, from its alloc or its block, or else that of its free.
    pub(super) fn stack(&self, history: &DeviceHistory, id: AllocationId) -> StackId {
        stack_of(&self.snapshot, history, id)
    }

    fn paint(&self, history: &DeviceHistory, id: AllocationId) -> Paint {
        if history.allocations.source(id) == Source::Unexplained {
            return Paint::UNEXPLAINED;
        }
        let stack = self.stack(history, id);
        match self.slots.get(stack.0 as usize) {
            None | Some(0) => Paint::NO_STACK,
            Some(slot) => Paint::new(u32::from(slot), id.0),
        }
    }

    /// Lends the history of a device as the timeline wants it.
    pub(super) fn with_source<R>(&self, device: i64, work: impl FnOnce(&timeline::Source<'_>) -> R) -> Option<R> {
        let history = self.history(device)?;
        let drawn = |event: EventIdx| history.drawn_change(event);
        let reserved = |event: EventIdx| history.reserved_change(event);
        let paint = |id: AllocationId| self.paint(history, id);
        Some(work(&timeline::Source {
            allocations: &history.allocations,
            live: &history.live,
            order: None,
            clock: history.events.times.clock(),
            requested: Curve::new(&history.drawn, &drawn),
            reserved: Curve::new(&history.reserved, &reserved),
            paint: &paint,
        }))
    }

    /// The allocation at a byte of the stack at a moment.
    pub(super) fn hit(&mut self, device: i64, moment: u32, byte: u64) -> Option<HitAllocation> {
        let hit = self.with_source(device, |source| timeline::stack_at(source, Moment(moment), byte))??;
        let history = self.histories.iter().find(|history| history.device == device)?;
        let id = hit.allocation;
        let stack = stack_of(&self.snapshot, history, id);
        let site = self.sites.of(&self.snapshot, stack);
        Some(HitAllocation {
            allocation: id.0,
            requested: history.allocations.size(id),
            born: history.allocations.born(id).0,
            died: history.allocations.died(id).map(|moment| moment.0),
            lowest_byte: hit.lowest_byte,
            site: site.map(|frame| site::short(&self.snapshot, self.snapshot.frames.frame(frame))),
        })
    }

    /// What the summary shows.
    pub(super) fn summary(&self) -> FileSummary {
        let warnings = self.snapshot.warnings.iter().chain(self.warnings.iter());
        FileSummary {
            schema: 1,
            file: self.name.clone(),
            format: self.format.clone(),
            torch: self.snapshot.torch.map(|(since, _)| format!("{since} or later")),
            warnings: warnings
                .map(|(kind, count, example)| Warning {
                    kind: kind.name().to_owned(),
                    message: kind.message(),
                    count,
                    example: example.to_owned(),
                })
                .collect(),
            devices: self.histories.iter().map(device_summary).collect(),
            settings: self.snapshot.settings.clone(),
        }
    }

    /// Bytes on the heap, by table.
    pub(super) fn heap_bytes(&self) -> Vec<(&'static str, usize)> {
        let mut bytes = self.snapshot.heap_bytes();
        bytes.extend(self.histories.iter().flat_map(DeviceHistory::heap_bytes));
        bytes.push(("call sites and colours", self.slots.heap_bytes() + self.sites.heap_bytes()));
        bytes
    }
}

fn stack_of(snapshot: &Snapshot, history: &DeviceHistory, id: AllocationId) -> StackId {
    let recorded = |stack: &StackId| *stack != StackId::NONE;
    let source = history.allocations.source(id);
    let of_alloc = match source {
        Source::AllocatedBy(event) => Some(history.events.stack(event.0)).filter(recorded),
        _ => None,
    };
    // A block that is still there at the end has the stack of its alloc; that of the free says less.
    let of_block = || history.end_block(id).and_then(|row| snapshot.blocks.get(row as usize)).map(|block| block.stack);
    let of_free = || match source {
        Source::FreedBy(event) => Some(history.events.stack(event.0)),
        _ => None,
    };
    of_alloc.or_else(|| of_block().filter(recorded)).or_else(of_free).unwrap_or(StackId::NONE)
}

/// The heaviest sites get a slot of their own, in order; all others share, by the hash of their frame.
fn rank(
    at_peak: &HashMap<FrameId, u64, foldhash::fast::RandomState>,
) -> HashMap<FrameId, u8, foldhash::fast::RandomState> {
    let mut sites: Vec<(u64, FrameId)> = at_peak.iter().map(|(&site, &bytes)| (bytes, site)).collect();
    sites.sort_unstable_by_key(|&(bytes, site)| (std::cmp::Reverse(bytes), site));
    let first = Paint::FIRST_SITE_SLOT as u8;
    sites.into_iter().zip(first..paint::SLOTS as u8).map(|((_, site), slot)| (site, slot)).collect()
}

fn site_slot(frame: u32) -> u8 {
    let slots = paint::SLOTS - Paint::FIRST_SITE_SLOT;
    // Multiplying by an odd constant spreads neighbouring ids over the slots, the same way each time a file is opened.
    (Paint::FIRST_SITE_SLOT + (frame.wrapping_mul(0x9e37_79b1) >> 16) % slots) as u8
}

fn device_summary(history: &DeviceHistory) -> DeviceSummary {
    let numbers = &history.numbers;
    let actions = Action::ALL.iter().zip(history.action_counts);
    DeviceSummary {
        device: history.device,
        events: u64::from(history.event_count()),
        actions: actions.filter(|&(_, count)| count > 0).map(|(a, count)| (a.name().to_owned(), count)).collect(),
        allocations: numbers.allocations,
        base_requested: numbers.base,
        peak_requested: numbers.peak,
        peak_event: numbers.peak_event,
        min_requested: numbers.min,
        mean_requested: numbers.mean,
        median_requested: numbers.median,
        time_weighted_mean_requested: numbers.time_weighted_mean,
        end_requested: numbers.end,
        end_rounded: numbers.end_rounded,
        unmatched_frees: numbers.unmatched_frees,
        unmatched_free_bytes: numbers.unmatched_free_bytes,
        static_blocks: numbers.static_blocks,
        static_requested: numbers.static_bytes,
        identity: numbers.remainder == 0,
        unexplained_requested: u64::try_from(numbers.remainder).unwrap_or(0),
        reserved_start: numbers.reserved_start,
        reserved_end: numbers.reserved_end,
        peak_reserved: numbers.peak_reserved,
        segments: numbers.segments,
        annotations: numbers.annotations,
        time_us: numbers.time_us,
        drawn_peak: numbers.drawn_peak,
    }
}
