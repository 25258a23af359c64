//! The table `allocation` (all allocations) and the table function `live_at(when)` (allocations that are live at a
//! moment).

use super::texts::{hex, pool_text};
use crate::rows::{RowRequest, RowScope, RowSet, Rows};
use crate::source::Source;
use crate::when::TracePosition;
use base::units::EventIdx;
use engine::Side;
use history::replay::{AllocationId, Provenance};
use history::snapshot::StackId;
use protocol::{Grouping, Scope};
use sqlite::{Cell, Kind};
use std::rc::Rc;

/// Columns of `allocation` and `live_at`.
pub(super) const COLUMNS: &[(&str, Kind)] = &[
    ("id", Kind::Integer),
    ("requested_bytes", Kind::Integer),
    ("allocated_rounded_bytes", Kind::Integer),
    ("category", Kind::Text),
    ("allocated_at", Kind::Integer),
    ("freed_at", Kind::Integer),
    ("free_requested_at", Kind::Integer),
    ("allocated_at_us", Kind::Integer),
    ("freed_at_us", Kind::Integer),
    ("address", Kind::Text),
    ("stream", Kind::Integer),
    ("pool", Kind::Text),
    ("pool_name", Kind::Text),
    ("stack", Kind::Integer),
    ("call_site", Kind::Text),
];

/// Returns a cell of the row of an allocation.
pub(super) fn cell<'a>(source: &Source, part: usize, id: u32, column: usize) -> Cell<'a> {
    let Some(side) = source.side(part) else { return Cell::Null };
    let id = AllocationId(id);
    let allocations = &side.history.allocations;
    let time = |event: Option<EventIdx>| event.and_then(|event| side.history.events.times.at(event.0));
    let freed = || allocations.freed_at(id).and_then(|moment| moment.event());
    match column {
        0 => id.0.into(),
        1 => allocations.size(id).into(),
        2 => side.allocated_bytes(id).0.into(),
        3 => side.group_label(Grouping::Category, side.group(Grouping::Category, id)).into(),
        4 => allocated(side, id).map(|event| event.0).into(),
        5 => freed().map(|event| event.0).into(),
        6 => allocations.free_requested(id).and_then(|moment| moment.event()).map(|event| event.0).into(),
        7 => time(allocated(side, id)).into(),
        8 => time(freed()).into(),
        9 if allocations.is_unexplained(id) => Cell::Null,
        9 => hex(allocations.address(id)),
        10 => side.stream(id).into(),
        11 => pool_text(side.pool(id)),
        12 => side.pool(id).map(|pool| side.pool_label(pool)).into(),
        13 => source.stack_number(part, stack(side, id)).into(),
        14 => source.parts.get(part).and_then(|of| source.site_text(of.file, stack(side, id))).into(),
        _ => Cell::Null,
    }
}

/// Returns the event at which an allocation was made, if it was recorded.
fn allocated(side: Side<'_>, id: AllocationId) -> Option<EventIdx> {
    match side.history.allocations.provenance(id) {
        Provenance::AllocatedBy(event) => Some(event),
        _ => None,
    }
}

fn stack(side: Side<'_>, id: AllocationId) -> StackId {
    match side.history.allocations.provenance(id) {
        Provenance::Unexplained => StackId::NONE,
        _ => side.stack(id),
    }
}

/// Returns the number of allocations in all files.
pub(super) fn count(source: &Source) -> u64 {
    (0..source.parts.len()).filter_map(|part| source.side(part)).map(|side| side.history.allocations.len() as u64).sum()
}

/// Table of all allocations.
#[derive(Default)]
pub(super) struct AllAllocations;

impl Rows for AllAllocations {
    const SCOPE: RowScope = RowScope::Device;
    const COLUMNS: &'static [(&'static str, Kind)] = COLUMNS;
    const KEY_COLUMN: Option<usize> = Some(0);

    fn count(source: &Source) -> u64 {
        count(source)
    }

    fn prepare(&mut self, source: &Source, part: usize, wanted: &RowRequest) -> Result<RowSet, String> {
        let all = source.side(part).map_or(0, |side| side.history.allocations.len() as u32);
        Ok(RowSet::keyed(all, 0, &wanted.keys))
    }

    fn cell<'a>(&'a self, source: &'a Source, part: usize, row: u32, column: usize) -> Cell<'a> {
        cell(source, part, row, column)
    }
}

/// Table function that returns the allocations live at a moment.
#[derive(Default)]
pub(super) struct LiveAllocations;

impl Rows for LiveAllocations {
    const SCOPE: RowScope = RowScope::Device;
    const COLUMNS: &'static [(&'static str, Kind)] = COLUMNS;
    const KEY_COLUMN: Option<usize> = None;
    const ARGUMENTS: &'static [&'static str] = &["at_event"];

    fn count(source: &Source) -> u64 {
        count(source) / 8
    }

    fn prepare(&mut self, source: &Source, part: usize, wanted: &RowRequest) -> Result<RowSet, String> {
        let Some(side) = source.side(part) else { return Ok(RowSet::NONE) };
        let at = wanted.arguments.first().and_then(Option::as_ref).unwrap_or(&TracePosition::Peak).moment(side)?;
        let mut ids = Vec::new();
        side.for_each_in_scope(Scope::At(at.0), &mut |id, _| ids.push(id.0));
        Ok(RowSet::List(Rc::new(ids)))
    }

    fn cell<'a>(&'a self, source: &'a Source, part: usize, row: u32, column: usize) -> Cell<'a> {
        cell(source, part, row, column)
    }
}
