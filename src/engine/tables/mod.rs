//! Tables of a device, for exports, SQL and the command line: allocations, events, segments, memory over time and stacks.
//!
//! [`columns`] declares every column once. A new column is a line there.

mod columns;
mod row;

pub use columns::columns;
pub use row::{Quantity, Row, SiteCache, TotalsCache, file, function, line};

use crate::Side;
use history::replay::AllocationId;
use history::snapshot::StackId;
use protocol::{ExportTable, Scope};
use std::borrow::Cow;
use std::ops::Range;

/// A column of a table.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// Name in SQL, exports and JSON. It ends with the unit: `_bytes`, or `_us` for µs since 1970. Bytes are requested
    /// bytes unless it says otherwise.
    pub key: &'static str,
    pub cell: CellFn,
}

/// Type of a column's values, and the function that returns the cell of a row. Any cell may be empty.
#[derive(Clone, Copy, Debug)]
pub enum CellFn {
    /// An unsigned number that may need all 64 bits.
    Unsigned(fn(&Row<'_>) -> Option<u64>),
    Signed(fn(&Row<'_>) -> Option<i64>),
    Bool(fn(&Row<'_>) -> Option<bool>),
    Text(for<'a> fn(&Row<'a>) -> Option<Cow<'a, str>>),
}

/// Value of a cell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value<'a> {
    Empty,
    Unsigned(u64),
    Signed(i64),
    Bool(bool),
    Text(Cow<'a, str>),
}

impl Column {
    /// Returns the cell of a row.
    pub fn value<'a>(&self, row: &Row<'a>) -> Value<'a> {
        match self.cell {
            CellFn::Unsigned(cell) => cell(row).map_or(Value::Empty, Value::Unsigned),
            CellFn::Signed(cell) => cell(row).map_or(Value::Empty, Value::Signed),
            CellFn::Bool(cell) => cell(row).map_or(Value::Empty, Value::Bool),
            CellFn::Text(cell) => cell(row).map_or(Value::Empty, Value::Text),
        }
    }
}

/// Returns the indices of the rows of a table: ids of allocations or segments, events, or moments. Empty for stacks,
/// whose rows are the frames of [`used_stacks`].
pub fn row_indices(side: Side<'_>, table: ExportTable) -> Range<u32> {
    let (first, end) = (side.history.events.first(), side.history.event_count());
    match table {
        ExportTable::Allocations => 0..side.history.allocations.len() as u32,
        ExportTable::Events => first..end,
        ExportTable::Segments => 0..side.segment_lives().map_or(0, |lives| lives.ranges.len() as u32),
        ExportTable::Curve => first..end.saturating_add(1),
        ExportTable::Stacks => 0..0,
    }
}

/// Returns the ids of the stacks of allocations, events, segments and blocks, in ascending order. Omits stacks that are
/// only callers of these.
pub fn used_stacks(side: Side<'_>) -> impl Iterator<Item = StackId> {
    let snapshot = side.snapshot();
    let mut is_used = vec![false; snapshot.stacks.len()];
    let mut mark = |stack: StackId| is_used.get_mut(stack.0 as usize).into_iter().for_each(|used| *used = true);
    side.for_each_in_scope(Scope::All, &mut |id, _| mark(side.stack(id)));
    (0..side.history.event_count()).for_each(|event| mark(side.event_stack(event)));
    if let Some(lives) = side.segment_lives() {
        (0..lives.ranges.len() as u32).for_each(|id| mark(lives.stack(snapshot, side.history, AllocationId(id))));
    }
    for segment in snapshot.segments.iter().filter(|segment| segment.device == side.history.device) {
        mark(segment.stack);
        let blocks = segment.blocks.start as usize..segment.blocks.end as usize;
        snapshot.blocks.get(blocks).into_iter().flatten().for_each(|block| mark(block.stack));
    }
    let has_frames = move |stack: &StackId| snapshot.stacks.innermost(*stack).is_some();
    (0u32..).zip(is_used).filter(|(_, is_used)| *is_used).map(|(stack, _)| StackId(stack)).filter(has_frames)
}
