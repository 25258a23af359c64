//! A range of a trace as a snapshot of its own, which PyTorch's viewer and every other tool opens.
//!
//! ```text
//! events     … i [--------------) j …
//! written      [prologue][--------)      segments and blocks: as after event j − 1
//! ```
//! The prologue has the alloc of each allocation that was live before the range, so that what is freed in it keeps its stack. It never
//! makes a peak: it only adds up to what was live.

mod tables;

use super::Engine;
use super::open::OpenFile;
use super::state::DeviceState;
use base::slice::Slice;
use base::units::{EventIdx, Moment};
use history::pickle::PickleWriter;
use history::replay::{AllocationId, DeviceHistory, Provenance};
use history::snapshot::{Action, HOST};
use std::io::{self, Write};
use tables::Tables;

/// What marks the events of the prologue, as their `internal_metadata`.
pub const PROLOGUE: &str = "memscape: live before the cropped range";

/// What is cropped.
#[derive(Clone, Debug)]
pub struct Crop {
    pub device: i64,
    /// The first event, and the first beyond.
    pub events: [u32; 2],
    /// Whether the prologue is written.
    pub prologue: bool,
    /// What the source is called, for whoever opens the crop.
    pub source: String,
}

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
        let range = Range::new(file, history, [from, to.max(from)]);
        let mut pickle = PickleWriter::new(out)?;
        let mut tables = Tables::new(file);
        pickle.dict()?;
        pickle.key("segments")?;
        let segments = tables.segments(&mut pickle, &range, lives, &state)?;
        pickle.key("device_traces")?;
        let mut cropped = range.traces(&mut pickle, &mut tables, crop)?;
        cropped.segments = segments;
        tables.rest(&mut pickle, &range, crop)?;
        pickle.end_dict()?;
        pickle.finish()?.flush()?;
        Ok(cropped)
    }
}

/// The range, of an open file.
struct Range<'a> {
    file: &'a OpenFile,
    history: &'a DeviceHistory,
    from: u32,
    to: u32,
    /// Times of the first and the last event, where they were recorded.
    times: Option<[i64; 2]>,
}

impl<'a> Range<'a> {
    fn new(file: &'a OpenFile, history: &'a DeviceHistory, [from, to]: [u32; 2]) -> Range<'a> {
        let at = |event: u32| history.events.times.at(event);
        let times = (from..to).find_map(at).zip((from..to).rev().find_map(at)).map(|(first, last)| [first, last]);
        Range { file, history, from, to, times }
    }

    /// One list of events for each device; all but the cropped one's are empty.
    fn traces<W: Write>(
        &self,
        pickle: &mut PickleWriter<W>,
        tables: &mut Tables<'_>,
        crop: &Crop,
    ) -> io::Result<Cropped> {
        let ordinals = self.file.snapshot.traces.iter().map(|(device, _)| *device).chain([crop.device]);
        let count = ordinals.max().unwrap_or(0).max(0);
        let (mut cropped, mut traces) = (Cropped::default(), pickle.list()?);
        for device in 0..=count {
            pickle.item(&mut traces)?;
            let mut events = pickle.list()?;
            if device == crop.device {
                if crop.prologue {
                    for (event, _) in self.prologue() {
                        pickle.item(&mut events)?;
                        tables.event(pickle, self, event, true)?;
                        cropped.prologue += 1;
                    }
                }
                for event in self.from..self.to {
                    pickle.item(&mut events)?;
                    tables.event(pickle, self, event, false)?;
                }
            }
            pickle.end_list(events)?;
        }
        pickle.end_list(traces)?;
        cropped.events = self.to - self.from;
        cropped.live_before = u64::try_from(self.history.drawn_at(Moment(self.from))).unwrap_or(0);
        Ok(cropped)
    }

    /// The events of the prologue in their order, each with its allocation: allocs of what is live before the range, and the requests to
    /// free it that came before.
    fn prologue(&self) -> impl Iterator<Item = (u32, AllocationId)> + '_ {
        let (history, from) = (self.history, self.from);
        (0..from).filter_map(move |event| {
            let action = history.events.action(event);
            if !matches!(action, Action::Alloc | Action::FreeRequested) {
                return None;
            }
            let id = history.allocation_of(EventIdx(event))?;
            let allocations = &history.allocations;
            let (born, died, _) = allocations.span(id);
            let is_recorded = matches!(allocations.provenance(id), Provenance::AllocatedBy(_));
            let is_own = match action {
                Action::Alloc => born == event + 1,
                _ => allocations.free_requested(id) == Some(Moment(event + 1)),
            };
            (is_recorded && is_own && born <= from && from < died).then_some((event, id))
        })
    }
}
