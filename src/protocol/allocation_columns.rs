//! The columns of allocations, in one list for all crates.

/// Passes the columns of allocations to the macro `$then`, which declares what its crate needs: their names and texts
/// here, their cells in the engine.
///
/// A column has a name in files, SQL and JSON, and a cell, whose kind determines how the column is written, shown and
/// sorted (`CellFn` of the engine). If the Allocations tab and the terminal show it, it also has its position there,
/// its variant of [`TableColumn`](crate::TableColumn), its name in links, its title and its tooltip. The columns under
/// `files` are in SQL, CSV, JSON Lines, Parquet and `--json`, in this order. The columns under `tab` depend on a moment
/// or on other columns, so only the tab has them.
#[macro_export]
macro_rules! allocation_columns {
    ($then:ident) => {
        $then! {
            files {
                "id": Unsigned(|row| Some(row.index.into())),
                    0 Id "number" "#" "Index of the allocation, in order of allocation";
                "requested_bytes": Bytes(|row| Some(row.allocations().size(row.id()))),
                    1 Size "size" "Requested" "Requested bytes";
                // A lower bound if the file does not record the size of the block.
                "allocated_rounded_bytes": Bytes(|row| Some(row.side.allocated_bytes(row.id()).0));
                "category": Text(|row| Some(row.group_label(Grouping::Category).into()));
                "allocated_at": Start(|row| row.allocated_at()),
                    6 Allocated "born" "Allocated at" "Event that allocated it";
                "freed_at": End(|row| row.freed_at(row.allocations())),
                    8 Freed "freed" "Freed at" "Event that freed it";
                "free_requested_at": End(|row| row.allocations().free_requested(row.id())?.event());
                "allocated_at_us": Signed(|row| row.time_us(row.allocated_at()));
                "freed_at_us": Signed(|row| row.time_us(row.freed_at(row.allocations())));
                "address": Address(|row| row.allocation_address()),
                    3 Address "address" "Address" "Start address";
                "stream": Stream(|row| row.side.stream(row.id())),
                    4 Stream "stream" "Stream" "Stream it was allocated on";
                "pool": Pool(|row| row.side.pool(row.id())),
                    5 Pool "pool" "Pool" "Memory pool";
                "pool_name": Text(|row| row.pool_name(row.side.pool(row.id())));
                "user_metadata": Text(|row| row.side.user_metadata(row.id()));
                "stack": Unsigned(|row| row.stack_id(row.allocation_stack()));
                "call_site": CallSite(|row| row.allocation_stack()),
                    2 CallSite "site" "Call site" "Innermost frame of your code";
                "held_by": Text(|row| row.side.held_by(row.id()).map(Into::into));
            }
            tab {
                "age_events": Events(|row| row.age()),
                    7 Age "age" "Age" "Events from its allocation to the cursor, or to the end of the range or of its lifetime";
                "lifetime_events": Events(|row| row.lifetime()),
                    9 Lifetime "lifetime" "Lifetime" "Events from its allocation to its free";
            }
        }
    };
}
