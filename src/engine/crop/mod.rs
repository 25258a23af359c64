//! Writes snapshots that PyTorch's viewer and other tools can open: a range of a trace, the whole file in another
//! format, or a run of the simulated allocator.
//!
//! ```text
//! events     … i [--------------) j …
//! written      [prologue][--------)      segments and blocks: as after event j − 1
//! ```
//! The prologue has the alloc event of each allocation that was live before the range, so that frees in the range keep
//! their stacks. It never creates a peak, because its sum does not exceed the live bytes at the start of the range.

mod annotations;
mod convert;
mod drawing;
mod range;
mod recorder;
mod segments;
mod simulated;
mod tables;

use crate::side::Side;
pub use convert::Converted;
pub use drawing::DrawingSummary;
pub use range::{Crop, PROLOGUE};
pub use simulated::{SimulatedRun, SimulatedSummary};

use super::Engine;
use super::open::OpenFile;
use super::stack_trees::Population;
use super::state::DeviceState;
use base::slice::TimeSlice;
use base::units::{Moment, pluralize};
use history::replay::DeviceHistory;
use history::snapshot::{Action, HOST_DEVICE};
use history::writing::{PickleWriter, ValueWriter};
use protocol::Scope;
use range::Range;
use std::io::{self, Write};
use tables::{TableWriter, Target};

/// Pickle protocol version. Older versions of PyTorch's viewer cannot read protocol 5.
const PICKLE_PROTOCOL: u8 = 4;

/// Number of items written by [`Engine::crop`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cropped {
    pub events: u32,
    /// Number of events in the prologue, which comes before the events of the range.
    pub prologue: u32,
    /// Requested bytes that are live before the first event of the range.
    pub live_before: u64,
    pub segments: u32,
}

/// Error that occurs when a snapshot is written.
#[derive(Debug)]
pub enum CropError {
    /// The request is invalid. Holds the error message.
    Invalid(String),
    Io(io::Error),
}

impl From<io::Error> for CropError {
    fn from(error: io::Error) -> CropError {
        CropError::Io(error)
    }
}

impl std::fmt::Display for CropError {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            CropError::Invalid(why) => out.write_str(why),
            CropError::Io(error) => error.fmt(out),
        }
    }
}

impl Engine {
    /// Writes a range of the open file as a pickle.
    ///
    /// # Errors
    /// Returns an error if no file is open, if only a range of its events is loaded, if the device is unknown or host
    /// memory, if live memory at the end of the range lies outside all segments, or if writing fails.
    pub fn crop(&mut self, crop: &Crop, out: impl Write) -> Result<Cropped, CropError> {
        match self.file.as_deref_mut() {
            Some(file) => file.crop(crop, out),
            None => Err(CropError::Invalid("no file is open".to_owned())),
        }
    }
}

impl OpenFile {
    /// Writes a range of the file as a pickle. See [`Engine::crop`].
    pub(super) fn crop(&mut self, crop: &Crop, out: impl Write) -> Result<Cropped, CropError> {
        self.check_all_loaded()?;
        let states = crop
            .devices
            .iter()
            .map(|&(device, events)| self.state_after(device, events))
            .collect::<Result<Vec<_>, _>>()?;
        let file = &*self;
        let known = |&(device, events): &(i64, [u32; 2])| Some(Range::new(file.history(device)?, events));
        let ranges: Vec<Range<'_>> = crop.devices.iter().filter_map(known).collect();
        let (mut tables, mut cropped) = (TableWriter::new(file), Cropped::default());
        let out: &mut dyn ValueWriter = &mut PickleWriter::new(out, PICKLE_PROTOCOL)?;
        out.dict()?;
        out.key("segments")?;
        let mut list = out.list()?;
        for (range, state) in ranges.iter().zip(&states) {
            let history = range.history;
            if let Some(lives) = file.segments(history.device) {
                cropped.segments +=
                    tables.write_segments_after(out, &mut list, (history, lives), state, range.to, crop.stream)?;
            }
        }
        out.end_list(list)?;
        out.key("device_traces")?;
        let mut traces = out.list()?;
        let chosen = crop.devices.iter().map(|(device, _)| *device).max().unwrap_or(0);
        for device in 0..=tables.last_device().max(chosen) {
            out.item(&mut traces)?;
            let mut events = out.list()?;
            if let Some(range) = ranges.iter().find(|range| range.history.device == device) {
                if crop.prologue {
                    for event in range.prologue().filter(|&event| file.is_kept(range.history, event, crop.stream)) {
                        out.item(&mut events)?;
                        tables.write_event(
                            out,
                            range.history,
                            event,
                            Target::Prologue(range.times.map(|[first, _]| first)),
                        )?;
                        cropped.prologue += 1;
                    }
                }
                for event in range.from..range.to {
                    if file.is_kept(range.history, event, crop.stream) {
                        out.item(&mut events)?;
                        tables.write_event(out, range.history, event, Target::Range)?;
                        cropped.events += 1;
                    }
                }
                cropped.live_before += file.live_on_stream(range.history, Moment(range.from), crop.stream);
            }
            out.end_list(events)?;
        }
        out.end_list(traces)?;
        tables.write_settings(out)?;
        tables.write_simulated_marker(out)?;
        let mut marks = Vec::new();
        ranges.iter().for_each(|range| tables.overlapping_annotations(range, &mut marks));
        if !marks.is_empty() {
            marks.sort_unstable();
            tables.write_annotations(out, marks.into_iter())?;
        }
        tables.write_recorder_for_ranges(out, &ranges)?;
        write_provenance(out, crop, &ranges)?;
        out.end_dict()?;
        out.finish()?;
        Ok(cropped)
    }

    /// Returns whether an event is on a stream. Snapshots are on all streams.
    fn is_kept(&self, history: &DeviceHistory, event: u32, stream: Option<u64>) -> bool {
        let is_on = |stream| Side { file: self, history }.event_stream(event) == Some(stream);
        stream.is_none_or(|stream| history.events.action(event) == Action::Snapshot || is_on(stream))
    }

    /// Returns the live bytes on a stream at a moment, or all live bytes.
    fn live_on_stream(&self, history: &DeviceHistory, moment: Moment, stream: Option<u64>) -> u64 {
        let Some(stream) = stream else { return u64::try_from(history.drawn_at(moment)).unwrap_or(0) };
        let (population, mut live) = (Population::new(history, Scope::At(moment.0)), 0u64);
        population.visit_part(history, 0..population.len(), &mut |id, bytes| {
            let is_on = self.groups.stream(&self.snapshot, history, id) == Some(stream);
            live = live.saturating_add(if is_on { bytes } else { 0 });
        });
        live
    }

    /// Fails if only a range of the events is loaded.
    pub(super) fn check_all_loaded(&self) -> Result<(), CropError> {
        match self.histories.iter().any(|history| history.loaded().is_some()) {
            true => Err(CropError::Invalid("only a range of the events is loaded: open all of them".to_owned())),
            false => Ok(()),
        }
    }

    /// Returns the state of a device after the last event of a range.
    fn state_after(&mut self, device: i64, [_, to]: [u32; 2]) -> Result<DeviceState, CropError> {
        let impossible = |why: &str| CropError::Invalid(why.to_owned());
        if device == HOST_DEVICE {
            return Err(impossible("host memory has no trace of its own to crop"));
        }
        let has_time = &mut || true;
        let mut slice = TimeSlice::new(has_time);
        while self.compute_segments(device, &mut slice).is_err() {}
        let file = &*self;
        let known = file.side(device).zip(file.segments(device));
        let (side, lives) = known.ok_or_else(|| impossible("the file has no such device"))?;
        let to = to.min(side.history.event_count());
        let mut state = DeviceState::new(side.history, lives, to);
        while state.step(side, lives, &mut slice).is_err() {}
        if state.outside_mapped.count > 0 {
            return Err(CropError::Invalid(format!(
                "after event {}, {} live bytes in {} lie in no recorded segment",
                Moment(to).event_or_minus_one(),
                state.outside_mapped.bytes,
                pluralize(state.outside_mapped.count.into(), "allocation")
            )));
        }
        Ok(state)
    }
}

/// Writes the origin of the crop: the source file, and the range of each device.
fn write_provenance(out: &mut dyn ValueWriter, crop: &Crop, ranges: &[Range<'_>]) -> io::Result<()> {
    out.key("memscape_crop")?;
    out.dict()?;
    out.key("source")?;
    out.text(crop.source.as_bytes())?;
    out.key("prologue")?;
    out.bool(crop.prologue)?;
    if let Some(stream) = crop.stream {
        out.key("stream")?;
        out.int(stream.into())?;
    }
    out.key("devices")?;
    let mut items = out.list()?;
    for range in ranges {
        out.item(&mut items)?;
        out.dict()?;
        let numbers = [
            ("device", i128::from(range.history.device)),
            ("first_event", range.from.into()),
            ("end_event", range.to.into()),
            ("of_events", range.history.event_count().into()),
        ];
        for (key, number) in numbers {
            out.key(key)?;
            out.int(number)?;
        }
        out.end_dict()?;
    }
    out.end_list(items)?;
    out.end_dict()
}
