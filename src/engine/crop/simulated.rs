//! Writes a simulated run: the recorded requests of a device under other allocator settings, with simulated addresses
//! and segments. The result is an ordinary snapshot that is marked as simulated.

use super::segments::free_block;
use super::tables::{EventValues, TableWriter, Target};
use super::{CropError, PICKLE_PROTOCOL};
use crate::Engine;
use crate::open::OpenFile;
use crate::origin::{is_free_stack, stack_of};
use crate::what_if::RecordingBuilder;
use allocator::answer::WhatIfQuestion;
use allocator::blocks::State;
use allocator::operation::Kind;
use allocator::recording::{Step, What};
use allocator::simulation::{Simulation, Traced};
use allocator::trace::{Deeds, Placed};
use allocator::{Recording, Settings};
use base::slice::TimeSlice;
use base::units::EventIdx;
use foldhash::fast::RandomState;
use hashbrown::HashMap;
use history::replay::{AllocationId, DeviceHistory};
use history::snapshot::{Action, Block, BlockState, HOST_DEVICE, Labels, SIMULATED_KEY, Segment, StackId};
use history::writing::{PickleWriter, ValueWriter};
use std::io::{self, Write};

/// Parameters of a simulated run.
#[derive(Clone, Debug, Default)]
pub struct SimulatedRun {
    pub device: i64,
    /// Allocator settings in the syntax of `PYTORCH_CUDA_ALLOC_CONF`. `None` uses the recorded settings.
    pub settings: Option<String>,
    /// Bytes that the driver can provide. `None` derives them from requests that failed in the recording.
    pub capacity: Option<u64>,
    /// Total memory of the device in bytes. A memory fraction refers to it.
    pub total: Option<u64>,
    /// True if recorded calls of `empty_cache()` are skipped.
    pub skip_empty_cache: bool,
    /// Sizes of the allocations under a memory plan, encoded in eight bytes each. `None` uses the recorded sizes.
    pub planned_sizes: Option<Vec<u8>>,
    /// Name of the recorded file.
    pub source: String,
}

/// Summary of a run that was written by [`Engine::write_simulated`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SimulatedSummary {
    /// The simulated settings in the syntax of `PYTORCH_CUDA_ALLOC_CONF`.
    pub settings: String,
    pub events: u64,
    pub segments: u64,
    pub peak_reserved: u64,
    /// Index of the recorded event at which the run ends. `None` if the run covers the whole recording.
    pub ends_at: Option<i64>,
}

impl Engine {
    /// Writes a simulated run of a device of the open file as a pickle.
    ///
    /// # Errors
    /// Returns an error if no file is open, if the device cannot be simulated, if the settings are invalid, or if
    /// writing fails.
    pub fn write_simulated(&mut self, run: &SimulatedRun, out: impl Write) -> Result<SimulatedSummary, CropError> {
        match self.file.as_deref_mut() {
            Some(file) => file.write_simulated(run, out),
            None => Err(CropError::Invalid("no file is open".to_owned())),
        }
    }
}

impl OpenFile {
    /// Writes a simulated run of a device as a pickle. See [`Engine::write_simulated`].
    pub(crate) fn write_simulated(
        &mut self,
        run: &SimulatedRun,
        out: impl Write,
    ) -> Result<SimulatedSummary, CropError> {
        if run.device == HOST_DEVICE {
            return Err(CropError::Invalid("pinned host memory has an allocator of its own".to_owned()));
        }
        let mut simulation = Simulation::new(run.device, self.recording(run.device)?);
        run.planned_sizes.iter().for_each(|sizes| simulation.plan(sizes));
        let question = WhatIfQuestion {
            lines: run.settings.iter().cloned().collect(),
            capacity: run.capacity,
            total: run.total,
            never_empties: run.skip_empty_cache,
            is_planned: run.planned_sizes.is_some(),
            ..WhatIfQuestion::default()
        };
        let traced = simulation.trace(&question).map_err(CropError::Invalid)?;
        let file = &*self;
        let history = file.history(run.device);
        let history = history.ok_or_else(|| CropError::Invalid("the file has no such device".to_owned()))?;
        let writer = RunWriter { tables: TableWriter::new(file), history, traced, run, avoided_bytes: 0 };
        Ok(writer.write(&mut PickleWriter::new(out, PICKLE_PROTOCOL)?)?)
    }

    /// Reads the allocator requests of a device from its history.
    fn recording(&mut self, device: i64) -> Result<Recording, CropError> {
        let mut builder = RecordingBuilder::default();
        loop {
            if let Ok(recording) = builder.step(self, device, &mut TimeSlice::new(&mut || true)) {
                return recording.ok_or_else(|| CropError::Invalid("the file has no such device".to_owned()));
            }
        }
    }
}

/// Writer of a simulated run as a snapshot.
struct RunWriter<'a> {
    tables: TableWriter<'a>,
    history: &'a DeviceHistory,
    traced: Traced<'a>,
    run: &'a SimulatedRun,
    /// Size in bytes of the request that failed in the recording but succeeds in the run.
    avoided_bytes: u64,
}

impl RunWriter<'_> {
    fn write(mut self, out: &mut dyn ValueWriter) -> io::Result<SimulatedSummary> {
        let device = self.history.device;
        let mut written =
            SimulatedSummary { settings: self.traced.settings.to_string(), ..SimulatedSummary::default() };
        out.dict()?;
        out.key("device_traces")?;
        let mut traces = out.list()?;
        for other in 0..=self.tables.last_device().max(device) {
            out.item(&mut traces)?;
            match other == device {
                true => self.write_trace(out, &mut written)?,
                false => {
                    let items = out.list()?;
                    out.end_list(items)?;
                }
            }
        }
        out.end_list(traces)?;
        self.write_segments(out, &mut written)?;
        write_settings(out, &self.traced.settings, &written.settings)?;
        let marks = self.tables.file.snapshot.marks.iter().enumerate();
        let indices: Vec<usize> = marks.filter(|(_, mark)| mark.device == device).map(|(index, _)| index).collect();
        if !indices.is_empty() {
            self.tables.write_annotations(out, indices.into_iter())?;
        }
        let outcome = self.traced.trace.run().outcome();
        (written.peak_reserved, written.ends_at) = (outcome.peak_reserved, self.traced.trace.run().ends_at());
        self.write_provenance(out, &written)?;
        out.end_dict()?;
        out.finish()?;
        Ok(written)
    }

    /// Writes the events. Annotations, snapshots and unknown actions are copied from the recording. All other events
    /// come from the run.
    fn write_trace(&mut self, out: &mut dyn ValueWriter, written: &mut SimulatedSummary) -> io::Result<()> {
        let mut items = out.list()?;
        let (mut deeds, mut notes) = (Deeds::default(), AnnotationAddresses::default());
        notes.start(self.history, &self.traced);
        let mut next = self.traced.trace.step(self.traced.recording, &mut deeds);
        for event in 0..self.history.event_count() {
            if let Some(step) = next.filter(|step| step.event == event) {
                self.write_step(out, &mut items, step, &deeds, written)?;
                notes.update(self.traced.recording, step, &deeds);
                next = self.traced.trace.step(self.traced.recording, &mut deeds);
                if next.is_none() && self.traced.trace.run().ends_at().is_some() {
                    break;
                }
                continue;
            }
            let recorded = self.recorded(event);
            let row = match recorded.action {
                Action::Annotate => EventValues { address: notes.address(recorded.address), ..recorded },
                Action::Snapshot | Action::Unknown | Action::UserDefined => recorded,
                _ => continue,
            };
            out.item(&mut items)?;
            self.tables.write_values(out, &row, Target::WholeFile)?;
            written.events += 1;
        }
        out.end_list(items)
    }

    fn recorded(&self, event: u32) -> EventValues {
        let events = &self.history.events;
        let (address, size) = self.history.address_and_size(EventIdx(event));
        EventValues {
            action: events.action(event),
            address,
            size,
            time: events.times.at(event),
            labels: self.tables.file.snapshot.labels.labels(events.labels(event)),
            stack: events.stack(event),
        }
    }

    /// Writes the events that one step of the simulation produces.
    fn write_step(
        &mut self,
        out: &mut dyn ValueWriter,
        items: &mut history::writing::Items,
        step: Step,
        deeds: &Deeds,
        written: &mut SimulatedSummary,
    ) -> io::Result<()> {
        let recorded = self.recorded(step.event);
        let recording = self.traced.recording;
        let mut rows: Vec<EventValues> = Vec::with_capacity(1 + deeds.completed.len() + deeds.operations.len());
        let trace = &self.traced.trace;
        let completed = |number: u32, address: u64| {
            let size = trace.size(recording, number);
            let place = recording.allocations.get(number as usize).map_or(0, |allocation| allocation.place);
            let labels = with_place(Labels::default(), &recorded.labels, recording, place_of(recording, place));
            EventValues { action: Action::FreeCompleted, address, size, labels, stack: StackId::NONE, ..recorded }
        };
        rows.extend(deeds.completed.iter().map(|&(number, address)| completed(number, address)));
        for (operation, place) in &deeds.operations {
            let action = match operation.kind {
                Kind::Alloc => Action::SegmentAlloc,
                Kind::Free => Action::SegmentFree,
                Kind::Map => Action::SegmentMap,
                Kind::Unmap => Action::SegmentUnmap,
            };
            let labels = Labels { category: None, forward_frames: None, ..recorded.labels };
            let labels = with_place(labels, &recorded.labels, recording, *place);
            rows.push(EventValues { action, address: operation.address, size: operation.size, labels, ..recorded });
        }
        let device_free = |reserved: u64| self.traced.capacity.map(|capacity| capacity.saturating_sub(reserved));
        let reserved = self.traced.trace.run().allocator().totals.reserved;
        rows.extend(match (step.what, deeds.subject, deeds.failed, deeds.avoided) {
            (_, Some((number, address)), ..) => {
                Some(EventValues { address, size: self.traced.trace.size(recording, number), ..recorded })
            }
            (_, _, Some(size), _) => {
                let address = device_free(reserved).unwrap_or(0);
                Some(EventValues { action: Action::Oom, address, size, ..recorded })
            }
            (_, _, _, Some((address, _))) => {
                self.avoided_bytes = recorded.size;
                Some(EventValues { action: Action::Alloc, address, ..recorded })
            }
            (What::Oom(_), ..) => {
                Some(EventValues { address: device_free(reserved).unwrap_or(recorded.address), ..recorded })
            }
            _ => None,
        });
        // In the recording they completed because this request waited for them.
        rows.extend(deeds.completed_after.iter().map(|&(number, address)| completed(number, address)));
        for row in rows {
            out.item(items)?;
            self.tables.write_values(out, &row, Target::WholeFile)?;
            written.events += 1;
        }
        Ok(())
    }

    /// Writes the segments at the end of the run.
    fn write_segments(&mut self, out: &mut dyn ValueWriter, written: &mut SimulatedSummary) -> io::Result<()> {
        out.key("segments")?;
        let mut list = out.list()?;
        for segment in self.traced.trace.segments(self.traced.recording) {
            let head = Segment {
                device: self.history.device,
                address: Some(segment.address),
                total_size: segment.size,
                stream: Some(segment.stream),
                small: segment.small,
                pool: Some(segment.pool),
                expandable: segment.expandable,
                stack: StackId::NONE,
                blocks: 0..0,
            };
            let blocks: Vec<Block> = segment.blocks.iter().filter_map(|block| self.block(block)).collect();
            out.item(&mut list)?;
            self.tables.write_segment(out, &head, &blocks)?;
            written.segments += 1;
        }
        out.end_list(list)
    }

    fn block(&self, block: &Placed) -> Option<Block> {
        let (file, history) = (self.tables.file, self.history);
        let Some(number) = block.allocation else {
            // The request that failed in the recording and succeeds in the run has no number.
            let failed = Block {
                address: block.address,
                size: block.size,
                requested: self.avoided_bytes.min(block.size),
                state: BlockState::Allocated,
                stack: StackId::NONE,
            };
            return match block.state {
                State::Free => free_block([block.address, block.address.saturating_add(block.size)]),
                _ => Some(failed),
            };
        };
        let id = AllocationId(number);
        let stack = stack_of(&file.snapshot, history, id);
        // If its free was requested before the first event, no event says so.
        let was_pending = file.device_data(history).awaiting_free(id).is_some_and(|[from, _]| from == 0);
        let is_pending = block.state == State::AwaitingFree || was_pending;
        Some(Block {
            address: block.address,
            size: block.size,
            requested: self.traced.trace.size(self.traced.recording, number),
            state: if is_pending { BlockState::AwaitingFree } else { BlockState::Allocated },
            stack: if is_free_stack(history, id, stack) { StackId::NONE } else { stack },
        })
    }

    /// Writes the dict that marks the file as simulated: source, settings and parameters.
    fn write_provenance(&self, out: &mut dyn ValueWriter, written: &SimulatedSummary) -> io::Result<()> {
        out.key(SIMULATED_KEY)?;
        out.dict()?;
        for (key, text) in [("source", &self.run.source), ("settings", &written.settings)] {
            out.key(key)?;
            out.text(text.as_bytes())?;
        }
        let numbers = [
            ("device", Some(i128::from(self.history.device))),
            ("capacity", self.traced.capacity.map(i128::from)),
            ("ends_at_recorded_event", written.ends_at.map(i128::from)),
        ];
        for (key, number) in numbers.into_iter().filter_map(|(key, number)| Some((key, number?))) {
            out.key(key)?;
            out.int(number)?;
        }
        let flags = [
            ("recording_is_reproduced_exactly", self.traced.is_exact),
            ("empty_cache_left_out", self.run.skip_empty_cache),
            ("sizes_are_planned", self.run.planned_sizes.is_some()),
        ];
        for (key, value) in flags {
            out.key(key)?;
            out.bool(value)?;
        }
        out.end_dict()
    }
}

fn place_of(recording: &Recording, place: u32) -> allocator::recording::Place {
    recording.places.get(place as usize).copied().unwrap_or_default()
}

/// Returns `labels` with the stream and pool of `place`. Each is left out if the recorded event does not have it.
fn with_place(labels: Labels, recorded: &Labels, recording: &Recording, place: allocator::recording::Place) -> Labels {
    let stream = recording.streams.get(place.stream as usize).copied();
    let pool = recording.pools.get(place.pool as usize).copied();
    Labels {
        stream: stream.filter(|_| recorded.stream.is_some()),
        pool: pool.filter(|_| recorded.pool.is_some()),
        ..labels
    }
}

/// Writes `allocator_settings` as PyTorch does.
fn write_settings(out: &mut dyn ValueWriter, settings: &Settings, line: &str) -> io::Result<()> {
    out.key("allocator_settings")?;
    out.dict()?;
    out.key("PYTORCH_CUDA_ALLOC_CONF")?;
    out.text(line.as_bytes())?;
    if let Some(bytes) = settings.max_split {
        out.key("max_split_size")?;
        out.int(bytes.into())?;
    }
    out.key("garbage_collection_threshold")?;
    out.float(settings.collect_above.to_string().parse().unwrap_or(0.0))?;
    out.key("expandable_segments")?;
    out.bool(settings.expandable)?;
    out.key("roundup_power2_divisions")?;
    out.dict()?;
    for (exponent, &divisions) in settings.divisions.iter().enumerate() {
        out.text((1u64 << exponent).to_string().as_bytes())?;
        out.int(divisions.into())?;
    }
    out.end_dict()?;
    out.end_dict()
}

/// Simulated addresses of live allocations, by recorded address. They replace the addresses in annotations. `None` if
/// the trace has no annotations.
#[derive(Default)]
struct AnnotationAddresses(Option<HashMap<u64, u64, RandomState>>);

impl AnnotationAddresses {
    fn start(&mut self, history: &DeviceHistory, traced: &Traced<'_>) {
        let annotate = Action::ALL.iter().position(|action| *action == Action::Annotate);
        let count = annotate.and_then(|index| history.action_counts.get(index)).copied().unwrap_or(0);
        self.0 = (count > 0).then(|| {
            let early = traced.recording.early.iter().map(|early| early.allocation);
            let known = early.map(|number| {
                let block = traced.trace.run().block(number);
                (traced.recording.allocations.at(number as usize).address, block.map_or(0, |block| block.address))
            });
            known.collect()
        });
    }

    fn update(&mut self, recording: &Recording, step: Step, deeds: &Deeds) {
        if let (Some(live), What::Alloc(number), Some((_, address))) = (&mut self.0, step.what, deeds.subject) {
            live.insert(recording.allocations.at(number as usize).address, address);
        }
    }

    /// Returns the simulated address for a recorded address, or the same address if none is known.
    fn address(&self, recorded: u64) -> u64 {
        self.0.as_ref().and_then(|live| live.get(&recorded)).copied().unwrap_or(recorded)
    }
}
