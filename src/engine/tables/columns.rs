//! The columns of every table. A line here adds a column to SQL, CSV, JSON Lines, Parquet and `--json`.

use super::CellFn::{self, Bool, Signed, Text, Unsigned};
use super::Column;
use super::row::{Quantity, file, function, hex, line, number, pool};
use base::units::{EventIdx, Moment};
use history::snapshot::StackId;
use protocol::{ExportTable, Grouping, TableColumn};

const fn column(key: &'static str, cell: CellFn) -> Column {
    Column { key, cell }
}

/// Column that the Allocations tab has too.
const fn listed(column: TableColumn, cell: CellFn) -> Column {
    Column { key: column.texts().key, cell }
}

const ALLOCATIONS: &[Column] = &[
    listed(TableColumn::Id, Unsigned(|row| Some(row.index.into()))),
    listed(TableColumn::Size, Unsigned(|row| Some(row.allocations().size(row.id())))),
    // A lower bound if the file does not record the size of the block.
    column("allocated_rounded_bytes", Unsigned(|row| Some(row.side.allocated_bytes(row.id()).0))),
    column("category", Text(|row| Some(row.group_label(Grouping::Category).into()))),
    listed(TableColumn::Allocated, Unsigned(|row| row.allocated_at().map(number))),
    listed(TableColumn::Freed, Unsigned(|row| row.freed_at(row.allocations()).map(number))),
    column("free_requested_at", Unsigned(|row| row.allocations().free_requested(row.id())?.event().map(number))),
    column("allocated_at_us", Signed(|row| row.time_us(row.allocated_at()))),
    column("freed_at_us", Signed(|row| row.time_us(row.freed_at(row.allocations())))),
    listed(TableColumn::Address, Text(|row| row.allocation_address().map(hex))),
    listed(TableColumn::Stream, Unsigned(|row| row.side.stream(row.id()))),
    listed(TableColumn::Pool, Text(|row| row.side.pool(row.id()).map(pool))),
    column("pool_name", Text(|row| row.pool_name(row.side.pool(row.id())))),
    column("user_metadata", Text(|row| row.side.user_metadata(row.id()))),
    column("stack", Unsigned(|row| row.stack_id(row.allocation_stack()))),
    listed(TableColumn::CallSite, Text(|row| row.call_site(row.allocation_stack()))),
    column("held_by", Text(|row| row.side.held_by(row.id()).map(Into::into))),
];

const EVENTS: &[Column] = &[
    column("event", Unsigned(|row| Some(row.index.into()))),
    column("action", Text(|row| Some(row.action().name().into()))),
    column("time_us", Signed(|row| row.time_us(Some(EventIdx(row.index))))),
    column("size_bytes", Unsigned(|row| Some(row.address_and_size().1))),
    // Other events use the address field for something else.
    column("address", Text(|row| row.action().requires_address().then(|| hex(row.address_and_size().0)))),
    column("stream", Unsigned(|row| row.side.event_stream(row.index))),
    column("pool", Text(|row| row.side.event_pool(row.index).map(pool))),
    column("user_metadata", Text(|row| row.side.event_metadata(row.index))),
    column("allocation", Unsigned(|row| row.side.history.allocation_of(EventIdx(row.index)).map(|id| id.0.into()))),
    column("live_bytes", Signed(|row| Some(row.total(Quantity::Live, row.after())))),
    column("awaiting_free_bytes", Signed(|row| Some(row.total(Quantity::AwaitingFree, row.after())))),
    column("reserved_bytes", Signed(|row| Some(row.total(Quantity::Reserved, row.after())))),
    column("stack", Unsigned(|row| row.stack_id(row.side.event_stack(row.index)))),
    column("call_site", Text(|row| row.call_site(row.side.event_stack(row.index)))),
];

/// Address ranges that were ever reserved.
const SEGMENTS: &[Column] = &[
    column("id", Unsigned(|row| Some(row.index.into()))),
    column("reserved_bytes", Unsigned(|row| Some(row.ranges()?.size(row.id())))),
    column("address", Text(|row| Some(hex(row.ranges()?.address(row.id()))))),
    column("stream", Unsigned(|row| row.segment_kind()?.stream)),
    column("pool", Text(|row| row.segment_kind()?.pool.map(pool))),
    column("pool_name", Text(|row| row.pool_name(row.segment_kind()?.pool))),
    column("small", Bool(|row| Some(row.segment_kind()?.small))),
    column("expandable", Bool(|row| Some(row.segment_kind()?.expandable))),
    column("allocated_at", Unsigned(|row| row.ranges()?.allocated_at(row.id()).event().map(number))),
    column("freed_at", Unsigned(|row| row.freed_at(row.ranges()?).map(number))),
    column("allocated_at_us", Signed(|row| row.time_us(row.ranges()?.allocated_at(row.id()).event()))),
    column("freed_at_us", Signed(|row| row.time_us(row.freed_at(row.ranges()?)))),
    column("stack", Unsigned(|row| row.stack_id(row.segment_stack()))),
    column("call_site", Text(|row| row.call_site(row.segment_stack()))),
];

/// Memory over time. The row of a moment shows the event before it; event −1 is before recording.
const CURVE: &[Column] = &[
    column("event", Signed(|row| Some(Moment(row.index).event_or_minus_one()))),
    column("time_us", Signed(|row| row.time_us(Moment(row.index).event()))),
    column("live_bytes", Signed(|row| Some(row.total(Quantity::Live, Moment(row.index))))),
    column("awaiting_free_bytes", Signed(|row| Some(row.total(Quantity::AwaitingFree, Moment(row.index))))),
    column("reserved_bytes", Signed(|row| Some(row.total(Quantity::Reserved, Moment(row.index))))),
];

/// Frames of stacks, the innermost at position 0.
const STACKS: &[Column] = &[
    column("stack", Unsigned(|row| row.stack_id(StackId(row.index)))),
    column("position", Unsigned(|row| Some(row.frame?.0.into()))),
    column("function", Text(|row| Some(function(row.side.snapshot(), row.frame?.1)))),
    column("file", Text(|row| file(row.side.snapshot(), row.frame?.1))),
    column("line", Unsigned(|row| line(row.side.snapshot(), row.frame?.1).map(u64::from))),
    column("own_code", Bool(|row| Some(row.is_own_code(row.frame?.1)))),
];

/// Returns the columns of a table. Addresses are text, because some readers would round large numbers.
pub const fn columns(table: ExportTable) -> &'static [Column] {
    match table {
        ExportTable::Allocations => ALLOCATIONS,
        ExportTable::Events => EVENTS,
        ExportTable::Segments => SEGMENTS,
        ExportTable::Curve => CURVE,
        ExportTable::Stacks => STACKS,
    }
}
