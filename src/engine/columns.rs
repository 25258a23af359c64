//! The open file as compact columns: its events as the history has them, and its tables.

use super::Engine;
use super::open::OpenFile;
use base::units::EventIdx;
use history::compact::{Machine, Unwritable, Writer};
use history::replay::{DeviceHistory, parts, warning_parts};
use history::snapshot::{Event, EventSink, NO_TIME, WarningKind};
use std::io::Write;

impl Engine {
    /// Writes the open file as columns ([`history::compact`]): opened again, they answer everything as the file does. Reads what is open and
    /// changes nothing; takes some hundred nanoseconds an event, in one piece.
    ///
    /// # Errors
    /// The system's; or the columns have no room for what the file has, and one sentence says for what.
    pub fn write_columns<W: Write>(&self, out: W) -> Result<W, Unwritable> {
        self.file.as_deref().ok_or(NOTHING)?.write_columns(out)
    }

    /// Writes what is to be read in place of the file, by the same build: its histories as they are in memory, so that nothing is decoded and
    /// replayed again, and its tables. Opened, it says that it is written as the file was. Takes some ten nanoseconds an event, in one piece.
    ///
    /// # Errors
    /// Those of [`Engine::write_columns`].
    pub fn write_kept<W: Write>(&self, out: W) -> Result<W, Unwritable> {
        self.file.as_deref().ok_or(NOTHING)?.write_kept(out)
    }
}

const NOTHING: Unwritable = Unwritable::Unfit("no file is open");

impl OpenFile {
    fn write_columns<W: Write>(&self, out: W) -> Result<W, Unwritable> {
        let mut writer = Writer::new(out)?;
        self.must_be_whole()?;
        // The history keeps the size of the allocation, not that of the free.
        if self.warnings().iter().any(|(kind, ..)| *kind == WarningKind::SizeOfFreeDiffers) {
            return Err(Unwritable::Unfit("the size of a free differs from its allocation's"));
        }
        for history in self.histories.iter().filter(|history| history.event_count() > 0) {
            writer.begin_trace()?;
            for at in 0..history.event_count() {
                writer.event(&event(history, at))?;
            }
        }
        writer.finish(&self.snapshot, &self.devices(), self.format())
    }

    pub(super) fn write_kept<W: Write>(&self, out: W) -> Result<W, Unwritable> {
        let mut writer = Writer::kept(out)?;
        self.must_be_whole()?;
        let put = &mut |part: &[u8]| writer.image(part);
        self.histories.iter().try_for_each(|history| parts(history, put))?;
        warning_parts(self.warnings(), put)?;
        writer.finish(&self.snapshot, &self.devices(), self.format())
    }

    fn must_be_whole(&self) -> Result<(), Unwritable> {
        match self.histories.iter().any(|history| history.loaded().is_some()) {
            true => Err(Unwritable::Unfit("only a range of the events is loaded")),
            false => Ok(()),
        }
    }

    /// The devices that have events.
    fn devices(&self) -> Vec<i64> {
        let histories = self.histories.iter().filter(|history| history.event_count() > 0);
        histories.map(|history| history.device).collect()
    }
}

/// Looks for damage in what [`Engine::write_kept`] wrote, without keeping anything of it. `chunk` has its bytes in order, none at the end.
///
/// # Errors
/// Those of `chunk`, or there is damage: one sentence.
pub fn look_through(chunk: &mut dyn FnMut() -> Result<Vec<u8>, String>) -> Result<(), String> {
    let mut machine = Machine::new(Unseen);
    loop {
        let chunk = chunk()?;
        if chunk.is_empty() {
            return machine.finish().map(drop).map_err(|error| error.to_string());
        }
        machine.feed(&chunk).map_err(|error| error.to_string())?;
        while machine.step() {}
    }
}

/// Receives what is only looked through.
struct Unseen;

impl EventSink for Unseen {
    fn event(&mut self, _: u32, _: &Event) {}

    fn image(&mut self, _: &[u8]) -> bool {
        true
    }
}

/// An event as it was replayed.
fn event(history: &DeviceHistory, at: u32) -> Event {
    let events = &history.events;
    let (address, size) = history.address_and_size(EventIdx(at));
    Event {
        address,
        size,
        time_us: events.times.at(at).unwrap_or(NO_TIME),
        stack: events.stack(at),
        labels: events.labels(at),
        action: events.action(at),
    }
}
