//! The table `sample`: memory over time as sampled by the recorder, with what the allocator does not know.

use crate::rows::{RowRequest, RowScope, RowSet, Rows};
use crate::source::Source;
use engine::{PausedBytes, Side, outside_of_sample};
use sqlite::{Cell, Kind};

/// Table of all samples.
#[derive(Default)]
pub(super) struct Samples {
    /// Row numbers of the device's samples in the recorder's table.
    rows: Vec<u32>,
    capacity: Option<u64>,
    paused: PausedBytes,
}

impl Rows for Samples {
    const SCOPE: RowScope = RowScope::Device;
    const COLUMNS: &'static [(&'static str, Kind)] = &[
        ("time_us", Kind::Integer),
        ("outside_bytes", Kind::Integer),
        ("device_free_bytes", Kind::Integer),
        ("reserved_bytes", Kind::Integer),
        ("paused_bytes", Kind::Integer),
        ("live_bytes", Kind::Integer),
        ("resident_bytes", Kind::Integer),
        ("shared_bytes", Kind::Integer),
        ("pinned_bytes", Kind::Integer),
        ("event", Kind::Integer),
    ];
    const KEY_COLUMN: Option<usize> = None;

    fn count(source: &Source) -> u64 {
        let sides = (0..source.parts.len()).filter_map(|part| source.side(part));
        sides.map(|side| side.snapshot().recorder.observed.samples.len() as u64).sum()
    }

    fn prepare(&mut self, source: &Source, part: usize, wanted: &RowRequest) -> Result<RowSet, String> {
        let Some(side) = source.side(part) else { return Ok(RowSet::keyed(0..0, 0, &wanted.keys)) };
        let device = side.history.device;
        let samples = side.snapshot().recorder.observed.samples.iter().zip(0..);
        self.rows = samples.filter(|(sample, _)| sample.device == device).map(|(_, row)| row).collect();
        let capacity = side.snapshot().recorder.device_fact(device, "capacity_bytes");
        self.capacity = capacity.and_then(|text| text.parse().ok());
        self.paused = side.paused_over_time();
        Ok(RowSet::keyed(0..self.rows.len() as u32, 0, &wanted.keys))
    }

    fn cell<'a>(&'a self, source: &'a Source, part: usize, row: u32, column: usize) -> Cell<'a> {
        source.side(part).and_then(|side| self.value(&side, row, column)).unwrap_or(Cell::Null)
    }
}

impl Samples {
    fn value(&self, side: &Side<'_>, row: u32, column: usize) -> Option<Cell<'static>> {
        let row = *self.rows.get(row as usize)?;
        let sample = side.snapshot().recorder.observed.samples.get(row as usize)?;
        // The last event up to the time of the sample.
        let event =
            || side.history.events.times.time_axis()?.events_before_us(sample.time_us.saturating_add(1)).checked_sub(1);
        Some(match column {
            0 => sample.time_us.into(),
            1 => self.capacity.and_then(|capacity| outside_of_sample(sample, capacity, &self.paused)).into(),
            2 => sample.free.into(),
            3 => sample.reserved.into(),
            4 => self.paused.at(sample.time_us).into(),
            5 => sample.live.into(),
            6 => sample.resident.into(),
            7 => sample.shared.into(),
            8 => sample.pinned.into(),
            9 => event().into(),
            _ => Cell::Null,
        })
    }
}
