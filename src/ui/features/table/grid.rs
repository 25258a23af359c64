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
use protocol::{EventSpan, Scope, SortDirection, Span, TableCell, TableColumn, TableRow, TableSort};

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
            let mut cells: Vec<Cell> = facts.cells.iter().map(|value| value_cell(shared, facts, value)).collect();
            if let (Some(span), Some(bytes)) = (change, cells.get_mut(TableColumn::Size as usize)) {
                // An allocation freed at the end of the range is not live there.
                let is_at_end = facts.freed.is_none_or(|freed| freed >= span.to);
                bytes.text.insert_str(0, if is_at_end { "+" } else { "−" });
            }
            RowView { row, item: facts.allocation, cells, class, is_chosen }
        })
        .collect();
    set_shared_beginnings(&mut rows, TableColumn::CallSite as usize);
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

fn value_cell(shared: &Shared, row: &TableRow, value: &TableCell) -> Cell {
    let plain = |text: String| cell(text, String::new());
    let event = |event: Option<u32>, us: Option<i64>, unknown: &str| match event {
        Some(event) => cell(number(event), us.and_then(time_of_day).unwrap_or_default()),
        None => cell(unknown.to_owned(), String::new()),
    };
    match *value {
        TableCell::Unsigned(value) => plain(value.map_or_else(dash, group_digits)),
        TableCell::Text(ref text) => cell(text.clone(), text.clone()),
        TableCell::Bytes(value) => value.map_or_else(|| plain(dash()), bytes_cell),
        TableCell::Address(value) => plain(value.map_or_else(dash, hexadecimal)),
        TableCell::Stream(value) => stream_cell(value),
        TableCell::Pool(value) => pool_cell(shared, value),
        TableCell::Start(at, us) => event(at, us, "before"),
        TableCell::End(at, us) => event(at, us, "–"),
        TableCell::CallSite => {
            let site = if row.call_site.is_empty() { no_stack(row.allocated_at.is_some()) } else { &row.call_site };
            cell(site.to_owned(), site.to_owned())
        }
        TableCell::Events(EventSpan { events: None, .. }) => cell("to the end".to_owned(), "Never freed".to_owned()),
        TableCell::Events(EventSpan { events: Some(events), us, is_lower_bound }) => {
            let bound = if is_lower_bound { "≥ " } else { "" };
            let mut title = pluralize(events.into(), "event");
            if let Some(us) = us {
                title.push_str(" · ");
                title.push_str(&duration_us(us));
            }
            cell([bound, &number(events)].concat(), [bound, &title].concat())
        }
    }
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
