//! The table `curve`: totals after each event, and before the first event (as event −1).

use super::event;
use crate::rows::{RowRequest, RowScope, RowSet, Rows};
use crate::source::Source;
use base::units::{EventIdx, Moment};
use engine::Side;
use history::replay::Curve;
use sqlite::{Cell, Kind};
use std::cell::Cell as Slot;

/// Table of the totals after each event.
#[derive(Default)]
pub(super) struct Totals {
    /// For each of three quantities, the total that was read last: index of the device, moment, and bytes. The total of
    /// the next row is computed from it by adding one event.
    last: [Slot<Option<(usize, u32, i64)>>; 3],
}

impl Totals {
    fn bytes(&self, side: Side<'_>, part: usize, moment: u32, kind: usize) -> i64 {
        let history = side.history;
        let change = |event| match kind {
            0 => history.drawn_change(event),
            1 => history.awaiting_free_change(event),
            _ => history.reserved_change(event),
        };
        let totals = match kind {
            0 => &history.drawn,
            1 => &history.awaiting_free,
            _ => &history.reserved,
        };
        let slot = self.last.get(kind);
        let bytes = match slot.and_then(Slot::get) {
            Some((known, at, bytes)) if known == part && at == moment => bytes,
            Some((known, at, bytes)) if known == part && at.checked_add(1) == Some(moment) => {
                bytes.saturating_add(change(EventIdx(at)))
            }
            _ => Curve::new(totals, &change).at(Moment(moment)),
        };
        slot.into_iter().for_each(|slot| slot.set(Some((part, moment, bytes))));
        bytes
    }
}

impl Rows for Totals {
    const SCOPE: RowScope = RowScope::Device;
    const COLUMNS: &'static [(&'static str, Kind)] = &[
        ("event", Kind::Integer),
        ("time_us", Kind::Integer),
        ("live_bytes", Kind::Integer),
        ("awaiting_free_bytes", Kind::Integer),
        ("reserved_bytes", Kind::Integer),
    ];
    const KEY_COLUMN: Option<usize> = Some(0);

    fn count(source: &Source) -> u64 {
        event::count(source)
    }

    fn prepare(&mut self, source: &Source, part: usize, wanted: &RowRequest) -> Result<RowSet, String> {
        let [first, events] =
            source.side(part).map_or([0; 2], |side| [side.history.events.first(), side.history.event_count()]);
        Ok(RowSet::keyed((events - first).saturating_add(1), i64::from(first) - 1, &wanted.keys))
    }

    fn cell<'a>(&'a self, source: &'a Source, part: usize, row: u32, column: usize) -> Cell<'a> {
        let Some(side) = source.side(part) else { return Cell::Null };
        let row = row + side.history.events.first();
        match column {
            0 => Moment(row).event_or_minus_one().into(),
            1 => Moment(row).event().and_then(|event| side.history.events.times.at(event.0)).into(),
            2..=4 => self.bytes(side, part, row, column - 2).into(),
            _ => Cell::Null,
        }
    }
}
