//! The allocator simulated: a device's recording, and natively the simulation itself. The page has that in a wasm of its own.

use super::open::OpenFile;
use super::protocol::{WhatIf, WhatIfQuestion, encoded};
use allocator::Recording;
use allocator::reading::Reading;
use allocator::simulation::Simulation;
use allocator::transfer::Writing;
use base::slice::{Slice, Sliced};

/// A recording in the making.
#[derive(Default)]
struct Recordings(Option<Box<(i64, Reading)>>);

impl Recordings {
    /// What the program of a device asked for; `None` where the file does not have the device.
    fn step(&mut self, file: &mut OpenFile, device: i64, slice: &mut Slice) -> Sliced<Option<Recording>> {
        file.segment_lives(device, slice)?;
        let (Some(history), Some(lives)) = (file.history(device), file.segments(device)) else { return Ok(None) };
        if self.0.as_ref().is_none_or(|reading| reading.0 != device) {
            self.0 = Some(Box::new((device, Reading::default())));
        }
        let Some(reading) = &mut self.0 else { return Ok(None) };
        let recording = reading.1.step(&file.snapshot, history, lives, slice)?;
        self.0 = None;
        Ok(Some(recording))
    }
}

/// A recording for another worker, in the making.
#[derive(Default)]
pub(super) struct Sending {
    recordings: Recordings,
    writing: Option<Box<Writing>>,
}

impl Sending {
    /// The recording as bytes; `None` where the file does not have the device.
    pub(super) fn step(&mut self, file: &mut OpenFile, device: i64, slice: &mut Slice) -> Sliced<Option<Vec<u8>>> {
        if self.writing.is_none() {
            let Some(recording) = self.recordings.step(file, device, slice)? else { return Ok(None) };
            self.writing = Some(Box::new(Writing::new(recording)));
        }
        let Some(writing) = &mut self.writing else { return Ok(None) };
        let mut bytes = writing.step(slice)?;
        bytes.extend_from_slice(&encoded(&writing.recording));
        self.writing = None;
        Ok(Some(bytes))
    }
}

/// Whoever answers a [`WhatIfQuestion`]. An engine that has none leaves its code out.
pub(super) trait Simulate {
    /// Another question is to be answered.
    fn begin(&mut self);

    /// The answer; `send` takes parts of it that are there before. On a device that the file does not have there is none.
    fn answer(
        &mut self,
        file: &mut OpenFile,
        device: i64,
        question: &WhatIfQuestion,
        send: &mut dyn FnMut(WhatIf),
        slice: &mut Slice,
    ) -> Sliced<Option<WhatIf>>;

    /// Takes the bytes of a device's allocations under a plan.
    fn plan(&mut self, device: i64, sizes: &[u8]);

    fn heap_bytes(&self) -> usize;
}

/// What was simulated last.
#[derive(Default)]
struct Simulations {
    recordings: Recordings,
    simulation: Option<Simulation>,
    /// Sizes of a plan that no simulation has yet, with their device.
    sizes: Option<(i64, Vec<u8>)>,
}

/// A simulator.
pub(super) fn simulator() -> Box<dyn Simulate> {
    Box::new(Simulations::default())
}

impl Simulate for Simulations {
    fn begin(&mut self) {
        self.simulation.iter_mut().for_each(Simulation::begin);
    }

    fn answer(
        &mut self,
        file: &mut OpenFile,
        device: i64,
        question: &WhatIfQuestion,
        send: &mut dyn FnMut(WhatIf),
        slice: &mut Slice,
    ) -> Sliced<Option<WhatIf>> {
        if self.simulation.as_ref().is_none_or(|simulation| simulation.device() != device) {
            let Some(recording) = self.recordings.step(file, device, slice)? else { return Ok(None) };
            self.simulation = Some(Simulation::new(device, recording));
        }
        let Some(simulation) = &mut self.simulation else { return Ok(None) };
        if let Some((_, sizes)) = self.sizes.take_if(|(of, _)| *of == device) {
            simulation.plan(&sizes);
        }
        simulation.answer(question, send, slice).map(Some)
    }

    fn plan(&mut self, device: i64, sizes: &[u8]) {
        self.sizes = Some((device, sizes.to_vec()));
    }

    fn heap_bytes(&self) -> usize {
        self.simulation.as_ref().map_or(0, Simulation::heap_bytes)
    }
}
