//! Link keys of the Allocations tab and the histograms.

use crate::features::histograms::Measure;
use crate::features::table::Table;
use crate::state::link_value::{Key, ValueReader, format_range, view_key, word_if};
use crate::state::shared::Shared;
use protocol::{SortDirection, TableColumn, TableSort};

pub(super) const LINKS: &[Key<Table>] = &[
    view_key("filter", |table, _| table.text.clone(), |table, _, link| table.set_filter(link.text.to_owned())),
    view_key("sort", sort, set_sort),
    view_key("sizes", |table, _| format_range(table.sizes), |table, _, link| table.sizes = link.range()),
    view_key("lives", |table, _| format_range(table.lifetimes), |table, _, link| table.lifetimes = link.range()),
    view_key(
        "bars",
        |table, _| word_if(table.measure == Measure::Count, "count"),
        |table, _, link| {
            let counts = link.is_second_word(["bytes", "count"]);
            table.measure = if counts { Measure::Count } else { Measure::Bytes };
        },
    ),
];

fn sort(table: &Table, _: &Shared) -> String {
    let TableSort { column, direction } = table.sort;
    let sign = if direction == SortDirection::Ascending { "+" } else { "-" };
    word_if(table.sort != Table::default().sort, &[column.texts().link, sign].concat())
}

fn set_sort(table: &mut Table, _: &Shared, link: &mut ValueReader<'_>) {
    let direction = if link.text.ends_with('+') { SortDirection::Ascending } else { SortDirection::Descending };
    let column = link.text.trim_end_matches(['+', '-']);
    let column = TableColumn::ALL.into_iter().find(|it| it.texts().link == column);
    let sort = link.check(column).map(|column| TableSort { column, direction });
    table.sort = sort.unwrap_or(Table::default().sort);
}
