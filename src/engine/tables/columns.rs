//! The columns of every table. A line here adds a column to SQL, CSV, JSON Lines, Parquet and `--json`. The columns of
//! allocations are declared in [`protocol::allocation_columns`].

use super::CellFn::{self, Address, Bool, Bytes, CallSite, End, Events, Pool, Signed, Start, Stream, Text, Unsigned};
use super::Column;
use super::row::{Quantity, file, function, line};
use base::units::{EventIdx, Moment};
use history::snapshot::StackId;
use protocol::{ExportTable, Grouping, TableColumn};

const fn column(key: &'static str, cell: CellFn) -> Column {
    Column { key, cell }
}

/// Declares the columns of allocations from their list, which the page uses as well.
macro_rules! allocations {
    (
        files { $($key:literal: $kind:ident($cell:expr) $(, $at:literal $Column:ident $($texts:literal)*)?;)* }
        tab { $($tab_key:literal: $tab_kind:ident($tab_cell:expr), $tab_at:literal $Tab:ident $($tab_texts:literal)*;)* }
    ) => {
        const ALLOCATIONS: &[Column] = &[$(column($key, $kind($cell))),*];

        /// Returns a column of the Allocations tab.
        pub(crate) const fn tab_column(listed: TableColumn) -> Column {
            match listed {
                $($(TableColumn::$Column => column($key, $kind($cell)),)?)*
                $(TableColumn::$Tab => column($tab_key, $tab_kind($tab_cell)),)*
            }
        }
    };
}
protocol::allocation_columns!(allocations);

const EVENTS: &[Column] = &[
    column("event", Unsigned(|row| Some(row.index.into()))),
    column("action", Text(|row| Some(row.action().name().into()))),
    column("time_us", Signed(|row| row.time_us(Some(EventIdx(row.index))))),
    column("size_bytes", Bytes(|row| Some(row.address_and_size().1))),
    // Other events use the address field for something else.
    column("address", Address(|row| row.action().requires_address().then(|| row.address_and_size().0))),
    column("stream", Stream(|row| row.side.event_stream(row.index))),
    column("pool", Pool(|row| row.side.event_pool(row.index))),
    column("user_metadata", Text(|row| row.side.event_metadata(row.index))),
    column("allocation", Unsigned(|row| row.side.history.allocation_of(EventIdx(row.index)).map(|id| id.0.into()))),
    column("live_bytes", Signed(|row| Some(row.total(Quantity::Live, row.after())))),
    column("awaiting_free_bytes", Signed(|row| Some(row.total(Quantity::AwaitingFree, row.after())))),
    column("reserved_bytes", Signed(|row| Some(row.total(Quantity::Reserved, row.after())))),
    column("stack", Unsigned(|row| row.stack_id(row.side.event_stack(row.index)))),
    column("call_site", CallSite(|row| row.side.event_stack(row.index))),
];

/// Address ranges that were ever reserved.
const SEGMENTS: &[Column] = &[
    column("id", Unsigned(|row| Some(row.index.into()))),
    column("reserved_bytes", Bytes(|row| Some(row.ranges()?.size(row.id())))),
    column("address", Address(|row| Some(row.ranges()?.address(row.id())))),
    column("stream", Stream(|row| row.segment_kind()?.stream)),
    column("pool", Pool(|row| row.segment_kind()?.pool)),
    column("pool_name", Text(|row| row.pool_name(row.segment_kind()?.pool))),
    column("small", Bool(|row| Some(row.segment_kind()?.small))),
    column("expandable", Bool(|row| Some(row.segment_kind()?.expandable))),
    column("allocated_at", Start(|row| row.ranges()?.allocated_at(row.id()).event())),
    column("freed_at", End(|row| row.freed_at(row.ranges()?))),
    column("allocated_at_us", Signed(|row| row.time_us(row.ranges()?.allocated_at(row.id()).event()))),
    column("freed_at_us", Signed(|row| row.time_us(row.freed_at(row.ranges()?)))),
    column("stack", Unsigned(|row| row.stack_id(row.segment_stack()))),
    column("call_site", CallSite(|row| row.segment_stack())),
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
