//! The table function `between(a, b)`: allocations that were made or freed after moment a and up to moment b. The sum
//! of `delta_bytes` is the change in live bytes.

use super::device::count;
use crate::rows::{OwnColumn, RowRequest, RowScope, RowSet, Rows};
use crate::source::{At, Source};
use crate::when::TracePosition;
use base::units::Moment;
use engine::tables::{Column, Row, TotalsCache, columns};
use history::replay::AllocationId;
use protocol::{ExportTable, Scope, Span};
use sqlite::Kind;
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
    type Item<'a> = (&'static str, i64);

    const SCOPE: RowScope = RowScope::Device;
    const COLUMNS: &'static [OwnColumn<Self>] = &[
        ("change", Kind::Text, |_, (change, _)| change.into()),
        ("delta_bytes", Kind::Integer, |_, (_, delta)| delta.into()),
    ];
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

    fn item<'a>(&'a self, at: &At<'a>) -> Option<Self::Item<'a>> {
        let (allocated_at, freed_at, size) = at.side.history.allocations.span(AllocationId(at.row));
        let [from, to] = self.moments;
        let (starts_lifetime, is_freed) =
            (from < allocated_at && allocated_at <= to, from < freed_at && freed_at <= to);
        let bytes = i64::try_from(size).unwrap_or(i64::MAX);
        let delta = (i64::from(starts_lifetime) - i64::from(is_freed)) * bytes;
        let change = match (starts_lifetime, is_freed) {
            (true, true) => "allocated and freed",
            (true, false) => "allocated",
            _ => "freed",
        };
        Some((change, if self.is_backward { -delta } else { delta }))
    }

    fn row<'a>(&'a self, source: &'a Source, part: usize, row: u32) -> Option<Row<'a>> {
        source.row(part, &self.totals, row)
    }
}
