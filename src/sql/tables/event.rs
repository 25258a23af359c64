//! The table `event`: recorded events, in order. Totals are in `curve`.

use super::texts::{hex, pool_text};
use crate::rows::{RowRequest, RowScope, RowSet, Rows};
use crate::source::Source;
use base::units::EventIdx;
use sqlite::{Cell, Kind};

/// Table of all events.
#[derive(Default)]
pub(super) struct Events;

/// Returns the number of events in all files.
pub(super) fn count(source: &Source) -> u64 {
    (0..source.parts.len())
        .filter_map(|part| source.side(part))
        .map(|side| u64::from(side.history.event_count() - side.history.events.first()))
        .sum()
}

impl Rows for Events {
    const SCOPE: RowScope = RowScope::Device;
    const COLUMNS: &'static [(&'static str, Kind)] = &[
        ("event", Kind::Integer),
        ("action", Kind::Text),
        ("time_us", Kind::Integer),
        ("size_bytes", Kind::Integer),
        ("address", Kind::Text),
        ("stream", Kind::Integer),
        ("pool", Kind::Text),
        ("allocation", Kind::Integer),
        ("stack", Kind::Integer),
        ("call_site", Kind::Text),
    ];
    const KEY_COLUMN: Option<usize> = Some(0);

    fn count(source: &Source) -> u64 {
        count(source)
    }

    fn prepare(&mut self, source: &Source, part: usize, wanted: &RowRequest) -> Result<RowSet, String> {
        let [first, all] =
            source.side(part).map_or([0; 2], |side| [side.history.events.first(), side.history.event_count()]);
        Ok(RowSet::keyed(all - first, first.into(), &wanted.keys))
    }

    fn cell<'a>(&'a self, source: &'a Source, part: usize, row: u32, column: usize) -> Cell<'a> {
        let Some(side) = source.side(part) else { return Cell::Null };
        let history = side.history;
        let row = row + history.events.first();
        match column {
            0 => row.into(),
            1 => history.events.action(row).name().into(),
            2 => history.events.times.at(row).into(),
            3 => history.address_and_size(EventIdx(row)).1.into(),
            // Other events use the address field for something else.
            4 if history.events.action(row).requires_address() => hex(history.address_and_size(EventIdx(row)).0),
            5 => side.event_stream(row).into(),
            6 => pool_text(side.event_pool(row)),
            7 => history.allocation_of(EventIdx(row)).map(|id| id.0).into(),
            8 => source.stack_number(part, side.event_stack(row)).into(),
            9 => source.parts.get(part).and_then(|of| source.site_text(of.file, side.event_stack(row))).into(),
            _ => Cell::Null,
        }
    }
}
