//! Outline of the totals while a trace is being decoded. Its size is bounded. It is computed from the columns now and
//! then, so that recording an event takes no extra time.
//!
//! ```text
//! events       0 ......................... folded ............ decoded
//! bins         |  2^k moments  |  2^k moments  | ..            maximum of each, from the start of the trace
//! ```
//! The bytes live before the trace are known when everything is decoded. Until then they are estimated.

use super::device::Device;
use super::end::end_blocks;
use super::recorder::Recorder;
use super::trace::{Frees, NEVER, Subject, Trace, signed};
use crate::snapshot::{Action, BlockState, End, HOST, Segment, Snapshot};
use base::sorted::{ascending, sorted_by_key};

/// Maximum number of bins: twice the columns of a large screen, so that enough remain after merging.
pub const MOST_BINS: usize = 4096;

/// Maximum number of events folded at once. Takes some milliseconds.
const FOLDED_AT_ONCE: u32 = 1 << 20;

/// Running total in bytes, which starts at 0.
#[derive(Clone, Debug)]
pub struct Line {
    /// Total after the last folded event.
    pub now: i64,
    /// Maximum, and the first moment that has it.
    pub peak: (i64, u32),
    lowest: i64,
    /// Maximum of each bin.
    pub bins: Vec<i64>,
}

impl Line {
    fn new() -> Line {
        Line { now: 0, peak: (0, 0), lowest: 0, bins: vec![0] }
    }

    #[inline(always)]
    fn change(&mut self, bytes: i64, moment: u32) {
        self.now = self.now.saturating_add(bytes);
        if self.now > self.peak.0 {
            self.peak = (self.now, moment);
        }
        self.lowest = self.lowest.min(self.now);
    }

    #[inline(always)]
    fn note(&mut self, bin: usize) {
        match self.bins.get_mut(bin) {
            Some(highest) => *highest = self.now.max(*highest),
            None => self.bins.push(self.now),
        }
    }

    fn merge(&mut self) {
        self.bins = self.bins.chunks(2).map(|two| two.iter().copied().max().unwrap_or(0)).collect();
    }
}

/// Outline of a trace, up to the last folded event.
#[derive(Clone, Debug)]
pub struct Outline {
    /// Ordinal of the device. A guess until everything is decoded.
    pub device: i64,
    /// Number of folded events.
    pub events: u32,
    /// Requested bytes.
    pub live: Line,
    pub reserved: Line,
    /// Requested and reserved bytes before the first event. Estimates until everything is decoded.
    pub base: [i64; 2],
    /// Number of allocations so far.
    pub allocations: u64,
    /// Number of out-of-memory events so far.
    pub ooms: u64,
    /// Number of moments per bin, as a power of two.
    pub bin_bits: u32,
    /// Action that ends a lifetime.
    ends: Action,
    /// True if the first event reserves memory, so that none was reserved before. `None` until then.
    from_start: Option<bool>,
}

impl Outline {
    fn new(device: i64, ends: Action) -> Outline {
        let (live, reserved) = (Line::new(), Line::new());
        let (events, base, allocations, ooms, bin_bits, from_start) = Default::default();
        Outline { device, events, live, reserved, base, allocations, ooms, bin_bits, ends, from_start }
    }

    /// Folds up to `most` more events.
    fn fold(&mut self, trace: &Trace, most: u32) {
        let (from, to) = (self.events, trace.events.len().min(self.events.saturating_add(most)));
        let mut odd = trace.free_sizes.partition_point(|&(event, _)| event < from);
        for event in from..to {
            let action = trace.events.action(event);
            let moment = event + 1;
            match trace.events.subject_of(event, action) {
                Subject::Segment(index) => {
                    let size = signed(trace.segment_operations.get(index as usize).unwrap_or_default().1);
                    let grows = matches!(action, Action::SegmentAlloc | Action::SegmentMap);
                    self.from_start = self.from_start.or(Some(grows));
                    self.reserved.change(if grows { size } else { -size }, moment);
                }
                Subject::Note(_) => {}
                subject => {
                    self.from_start = self.from_start.or(Some(false));
                    let own = trace.free_sizes.get(odd).filter(|&&(of, _)| of == event).map(|&(_, size)| size);
                    odd += usize::from(own.is_some());
                    let size = || match subject {
                        Subject::Early(index) => trace.early.size.get(index as usize).unwrap_or(0),
                        Subject::Traced(index) => trace.traced.size.get(index as usize).unwrap_or(0),
                        Subject::Segment(_) | Subject::Note(_) => 0,
                    };
                    if action == Action::Alloc {
                        self.live.change(signed(size()), moment);
                    } else if action == self.ends {
                        self.live.change(-signed(own.unwrap_or_else(size)), moment);
                    }
                }
            }
            let mut bin = (moment >> self.bin_bits) as usize;
            if bin == MOST_BINS {
                self.live.merge();
                self.reserved.merge();
                self.bin_bits += 1;
                bin = (moment >> self.bin_bits) as usize;
            }
            self.live.note(bin);
            self.reserved.note(bin);
        }
        self.events = to;
    }

    /// Estimates the bytes before the first event. The minimum is what the trace frees of them. If recording started in
    /// a running program, blocks and segments at the end that no event explains so far are added.
    fn estimate(&mut self, trace: &Trace, end: &EndSoFar<'_>) {
        let frees = trace.frees(self.ends);
        let is_running = frees.unmatched > 0 || self.from_start == Some(false);
        let (mut statics, mut reserved) = (0u64, 0i64);
        for segment in end.segments.iter().filter(|segment| is_running && segment.device == self.device) {
            reserved = reserved.saturating_add(signed(segment.total_size));
            let blocks = segment.blocks.clone().filter_map(end.block);
            let unexplained = blocks.filter(|&(address, _)| !trace.explains(address, self.ends));
            statics = unexplained.fold(statics, |sum, (_, requested)| sum.saturating_add(requested));
        }
        let live = signed(frees.unmatched_bytes.saturating_add(statics)).max(-self.live.lowest);
        let mut held = if is_running { reserved.saturating_sub(self.reserved.now) } else { 0 };
        if reserved > 0 {
            // Live bytes must be reserved.
            held = held.max(live.saturating_add(self.live.peak.0).saturating_sub(self.reserved.peak.0));
        }
        self.base = [live, held.max(-self.reserved.lowest)];
        self.allocations = trace.count(Action::Alloc) + frees.unmatched;
        self.ooms = trace.count(Action::Oom);
    }

    /// Computes the same exactly, after everything is decoded.
    fn settle(&mut self, device: &Device, blocks: &[u32], snapshot: &Snapshot) {
        let Device { trace, segments, .. } = device;
        let frees = trace.frees(self.ends);
        let (mut end, mut statics) = (0i64, 0);
        for block in blocks.iter().filter_map(|&row| snapshot.blocks.get(row as usize)) {
            end = end.saturating_add(signed(block.requested));
            statics += u64::from(!trace.explains(block.address, self.ends));
        }
        let reserved = segments.iter().filter_map(|&row| snapshot.segments.get(row as usize));
        let reserved = reserved.fold(0i64, |sum, segment| sum.saturating_add(signed(segment.total_size)));
        let net = trace.allocated.saturating_sub(frees.bytes);
        if snapshot.end == End::Unknown {
            end = signed(frees.unmatched_bytes).saturating_add(net).max(0);
        }
        self.base = [end.saturating_sub(net), reserved.saturating_sub(trace.reserved)];
        self.allocations = trace.count(Action::Alloc) + frees.unmatched + statics;
        self.ooms = trace.count(Action::Oom);
    }
}

/// Decoded part of the state at the end of a trace.
pub struct EndSoFar<'a> {
    /// Segments of all devices.
    pub segments: &'a [Segment],
    /// Returns address and requested bytes of a block in these segments if it is live.
    pub block: &'a dyn Fn(u32) -> Option<(u64, u64)>,
}

/// Decoded part of a file.
#[derive(Clone, Debug, Default)]
pub struct Partial {
    /// Outlines by trace. After decoding, by device in the order of [`Builder`](super::Builder).
    pub outlines: Vec<Outline>,
    /// Number of devices with segments so far, without host memory.
    pub devices: usize,
}

impl Partial {
    /// Folds some of the events recorded since the last call.
    pub fn look(&mut self, recorder: &Recorder, end: &EndSoFar<'_>) {
        let devices = end.segments.iter().map(|segment| segment.device).filter(|&device| device != HOST);
        let mut devices = sorted_by_key(devices.collect(), |&device| ascending(device).into());
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
            outline.begin_with(ends);
            if outline.events < trace.events.len() {
                outline.fold(trace, FOLDED_AT_ONCE);
                outline.estimate(trace, end);
            }
        }
    }

    /// Folds the remaining events, after everything is decoded.
    pub(super) fn close<'a>(&mut self, devices: impl Iterator<Item = &'a Device>, snapshot: &Snapshot) {
        let mut known: Vec<Option<Outline>> = std::mem::take(&mut self.outlines).into_iter().map(Some).collect();
        for device in devices {
            let blocks = end_blocks(&device.segments, snapshot);
            let ends = device.trace.ends(&blocks, snapshot);
            let outline = device.number.and_then(|number| known.get_mut(number as usize)?.take());
            let mut outline = outline.unwrap_or_else(|| Outline::new(device.ordinal, ends));
            outline.device = device.ordinal;
            outline.begin_with(ends);
            outline.fold(&device.trace, u32::MAX);
            outline.settle(device, &blocks, snapshot);
            self.outlines.push(outline);
        }
    }
}

impl Outline {
    /// Restarts the outline if another action turns out to end lifetimes.
    fn begin_with(&mut self, ends: Action) {
        if self.ends != ends {
            *self = Outline::new(self.device, ends);
        }
    }
}

impl Trace {
    /// Returns the action that ends lifetimes. `skip_actions` can remove every free_completed, and then a block ends
    /// when its free is requested. If the number of blocks awaiting free at the end equals the number of requests, none
    /// is missing.
    pub(super) fn ends(&self, end_blocks: &[u32], snapshot: &Snapshot) -> Action {
        let state = |row: &u32| snapshot.blocks.get(*row as usize).map(|block| block.state);
        let awaited = || end_blocks.iter().filter(|row| state(row) == Some(BlockState::Pending)).count() as u64;
        let only_requests = self.count(Action::FreeCompleted) == 0 && self.count(Action::FreeRequested) > awaited();
        if only_requests { Action::FreeRequested } else { Action::FreeCompleted }
    }

    /// Returns the sums over the frees for the action that ends lifetimes.
    pub(super) fn frees(&self, ends: Action) -> Frees {
        if ends == Action::FreeRequested { self.requested } else { self.completed }
    }

    /// Returns whether an event in the trace allocated the block that is live at an address at the end.
    fn explains(&self, address: u64, ends: Action) -> bool {
        match self.live_at(address) {
            Some(Subject::Traced(index)) => {
                let ended = if ends == Action::FreeRequested { &self.traced.free_requested } else { &self.traced.died };
                ended.get(index as usize) == Some(NEVER)
            }
            _ => false,
        }
    }
}
