//! Expected values of a generated snapshot, computed by the generator. Names are those of `memscape summary --json`.

use super::allocator::State;
use super::modules::{ExpectedModule, Modules};
use super::snapshot_writer::SnapshotWriter;
use super::stacks::Stacks;
use super::tracer::{Event, Sink, Survey};
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::{self, Write};

/// Expected values of a file.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Expected {
    pub(crate) devices: Vec<ExpectedDevice>,
}

/// Expected values of one device. Bytes unless noted.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(crate) struct ExpectedDevice {
    /// −1 for host memory.
    pub(crate) device: i64,
    /// Number of events in the file, after the ring buffer.
    pub(crate) events: u64,
    pub(crate) allocations: u64,
    pub(crate) base_requested: u64,
    pub(crate) peak_requested: u64,
    /// −1 if the peak is before the first event.
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
    /// Number of completed steps.
    pub(crate) steps: u64,
    pub(crate) leaked_blocks: u64,
    pub(crate) leaked_requested: u64,
    /// Blocks awaiting free at the end.
    pub(crate) pending_blocks: u64,
    pub(crate) pending_requested: u64,
    /// Maximum number of events between a `free_requested` and its `free_completed`, normally 1. Both are in the file.
    pub(crate) longest_wait: u64,
    /// Count of each action that occurs.
    pub(crate) actions: BTreeMap<&'static str, u64>,
    /// Completed steps all of whose events are in the file.
    pub(crate) whole_steps: Vec<ExpectedStep>,
    /// Modules with events in the file.
    pub(crate) layers: Vec<ExpectedModule>,
}

/// Expected values of one training step. Event indices are 0-based positions in the file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct ExpectedStep {
    /// Number in its annotation `step_…`.
    pub(crate) step: u64,
    pub(crate) first_event: u64,
    pub(crate) last_event: u64,
    /// Live bytes before its first event, after its last, and the maximum after any of them.
    pub(crate) start_requested: u64,
    pub(crate) end_requested: u64,
    pub(crate) peak_requested: u64,
    pub(crate) allocated_bytes: u64,
    pub(crate) freed_bytes: u64,
}

/// Passes the events that the ring buffer keeps to the file and computes the expected values.
pub(crate) struct TruthSink<'a, W: Write> {
    file: &'a mut SnapshotWriter<W>,
    /// Number of the first event that is kept.
    first: u64,
    next: u64,
    truth: ExpectedDevice,
    layers: Modules,
    /// Step in progress before the first kept event. Its beginning is lost.
    cut_step: Option<u64>,
    step_before: Option<u64>,
}

impl<'a, W: Write> TruthSink<'a, W> {
    pub(crate) fn new(first: u64, file: &'a mut SnapshotWriter<W>) -> Self {
        let truth = ExpectedDevice { peak_event: -1, ..ExpectedDevice::default() };
        TruthSink { file, first, next: 0, truth, layers: Modules::default(), cut_step: None, step_before: None }
    }

    pub(crate) fn verdict(self, device: i64, survey: &Survey) -> ExpectedDevice {
        let mut truth = self.truth;
        truth.layers = self.layers.table();
        let Some(end) = &survey.end else { return truth };
        truth.device = device;
        (truth.end_requested, truth.end_rounded) = (end.allocator.totals.requested, end.allocator.totals.rounded);
        truth.reserved_end = end.allocator.totals.reserved;
        for block in end.allocator.blocks.values().filter(|block| block.state != State::Inactive) {
            if block.state == State::PendingFree {
                truth.pending_blocks += 1;
                truth.pending_requested += block.requested;
            }
            if block.allocated_at.is_none_or(|allocated_at| allocated_at < self.first) {
                truth.static_blocks += 1;
                truth.static_requested += block.requested;
            }
        }
        truth.allocations += truth.unmatched_frees + truth.static_blocks;
        truth.segments = end.allocator.segments.len() as u64;
        truth.annotations = end.annotations.len() as u64;
        truth.steps = end.steps;
        truth.whole_steps.retain(|step| step.step < end.steps && self.cut_step != Some(step.step));
        truth.leaked_blocks = end.leaked.len() as u64;
        truth.leaked_requested = end.leaked.iter().sum();
        truth
    }
}

impl ExpectedDevice {
    fn in_step(&mut self, step: u64, event: &Event<'_>) {
        if self.whole_steps.last().is_none_or(|last| last.step != step) {
            let (first_event, start_requested) = (self.events, event.before.requested);
            self.whole_steps.push(ExpectedStep { step, first_event, start_requested, ..ExpectedStep::default() });
        }
        let Some(last) = self.whole_steps.last_mut() else { return };
        last.last_event = self.events;
        last.end_requested = event.after.requested;
        last.peak_requested = last.peak_requested.max(event.before.requested).max(event.after.requested);
        match event.action {
            "alloc" => last.allocated_bytes += event.size,
            "free_completed" => last.freed_bytes += event.size,
            _ => {}
        }
    }
}

impl<W: Write> Sink for TruthSink<'_, W> {
    fn event(&mut self, event: &Event<'_>, stacks: &Stacks) -> io::Result<()> {
        let number = self.next;
        self.next += 1;
        let step_before = std::mem::replace(&mut self.step_before, event.step);
        if number < self.first {
            return Ok(());
        }
        self.layers.event(event);
        let truth = &mut self.truth;
        if number == self.first {
            (truth.base_requested, truth.peak_requested) = (event.before.requested, event.before.requested);
            (truth.reserved_start, truth.peak_reserved) = (event.before.reserved, event.before.reserved);
            self.cut_step = step_before;
        }
        if event.after.requested > truth.peak_requested {
            truth.peak_requested = event.after.requested;
            truth.peak_event = truth.events as i64;
        }
        truth.peak_reserved = truth.peak_reserved.max(event.after.reserved);
        if let Some(step) = event.step {
            truth.in_step(step, event);
        }
        *truth.actions.entry(event.action).or_default() += 1;
        truth.events += 1;
        match event.action {
            "alloc" => truth.allocations += 1,
            "free_completed" => {
                if event.waited <= number - self.first {
                    truth.longest_wait = truth.longest_wait.max(event.waited);
                }
                if event.allocated_at.is_none_or(|allocated_at| allocated_at < self.first) {
                    truth.unmatched_frees += 1;
                    truth.unmatched_free_bytes += event.size;
                }
            }
            _ => {}
        }
        self.file.event(event, stacks)
    }
}
