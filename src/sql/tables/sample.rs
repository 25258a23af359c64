//! The table `sample`: memory over time as sampled by the recorder, with what the allocator does not know.

use crate::rows::{OwnColumn, RowRequest, RowScope, RowSet, Rows};
use crate::source::{At, Source};
use engine::{PausedBytes, Sample, outside_of_sample};
use sqlite::Kind;

/// Table of all samples.
#[derive(Default)]
pub(super) struct Samples {
    /// Row numbers of the device's samples in the recorder's table.
    rows: Vec<u32>,
    capacity: Option<u64>,
    paused: PausedBytes,
}

impl Rows for Samples {
    type Item<'a> = (&'a Samples, &'a Sample);

    const SCOPE: RowScope = RowScope::Device;
    const COLUMNS: &'static [OwnColumn<Self>] = &[
        ("time_us", Kind::Integer, |_, (_, sample)| sample.time_us.into()),
        ("outside_bytes", Kind::Integer, |_, (rows, sample)| {
            rows.capacity.and_then(|capacity| outside_of_sample(sample, capacity, &rows.paused)).into()
        }),
        ("device_free_bytes", Kind::Integer, |_, (_, sample)| sample.free.into()),
        ("reserved_bytes", Kind::Integer, |_, (_, sample)| sample.reserved.into()),
        ("paused_bytes", Kind::Integer, |_, (rows, sample)| rows.paused.at(sample.time_us).into()),
        ("live_bytes", Kind::Integer, |_, (_, sample)| sample.live.into()),
        ("resident_bytes", Kind::Integer, |_, (_, sample)| sample.resident.into()),
        ("shared_bytes", Kind::Integer, |_, (_, sample)| sample.shared.into()),
        ("pinned_bytes", Kind::Integer, |_, (_, sample)| sample.pinned.into()),
        ("event", Kind::Integer, |at, (_, sample)| {
            let clock = at.side.history.events.times.time_axis();
            // The last event up to the time of the sample.
            clock.and_then(|clock| clock.events_before_us(sample.time_us.saturating_add(1)).checked_sub(1)).into()
        }),
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

    fn item<'a>(&'a self, at: &At<'a>) -> Option<Self::Item<'a>> {
        let row = *self.rows.get(at.row as usize)?;
        Some((self, at.side.snapshot().recorder.observed.samples.get(row as usize)?))
    }
}
