//! The Allocations tab: filter, sort order, scrolling and selection of rows, and requests to the worker. Also the
//! state of the histograms.

pub mod commands;
mod data;
pub(crate) mod grid;
mod link;

pub use data::{FilterPart, Table, TableAction};
pub use grid::{TableStatus, aria_sort, grid, status};

use crate::features::feature::Feature;
use crate::features::histograms;
use crate::features::histograms::Histogram;
use crate::features::rows::{RowSelection, RowsStep, SelectMode};
use crate::state::change::{AskPhase, Change};
use crate::state::effect::Effect;
use crate::state::outbox::{Intent, Outbox};
use crate::state::shared::Shared;
use crate::text::tab::Tab;
use data::weights;
use protocol::{Answer, Question, TableColumn, TableFilter, TablePage, TableQuestion};
use std::rc::Rc;

pub(crate) const FEATURE: Feature<Table, TableAction> =
    Feature::with_rows(reset, &[(AskPhase::WithScene, ask)], take, handle_action, link::LINKS);

fn handle_action(table: &mut Table, _: &Shared, action: TableAction, out: &mut Outbox) {
    match action {
        TableAction::Scrolled(top, height) => table.scroll.set_visible(top, height),
        TableAction::RowClicked(row, extent) => activate_row(table, row, extent, out),
        TableAction::SortChosen(column) => table.sort_by(column),
        TableAction::FilterTyped(text) => table.set_filter(text),
        TableAction::FilterPartRemoved(FilterPart::Sizes) => table.sizes = None,
        TableAction::FilterPartRemoved(FilterPart::Lifetimes) => table.lifetimes = None,
        TableAction::FilterPartRemoved(FilterPart::Node) => out.intend(Intent::Node(None)),
        TableAction::BarClicked(histogram, class, mode) => {
            let page = table.answer.latest().cloned();
            let weights = page.as_deref().map_or(&[][..], |page| weights(page, histogram));
            let chosen = if histogram == Histogram::Sizes { &mut table.sizes } else { &mut table.lifetimes };
            histograms::click(weights, chosen, class, mode);
        }
    }
}

/// Runs a command that is available in all lists of rows, such as copying the selected rows.
pub(crate) fn on_rows_step(table: &mut Table, shared: &Shared, step: RowsStep, out: &mut Outbox) {
    match step {
        RowsStep::Go(go, extent) => {
            if let Some(last) = table.scroll.rows.checked_sub(1) {
                activate_row(table, table.selected_rows.moved(go, last, &table.scroll), extent, out);
            }
        }
        RowsStep::ChooseAll => table.selected_rows.select_all(table.scroll.rows),
        RowsStep::Copy => copy(table, shared, out),
        RowsStep::Filter => out.push(Effect::FocusFilter),
        RowsStep::Clear => clear_filters(table, out),
        RowsStep::SortByNextColumn => {
            let all = TableColumn::ALL;
            let index = all.iter().position(|column| *column == table.sort.column).map_or(0, |index| index + 1);
            table.sort_by(all.get(index).copied().unwrap_or(TableColumn::Id));
        }
        RowsStep::ReverseSort => table.sort_by(table.sort.column),
    }
}

fn clear_filters(table: &mut Table, out: &mut Outbox) {
    (table.text, table.filter, table.error, table.sizes, table.lifetimes) = Default::default();
    out.intend(Intent::Node(None));
}

/// Handles a change of device. Keeps the user's settings.
fn reset(table: &mut Table, _: &Shared, change: Change, _: &mut Outbox) {
    if change.is_device_change() {
        let Table { text, filter, error, sort, measure, mut scroll, .. } = std::mem::take(table);
        scroll.clear();
        *table = Table { text, filter, error, sort, measure, scroll, ..Table::default() };
    }
}

/// Requests missing rows. Only one request is pending at a time.
fn ask(table: &mut Table, shared: &Shared, device: i64, out: &mut Outbox) {
    let is_grid = match shared.views.visible() {
        Some(Tab::Allocations) => true,
        Some(Tab::Histograms) => false,
        _ => return,
    };
    let search_serial = shared.find.serial();
    let selected = shared.selection.as_deref().map(|selection| selection.allocation);
    let node = shared.views.node.map(|node| (shared.views.arrangement, node));
    if selected.is_none() && shared.selecting.is_none() {
        table.revealed_allocation = None;
    }
    let filter = TableFilter { text: table.filter.clone(), node, sizes: table.sizes, lifetimes: table.lifetimes };
    let mut question = TableQuestion {
        scope: shared.views.scope,
        filter,
        sort: table.sort,
        rows: [0, 0],
        reveal: None,
        selected: Vec::new(),
        search_serial,
    };
    if is_grid {
        let known = table.answer.answered_question().filter(|known| is_same_table(known, &question));
        let is_same = known.is_some();
        question.rows = table.scroll.rows_to_request(known.map(|known| known.rows));
        // Selected rows belong to the table that they were selected in.
        if is_same && table.selected_rows.count() > 1 {
            question.selected = table.selected_rows.ranges().to_vec();
        }
        // While another selection is pending, the row of the current one is not needed.
        let is_settled = shared.selecting.is_none();
        question.reveal = selected.filter(|selected| is_settled && table.revealed_allocation != Some(*selected));
    } else if let Some(known) = table.answer.answered_question() {
        // Loaded rows stay loaded.
        (question.rows, question.selected) = (known.rows, known.selected.clone());
    }
    table.answer.ask(question, device, out, |it| Question::Table(Box::new(it)));
}

/// Returns true if two requests have the same scope, filter and sort order, so that row indices are equal.
fn is_same_table(one: &TableQuestion, other: &TableQuestion) -> bool {
    (one.scope, one.sort) == (other.scope, other.sort) && one.filter == other.filter
}

fn take(table: &mut Table, _: &Shared, serial: u32, answer: Answer, out: &mut Outbox) -> Option<Answer> {
    match answer {
        Answer::Table(page) => take_page(table, serial, page),
        Answer::TableText(ref part) if table.copying.take(serial, part, out) => {}
        other => return Some(other),
    }
    None
}

/// Handles a reply with rows of the table.
fn take_page(table: &mut Table, serial: u32, page: Box<TablePage>) {
    let Some(mut question) = table.answer.take_pending(serial) else { return };
    let previous = table.answer.answered_question();
    if !previous.is_some_and(|known| is_same_table(known, &question)) {
        table.selected_rows = RowSelection::default();
        // The row has another index now, or exists now. A moving cursor alone does not scroll the table.
        let is_other = previous.is_none_or(|known| known.sort != question.sort || known.filter != question.filter);
        if is_other || table.has_no_row {
            table.revealed_allocation = None;
        }
    }
    let (revealed, row) = (question.reveal.take(), page.revealed);
    table.scroll.rows = page.listed.count;
    table.answer.store(question, Rc::from(page));
    if revealed.is_some() {
        (table.revealed_allocation, table.has_no_row) = (revealed, row.is_none());
        if let Some(row) = row {
            table.selected_rows.select_only(row);
            table.scroll.scroll_to_row(row);
        }
    }
}

/// Changes the selected rows after a click or a key press. If only this row is selected, also selects its allocation.
fn activate_row(table: &mut Table, row: u32, extent: SelectMode, out: &mut Outbox) {
    if row >= table.scroll.rows {
        return;
    }
    table.selected_rows.select(row, extent);
    table.scroll.scroll_to_row(row);
    let allocation = table.row(row);
    if let (SelectMode::Only, Some(allocation)) = (extent, allocation) {
        // The row is already in view.
        table.revealed_allocation = Some(allocation);
        out.intend(Intent::Select(Some(allocation)));
    }
}

/// Copies the selected rows as text, or all rows if none is selected.
fn copy(table: &mut Table, shared: &Shared, out: &mut Outbox) {
    let Some(device) = shared.device().map(|device| device.device) else { return };
    let Some(mut question) = table.answer.answered_question().cloned() else { return };
    question.selected = table.selected_rows.ranges_or_all(&table.scroll);
    let rows = question.selected.clone();
    table.copying.start(device, &rows, Question::TableText(Box::new(question)), out);
}
