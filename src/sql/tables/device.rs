//! The tables whose columns the engine declares: `allocation`, `event`, `segment`, `curve`, and the table function
//! `live_at(when)`.

use crate::rows::{RowRequest, RowScope, RowSet, Rows};
use crate::source::Source;
use crate::when::TracePosition;
use engine::tables::{Column, Row, TotalsCache, columns, row_indices};
use protocol::{ExportTable, Scope};
use std::rc::Rc;

/// Returns the number of rows in all files.
pub(super) fn count(source: &Source, table: ExportTable) -> u64 {
    let sides = (0..source.parts.len()).filter_map(|part| source.side(part));
    sides.map(|side| row_indices(side, table).len() as u64).sum()
}

/// Table `T` of [`ExportTable::ALL`], with all rows of each device.
#[derive(Default)]
pub(super) struct DeviceTable<const T: usize> {
    totals: TotalsCache,
}

impl<const T: usize> DeviceTable<T> {
    const TABLE: ExportTable = ExportTable::ALL[T];
}

impl<const T: usize> Rows for DeviceTable<T> {
    type Item<'a> = ();

    const SCOPE: RowScope = RowScope::Device;
    const DECLARED: &'static [Column] = columns(Self::TABLE);
    const KEY_COLUMN: Option<usize> = Some(0);

    fn count(source: &Source) -> u64 {
        count(source, Self::TABLE)
    }

    fn prepare(&mut self, source: &Source, part: usize, wanted: &RowRequest) -> Result<RowSet, String> {
        let rows = source.side(part).map_or(0..0, |side| row_indices(side, Self::TABLE));
        // The key of a moment is the event before it.
        let first = i64::from(rows.start) - i64::from(Self::TABLE == ExportTable::Curve);
        Ok(RowSet::keyed(rows, first, &wanted.keys))
    }

    fn row<'a>(&'a self, source: &'a Source, part: usize, row: u32) -> Option<Row<'a>> {
        source.row(part, &self.totals, row)
    }
}

/// Table function that returns the allocations live at a moment.
#[derive(Default)]
pub(super) struct LiveAllocations {
    totals: TotalsCache,
}

impl Rows for LiveAllocations {
    type Item<'a> = ();

    const SCOPE: RowScope = RowScope::Device;
    const DECLARED: &'static [Column] = columns(ExportTable::Allocations);
    const KEY_COLUMN: Option<usize> = None;
    const ARGUMENTS: &'static [&'static str] = &["at_event"];

    fn count(source: &Source) -> u64 {
        count(source, ExportTable::Allocations) / 8
    }

    fn prepare(&mut self, source: &Source, part: usize, wanted: &RowRequest) -> Result<RowSet, String> {
        let Some(side) = source.side(part) else { return Ok(RowSet::NONE) };
        let at = wanted.arguments.first().and_then(Option::as_ref).unwrap_or(&TracePosition::Peak).moment(side)?;
        let mut ids = Vec::new();
        side.for_each_in_scope(Scope::At(at.0), &mut |id, _| ids.push(id.0));
        Ok(RowSet::List(Rc::new(ids)))
    }

    fn row<'a>(&'a self, source: &'a Source, part: usize, row: u32) -> Option<Row<'a>> {
        source.row(part, &self.totals, row)
    }
}
