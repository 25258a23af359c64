//! Outlines of the totals while traces are being decoded. Their size is bounded. They are updated from the columns at
//! intervals, so that recording an event takes no extra time.
//!
//! ```text
//! events       0 ......................... in the outline .... decoded
//! bins         |  2^k moments  |  2^k moments  | ..            maximum of each, from the start of the trace
//! ```
//! The bytes that were live before the trace are known only when everything is decoded. Until then they are estimated.

use super::device::Device;
use super::end::end_blocks;
use super::recorder::Recorder;
use super::trace::{FreeSums, NEVER, Subject, Trace, to_signed};
use super::unlisted::Unlisted;
use crate::snapshot::{Action, BlockState, EndState, HOST_DEVICE, Segment, Snapshot};
use base::sorted::{signed_key, sorted_by_key};

/// Maximum number of bins: twice the number of pixel columns of a large screen, because merging halves the number of
/// bins.
pub const MAX_BINS: usize = 4096;

/// Maximum number of events added to an outline at once, which takes some milliseconds.
const MAX_FOLDED_EVENTS: u32 = 1 << 20;

/// Running total in bytes, which starts at 0.
#[derive(Clone, Debug)]
pub struct RunningTotal {
    /// Total after the last event of the outline.
    pub current: i64,
    /// Maximum total, and the first moment with this total.
    pub peak: (i64, u32),
    minimum: i64,
    /// Maximum total in each bin. A bin is a range of moments.
    pub bins: Vec<i64>,
}

impl RunningTotal {
    fn new() -> RunningTotal {
        RunningTotal { current: 0, peak: (0, 0), minimum: 0, bins: vec![0] }
    }

    #[inline(always)]
    fn add(&mut self, bytes: i64, moment: u32) {
        self.current = self.current.saturating_add(bytes);
        if self.current > self.peak.0 {
            self.peak = (self.current, moment);
        }
        self.minimum = self.minimum.min(self.current);
    }

    #[inline(always)]
    fn update_bin(&mut self, bin: usize) {
        match self.bins.get_mut(bin) {
            Some(highest) => *highest = self.current.max(*highest),
            None => self.bins.push(self.current),
        }
    }

    fn merge(&mut self) {
        self.bins = self.bins.chunks(2).map(|two| two.iter().copied().max().unwrap_or(0)).collect();
    }
}

/// Outline of a trace: totals over the events decoded so far, updated at intervals.
#[derive(Clone, Debug)]
pub struct Outline {
    /// Ordinal of the device. It may be wrong until everything is decoded.
    pub device: i64,
    /// Number of events in the outline.
    pub events: u32,
    /// Requested bytes of live allocations.
    pub live: RunningTotal,
    pub reserved: RunningTotal,
    /// Requested and reserved bytes before the first event. Estimates until everything is decoded.
    pub base: [i64; 2],
    /// Number of allocations so far.
    pub allocations: u64,
    /// Number of out-of-memory events so far.
    pub ooms: u64,
    /// Number of moments per bin, as an exponent of two.
    pub bin_bits: u32,
    /// Action that ends a lifetime.
    ending_action: Action,
    /// True if the first allocation or segment event reserves memory. No memory was then reserved before. `None` until
    /// such an event occurs.
    starts_with_reserve: Option<bool>,
}

impl Outline {
    fn new(device: i64, ending_action: Action) -> Outline {
        let (live, reserved) = (RunningTotal::new(), RunningTotal::new());
        let (events, base, allocations, ooms, bin_bits, starts_with_reserve) = Default::default();
        Outline {
            device,
            events,
            live,
            reserved,
            base,
            allocations,
            ooms,
            bin_bits,
            ending_action,
            starts_with_reserve,
        }
    }

    /// Adds the next events to the outline, at most `max_events`.
    fn fold(&mut self, trace: &Trace, max_events: u32) {
        let (from, to) = (self.events, trace.events.len().min(self.events.saturating_add(max_events)));
        let mut next_free = trace.free_sizes.partition_point(|&(event, _)| event < from);
        for event in from..to {
            let action = trace.events.action(event);
            let moment = event + 1;
            match trace.events.subject_of(event, action) {
                Subject::Segment(index) => {
                    let size = to_signed(trace.segment_operations.get(index as usize).unwrap_or_default().1);
                    let grows = matches!(action, Action::SegmentAlloc | Action::SegmentMap);
                    self.starts_with_reserve = self.starts_with_reserve.or(Some(grows));
                    self.reserved.add(if grows { size } else { -size }, moment);
                }
                Subject::Note(_) => {}
                subject => {
                    self.starts_with_reserve = self.starts_with_reserve.or(Some(false));
                    let free_size =
                        trace.free_sizes.get(next_free).filter(|&&(of, _)| of == event).map(|&(_, size)| size);
                    next_free += usize::from(free_size.is_some());
                    let size = || match subject {
                        Subject::Early(index) => trace.early.size.get(index as usize).unwrap_or(0),
                        Subject::Traced(index) => trace.traced.size.get(index as usize).unwrap_or(0),
                        Subject::Segment(_) | Subject::Note(_) => 0,
                    };
                    if action == Action::Alloc {
                        self.live.add(to_signed(size()), moment);
                    } else if action == self.ending_action {
                        self.live.add(-to_signed(free_size.unwrap_or_else(size)), moment);
                    }
                }
            }
            let mut bin = (moment >> self.bin_bits) as usize;
            if bin == MAX_BINS {
                self.live.merge();
                self.reserved.merge();
                self.bin_bits += 1;
                bin = (moment >> self.bin_bits) as usize;
            }
            self.live.update_bin(bin);
            self.reserved.update_bin(bin);
        }
        self.events = to;
    }

    /// Estimates the bytes before the first event. They include at least the bytes that the trace frees without
    /// allocating them. If recording started in a running program, they also include the blocks and segments at the end
    /// that no event explains so far.
    fn estimate(&mut self, trace: &Trace, end: &PartialEnd<'_>) {
        let frees = trace.frees(self.ending_action);
        let is_running = frees.unmatched > 0 || self.starts_with_reserve == Some(false);
        let (mut statics, mut reserved) = (0u64, 0i64);
        for segment in end.segments.iter().filter(|segment| is_running && segment.device == self.device) {
            reserved = reserved.saturating_add(to_signed(segment.total_size));
            let blocks = segment.blocks.clone().filter_map(end.block);
            let unexplained = blocks.filter(|&(address, _)| !trace.has_live_alloc(address, self.ending_action));
            statics = unexplained.fold(statics, |sum, (_, requested)| sum.saturating_add(requested));
        }
        let live = to_signed(frees.unmatched_bytes.saturating_add(statics)).max(-self.live.minimum);
        let mut reserved_before = if is_running { reserved.saturating_sub(self.reserved.current) } else { 0 };
        if reserved > 0 {
            // Live bytes must be reserved.
            reserved_before =
                reserved_before.max(live.saturating_add(self.live.peak.0).saturating_sub(self.reserved.peak.0));
        }
        self.base = [live, reserved_before.max(-self.reserved.minimum)];
        self.allocations = trace.count(Action::Alloc) + frees.unmatched;
        self.ooms = trace.count(Action::Oom);
    }

    /// Sets the bytes before the first event and the counts to exact values, after everything is decoded.
    fn set_exact(&mut self, device: &Device, blocks: &[u32], snapshot: &Snapshot) {
        let Device { trace, segments, .. } = device;
        let frees = trace.frees(self.ending_action);
        let (mut end, mut statics, mut before) = (0i64, 0, to_signed(frees.unmatched_bytes));
        for block in blocks.iter().filter_map(|&row| snapshot.blocks.get(row as usize)) {
            end = end.saturating_add(to_signed(block.requested));
            if !trace.has_live_alloc(block.address, self.ending_action) {
                statics += 1;
                before = before.saturating_add(to_signed(block.requested));
            }
        }
        let unlisted = Unlisted::new(trace, segments, blocks, self.ending_action, snapshot);
        let net = trace.allocated.saturating_sub(frees.bytes);
        end = end.saturating_add(match snapshot.end {
            EndState::Unknown => to_signed(frees.unmatched_bytes).saturating_add(net),
            EndState::Recorded => to_signed(unlisted.bytes),
        });
        self.base = [
            end.max(0).saturating_sub(net).max(before),
            to_signed(unlisted.reserved).saturating_sub(trace.reserved).max(0),
        ];
        self.allocations = trace.count(Action::Alloc) + frees.unmatched + statics;
        self.ooms = trace.count(Action::Oom);
    }
}

/// State at the end of the traces, as far as it has been decoded.
pub struct PartialEnd<'a> {
    /// Segments of all devices.
    pub segments: &'a [Segment],
    /// Returns the address and requested bytes of the block in a row, if the block is live.
    pub block: &'a dyn Fn(u32) -> Option<(u64, u64)>,
}

/// Overview of a file, as far as it has been decoded.
#[derive(Clone, Debug, Default)]
pub struct Partial {
    /// Outlines in the order of the traces. After decoding, in the order of the devices in [`Builder`](super::Builder).
    pub outlines: Vec<Outline>,
    /// Number of devices with segments so far, without host memory.
    pub devices: usize,
}

impl Partial {
    /// Adds the events that were recorded since the last call to the outlines, at most a million per trace.
    pub fn update(&mut self, recorder: &Recorder, end: &PartialEnd<'_>) {
        let devices = end.segments.iter().map(|segment| segment.device).filter(|&device| device != HOST_DEVICE);
        let mut devices = sorted_by_key(devices.collect(), |&device| signed_key(device).into());
        devices.dedup();
        self.devices = devices.len();
        for (number, trace) in recorder.traces.iter().enumerate() {
            // A device without events has no trace. The device of a trace is known only at the end.
            let device = devices.get(number).copied().unwrap_or(number as i64);
            let ends =
                if trace.count(Action::FreeCompleted) == 0 { Action::FreeRequested } else { Action::FreeCompleted };
            if self.outlines.len() <= number {
                self.outlines.push(Outline::new(device, ends));
            }
            let Some(outline) = self.outlines.get_mut(number) else { continue };
            outline.device = device;
            outline.restart_if_changed(ends);
            if outline.events < trace.events.len() {
                outline.fold(trace, MAX_FOLDED_EVENTS);
                outline.estimate(trace, end);
            }
        }
    }

    /// Adds the remaining events to the outlines, after everything is decoded.
    pub(super) fn finish<'a>(&mut self, devices: impl Iterator<Item = &'a Device>, snapshot: &Snapshot) {
        let mut known: Vec<Option<Outline>> = std::mem::take(&mut self.outlines).into_iter().map(Some).collect();
        for device in devices {
            let blocks = end_blocks(&device.segments, snapshot);
            let ends = device.trace.ending_action(&blocks, snapshot);
            let outline = device.number.and_then(|number| known.get_mut(number as usize)?.take());
            let mut outline = outline.unwrap_or_else(|| Outline::new(device.ordinal, ends));
            outline.device = device.ordinal;
            outline.restart_if_changed(ends);
            outline.fold(&device.trace, u32::MAX);
            outline.set_exact(device, &blocks, snapshot);
            self.outlines.push(outline);
        }
    }
}

impl Outline {
    /// Restarts the outline if `ends`, the action that ends lifetimes, has changed since the outline was started.
    fn restart_if_changed(&mut self, ends: Action) {
        if self.ending_action != ends {
            *self = Outline::new(self.device, ends);
        }
    }
}

impl Trace {
    /// Returns the action that ends lifetimes. `skip_actions` can remove every `free_completed`. Lifetimes then end
    /// when the free is requested. If there are no more requests than blocks awaiting free at the end, no
    /// `free_completed` is missing.
    pub(super) fn ending_action(&self, end_blocks: &[u32], snapshot: &Snapshot) -> Action {
        let state = |row: &u32| snapshot.blocks.get(*row as usize).map(|block| block.state);
        let awaited = || end_blocks.iter().filter(|row| state(row) == Some(BlockState::AwaitingFree)).count() as u64;
        let only_requests = self.count(Action::FreeCompleted) == 0 && self.count(Action::FreeRequested) > awaited();
        if only_requests { Action::FreeRequested } else { Action::FreeCompleted }
    }

    /// Returns the sums over the frees with action `ends`, which ends lifetimes.
    pub(super) fn frees(&self, ends: Action) -> FreeSums {
        if ends == Action::FreeRequested { self.requested } else { self.completed }
    }

    /// Returns whether an event in the trace allocated the block that is live at an address at the end.
    fn has_live_alloc(&self, address: u64, ends: Action) -> bool {
        match self.live_at(address) {
            Some(Subject::Traced(index)) => {
                let ended =
                    if ends == Action::FreeRequested { &self.traced.free_requested } else { &self.traced.freed_at };
                ended.get(index as usize) == Some(NEVER)
            }
            _ => false,
        }
    }
}
