//! The open file as compact columns: its events as the history has them, and its tables.

use super::Engine;
use super::open::OpenFile;
use base::units::EventIdx;
use history::compact::{Unwritable, Writer};
use history::replay::DeviceHistory;
use history::snapshot::{Event, NO_TIME, WarningKind};
use std::io::Write;

impl Engine {
    /// Writes the open file as columns ([`history::compact`]): opened again, they answer everything as the file does. Reads what is open and
    /// changes nothing; takes some hundred nanoseconds an event, in one piece.
    ///
    /// # Errors
    /// The system's; or the columns have no room for what the file has, and one sentence says for what.
    pub fn write_columns<W: Write>(&self, out: W) -> Result<W, Unwritable> {
        self.file.as_deref().ok_or(NOTHING)?.write_columns(Writer::new(out)?)
    }

    /// The same, to be read in place of the file: opened again, they also say that they are written as it was.
    ///
    /// # Errors
    /// Those of [`Engine::write_columns`].
    pub fn write_kept<W: Write>(&self, out: W) -> Result<W, Unwritable> {
        self.file.as_deref().ok_or(NOTHING)?.write_columns(Writer::kept(out)?)
    }
}

const NOTHING: Unwritable = Unwritable::Unfit("no file is open");

impl OpenFile {
    pub(super) fn write_columns<W: Write>(&self, mut writer: Writer<W>) -> Result<W, Unwritable> {
        if self.histories.iter().any(|history| history.loaded().is_some()) {
            return Err(Unwritable::Unfit("only a range of the events is loaded"));
        }
        // The history keeps the size of the allocation, not that of the free.
        if self.warnings().iter().any(|(kind, ..)| *kind == WarningKind::SizeOfFreeDiffers) {
            return Err(Unwritable::Unfit("the size of a free differs from its allocation's"));
        }
        let mut devices = Vec::new();
        for history in self.histories.iter().filter(|history| history.event_count() > 0) {
            writer.begin_trace()?;
            devices.push(history.device);
            for at in 0..history.event_count() {
                writer.event(&event(history, at))?;
            }
        }
        writer.finish(&self.snapshot, &devices, self.format())
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
