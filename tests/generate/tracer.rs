//! Records the workload's allocations and frees as events.

use super::allocator::{Allocator, Totals};
use super::annotation::{Annotation, Name, Stage};
use super::options::Options;
use super::pool::{Kind, Owner};
use super::random::Random;
use super::stacks::{Site, Stacks};
use std::collections::VecDeque;
use std::io;
use std::rc::Rc;

/// Start of the recording, 2025-10-09, in microseconds since 1970.
const EPOCH_US: u64 = 1_760_000_000_000_000;

/// A captured stack. Each is a list object of its own with shared frames.
#[derive(Clone, Debug)]
pub(crate) struct Context {
    /// Unique number of the capture.
    pub(crate) number: u64,
    pub(crate) frames: Rc<[u32]>,
    pub(crate) site: Site,
}

/// Marks the last event that uses a context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reuse {
    Repeated,
    Last,
}

/// One event of the trace.
pub(crate) struct Event<'a> {
    pub(crate) action: &'static str,
    /// Address, or for `oom` the driver's free bytes.
    pub(crate) address: u64,
    pub(crate) size: u64,
    pub(crate) time_us: u64,
    pub(crate) compile_context: &'a str,
    /// Empty if the program sets none.
    pub(crate) user_metadata: &'a str,
    pub(crate) owner: Owner,
    pub(crate) context: &'a Context,
    pub(crate) reuse: Reuse,
    /// For a free: number of the event that allocated the block, or `None` if it was allocated before recording.
    pub(crate) allocated_at: Option<u64>,
    /// For `free_completed`: number of events since the block's `free_requested`.
    pub(crate) waited: u64,
    /// Current training step.
    pub(crate) step: Option<u64>,
    /// Totals before and after the event.
    pub(crate) before: Totals,
    pub(crate) after: Totals,
}

/// Receives the events in order.
pub(crate) trait Sink {
    /// Receives the next event.
    fn event(&mut self, event: &Event<'_>, stacks: &Stacks) -> io::Result<()>;
}

/// The sink of the first run, which counts events.
#[derive(Default)]
pub(crate) struct Survey {
    pub(crate) events: u64,
    /// State at the end of the run.
    pub(crate) end: Option<FinalState>,
}

impl Sink for Survey {
    fn event(&mut self, _: &Event<'_>, _: &Stacks) -> io::Result<()> {
        self.events += 1;
        Ok(())
    }
}

/// State at the end of a run.
pub(crate) struct FinalState {
    pub(crate) allocator: Allocator,
    pub(crate) stacks: Stacks,
    pub(crate) annotations: Vec<Annotation>,
    pub(crate) steps: u64,
    pub(crate) leaked: Vec<u64>,
}

/// A device that is being recorded.
pub(crate) struct Tracer<'a, S> {
    pub(crate) allocator: Allocator,
    pub(crate) random: Random,
    /// Source of durations, if events must not depend on sizes.
    clock: Option<Random>,
    pub(crate) stacks: Stacks,
    pub(crate) annotations: Vec<Annotation>,
    /// Number of events recorded so far.
    pub(crate) events: u64,
    pub(crate) compile_context: String,
    pub(crate) user_metadata: String,
    /// Current training step.
    pub(crate) step: Option<u64>,
    is_recording: bool,
    options: &'a Options,
    sink: &'a mut S,
    time_us: u64,
    captures: u64,
    waiting: VecDeque<PendingFree>,
}

/// A freed block that a stream still uses.
struct PendingFree {
    address: u64,
    context: Context,
    /// Number of its `free_requested` event.
    since: u64,
}

/// The part of an event that the caller knows.
struct EventParts {
    action: &'static str,
    address: u64,
    size: u64,
    owner: Owner,
    allocated_at: Option<u64>,
    waited: u64,
}

impl<'a, S: Sink> Tracer<'a, S> {
    pub(crate) fn new(options: &'a Options, kind: Kind, device: usize, sink: &'a mut S) -> Self {
        Tracer {
            allocator: Allocator::new(kind, device),
            random: Random::new(options.seed.wrapping_add((device as u64) << 32)),
            clock: options.work.sequence.map(|_| Random::new(options.seed)),
            stacks: Stacks::new(options.depth),
            annotations: Vec::new(),
            events: 0,
            compile_context: "N/A".to_owned(),
            user_metadata: String::new(),
            step: None,
            is_recording: false,
            options,
            sink,
            time_us: EPOCH_US + 17 * device as u64,
            captures: 0,
            waiting: VecDeque::new(),
        }
    }

    pub(crate) fn start_recording(&mut self) {
        self.is_recording = true;
    }

    /// Allocates `request` bytes and returns the block's address.
    pub(crate) fn malloc(&mut self, request: u64, site: Site) -> io::Result<u64> {
        self.malloc_from(Owner::Default, request, site)
    }

    /// Like [`Tracer::malloc`], from a specific pool.
    pub(crate) fn malloc_from(&mut self, owner: Owner, request: u64, site: Site) -> io::Result<u64> {
        let context = self.capture(site);
        // Nothing is captured before recording.
        let kept = self.is_recording.then(|| context.clone());
        while let Some(size) = self.allocator.missing_bytes(request, owner) {
            let before = self.allocator.totals;
            let address = self.allocator.grow(request, owner, size, kept.clone());
            let action = if self.options.expandable { "segment_map" } else { "segment_alloc" };
            let happening = EventParts { action, address, size, owner, allocated_at: None, waited: 0 };
            self.record(&happening, &context, Reuse::Repeated, before)?;
        }
        let before = self.allocator.totals;
        let allocated_at = self.is_recording.then_some(self.events);
        let address = self.allocator.allocate(request, owner, kept, allocated_at);
        let happening = EventParts { action: "alloc", address, size: request, owner, allocated_at, waited: 0 };
        self.record(&happening, &context, Reuse::Last, before)?;
        Ok(address)
    }

    /// Frees a block that no other stream uses.
    pub(crate) fn free(&mut self, address: u64, site: Site) -> io::Result<()> {
        let waiting = self.request_free(address, site)?;
        self.complete_free(&waiting)
    }

    /// Requests the free of a block that another stream still uses.
    pub(crate) fn free_later(&mut self, address: u64, site: Site) -> io::Result<()> {
        let waiting = self.request_free(address, site)?;
        self.allocator.mark_pending(address);
        self.waiting.push_back(waiting);
        Ok(())
    }

    /// Completes the oldest free that waits for a stream.
    pub(crate) fn complete_oldest_free(&mut self) -> io::Result<()> {
        match self.waiting.pop_front() {
            Some(waiting) => self.complete_free(&waiting),
            None => Ok(()),
        }
    }

    /// Completes all frees that wait for a stream.
    pub(crate) fn complete_all_frees(&mut self) -> io::Result<()> {
        while !self.waiting.is_empty() {
            self.complete_oldest_free()?;
        }
        Ok(())
    }

    /// Completes all waiting frees and releases free memory to the driver.
    pub(crate) fn empty_cache(&mut self, site: Site) -> io::Result<()> {
        self.complete_all_frees()?;
        let context = self.capture(site);
        let parts = self.allocator.releasable();
        let last = parts.last().copied();
        for part @ (address, size) in parts {
            let before = self.allocator.totals;
            self.allocator.release(address, size);
            let action = if self.options.expandable { "segment_unmap" } else { "segment_free" };
            let happening = EventParts { action, address, size, owner: Owner::Default, allocated_at: None, waited: 0 };
            let reuse = if Some(part) == last { Reuse::Last } else { Reuse::Repeated };
            self.record(&happening, &context, reuse, before)?;
        }
        Ok(())
    }

    /// Records an event without an effect on memory: `snapshot`, or `oom`, where `size` bytes are requested and the
    /// driver has `address` bytes left.
    pub(crate) fn record_note(&mut self, action: &'static str, address: u64, size: u64, site: Site) -> io::Result<()> {
        let context = self.capture(site);
        let happening = EventParts { action, address, size, owner: Owner::Default, allocated_at: None, waited: 0 };
        self.record(&happening, &context, Reuse::Last, self.allocator.totals)
    }

    pub(crate) fn annotate(&mut self, stage: Stage, name: Name) {
        if self.is_recording && self.options.annotations {
            self.time_us += 1;
            self.annotations.push(Annotation { stage, name, time_us: self.time_us });
        }
    }

    fn request_free(&mut self, address: u64, site: Site) -> io::Result<PendingFree> {
        let waiting = PendingFree { address, context: self.capture(site), since: self.events };
        let happening = self.free_parts(&waiting, "free_requested");
        self.record(&happening, &waiting.context, Reuse::Repeated, self.allocator.totals)?;
        Ok(waiting)
    }

    fn complete_free(&mut self, waiting: &PendingFree) -> io::Result<()> {
        let happening = self.free_parts(waiting, "free_completed");
        let before = self.allocator.totals;
        self.allocator.free(waiting.address);
        self.record(&happening, &waiting.context, Reuse::Last, before)
    }

    fn free_parts(&self, waiting: &PendingFree, action: &'static str) -> EventParts {
        let block = &self.allocator.blocks[&waiting.address];
        let owner = self.allocator.owner(waiting.address);
        let waited = self.events - waiting.since;
        EventParts {
            action,
            address: waiting.address,
            size: block.requested,
            owner,
            allocated_at: block.allocated_at,
            waited,
        }
    }

    fn capture(&mut self, site: Site) -> Context {
        self.captures += 1;
        Context { number: self.captures, frames: self.stacks.stack_of(site), site }
    }

    fn record(&mut self, what: &EventParts, context: &Context, reuse: Reuse, before: Totals) -> io::Result<()> {
        if !self.is_recording {
            return Ok(());
        }
        // Driver calls take longer.
        let span = if what.action.starts_with("segment") { 900 } else { 40 };
        self.time_us += 1 + self.clock.as_mut().unwrap_or(&mut self.random).below(span);
        self.events += 1;
        let event = Event {
            action: what.action,
            address: what.address,
            size: what.size,
            time_us: self.time_us,
            compile_context: &self.compile_context,
            user_metadata: &self.user_metadata,
            owner: what.owner,
            context,
            reuse,
            allocated_at: what.allocated_at,
            waited: what.waited,
            step: self.step,
            before,
            after: self.allocator.totals,
        };
        self.sink.event(&event, &self.stacks)
    }
}
