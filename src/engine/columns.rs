//! Writes the open file in the column format, as an export or as a cache file.

use super::Engine;
use super::categories::standard_rules;
use super::open::OpenFile;
use analysis::InternalRules;
use base::units::EventIdx;
use history::compact::{ColumnReader, WriteError, Writer};
use history::replay::{DeviceHistory, write_parts, write_results, write_warning_parts};
use history::snapshot::{Event, EventSink, NO_TIME, WarningKind};
use std::io::Write;

impl Engine {
    /// Returns whether the category rules and the rules for internal frames are the standard ones. A cache file has
    /// reports under these only.
    pub(super) fn has_standard_rules(&self) -> bool {
        self.categories.rules() == standard_rules().rules() && self.internal_rules == InternalRules::default()
    }

    /// Writes the open file as columns ([`history::compact`]). An engine that opens the output gives the same answers
    /// as for the original file. Takes a few hundred nanoseconds per event, not in time slices.
    ///
    /// # Errors
    /// Returns an error if writing fails, or if the format cannot represent the file.
    pub fn write_columns<W: Write>(&self, out: W) -> Result<W, WriteError> {
        self.file.as_deref().ok_or(NO_FILE)?.write_columns(out)
    }

    /// Writes a cache file that the same build can open in place of the original. It contains the tables, the in-memory
    /// form of the histories, and the reports under standard rules, so that nothing has to be decoded, replayed or
    /// reported again. An engine that opens it reports the format of the original. Takes some ten nanoseconds per
    /// event, not in time slices.
    ///
    /// # Errors
    /// Returns the same errors as [`Engine::write_columns`].
    pub fn write_cache<W: Write>(&self, out: W) -> Result<W, WriteError> {
        let reports = if self.has_standard_rules() { self.questions.reports.finished.encode() } else { Vec::new() };
        self.file.as_deref().ok_or(NO_FILE)?.write_cache(&reports, out)
    }
}

const NO_FILE: WriteError = WriteError::Unsupported("no file is open");

impl OpenFile {
    pub(super) fn write_columns<W: Write>(&self, out: W) -> Result<W, WriteError> {
        let mut writer = Writer::new(out)?;
        self.require_all_events()?;
        // The history keeps the size of the allocation, not that of the free.
        if self.warnings().iter().any(|(kind, ..)| *kind == WarningKind::FreeSizeDiffers) {
            return Err(WriteError::Unsupported("the size of a free differs from its allocation's"));
        }
        for history in self.histories.iter().filter(|history| history.event_count() > 0) {
            writer.begin_trace()?;
            for index in 0..history.event_count() {
                writer.event(&event(history, index))?;
            }
        }
        writer.finish(&self.snapshot, &self.devices(), self.format())
    }

    pub(super) fn write_cache<W: Write>(&self, reports: &[u8], out: W) -> Result<W, WriteError> {
        let mut writer = Writer::new_cache(out)?;
        self.require_all_events()?;
        let put = &mut |part: &[u8]| writer.history_part(part);
        self.histories.iter().try_for_each(|history| write_parts(history, put))?;
        write_warning_parts(self.warnings(), put)?;
        write_results(reports, put)?;
        writer.finish(&self.snapshot, &self.devices(), self.format())
    }

    fn require_all_events(&self) -> Result<(), WriteError> {
        match self.histories.iter().any(|history| history.loaded().is_some()) {
            true => Err(WriteError::Unsupported("only a range of the events is loaded")),
            false => Ok(()),
        }
    }

    /// Returns the devices that have events.
    fn devices(&self) -> Vec<i64> {
        let histories = self.histories.iter().filter(|history| history.event_count() > 0);
        histories.map(|history| history.device).collect()
    }
}

/// Checks a cache file written by [`Engine::write_cache`] for damage, without keeping its content. `chunk` returns the
/// bytes in order, and an empty vector at the end.
///
/// # Errors
/// Returns the error if `chunk` fails, or a description of the damage.
pub fn verify_cache(chunk: &mut dyn FnMut() -> Result<Vec<u8>, String>) -> Result<(), String> {
    let mut reader = ColumnReader::new(DiscardingSink);
    loop {
        let chunk = chunk()?;
        if chunk.is_empty() {
            return reader.finish().map(drop).map_err(|error| error.to_string());
        }
        reader.feed(&chunk).map_err(|error| error.to_string())?;
        while reader.step() {}
    }
}

/// Event sink that discards everything.
struct DiscardingSink;

impl EventSink for DiscardingSink {
    fn event_at(&mut self, _: u32, _: &Event) {}

    fn history_part(&mut self, _: &[u8]) -> bool {
        true
    }
}

/// Reconstructs an event of the trace from the history.
fn event(history: &DeviceHistory, index: u32) -> Event {
    let events = &history.events;
    let (address, size) = history.address_and_size(EventIdx(index));
    Event {
        address,
        size,
        time_us: events.times.at(index).unwrap_or(NO_TIME),
        stack: events.stack(index),
        labels: events.labels(index),
        action: events.action(index),
    }
}
