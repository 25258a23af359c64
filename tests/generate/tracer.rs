//! The recording side: what the workload does becomes events, once recording is on.

use super::allocator::{Allocator, Totals};
use super::annotation::{Annotation, Stage};
use super::options::Options;
use super::random::Random;
use super::stacks::{Site, Stacks};
use std::collections::VecDeque;
use std::io;
use std::rc::Rc;

/// Recording begins here: 2025-10-09, in microseconds since 1970.
const EPOCH_US: u64 = 1_760_000_000_000_000;

/// One captured stack: a list object of its own, of shared frames.
#[derive(Clone, Debug)]
pub(crate) struct Context {
    /// Every capture has another.
    pub(crate) number: u64,
    pub(crate) frames: Rc<[u32]>,
}

/// Whether a later event has the same context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reuse {
    ComesAgain,
    Last,
}

/// One event of the trace.
pub(crate) struct Event<'a> {
    pub(crate) action: &'static str,
    /// For `oom`: the bytes that the driver had left.
    pub(crate) address: u64,
    pub(crate) size: u64,
    pub(crate) time_us: u64,
    pub(crate) compile_context: &'a str,
    pub(crate) context: &'a Context,
    pub(crate) reuse: Reuse,
    /// Of a free: number of the event that allocated the block, `None` when that was before recording.
    pub(crate) born: Option<u64>,
    /// What holds before and after it.
    pub(crate) before: Totals,
    pub(crate) after: Totals,
}

/// Who receives the events, in order.
pub(crate) trait Sink {
    /// The next event.
    fn event(&mut self, event: &Event<'_>, stacks: &Stacks) -> io::Result<()>;
}

/// The sink of the first run: how many events there are.
#[derive(Default)]
pub(crate) struct Survey {
    pub(crate) events: u64,
    /// What the run left.
    pub(crate) end: Option<End>,
}

impl Sink for Survey {
    fn event(&mut self, _: &Event<'_>, _: &Stacks) -> io::Result<()> {
        self.events += 1;
        Ok(())
    }
}

/// What a run leaves.
pub(crate) struct End {
    pub(crate) allocator: Allocator,
    pub(crate) stacks: Stacks,
    pub(crate) annotations: Vec<Annotation>,
    pub(crate) steps: u64,
    pub(crate) leaked: Vec<u64>,
}

/// A device being recorded.
pub(crate) struct Tracer<'a, S> {
    pub(crate) allocator: Allocator,
    pub(crate) random: Random,
    pub(crate) stacks: Stacks,
    pub(crate) annotations: Vec<Annotation>,
    /// Events recorded so far.
    pub(crate) events: u64,
    pub(crate) compile_context: String,
    is_recording: bool,
    options: &'a Options,
    sink: &'a mut S,
    time_us: u64,
    captures: u64,
    waiting: VecDeque<(u64, Context)>,
}

impl<'a, S: Sink> Tracer<'a, S> {
    pub(crate) fn new(options: &'a Options, device: usize, sink: &'a mut S) -> Self {
        Tracer {
            allocator: Allocator::new(device),
            random: Random::new(options.seed.wrapping_add((device as u64) << 32)),
            stacks: Stacks::new(options.depth),
            annotations: Vec::new(),
            events: 0,
            compile_context: "N/A".to_owned(),
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

    /// Allocates `request` bytes at a place in the program; returns the block's address.
    pub(crate) fn malloc(&mut self, request: u64, site: Site) -> io::Result<u64> {
        let context = self.capture(site);
        // Before recording nothing is captured.
        let kept = self.is_recording.then(|| context.clone());
        if let Some(size) = self.allocator.lacks(request) {
            let before = self.allocator.totals;
            let address = self.allocator.grow(request, size, kept.clone());
            let action = if self.options.expandable { "segment_map" } else { "segment_alloc" };
            self.record(action, address, size, &context, Reuse::ComesAgain, None, before)?;
        }
        let before = self.allocator.totals;
        let born = self.is_recording.then_some(self.events);
        let address = self.allocator.allocate(request, kept, born);
        self.record("alloc", address, request, &context, Reuse::Last, born, before)?;
        Ok(address)
    }

    /// Frees a block; the stream has done with it.
    pub(crate) fn free(&mut self, address: u64, site: Site) -> io::Result<()> {
        let context = self.capture(site);
        self.request_free(address, &context)?;
        self.complete_free(address, &context)
    }

    /// Frees a block that another stream still uses.
    pub(crate) fn free_later(&mut self, address: u64, site: Site) -> io::Result<()> {
        let context = self.capture(site);
        self.request_free(address, &context)?;
        self.allocator.wait(address);
        self.waiting.push_back((address, context));
        Ok(())
    }

    /// The other stream has done with the block that waits longest.
    pub(crate) fn catch_up(&mut self) -> io::Result<()> {
        match self.waiting.pop_front() {
            Some((address, context)) => self.complete_free(address, &context),
            None => Ok(()),
        }
    }

    /// Gives empty segments back to the driver.
    pub(crate) fn empty_cache(&mut self, site: Site) -> io::Result<()> {
        let context = self.capture(site);
        let empty = self.allocator.empty_segments();
        let last = empty.last().copied();
        for address in empty {
            let before = self.allocator.totals;
            let size = self.allocator.release(address);
            let action = if self.options.expandable { "segment_unmap" } else { "segment_free" };
            let reuse = if Some(address) == last { Reuse::Last } else { Reuse::ComesAgain };
            self.record(action, address, size, &context, reuse, None, before)?;
        }
        Ok(())
    }

    /// An allocation that fails: the driver has `free_bytes` left.
    pub(crate) fn run_out(&mut self, request: u64, free_bytes: u64, site: Site) -> io::Result<()> {
        let context = self.capture(site);
        let before = self.allocator.totals;
        self.record("oom", free_bytes, request, &context, Reuse::Last, None, before)
    }

    pub(crate) fn annotate(&mut self, stage: Stage, name: &str) {
        if self.is_recording && self.options.annotations {
            self.time_us += 1;
            self.annotations.push(Annotation { stage, name: name.to_owned(), time_us: self.time_us });
        }
    }

    fn request_free(&mut self, address: u64, context: &Context) -> io::Result<()> {
        let block = &self.allocator.blocks[&address];
        let (requested, born, before) = (block.requested, block.born, self.allocator.totals);
        self.record("free_requested", address, requested, context, Reuse::ComesAgain, born, before)
    }

    fn complete_free(&mut self, address: u64, context: &Context) -> io::Result<()> {
        let block = &self.allocator.blocks[&address];
        let (requested, born, before) = (block.requested, block.born, self.allocator.totals);
        self.allocator.free(address);
        self.record("free_completed", address, requested, context, Reuse::Last, born, before)
    }

    fn capture(&mut self, site: Site) -> Context {
        self.captures += 1;
        Context { number: self.captures, frames: self.stacks.at(site) }
    }

    #[allow(clippy::too_many_arguments, reason = "an event has so many parts, and each caller another set")]
    fn record(
        &mut self,
        action: &'static str,
        address: u64,
        size: u64,
        context: &Context,
        reuse: Reuse,
        born: Option<u64>,
        before: Totals,
    ) -> io::Result<()> {
        if !self.is_recording {
            return Ok(());
        }
        // A call to the driver takes its time.
        let span = if action.starts_with("segment") { 900 } else { 40 };
        self.time_us += 1 + self.random.below(span);
        self.events += 1;
        let event = Event {
            action,
            address,
            size,
            time_us: self.time_us,
            compile_context: &self.compile_context,
            context,
            reuse,
            born,
            before,
            after: self.allocator.totals,
        };
        self.sink.event(&event, &self.stacks)
    }
}
