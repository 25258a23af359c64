//! The table `annotation`: annotated time ranges (`record_function`), with their events.

use crate::rows::{RowRequest, RowScope, RowSet, Rows};
use crate::source::Source;
use base::units::Moment;
use sqlite::{Cell, Kind};

/// Table of all annotations.
#[derive(Default)]
pub(super) struct Annotations;

impl Rows for Annotations {
    const SCOPE: RowScope = RowScope::Device;
    const COLUMNS: &'static [(&'static str, Kind)] = &[
        ("id", Kind::Integer),
        ("name", Kind::Text),
        ("begin_us", Kind::Integer),
        ("end_us", Kind::Integer),
        ("first_event", Kind::Integer),
        ("last_event", Kind::Integer),
        ("peak_bytes", Kind::Integer),
    ];
    const KEY_COLUMN: Option<usize> = Some(0);

    fn count(source: &Source) -> u64 {
        let sides = (0..source.parts.len()).filter_map(|part| source.side(part));
        sides.map(|side| side.history.annotations.len() as u64).sum()
    }

    fn prepare(&mut self, source: &Source, part: usize, wanted: &RowRequest) -> Result<RowSet, String> {
        let all = source.side(part).map_or(0, |side| side.history.annotations.len() as u32);
        Ok(RowSet::keyed(0..all, 0, &wanted.keys))
    }

    fn cell<'a>(&'a self, source: &'a Source, part: usize, row: u32, column: usize) -> Cell<'a> {
        let Some(side) = source.side(part) else { return Cell::Null };
        let history = side.history;
        let Some(range) = history.annotations.get(row as usize) else { return Cell::Null };
        // Events within the range.
        let events = || {
            let clock = history.events.times.time_axis()?;
            let from = clock.events_before_us(range.start_us);
            let to = range.end_us.map_or(history.event_count(), |end| clock.events_before_us(end.saturating_add(1)));
            Some((from, to)).filter(|(from, to)| from < to)
        };
        match column {
            0 => row.into(),
            1 => side.snapshot().strings.text(range.name).into(),
            2 => range.start_us.into(),
            3 => range.end_us.into(),
            4 => events().map(|(from, _)| from).into(),
            5 => events().map(|(_, to)| to - 1).into(),
            6 => events().map(|(from, to)| side.peak_bytes_in(Moment(from), Moment(to))).into(),
            _ => Cell::Null,
        }
    }
}
