//! The table function `between(a, b)`: allocations that were made or freed after moment a and up to moment b. The sum
//! of `delta_bytes` is the change in live bytes.

use super::device::count;
use crate::rows::{RowRequest, RowScope, RowSet, Rows};
use crate::source::Source;
use crate::when::TracePosition;
use base::units::Moment;
use engine::tables::{Column, Row, TotalsCache, columns};
use history::replay::AllocationId;
use protocol::{ExportTable, Scope, Span};
use sqlite::{Cell, Kind};
use std::rc::Rc;

/// Table function that returns the changes between two moments.
#[derive(Default)]
pub(super) struct Between {
    /// The two moments, the earlier one first.
    moments: [u32; 2],
    /// True if the later moment was passed first.
    is_backward: bool,
    totals: TotalsCache,
}

impl Rows for Between {
    const SCOPE: RowScope = RowScope::Device;
    const COLUMNS: &'static [(&'static str, Kind)] = &[("change", Kind::Text), ("delta_bytes", Kind::Integer)];
    const DECLARED: &'static [Column] = columns(ExportTable::Allocations);
    const KEY_COLUMN: Option<usize> = None;
    const ARGUMENTS: &'static [&'static str] = &["from_event", "to_event"];

    fn count(source: &Source) -> u64 {
        count(source, ExportTable::Allocations) / 2
    }

    fn prepare(&mut self, source: &Source, part: usize, wanted: &RowRequest) -> Result<RowSet, String> {
        let Some(side) = source.side(part) else { return Ok(RowSet::NONE) };
        let mut given = wanted.arguments.iter().map(Option::as_ref);
        let Moment(from) = given.next().flatten().unwrap_or(&TracePosition::Event(-1)).moment(side)?;
        let Moment(to) = given.next().flatten().unwrap_or(&TracePosition::End).moment(side)?;
        (self.moments, self.is_backward) = ([from.min(to), from.max(to)], from > to);
        let [from, to] = self.moments;
        let mut ids = Vec::new();
        side.for_each_in_scope(Scope::Freed(Span { from, to }), &mut |id, _| ids.push(id.0));
        side.for_each_in_scope(Scope::Allocated(Span { from, to }), &mut |id, _| ids.push(id.0));
        ids.sort_unstable();
        ids.dedup();
        Ok(RowSet::List(Rc::new(ids)))
    }

    fn cell<'a>(&'a self, source: &'a Source, part: usize, row: u32, column: usize) -> Cell<'a> {
        let Some(side) = source.side(part) else { return Cell::Null };
        let (allocated_at, freed_at, size) = side.history.allocations.span(AllocationId(row));
        let [from, to] = self.moments;
        let (starts_lifetime, is_freed) =
            (from < allocated_at && allocated_at <= to, from < freed_at && freed_at <= to);
        if column == 0 {
            return match (starts_lifetime, is_freed) {
                (true, true) => "allocated and freed",
                (true, false) => "allocated",
                _ => "freed",
            }
            .into();
        }
        let bytes = i64::try_from(size).unwrap_or(i64::MAX);
        let delta = (i64::from(starts_lifetime) - i64::from(is_freed)) * bytes;
        Cell::Integer(if self.is_backward { -delta } else { delta })
    }

    fn row<'a>(&'a self, source: &'a Source, part: usize, row: u32) -> Option<Row<'a>> {
        source.row(part, &self.totals, row)
    }
}
