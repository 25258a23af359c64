//! A range of a trace as a snapshot of its own, which PyTorch's viewer and every other tool opens.
//!
//! ```text
//! events     … i [--------------) j …
//! written      [prologue][--------)      segments and blocks: as after event j − 1
//! ```
//! The prologue has the alloc of each allocation that was live before the range, so that what is freed in it keeps its stack. It never
//! makes a peak: it only adds up to what was live.

mod range;
mod tables;

pub use range::{Crop, PROLOGUE};

use super::Engine;
use super::state::DeviceState;
use base::slice::Slice;
use base::units::Moment;
use history::pickle::PickleWriter;
use history::snapshot::HOST;
use range::Range;
use std::io::{self, Write};
use tables::Tables;

/// What was written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cropped {
    pub events: u32,
    /// Events of the prologue, which come before those.
    pub prologue: u32,
    /// Requested bytes that are live before the first event of the range.
    pub live_before: u64,
    pub segments: u32,
}

/// Why nothing was written, or not all of it.
#[derive(Debug)]
pub enum CropError {
    /// The range cannot be one: a sentence.
    Impossible(String),
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
            CropError::Impossible(why) => out.write_str(why),
            CropError::Io(error) => error.fmt(out),
        }
    }
}

impl Engine {
    /// Writes a range of the open file as a pickle.
    ///
    /// # Errors
    /// The device is unknown or host memory, its memory at the end of the range lies in no segment, or the system's.
    pub fn crop(&mut self, crop: &Crop, out: impl Write) -> Result<Cropped, CropError> {
        let impossible = |why: &str| CropError::Impossible(why.to_owned());
        let file = self.file.as_deref_mut().ok_or_else(|| impossible("no file is open"))?;
        if crop.device == HOST {
            return Err(impossible("host memory has no trace of its own to crop"));
        }
        let goes_on = &mut || true;
        let mut slice = Slice::new(goes_on);
        while file.segment_lives(crop.device, &mut slice).is_err() {}
        let file = &*file;
        let known = file.history(crop.device).zip(file.segments(crop.device));
        let (history, lives) = known.ok_or_else(|| impossible("the file has no such device"))?;
        let last = history.event_count();
        let [from, to] = crop.events.map(|event| event.min(last));
        let mut state = DeviceState::new(history, lives, to);
        while state.step(file, history, lives, &mut slice).is_err() {}
        if state.astray.count > 0 {
            return Err(CropError::Impossible(format!(
                "after event {}, {} live bytes in {} allocations lie in no recorded segment",
                Moment(to).event_or_minus_one(),
                state.astray.bytes,
                state.astray.count
            )));
        }
        let range = Range::new(history, [from, to.max(from)]);
        let mut pickle = PickleWriter::new(out)?;
        let mut tables = Tables::new(file);
        pickle.dict()?;
        pickle.key("segments")?;
        let segments = tables.segments(&mut pickle, &range, lives, &state)?;
        pickle.key("device_traces")?;
        let mut cropped = traces(&range, &mut pickle, &mut tables, crop)?;
        cropped.segments = segments;
        tables.rest(&mut pickle, &range, crop)?;
        pickle.end_dict()?;
        pickle.finish()?.flush()?;
        Ok(cropped)
    }
}

/// One list of events for each device; all but the cropped one's are empty.
fn traces<W: Write>(
    range: &Range<'_>,
    pickle: &mut PickleWriter<W>,
    tables: &mut Tables<'_>,
    crop: &Crop,
) -> io::Result<Cropped> {
    let ordinals = tables.file.snapshot.traces.iter().map(|(device, _)| *device).chain([crop.device]);
    let count = ordinals.max().unwrap_or(0).max(0);
    let (mut cropped, mut traces) = (Cropped::default(), pickle.list()?);
    for device in 0..=count {
        pickle.item(&mut traces)?;
        let mut events = pickle.list()?;
        if device == crop.device {
            if crop.prologue {
                for event in range.prologue() {
                    pickle.item(&mut events)?;
                    tables.event(pickle, range, event, true)?;
                    cropped.prologue += 1;
                }
            }
            for event in range.from..range.to {
                pickle.item(&mut events)?;
                tables.event(pickle, range, event, false)?;
            }
        }
        pickle.end_list(events)?;
    }
    pickle.end_list(traces)?;
    cropped.events = range.to - range.from;
    cropped.live_before = u64::try_from(range.history.drawn_at(Moment(range.from))).unwrap_or(0);
    Ok(cropped)
}
