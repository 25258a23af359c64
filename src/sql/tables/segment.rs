//! The table `segment`: reserved address ranges with their lifetimes.

use super::texts::{hex, pool_text};
use crate::rows::{RowRequest, RowScope, RowSet, Rows};
use crate::source::Source;
use history::replay::AllocationId;
use sqlite::{Cell, Kind};

/// Table of all address ranges that were ever reserved.
#[derive(Default)]
pub(super) struct Segments;

impl Rows for Segments {
    const SCOPE: RowScope = RowScope::Device;
    const COLUMNS: &'static [(&'static str, Kind)] = &[
        ("id", Kind::Integer),
        ("reserved_bytes", Kind::Integer),
        ("address", Kind::Text),
        ("stream", Kind::Integer),
        ("pool", Kind::Text),
        ("pool_name", Kind::Text),
        ("small", Kind::Integer),
        ("expandable", Kind::Integer),
        ("allocated_at", Kind::Integer),
        ("freed_at", Kind::Integer),
        ("allocated_at_us", Kind::Integer),
        ("freed_at_us", Kind::Integer),
        ("stack", Kind::Integer),
        ("call_site", Kind::Text),
    ];
    const KEY_COLUMN: Option<usize> = Some(0);

    fn count(source: &Source) -> u64 {
        let sides = (0..source.parts.len()).filter_map(|part| source.side(part));
        sides.filter_map(|side| side.segment_lives()).map(|lives| lives.ranges.len() as u64).sum()
    }

    fn prepare(&mut self, source: &Source, part: usize, wanted: &RowRequest) -> Result<RowSet, String> {
        let lives = source.side(part).and_then(|side| side.segment_lives());
        Ok(RowSet::keyed(lives.map_or(0, |lives| lives.ranges.len() as u32), 0, &wanted.keys))
    }

    fn cell<'a>(&'a self, source: &'a Source, part: usize, row: u32, column: usize) -> Cell<'a> {
        let Some(side) = source.side(part) else { return Cell::Null };
        let Some(lives) = side.segment_lives() else { return Cell::Null };
        let id = AllocationId(row);
        let kind = lives.kind(id);
        let allocated_at = lives.ranges.allocated_at(id).event();
        let freed_at = || lives.ranges.freed_at(id).and_then(|moment| moment.event());
        let stack = || lives.stack(side.snapshot(), side.history, id);
        let times = &side.history.events.times;
        match column {
            0 => row.into(),
            1 => lives.ranges.size(id).into(),
            2 => hex(lives.ranges.address(id)),
            3 => kind.and_then(|kind| kind.stream).into(),
            4 => pool_text(kind.and_then(|kind| kind.pool)),
            5 => kind.and_then(|kind| kind.pool).map(|pool| side.pool_label(pool)).into(),
            6 => kind.map(|kind| kind.small).into(),
            7 => kind.map(|kind| kind.expandable).into(),
            8 => allocated_at.map(|event| event.0).into(),
            9 => freed_at().map(|event| event.0).into(),
            10 => allocated_at.and_then(|event| times.at(event.0)).into(),
            11 => freed_at().and_then(|event| times.at(event.0)).into(),
            12 => source.stack_number(part, stack()).into(),
            13 => source.parts.get(part).and_then(|of| source.site_text(of.file, stack())).into(),
            _ => Cell::Null,
        }
    }
}
