//! The totals of a trace that is still being decoded, as an outline: bounded, and folded from the columns now and then, so that
//! recording an event costs nothing more.
//!
//! ```text
//! events       0 ......................... folded ............ decoded
//! bins         |  2^k moments  |  2^k moments  | ..            the largest totals of each, from the trace's beginning
//! ```
//! What was live at the beginning is known for certain when all is decoded; until then it is estimated.

use super::device::Device;
use super::end::end_blocks;
use super::recorder::Recorder;
use super::trace::{Frees, NEVER, Subject, Trace, signed};
use crate::snapshot::{Action, BlockState, End, HOST, Segment, Snapshot};
use base::sorted::{ascending, sorted_by_key};

/// Bins of a trace, at most: twice as many as a large screen has columns, so that at least as many remain when they are merged.
pub const MOST_BINS: usize = 4096;

/// Events that are folded at once, some milliseconds' worth.
const FOLDED_AT_ONCE: u32 = 1 << 20;

/// A running total from the trace's beginning, which is 0 here.
#[derive(Clone, Debug)]
pub struct Line {
    /// After the last event that was folded, in bytes.
    pub now: i64,
    /// The largest total, and the first moment that has it.
    pub peak: (i64, u32),
    lowest: i64,
    /// The largest total of each bin.
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

/// What the events of a trace come to, as far as they are folded.
#[derive(Clone, Debug)]
pub struct Outline {
    /// The device's ordinal; a guess until all is decoded.
    pub device: i64,
    /// Events that were folded.
    pub events: u32,
    /// Requested bytes.
    pub live: Line,
    pub reserved: Line,
    /// Requested and reserved bytes before the first event; estimates until all is decoded.
    pub base: [i64; 2],
    /// Allocations so far.
    pub allocations: u64,
    /// How often memory ran out so far.
    pub ooms: u64,
    /// A bin covers 2 to the power of this many moments.
    pub bin_bits: u32,
    /// What ends an allocation.
    ends: Action,
    /// Whether the first thing recorded is that memory was taken from the driver: then there was none before.
    from_start: Option<bool>,
}

impl Outline {
    fn new(device: i64, ends: Action) -> Outline {
        let (live, reserved) = (Line::new(), Line::new());
        let (events, base, allocations, ooms, bin_bits, from_start) = Default::default();
        Outline { device, events, live, reserved, base, allocations, ooms, bin_bits, ends, from_start }
    }

    /// Folds the next events, at most so many.
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

    /// The bytes before the first event, as far as they are known: at least what the trace frees of them; and where it began in a running
    /// program, what is there at the end and no event explains so far.
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
            // What is live has been reserved.
            held = held.max(live.saturating_add(self.live.peak.0).saturating_sub(self.reserved.peak.0));
        }
        self.base = [live, held.max(-self.reserved.lowest)];
        self.allocations = trace.count(Action::Alloc) + frees.unmatched;
        self.ooms = trace.count(Action::Oom);
    }

    /// The same when all is known.
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

/// What is decoded of the end of a trace.
pub struct EndSoFar<'a> {
    /// Of all devices.
    pub segments: &'a [Segment],
    /// Address and requested bytes of a block of theirs that is live.
    pub block: &'a dyn Fn(u32) -> Option<(u64, u64)>,
}

/// What of a file is decoded so far.
#[derive(Clone, Debug, Default)]
pub struct Partial {
    /// By trace; when all is decoded by device, as a [`Builder`](super::Builder) makes them.
    pub outlines: Vec<Outline>,
    /// Devices that have segments, as far as they were met.
    pub devices: usize,
}

impl Partial {
    /// Folds what was recorded since the last look, as much as can be done at once.
    pub fn look(&mut self, recorder: &Recorder, end: &EndSoFar<'_>) {
        let devices = end.segments.iter().map(|segment| segment.device).filter(|&device| device != HOST);
        let mut devices = sorted_by_key(devices.collect(), |&device| ascending(device).into());
        devices.dedup();
        self.devices = devices.len();
        for (number, trace) in recorder.traces.iter().enumerate() {
            // A device without events has no trace, and which one it was is known at the end.
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

    /// Folds the rest: all is decoded.
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
    /// Begins again where lives turn out to end with another action.
    fn begin_with(&mut self, ends: Action) {
        if self.ends != ends {
            *self = Outline::new(self.device, ends);
        }
    }
}

impl Trace {
    /// What ends lives. skip_actions can drop every free_completed; then a block ends when its free is requested. Where as many blocks await
    /// their free at the end as were requested to be freed, none is missing.
    pub(super) fn ends(&self, end_blocks: &[u32], snapshot: &Snapshot) -> Action {
        let state = |row: &u32| snapshot.blocks.get(*row as usize).map(|block| block.state);
        let awaited = || end_blocks.iter().filter(|row| state(row) == Some(BlockState::Pending)).count() as u64;
        let only_requests = self.count(Action::FreeCompleted) == 0 && self.count(Action::FreeRequested) > awaited();
        if only_requests { Action::FreeRequested } else { Action::FreeCompleted }
    }

    /// What its frees add up to where this action ends lives.
    pub(super) fn frees(&self, ends: Action) -> Frees {
        if ends == Action::FreeRequested { self.requested } else { self.completed }
    }

    /// Whether an event allocated what is live at an address after the last one.
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
