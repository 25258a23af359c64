//! Writes a simulated run: the recorded requests of a device under other allocator settings, with simulated addresses
//! and segments. The result is an ordinary snapshot that is marked as simulated.

mod annotation_addresses;
mod end;

use super::tables::{EventValues, TableWriter, Target};
use super::{CropError, PICKLE_PROTOCOL};
use crate::Engine;
use crate::open::OpenFile;
use crate::what_if::RecordingBuilder;
use allocator::answer::WhatIfQuestion;
use allocator::operation::Kind;
use allocator::recording::{Step, What};
use allocator::simulation::{Simulation, Traced};
use allocator::trace::Deeds;
use allocator::{Recording, Settings};
use annotation_addresses::AnnotationAddresses;
use base::slice::TimeSlice;
use base::units::EventIdx;
use history::replay::DeviceHistory;
use history::snapshot::{Action, HOST_DEVICE, Labels, StackId};
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
        let (mut builder, mut has_time) = (RecordingBuilder::default(), || true);
        let slice = &mut TimeSlice::new(&mut has_time);
        loop {
            let read = self.compute_segments(device, slice).and_then(|()| builder.step(self, device, slice));
            if let Ok(recording) = read {
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
