//! Conversion of the whole open file to another form of snapshot.

use super::CropError;
use super::tables::{Place, Tables};
use crate::Engine;
use crate::open::OpenFile;
use history::snapshot::{HOST, Segment};
use history::writing::Values;
use std::io;

/// Summary of what [`Engine::convert`] wrote.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Converted {
    pub events: u64,
    pub segments: u32,
}

impl Engine {
    /// Writes the open file, with every event, segment, block, annotation and setting of all devices.
    /// Keys that memscape does not know are left out. The file's warnings name them.
    ///
    /// # Errors
    /// No file is open, only a range of its events is loaded, or an I/O error.
    pub fn convert(&self, out: &mut dyn Values) -> Result<Converted, CropError> {
        match self.file.as_deref() {
            Some(file) => file.is_whole().and_then(|()| Ok(file.convert(out)?)),
            None => Err(CropError::Impossible("no file is open".to_owned())),
        }
    }
}

impl OpenFile {
    fn convert(&self, out: &mut dyn Values) -> io::Result<Converted> {
        let (mut tables, mut converted) = (Tables::new(self), Converted::default());
        out.dict()?;
        tables.recorded_segments(out, "segments", |segment| segment.device != HOST)?;
        out.key("device_traces")?;
        let mut traces = out.list()?;
        for device in 0..=tables.last_device() {
            out.item(&mut traces)?;
            converted.events += tables.trace(out, device)?;
        }
        out.end_list(traces)?;
        tables.settings(out)?;
        tables.simulated(out)?;
        if !self.snapshot.marks.is_empty() {
            tables.annotations(out, 0..self.snapshot.marks.len())?;
        }
        let has_host = |segment: &Segment| segment.device == HOST;
        if self.history(HOST).is_some() || self.snapshot.segments.iter().any(has_host) {
            tables.recorded_segments(out, "host_segments", has_host)?;
            out.key("host_traces")?;
            converted.events += tables.trace(out, HOST)?;
        }
        tables.recorded(out)?;
        out.end_dict()?;
        out.finish()?;
        converted.segments = self.snapshot.segments.len() as u32;
        Ok(converted)
    }
}

impl Tables<'_> {
    /// Returns the largest device ordinal that has events, at least 0.
    pub(super) fn last_device(&self) -> i64 {
        self.file.snapshot.traces.iter().map(|(device, _)| *device).max().unwrap_or(0).max(0)
    }

    /// Writes all events of a device and returns their number.
    fn trace(&mut self, out: &mut dyn Values, device: i64) -> io::Result<u64> {
        let mut events = out.list()?;
        let history = self.file.history(device);
        let count = history.map_or(0, |history| history.event_count());
        for (history, event) in history.into_iter().flat_map(|history| (0..count).map(move |event| (history, event))) {
            out.item(&mut events)?;
            self.event(out, history, event, Place::Whole)?;
        }
        out.end_list(events)?;
        Ok(count.into())
    }

    fn recorded_segments(
        &mut self,
        out: &mut dyn Values,
        key: &'static str,
        is_wanted: fn(&Segment) -> bool,
    ) -> io::Result<()> {
        out.key(key)?;
        let (snapshot, mut list) = (&self.file.snapshot, out.list()?);
        for segment in snapshot.segments.iter().filter(|segment| is_wanted(segment)) {
            let blocks = segment.blocks.start as usize..segment.blocks.end as usize;
            out.item(&mut list)?;
            self.segment(out, segment, snapshot.blocks.get(blocks).unwrap_or_default())?;
        }
        out.end_list(list)
    }
}
