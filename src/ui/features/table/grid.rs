//! Contents of the Allocations tab: rows and status line.

use crate::features::rows::cells::{
    Cell, Grid, RowView, bytes_cell, cell, classes, dash, hexadecimal, number, pool_cell, set_shared_beginnings,
    stream_cell,
};
use crate::features::table::Table;
use crate::features::tree_rows::empty_message;
use crate::scope::details::time_of_day;
use crate::scope::find::matches_text;
use crate::state::shared::Shared;
use crate::text::amount::{bytes_text, change};
use crate::text::names::no_stack;
use base::units::{Bytes, duration_us, group_digits, pluralize};
use protocol::{Scope, SortDirection, Span, TableColumn, TableRow, TableSort};

/// Columns of the table, with name and tooltip.
pub const COLUMNS: [(TableColumn, &str, &str); 10] = [
    (TableColumn::Id, "#", "Index of the allocation, in order of allocation"),
    (TableColumn::Size, "Requested", "Requested bytes"),
    (TableColumn::CallSite, "Call site", "Innermost frame of your code"),
    (TableColumn::Address, "Address", "Start address"),
    (TableColumn::Stream, "Stream", "Stream it was allocated on"),
    (TableColumn::Pool, "Pool", "Memory pool"),
    (TableColumn::Allocated, "Allocated at", "Event that allocated it"),
    (
        TableColumn::Age,
        "Age",
        "Events from its allocation to the cursor, or to the end of the range or of its lifetime",
    ),
    (TableColumn::Freed, "Freed at", "Event that freed it"),
    (TableColumn::Lifetime, "Lifetime", "Events from its allocation to its free"),
];

/// Index of the column with requested bytes.
const BYTES_COLUMN: usize = 1;
/// Index of the column with call sites.
const SITE_COLUMN: usize = 2;

/// The status line: sums of the listed and of the selected rows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TableStatus {
    pub text: String,
    /// Sums in exact bytes.
    pub exact: String,
    /// True if the filter is invalid. `text` is then the error message.
    pub is_error: bool,
    /// True if there is a filter to clear.
    pub is_filtered: bool,
    /// Count and bytes of the listed rows, then count and bytes of the selected rows.
    pub sums: [u64; 4],
}

impl Table {
    /// Returns the range of events between A and B if the scope is [`Scope::Change`].
    fn change_span(&self) -> Option<Span> {
        match self.answer.answered_question()?.scope {
            Scope::Change(span) => Some(span),
            _ => None,
        }
    }

    /// Returns the id of the allocation in a row, if the row is loaded.
    pub(super) fn row(&self, row: u32) -> Option<u32> {
        let page = self.page()?;
        page.rows.get(row.checked_sub(page.first)? as usize).map(|row| row.allocation)
    }
}

/// Returns the visible part of the table.
pub fn grid(table: &Table, shared: &Shared) -> Grid {
    let Some(page) = table.page() else { return Grid::default() };
    let change = table.change_span();
    let shown = table.scroll.rendered_rows();
    let selected = shared.selection.as_deref().map(|selection| selection.allocation);
    let mut rows: Vec<RowView> = (page.first..)
        .zip(&page.rows)
        .filter(|(row, _)| shown.contains(row))
        .map(|(row, facts)| {
            let is_chosen = table.selected_rows.contains(row);
            let class = classes(&[
                (is_chosen, "chosen "),
                (table.selected_rows.active() == Some(row), "active "),
                (selected == Some(facts.allocation), "selected "),
                (facts.matches, "found"),
            ]);
            let mut cells = cells(shared, facts);
            if let (Some(span), Some(bytes)) = (change, cells.get_mut(BYTES_COLUMN)) {
                // An allocation freed at the end of the range is not live there.
                let is_at_end = facts.freed.is_none_or(|freed| freed >= span.to);
                bytes.text.insert_str(0, if is_at_end { "+" } else { "−" });
            }
            RowView { row, item: facts.allocation, cells, class, is_chosen }
        })
        .collect();
    set_shared_beginnings(&mut rows, SITE_COLUMN);
    let first = rows.first().map_or(0, |row| row.row);
    let empty = match (page.listed.count, page.scope.count) {
        (0, 0) => empty_message(shared.views.scope),
        (0, _) => "No matches.",
        _ => "",
    };
    Grid {
        count: page.listed.count,
        total_px: table.scroll.all_px(),
        offset_px: table.scroll.top_px(first),
        active: table.selected_rows.active().filter(|active| rows.iter().any(|row| row.row == *active)),
        rows,
        empty,
    }
}

fn cells(shared: &Shared, row: &TableRow) -> Vec<Cell> {
    let event = |event: Option<u32>, us: Option<i64>, otherwise: &str| match event {
        Some(event) => cell(number(event), us.and_then(time_of_day).unwrap_or_default()),
        None => cell(otherwise.to_owned(), String::new()),
    };
    // For allocations before recording, the values are lower bounds.
    let bound = if row.allocated_at.is_none() { "≥ " } else { "" };
    let events = |events: u32, us: Option<i64>| {
        let mut title = pluralize(events.into(), "event");
        if let Some(us) = us {
            title.push_str(" · ");
            title.push_str(&duration_us(us));
        }
        cell([bound, &number(events)].concat(), [bound, &title].concat())
    };
    let lifetime = match (row.freed, row.allocated_at) {
        (None, _) => cell("to the end".to_owned(), "Never freed".to_owned()),
        // Allocated before event 0, so it was live during all events before its free.
        (Some(freed), None) => events(freed.saturating_add(1), None),
        (Some(freed), Some(allocated_at)) => events(freed.saturating_sub(allocated_at), row.lifetime_us),
    };
    let site = if row.call_site.is_empty() { no_stack(row.allocated_at.is_some()) } else { &row.call_site };
    vec![
        cell(number(row.allocation), String::new()),
        bytes_cell(row.requested),
        cell(site.to_owned(), site.to_owned()),
        cell(row.address.map_or_else(dash, hexadecimal), String::new()),
        stream_cell(row.stream),
        pool_cell(shared, row.pool),
        event(row.allocated_at, row.allocated_us, "before"),
        events(row.age, row.age_us),
        event(row.freed, row.freed_us, "–"),
        lifetime,
    ]
}

/// Returns the status line.
pub fn status(table: &Table, shared: &Shared) -> TableStatus {
    let is_filtered = !table.text.is_empty() || table.is_filtered();
    let mut status = TableStatus { is_filtered, ..TableStatus::default() };
    if let Some(page) = table.page() {
        let (listed, mut chosen) = (page.listed, page.selected);
        // The sum of a single row is known without a request.
        if table.selected_rows.count() < 2 {
            let row = table.selected_rows.active().and_then(|row| row.checked_sub(page.first));
            let row = row.and_then(|row| page.rows.get(row as usize)).filter(|_| table.selected_rows.count() == 1);
            (chosen.bytes, chosen.count) = row.map_or((0, 0), |row| (row.requested, 1));
        }
        status.sums = [listed.count.into(), listed.bytes, chosen.count.into(), chosen.bytes];
        if chosen.count > 1 {
            status.text = format!("{} selected · {} · ", number(chosen.count), bytes_text(chosen.bytes));
            status.exact = format!("Selected: {} B; ", group_digits(chosen.bytes));
        }
        let rows = pluralize(listed.count.into(), "allocation");
        status.text += if page.scope.count == 0 { empty_message(shared.views.scope) } else { &rows };
        if is_filtered && page.scope.count > 0 {
            status.text += &format!(" of {}", number(page.scope.count));
        }
        if page.scope.count > 0 {
            let freed = page.freed.bytes;
            match table.change_span() {
                Some(_) => {
                    let new = listed.bytes.saturating_sub(freed);
                    let parts = [change(freed, new), change(0, new), change(freed, 0)];
                    let [net, new, freed] = parts;
                    status.text += &format!(" · Δ {net} (allocated {new}, freed {freed})");
                }
                None => status.text += &format!(" · {}", Bytes(listed.bytes)),
            }
        }
        let found = matches_text(shared, table.find_serial(), Scope::All, page.found);
        if !found.is_empty() && page.scope.count > 0 {
            status.text += &[" · ", &found].concat();
            status.exact = format!("Found: {} B; ", group_digits(page.found.bytes)) + &status.exact;
        }
        status.exact += &format!("Listed: {} B requested", group_digits(listed.bytes));
    }
    if let Some(error) = &table.error {
        (status.text, status.exact, status.is_error) = (error.to_string(), String::new(), true);
    }
    status
}

/// Returns the value of `aria-sort` for a column header.
pub fn aria_sort(sort: TableSort, column: TableColumn) -> &'static str {
    match (sort.column == column, sort.direction) {
        (false, _) => "none",
        (true, SortDirection::Ascending) => "ascending",
        (true, SortDirection::Descending) => "descending",
    }
}
