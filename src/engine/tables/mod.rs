//! Tables of a device, for exports, SQL and the command line: allocations, events, segments, memory over time and
//! stacks.
//!
//! [`columns`] declares every column once. A new column is a line there.

mod columns;
mod row;

pub use columns::columns;
pub(crate) use columns::tab_column;
pub use row::{Quantity, Row, SiteCache, TotalsCache, file, function, line};

use crate::Side;
use base::units::EventIdx;
use history::replay::AllocationId;
use history::snapshot::StackId;
use protocol::{EventSpan, ExportTable, Scope};
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

/// Kind of a column's values ([`protocol::ColumnKind`]), and the function that returns the cell of a row. Any cell may
/// be empty.
#[derive(Clone, Copy, Debug)]
pub enum CellFn {
    /// An unsigned number that may need all 64 bits.
    Unsigned(fn(&Row<'_>) -> Option<u64>),
    Signed(fn(&Row<'_>) -> Option<i64>),
    Bool(fn(&Row<'_>) -> Option<bool>),
    Text(for<'a> fn(&Row<'a>) -> Option<Cow<'a, str>>),
    Bytes(fn(&Row<'_>) -> Option<u64>),
    /// An address. It is written as text, because some readers would round a large number.
    Address(fn(&Row<'_>) -> Option<u64>),
    Stream(fn(&Row<'_>) -> Option<u64>),
    /// A pool id, written in the syntax of `memscape events --pool`.
    Pool(fn(&Row<'_>) -> Option<(u64, u64)>),
    Start(fn(&Row<'_>) -> Option<EventIdx>),
    End(fn(&Row<'_>) -> Option<EventIdx>),
    /// The stack whose call site is the value.
    CallSite(fn(&Row<'_>) -> StackId),
    Events(fn(&Row<'_>) -> EventSpan),
}

/// Type of a column's values in files and in SQL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueType {
    Unsigned,
    Signed,
    Bool,
    Text,
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
        let unsigned = |value: Option<u64>| value.map_or(Value::Empty, Value::Unsigned);
        let text = |value: Option<Cow<'a, str>>| value.map_or(Value::Empty, Value::Text);
        match self.cell {
            CellFn::Unsigned(cell) | CellFn::Bytes(cell) | CellFn::Stream(cell) => unsigned(cell(row)),
            CellFn::Start(cell) | CellFn::End(cell) => unsigned(cell(row).map(|event| event.0.into())),
            CellFn::Events(cell) => unsigned(cell(row).events.map(u64::from)),
            CellFn::Signed(cell) => cell(row).map_or(Value::Empty, Value::Signed),
            CellFn::Bool(cell) => cell(row).map_or(Value::Empty, Value::Bool),
            CellFn::Text(cell) => text(cell(row)),
            CellFn::Address(cell) => text(cell(row).map(|address| format!("0x{address:x}").into())),
            CellFn::Pool(cell) => text(cell(row).map(|(first, second)| format!("{first},{second}").into())),
            CellFn::CallSite(cell) => text(row.call_site(cell(row))),
        }
    }

    /// Returns the type of the values.
    pub fn value_type(&self) -> ValueType {
        match self.cell {
            CellFn::Unsigned(_) | CellFn::Bytes(_) | CellFn::Stream(_) => ValueType::Unsigned,
            CellFn::Start(_) | CellFn::End(_) | CellFn::Events(_) => ValueType::Unsigned,
            CellFn::Signed(_) => ValueType::Signed,
            CellFn::Bool(_) => ValueType::Bool,
            CellFn::Text(_) | CellFn::Address(_) | CellFn::Pool(_) | CellFn::CallSite(_) => ValueType::Text,
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
