//! Construction of a [`DeviceHistory`] from a trace and the segments at its end, in time slices.

mod device_builder;

use super::device::Device;
use super::device_history::DeviceHistory;
use super::partial::Partial;
use super::recorder::Recorder;
use super::trace::Trace;
use crate::snapshot::{HOST_DEVICE, Snapshot, WarningKind, Warnings};
use base::out_of_line::out_of_line;
use base::slice::{SliceResult, TimeSlice};
use base::sorted::{signed_key, sorted_by_key, two_part_key};
use device_builder::{DeviceBuilder, device_path};
use foldhash::fast::RandomState;
use hashbrown::HashMap;

/// Builder of the histories of all devices of a snapshot.
pub struct Builder {
    /// Devices whose histories are not built yet. The next device is last.
    waiting: Vec<Device>,
    current: Option<Box<DeviceBuilder>>,
    done: Vec<DeviceHistory>,
    warnings: Warnings,
    results: Vec<u8>,
}

impl Builder {
    /// Creates a builder from the recorded traces, and the snapshot's segments and annotation marks.
    pub fn new(snapshot: &Snapshot, mut recorder: Recorder) -> Builder {
        if let Some(mut image) = recorder.image.take().filter(|image| image.has_parts()) {
            let (done, warnings, results) = image.finish(snapshot);
            return Builder { waiting: Vec::new(), current: None, done, warnings, results };
        }
        let whole = |mut trace: Trace| {
            trace.keep_last();
            Some(trace)
        };
        let mut traces: Vec<Option<Trace>> = recorder.traces.into_iter().map(whole).collect();
        let mut devices: HashMap<i64, Device, RandomState> = HashMap::default();
        for &(device, number) in &snapshot.traces {
            if let Some(trace) = traces.get_mut(number as usize).and_then(Option::take) {
                let device = devices.entry(device).or_default();
                (device.trace, device.number) = (trace, Some(number));
            }
        }
        for (row, segment) in (0u32..).zip(&snapshot.segments) {
            devices.entry(segment.device).or_default().segments.push(row);
        }
        for (row, mark) in (0u32..).zip(&snapshot.marks) {
            if let Some(device) = devices.get_mut(&mark.device) {
                device.marks.push(row);
            }
        }
        // Devices without events and blocks are skipped. Ordinals ascend, host memory comes last, and the vector is
        // reversed.
        let has_any = |device: &Device| {
            let segments = device.segments.iter().filter_map(|&row| snapshot.segments.get(row as usize));
            !device.trace.events.is_empty()
                || device.trace.outside.later_events > 0
                || segments.into_iter().any(|segment| !segment.blocks.is_empty())
        };
        let devices = devices.into_iter().map(|(ordinal, device)| Device { ordinal, ..device });
        let waiting = devices.filter(has_any).collect();
        // Devices are taken from the end, so host memory sorts first.
        let waiting = sorted_by_key(waiting, |device| {
            two_part_key(u64::from(device.ordinal != HOST_DEVICE), !signed_key(device.ordinal))
        });
        let (done, warnings, results) = Default::default();
        Builder { waiting, current: None, done, warnings, results }
    }

    /// Completes the outlines with exact values. Called after decoding, before any history is built.
    pub fn close_outlines(&self, partial: &mut Partial, snapshot: &Snapshot) {
        partial.finish(self.waiting.iter().rev(), snapshot);
    }

    /// Continues building the histories until all are complete or the time slice is used up.
    ///
    /// # Errors
    /// Returns an error if the time slice is used up.
    pub fn step(&mut self, snapshot: &Snapshot, slice: &mut TimeSlice) -> SliceResult {
        loop {
            if self.current.is_none() {
                let Some(device) = self.waiting.pop() else { return Ok(()) };
                self.current = Some(Box::new(DeviceBuilder::new(device, snapshot, &mut self.warnings)));
            }
            let Some(building) = &mut self.current else { return Ok(()) };
            out_of_line(|| building.step(snapshot, &mut self.warnings, slice))?;
            if let Some(building) = self.current.take() {
                building.warn_excess(&mut self.warnings);
                let history = building.history;
                let at_limit = u64::from(history.numbers.is_saturated());
                self.warnings.add(WarningKind::TotalsAtLimit, at_limit, || device_path(history.device));
                self.done.push(history);
            }
            // A file may have thousands of devices with a handful of events each.
            slice.check()?;
        }
    }

    /// Removes and returns the results that were serialized with the histories. Empty if there are none.
    pub fn take_results(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.results)
    }

    /// Returns the histories, sorted by device ordinal with host memory last, and the warnings.
    pub fn finish(self) -> (Vec<DeviceHistory>, Warnings) {
        (self.done, self.warnings)
    }
}
