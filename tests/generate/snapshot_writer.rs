//! Writes the snapshot as a pickle while events happen.

use super::allocator::{Block, Segment, State};
use super::annotation::{Annotation, Stage};
use super::options::Options;
use super::pickle_writer::{Reference, Style, Writer};
use super::pool::{Class, Owner};
use super::stacks::Stacks;
use super::tracer::{Context, Event, FinalState, Reuse, Survey};
use std::collections::HashMap;
use std::io::{self, Write};

/// Device number of host memory.
pub(crate) const HOST: i64 = -1;

/// A snapshot that is being written: segments, then traces, then annotations.
pub(crate) struct SnapshotWriter<W> {
    writer: Writer<W>,
    times: bool,
    compile_contexts: bool,
    metadata: bool,
    private_pools: bool,
    expandable: bool,
    style: Style,
    /// References to frame dicts and contexts that are used again, by device and number.
    frames: HashMap<(i64, u32), Reference>,
    contexts: HashMap<(i64, u64), Reference>,
    /// The empty list shared by everything without a context.
    no_frames: Option<Reference>,
    device: i64,
}

impl<W: Write> SnapshotWriter<W> {
    /// Starts the file and writes the segments.
    pub(crate) fn new(out: W, options: &Options, surveys: &[Survey]) -> io::Result<Self> {
        let mut file = SnapshotWriter {
            writer: Writer::new(out, options.style)?,
            times: options.times,
            compile_contexts: options.compile_contexts,
            metadata: options.metadata,
            private_pools: options.private_pools,
            expandable: options.expandable,
            style: options.style,
            frames: HashMap::new(),
            contexts: HashMap::new(),
            no_frames: None,
            device: 0,
        };
        file.writer.dict(if options.host { 6 } else { 4 })?;
        file.segments("segments", (0..).zip(surveys))?;
        Ok(file)
    }

    fn segments<'a>(&mut self, key: &str, surveys: impl Iterator<Item = (i64, &'a Survey)> + Clone) -> io::Result<()> {
        let ends = surveys.filter_map(|(device, survey)| Some((device, survey.end.as_ref()?)));
        self.writer.name(key)?;
        self.writer.list(ends.clone().map(|(_, end)| end.allocator.segments.len() as u64).sum())?;
        for (device, end) in ends {
            self.device = device;
            for (&address, segment) in &end.allocator.segments {
                self.segment(address, segment, end)?;
            }
        }
        self.writer.end()
    }

    /// Starts `device_traces`.
    pub(crate) fn begin_traces(&mut self, devices: usize) -> io::Result<()> {
        self.writer.name("device_traces")?;
        self.writer.list(devices as u64)?;
        self.device = 0;
        Ok(())
    }

    /// Ends `device_traces`.
    pub(crate) fn end_traces(&mut self) -> io::Result<()> {
        self.writer.end()
    }

    /// Starts the trace of the next device.
    pub(crate) fn begin_trace(&mut self, events: u64) -> io::Result<()> {
        self.writer.list(events)
    }

    /// Ends a device's trace.
    pub(crate) fn end_trace(&mut self) -> io::Result<()> {
        self.device += 1;
        self.writer.end()
    }

    /// Writes allocator settings and annotations.
    pub(crate) fn annotations(&mut self, surveys: &[Survey]) -> io::Result<()> {
        self.settings()?;
        self.writer.name("external_annotations")?;
        let ends = || (0..).zip(surveys).filter_map(|(device, survey)| Some((device, survey.end.as_ref()?)));
        self.writer.list(ends().map(|(_, end)| end.annotations.len() as u64).sum())?;
        for (device, end) in ends() {
            for annotation in &end.annotations {
                self.annotation(annotation, device)?;
            }
        }
        self.writer.end()
    }

    /// Writes the segments of pinned host memory and starts its trace.
    pub(crate) fn begin_host(&mut self, survey: &Survey, events: u64) -> io::Result<()> {
        self.segments("host_segments", std::iter::once((HOST, survey)))?;
        self.device = HOST;
        self.writer.name("host_traces")?;
        self.writer.list(events)
    }

    /// Ends the file and returns the output.
    pub(crate) fn finish(mut self) -> io::Result<W> {
        self.writer.end()?;
        self.writer.finish()
    }

    /// Writes the next event of the trace.
    pub(crate) fn event(&mut self, event: &Event<'_>, stacks: &Stacks) -> io::Result<()> {
        let optional = [self.times, self.compile_contexts, self.metadata, self.private_pools];
        self.writer.dict(5 + optional.map(u64::from).iter().sum::<u64>())?;
        self.name_field("action", event.action)?;
        self.int_field(if event.action == "oom" { "device_free" } else { "addr" }, event.address)?;
        self.int_field("size", event.size)?;
        self.int_field("stream", 0)?;
        // The two writers order their keys differently.
        if self.style != Style::Cpp {
            self.time(event)?;
        }
        if self.compile_contexts {
            self.writer.name("compile_context")?;
            self.writer.text(event.compile_context)?;
        }
        if self.metadata {
            self.writer.name("user_metadata")?;
            self.writer.text(event.user_metadata)?;
        }
        if self.style == Style::Cpp {
            self.time(event)?;
        }
        if self.private_pools {
            self.pool("pool_id", event.owner)?;
        }
        self.writer.name("frames")?;
        self.context(Some(event.context), stacks, event.reuse)?;
        self.writer.end()
    }

    fn time(&mut self, event: &Event<'_>) -> io::Result<()> {
        if self.times { self.int_field("time_us", event.time_us) } else { Ok(()) }
    }

    fn pool(&mut self, key: &str, owner: Owner) -> io::Result<()> {
        let (first, second) = owner.id();
        self.writer.name(key)?;
        self.writer.pair(first, second)
    }

    fn segment(&mut self, address: u64, segment: &Segment, end: &FinalState) -> io::Result<()> {
        let blocks: Vec<(u64, &Block)> = end.allocator.blocks_of(address).collect();
        let sum = |size: fn(&Block) -> u64, states: &[State]| -> u64 {
            blocks.iter().filter(|(_, block)| states.contains(&block.state)).map(|(_, block)| size(block)).sum()
        };
        let live = [State::Allocated, State::PendingFree];
        self.writer.dict(12)?;
        self.writer.name("device")?;
        self.writer.int(self.device.into())?;
        self.int_field("address", address)?;
        self.int_field("total_size", segment.size)?;
        self.int_field("allocated_size", sum(|block| block.size, &live[..1]))?;
        self.int_field("active_size", sum(|block| block.size, &live))?;
        self.int_field("requested_size", sum(|block| block.requested, &live))?;
        self.int_field("stream", 0)?;
        self.name_field("segment_type", if segment.pool.class == Class::Small { "small" } else { "large" })?;
        self.pool("segment_pool_id", segment.pool.owner)?;
        self.writer.name("is_expandable")?;
        self.writer.bool(self.expandable && self.device != HOST)?;
        self.writer.name("frames")?;
        self.context(segment.context.as_ref(), &end.stacks, Reuse::Repeated)?;
        self.writer.name("blocks")?;
        self.writer.list(blocks.len() as u64)?;
        for (address, block) in blocks {
            self.block(address, block, &end.stacks)?;
        }
        self.writer.end()?;
        self.writer.end()
    }

    fn block(&mut self, address: u64, block: &Block, stacks: &Stacks) -> io::Result<()> {
        self.writer.dict(5)?;
        self.int_field("address", address)?;
        self.int_field("size", block.size)?;
        self.int_field("requested_size", block.requested)?;
        let state = match block.state {
            State::Allocated => "active_allocated",
            State::PendingFree => "active_pending_free",
            State::Inactive => "inactive",
        };
        self.name_field("state", state)?;
        self.writer.name("frames")?;
        let context = block.context.as_ref().filter(|_| block.state != State::Inactive);
        self.context(context, stacks, Reuse::Repeated)?;
        self.writer.end()
    }

    /// Writes a list of frames, or a reference to it if it was written before.
    fn context(&mut self, context: Option<&Context>, stacks: &Stacks, reuse: Reuse) -> io::Result<()> {
        let known = match context {
            Some(context) if reuse == Reuse::Last => self.contexts.remove(&(self.device, context.number)),
            Some(context) => self.contexts.get(&(self.device, context.number)).copied(),
            None => self.no_frames,
        };
        if let Some(reference) = known {
            return self.writer.reference(reference);
        }
        let frames = context.map_or(&[][..], |context| &context.frames);
        self.writer.list(frames.len() as u64)?;
        for &number in frames {
            self.frame(number, stacks)?;
        }
        match context {
            Some(_) if reuse == Reuse::Last => self.writer.end()?,
            Some(context) => {
                self.contexts.insert((self.device, context.number), self.writer.end_shared()?);
            }
            None => self.no_frames = Some(self.writer.end_shared()?),
        }
        Ok(())
    }

    fn frame(&mut self, number: u32, stacks: &Stacks) -> io::Result<()> {
        if let Some(&reference) = self.frames.get(&(self.device, number)) {
            return self.writer.reference(reference);
        }
        let frame = stacks.frames[number as usize];
        self.writer.dict(3)?;
        self.writer.name("name")?;
        self.writer.text(frame.name)?;
        self.writer.name("filename")?;
        self.writer.text(frame.filename)?;
        self.int_field("line", frame.line)?;
        self.frames.insert((self.device, number), self.writer.end_shared()?);
        Ok(())
    }

    fn settings(&mut self) -> io::Result<()> {
        self.writer.name("allocator_settings")?;
        self.writer.dict(5)?;
        self.writer.name("PYTORCH_CUDA_ALLOC_CONF")?;
        self.writer.text(if self.expandable { "expandable_segments:True" } else { "" })?;
        self.writer.name("max_split_size")?;
        self.writer.int(-1)?;
        self.writer.name("garbage_collection_threshold")?;
        self.writer.float(0.0)?;
        self.writer.name("expandable_segments")?;
        self.writer.bool(self.expandable)?;
        self.writer.name("roundup_power2_divisions")?;
        self.writer.dict(16)?;
        for power in 0..15 {
            self.writer.text(&(1u64 << power).to_string())?;
            self.writer.int(0)?;
        }
        self.writer.text(">")?;
        self.writer.int(0)?;
        self.writer.end()?;
        self.writer.end()
    }

    fn annotation(&mut self, annotation: &Annotation, device: u64) -> io::Result<()> {
        self.writer.dict(4)?;
        self.name_field("stage", if annotation.stage == Stage::Start { "START" } else { "END" })?;
        self.writer.name("name")?;
        self.writer.text(&annotation.name.to_string())?;
        self.int_field("device", device)?;
        self.int_field("time_us", annotation.time_us)?;
        self.writer.end()
    }

    fn int_field(&mut self, name: &str, value: u64) -> io::Result<()> {
        self.writer.name(name)?;
        self.writer.int(value.into())
    }

    fn name_field(&mut self, name: &str, value: &str) -> io::Result<()> {
        self.writer.name(name)?;
        self.writer.name(value)
    }
}
