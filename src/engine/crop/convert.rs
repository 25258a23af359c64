//! Converts the whole open file to another snapshot format.

use super::CropError;
use super::tables::{TableWriter, Target};
use crate::Engine;
use crate::open::OpenFile;
use history::snapshot::{HOST_DEVICE, Segment};
use history::writing::ValueWriter;
use std::io;

/// Number of items written by [`Engine::convert`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Converted {
    pub events: u64,
    pub segments: u32,
}

impl Engine {
    /// Writes the open file, with every event, segment, block, annotation and setting of all devices. Keys that
    /// memscape does not know are left out; the warnings about the file name them.
    ///
    /// # Errors
    /// Returns an error if no file is open, if only a range of its events is loaded, or if writing fails.
    pub fn convert(&self, out: &mut dyn ValueWriter) -> Result<Converted, CropError> {
        match self.file.as_deref() {
            Some(file) => file.check_all_loaded().and_then(|()| Ok(file.convert(out)?)),
            None => Err(CropError::Invalid("no file is open".to_owned())),
        }
    }
}

impl OpenFile {
    fn convert(&self, out: &mut dyn ValueWriter) -> io::Result<Converted> {
        let (mut tables, mut converted) = (TableWriter::new(self), Converted::default());
        out.dict()?;
        tables.write_recorded_segments(out, "segments", |segment| segment.device != HOST_DEVICE)?;
        out.key("device_traces")?;
        let mut traces = out.list()?;
        for device in 0..=tables.last_device() {
            out.item(&mut traces)?;
            converted.events += tables.write_trace(out, device)?;
        }
        out.end_list(traces)?;
        tables.write_settings(out)?;
        tables.write_simulated_marker(out)?;
        if !self.snapshot.marks.is_empty() {
            tables.write_annotations(out, 0..self.snapshot.marks.len())?;
        }
        let has_host = |segment: &Segment| segment.device == HOST_DEVICE;
        if self.history(HOST_DEVICE).is_some() || self.snapshot.segments.iter().any(has_host) {
            tables.write_recorded_segments(out, "host_segments", has_host)?;
            out.key("host_traces")?;
            converted.events += tables.write_trace(out, HOST_DEVICE)?;
        }
        tables.write_recorder(out)?;
        out.end_dict()?;
        out.finish()?;
        converted.segments = self.snapshot.segments.len() as u32;
        Ok(converted)
    }
}

impl TableWriter<'_> {
    /// Returns the largest ordinal among the devices that have events, or 0 if no device has events.
    pub(super) fn last_device(&self) -> i64 {
        self.file.snapshot.traces.iter().map(|(device, _)| *device).max().unwrap_or(0).max(0)
    }

    /// Writes all events of a device and returns their number.
    fn write_trace(&mut self, out: &mut dyn ValueWriter, device: i64) -> io::Result<u64> {
        let mut events = out.list()?;
        let history = self.file.history(device);
        let count = history.map_or(0, |history| history.event_count());
        for (history, event) in history.into_iter().flat_map(|history| (0..count).map(move |event| (history, event))) {
            out.item(&mut events)?;
            self.write_event(out, history, event, Target::WholeFile)?;
        }
        out.end_list(events)?;
        Ok(count.into())
    }

    fn write_recorded_segments(
        &mut self,
        out: &mut dyn ValueWriter,
        key: &'static str,
        is_wanted: fn(&Segment) -> bool,
    ) -> io::Result<()> {
        out.key(key)?;
        let (snapshot, mut list) = (&self.file.snapshot, out.list()?);
        for segment in snapshot.segments.iter().filter(|segment| is_wanted(segment)) {
            let blocks = segment.blocks.start as usize..segment.blocks.end as usize;
            out.item(&mut list)?;
            self.write_segment(out, segment, snapshot.blocks.get(blocks).unwrap_or_default())?;
        }
        out.end_list(list)
    }
}
