//! Access to the allocator simulation: a device's allocator requests as input and, in native builds, the simulator. The
//! page runs the simulator in a separate wasm module.

use super::open::OpenFile;
use super::report::step_finder::StepFinder;
use allocator::Recording;
use allocator::reading::Reading;
use allocator::simulation::Simulation;
use allocator::transfer::Writing;
use base::heap::HeapBytes;
use base::slice::{SliceResult, TimeSlice};
use protocol::{WhatIf, WhatIfQuestion, encode};

/// Builder of the recording of a device's allocator requests.
#[derive(Default)]
pub(super) struct RecordingBuilder(Option<Box<(i64, StepFinder, Reading)>>);

impl RecordingBuilder {
    /// Continues building the recording of the program's allocator requests on a device. Returns it once complete, or
    /// `None` if the file does not have the device. [`OpenFile::compute_segments`] must have finished.
    pub(super) fn step(
        &mut self,
        file: &OpenFile,
        device: i64,
        slice: &mut TimeSlice,
    ) -> SliceResult<Option<Recording>> {
        let (Some(history), Some(lives)) = (file.history(device), file.segments(device)) else { return Ok(None) };
        if self.0.as_ref().is_none_or(|reading| reading.0 != device) {
            self.0 = Some(Box::new((device, StepFinder::new(device), Reading::default())));
        }
        let Some(building) = &mut self.0 else { return Ok(None) };
        let (_, steps, reading) = &mut **building;
        steps.step(file, slice)?;
        let recording = reading.step(&file.snapshot, history, lives, slice)?;
        let step_ends = steps.step_ends();
        self.0 = None;
        Ok(Some(Recording { step_ends, ..recording }))
    }
}

/// Encoder that builds the recording of a device's allocator requests, to be sent to another worker.
#[derive(Default)]
pub(super) struct RecordingEncoder {
    recordings: RecordingBuilder,
    writing: Option<Box<Writing>>,
}

impl RecordingEncoder {
    /// Continues encoding the recording and returns it once complete, or `None` if the file does not have the device.
    /// [`OpenFile::compute_segments`] must have finished.
    pub(super) fn step(&mut self, file: &OpenFile, device: i64, slice: &mut TimeSlice) -> SliceResult<Option<Vec<u8>>> {
        if self.writing.is_none() {
            let Some(recording) = self.recordings.step(file, device, slice)? else { return Ok(None) };
            self.writing = Some(Box::new(Writing::new(recording)));
        }
        let Some(writing) = &mut self.writing else { return Ok(None) };
        let mut bytes = writing.step(slice)?;
        bytes.extend_from_slice(&encode(&writing.recording));
        self.writing = None;
        Ok(Some(bytes))
    }
}

/// Simulator that answers a [`WhatIfQuestion`]. It is a trait, so that an engine without a simulator does not link its
/// code.
pub(super) trait Simulator: HeapBytes + Sync {
    /// Resets the simulator, so that another query can be answered.
    fn reset(&mut self);

    /// Continues answering a query. Partial results are passed to `send`. Returns the result once complete, or `None`
    /// if the file does not have the device. [`OpenFile::compute_segments`] must have finished.
    fn answer(
        &mut self,
        file: &OpenFile,
        device: i64,
        question: &WhatIfQuestion,
        send: &mut dyn FnMut(WhatIf),
        slice: &mut TimeSlice,
    ) -> SliceResult<Option<WhatIf>>;

    /// Simulates all runs of a query on all cores, so that [`Simulator::answer`] has little left to do.
    /// [`OpenFile::compute_segments`] must have finished.
    fn run_on_all_cores(
        &mut self,
        file: &OpenFile,
        device: i64,
        question: &WhatIfQuestion,
        may_continue: MayContinue<'_>,
    ) -> SliceResult;

    /// Sets the planned sizes of a device's allocations, in the encoding that [`Simulation::plan`] expects.
    fn set_planned_sizes(&mut self, device: i64, sizes: &[u8]);
}

/// Function that returns false once the work should stop.
pub(super) type MayContinue<'a> = &'a (dyn Fn() -> bool + Sync);

/// Function that creates a [`Simulator`].
pub(super) type NewSimulator = fn() -> Box<dyn Simulator>;

/// Simulator that caches its last simulation for reuse.
#[derive(Default)]
struct NativeSimulator {
    recordings: RecordingBuilder,
    simulation: Option<Simulation>,
    /// Device ordinal and planned sizes, until they are passed to a simulation.
    sizes: Option<(i64, Vec<u8>)>,
}

base::heap_bytes!(NativeSimulator: simulation);

pub(super) fn simulator() -> Box<dyn Simulator> {
    Box::new(NativeSimulator::default())
}

impl NativeSimulator {
    /// Returns the simulation of a device once its recording is complete, or `None` if the file does not have the
    /// device.
    fn simulation(
        &mut self,
        file: &OpenFile,
        device: i64,
        slice: &mut TimeSlice,
    ) -> SliceResult<Option<&mut Simulation>> {
        if self.simulation.as_ref().is_none_or(|simulation| simulation.device() != device) {
            let Some(recording) = self.recordings.step(file, device, slice)? else { return Ok(None) };
            self.simulation = Some(Simulation::new(device, recording));
        }
        let Some(simulation) = &mut self.simulation else { return Ok(None) };
        if let Some((_, sizes)) = self.sizes.take_if(|(planned, _)| *planned == device) {
            simulation.plan(&sizes);
        }
        Ok(Some(simulation))
    }
}

impl Simulator for NativeSimulator {
    fn reset(&mut self) {
        self.simulation.iter_mut().for_each(Simulation::begin);
    }

    fn answer(
        &mut self,
        file: &OpenFile,
        device: i64,
        question: &WhatIfQuestion,
        send: &mut dyn FnMut(WhatIf),
        slice: &mut TimeSlice,
    ) -> SliceResult<Option<WhatIf>> {
        let Some(simulation) = self.simulation(file, device, slice)? else { return Ok(None) };
        simulation.answer(question, send, slice).map(Some)
    }

    fn run_on_all_cores(
        &mut self,
        file: &OpenFile,
        device: i64,
        question: &WhatIfQuestion,
        may_continue: MayContinue<'_>,
    ) -> SliceResult {
        let simulation = self.simulation(file, device, &mut TimeSlice::new(&mut || may_continue()))?;
        simulation.map_or(Ok(()), |simulation| simulation.run_on_all_cores(question, may_continue))
    }

    fn set_planned_sizes(&mut self, device: i64, sizes: &[u8]) {
        self.sizes = Some((device, sizes.to_vec()));
    }
}
