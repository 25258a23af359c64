//! What is true of a generated snapshot, by the allocator's own books. The names are those of `memscape summary --json`.

use super::pickled::Pickled;
use super::stacks::Stacks;
use super::tracer::{Event, Sink, Survey};
use serde::Serialize;
use std::io::{self, Write};

/// What is true of the whole file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Truth {
    pub(crate) devices: Vec<DeviceTruth>,
}

/// What is true of one device. Bytes, unless it counts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct DeviceTruth {
    pub(crate) device: usize,
    /// In the file, so after the ring.
    pub(crate) events: u64,
    pub(crate) allocations: u64,
    pub(crate) base_requested: u64,
    pub(crate) peak_requested: u64,
    /// −1 before the first event.
    pub(crate) peak_event: i64,
    pub(crate) end_requested: u64,
    pub(crate) end_rounded: u64,
    pub(crate) unmatched_frees: u64,
    pub(crate) unmatched_free_bytes: u64,
    pub(crate) static_blocks: u64,
    pub(crate) static_requested: u64,
    pub(crate) reserved_start: u64,
    pub(crate) peak_reserved: u64,
    pub(crate) reserved_end: u64,
    pub(crate) segments: u64,
    pub(crate) annotations: u64,
    /// Steps trained in full.
    pub(crate) steps: u64,
    pub(crate) leaked_blocks: u64,
    pub(crate) leaked_requested: u64,
}

/// Passes the events that the ring keeps on to the file, and judges them.
pub(crate) struct Judge<'a, W: Write> {
    file: &'a mut Pickled<W>,
    /// Number of the first event that is kept.
    first: u64,
    next: u64,
    truth: DeviceTruth,
}

impl<'a, W: Write> Judge<'a, W> {
    pub(crate) fn new(first: u64, file: &'a mut Pickled<W>) -> Self {
        Judge { file, first, next: 0, truth: DeviceTruth { peak_event: -1, ..DeviceTruth::default() } }
    }

    pub(crate) fn file(&mut self) -> &mut Pickled<W> {
        self.file
    }

    pub(crate) fn verdict(self, device: usize, survey: &Survey) -> DeviceTruth {
        let mut truth = self.truth;
        let Some(end) = &survey.end else { return truth };
        truth.device = device;
        (truth.end_requested, truth.end_rounded) = (end.allocator.totals.requested, end.allocator.totals.rounded);
        truth.reserved_end = end.allocator.totals.reserved;
        for block in end.allocator.blocks.values().filter(|block| block.state != super::allocator::State::Inactive) {
            if block.born.is_none_or(|born| born < self.first) {
                truth.static_blocks += 1;
                truth.static_requested += block.requested;
            }
        }
        truth.allocations += truth.unmatched_frees + truth.static_blocks;
        truth.segments = end.allocator.segments.len() as u64;
        truth.annotations = end.annotations.len() as u64;
        truth.steps = end.steps;
        truth.leaked_blocks = end.leaked.len() as u64;
        truth.leaked_requested = end.leaked.iter().sum();
        truth
    }
}

impl<W: Write> Sink for Judge<'_, W> {
    fn event(&mut self, event: &Event<'_>, stacks: &Stacks) -> io::Result<()> {
        let number = self.next;
        self.next += 1;
        if number < self.first {
            return Ok(());
        }
        let truth = &mut self.truth;
        if number == self.first {
            (truth.base_requested, truth.peak_requested) = (event.before.requested, event.before.requested);
            (truth.reserved_start, truth.peak_reserved) = (event.before.reserved, event.before.reserved);
        }
        if event.after.requested > truth.peak_requested {
            truth.peak_requested = event.after.requested;
            truth.peak_event = truth.events as i64;
        }
        truth.peak_reserved = truth.peak_reserved.max(event.after.reserved);
        truth.events += 1;
        match event.action {
            "alloc" => truth.allocations += 1,
            "free_completed" if event.born.is_none_or(|born| born < self.first) => {
                truth.unmatched_frees += 1;
                truth.unmatched_free_bytes += event.size;
            }
            _ => {}
        }
        self.file.event(event, stacks)
    }
}
