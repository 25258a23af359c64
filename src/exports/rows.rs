//! Rows of exported tables.

use engine::Side;
use engine::tables::{self, Column, Row, SiteCache, TotalsCache, Value, row_indices, used_stacks};
use protocol::{ExportQuestion, ExportTable};
use std::io;

/// Former names of columns, which exports keep beside the names that SQL has: table, former name, name.
const FORMER_NAMES: [(ExportTable, &str, &str); 3] = [
    (ExportTable::Allocations, "number", "id"),
    (ExportTable::Segments, "number", "id"),
    (ExportTable::Stacks, "frame", "position"),
];

/// Returns the columns of an exported table.
pub fn columns(table: ExportTable) -> Vec<Column> {
    let declared = tables::columns(table);
    let of_table = FORMER_NAMES.into_iter().filter(|(of, ..)| *of == table);
    let former = of_table.filter_map(|(_, key, name)| {
        declared.iter().find(|column| column.key == name).map(|column| Column { key, ..*column })
    });
    declared.iter().copied().chain(former).collect()
}

/// Calls `each` for every row of a table, with cells in the order of [`columns`]. Returns the number of rows.
///
/// # Errors
/// Returns the errors of `each`.
pub fn each_row(
    side: Side<'_>,
    question: &ExportQuestion,
    each: &mut dyn FnMut(&[Value<'_>]) -> io::Result<()>,
) -> io::Result<u64> {
    let (sites, totals) = (SiteCache::default(), TotalsCache::default());
    let (columns, first) = (columns(question.table), Row::new(side, &sites, &totals));
    let (mut count, mut done, mut cells) = (0, Ok(()), Vec::new());
    let mut write = |row| {
        if done.is_ok() {
            cells.clear();
            cells.extend(columns.iter().map(|column| column.value(&row)));
            count += 1;
            done = each(&cells);
        }
    };
    let (all, range) = (row_indices(side, question.table), question.range);
    let events = all.start.max(range.from)..all.end.min(range.to);
    match question.table {
        ExportTable::Allocations => side.for_each_in_scope(question.scope, &mut |id, _| write(first.at(id.0))),
        ExportTable::Events => events.for_each(|event| write(first.at(event))),
        ExportTable::Segments => all.for_each(|id| write(first.at(id))),
        ExportTable::Curve => {
            (events.start..all.end.min(range.to.saturating_add(1))).for_each(|moment| write(first.at(moment)));
        }
        ExportTable::Stacks => used_stacks(side).for_each(|stack| {
            let frames = side.snapshot().stacks.frames(stack);
            (0..).zip(frames).for_each(|frame| write(Row { frame: Some(frame), ..first.at(stack.0) }));
        }),
    }
    done.map(|()| count)
}
