//! Link keys of the Allocations tab and the histograms.

use super::Table;
use crate::features::histograms::Measure;
use crate::link::reading::{Key, Reading, between, kept, name, word};
use crate::shared::Shared;
use engine::protocol::{SortWay, TableColumn, TableSort};

const COLUMNS: [&str; 10] = ["number", "size", "site", "address", "stream", "pool", "born", "age", "freed", "lifetime"];

pub(super) const LINKS: &[Key<Table>] = &[
    kept("filter", |table, _| table.text.clone(), |table, _, link| table.filter_by(link.text.to_owned())),
    kept("sort", sort, set_sort),
    kept("sizes", |table, _| between(table.sizes), |table, _, link| table.sizes = link.numbers()),
    kept("lives", |table, _| between(table.lives), |table, _, link| table.lives = link.numbers()),
    kept(
        "bars",
        |table, _| word(table.measure == Measure::Count, "count"),
        |table, _, link| {
            let counts = link.is_second(["bytes", "count"]);
            table.measure = if counts { Measure::Count } else { Measure::Bytes };
        },
    ),
];

fn sort(table: &Table, _: &Shared) -> String {
    let TableSort { column, way } = table.sort;
    let sign = if way == SortWay::Ascending { "+" } else { "-" };
    word(table.sort != Table::default().sort, &[name(&COLUMNS, column as usize), sign].concat())
}

fn set_sort(table: &mut Table, _: &mut Shared, link: &mut Reading<'_>) {
    let way = if link.text.ends_with('+') { SortWay::Ascending } else { SortWay::Descending };
    let column = link.text.trim_end_matches(['+', '-']);
    let column = COLUMNS.iter().position(|name| *name == column).and_then(|at| TableColumn::ALL.get(at)).copied();
    let sort = link.take(column).map(|column| TableSort { column, way });
    table.sort = sort.unwrap_or(Table::default().sort);
}
