//! The Allocations tab: filter, sort order, scrolling and selection of rows, and requests to the worker. Also the
//! state of the histograms.

mod feature;
pub(crate) mod grid;
mod link;

pub use grid::{COLUMNS, TableStatus, grid, order, status};

pub(crate) use feature::FEATURE;

use super::histograms::{self, Chart, Histogram, Measure, Reach};
use crate::binding::{Binding, Scope, line};
use crate::change::Change;
use crate::effect::Effect;
use crate::latest::Latest;
use crate::rows::{Chosen, Copying, Extent, RowsStep};
use crate::scroll::Scroll;
use crate::selecting;
use crate::shared::Shared;
use crate::tab::Tab;
use engine::protocol::{
    Answer, Filter, QueryError, Question, SortWay, TableColumn, TableFilter, TablePage, TableQuestion, TableSort,
    Weight,
};
use std::rc::Rc;

/// Height of a row in CSS pixels.
pub const ROW_PX: f64 = 22.0;
/// State of the Allocations tab and of the histograms.
#[derive(Clone, Debug)]
pub struct Table {
    /// Text of the filter field.
    pub text: String,
    pub wrong: Option<QueryError>,
    /// The last valid filter text.
    filter: String,
    pub sort: TableSort,
    /// Size classes selected in the histogram.
    pub sizes: Option<[u8; 2]>,
    /// Lifetime classes selected in the histogram.
    pub lives: Option<[u8; 2]>,
    /// Quantity on the vertical axis of the histograms.
    pub measure: Measure,
    /// Selected rows and the active row.
    pub chosen: Chosen,
    pub scroll: Scroll,
    answer: Latest<TableQuestion, Rc<TablePage>>,
    /// The allocation whose row was last located.
    revealed: Option<u32>,
    /// True if the table had no row of that allocation.
    is_missed: bool,
    copying: Copying,
}

impl Default for Table {
    fn default() -> Table {
        Table {
            text: String::new(),
            wrong: None,
            sort: TableSort { column: TableColumn::Size, way: SortWay::Descending },
            sizes: None,
            lives: None,
            measure: Measure::default(),
            filter: String::new(),
            chosen: Chosen::default(),
            scroll: Scroll::new(ROW_PX),
            answer: Latest::default(),
            revealed: None,
            is_missed: false,
            copying: Copying::default(),
        }
    }
}

impl Table {
    /// Returns the last reply, which is shown until the next one arrives.
    pub fn page(&self) -> Option<&TablePage> {
        self.answer.latest().map(|page| &**page)
    }

    /// Returns the serial of the search in the last reply.
    pub(crate) fn known_find(&self) -> Option<u32> {
        self.answer.question().and_then(|known| known.find)
    }

    /// Returns the bars and labels of a histogram.
    pub fn chart(&self, of: Histogram) -> Chart {
        let Some(page) = self.page() else { return Chart::default() };
        let chosen = if of == Histogram::Sizes { self.sizes } else { self.lives };
        histograms::chart(of, weights(page, of), chosen, self.measure)
    }

    /// Returns true if the list is restricted by more than the scope.
    pub fn is_filtered(&self) -> bool {
        self.answer.question().is_some_and(|question| question.filter != TableFilter::default())
    }
}

/// User input in the table and in the histograms.
#[derive(Clone, Debug, PartialEq)]
pub enum TableAction {
    /// Scroll offset and visible height in CSS pixels.
    Scrolled(f64, f64),
    RowClicked(u32, Extent),
    /// A column header was clicked.
    SortChosen(TableColumn),
    /// Text of the filter field.
    FilterTyped(String),
    /// A part of the filter was removed.
    FilterDropped(Dropped),
    /// A bar of a histogram was clicked: its class, and the effect on the selection.
    BarClicked(Histogram, u8, Reach),
}

/// A part of the filter that can be removed separately.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dropped {
    Sizes,
    Lives,
    Node,
}

/// Commands of the histograms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TableStep {
    /// Toggles between bytes and counts.
    ToggleMeasure,
    ClearBars,
}

/// Keys for rows are shared by all lists ([`RowsStep`]).
const KEYS: &[Binding<TableStep>] = &[
    line(
        Scope::Tab(Tab::Histograms),
        &["m"],
        TableStep::ToggleMeasure,
        "Switch the bars between bytes and counts",
        "measure",
    ),
    line(
        Scope::Tab(Tab::Histograms),
        &["Delete", "Backspace"],
        TableStep::ClearBars,
        "Clear the selected bars",
        "histograms-clear",
    ),
];

fn act(table: &mut Table, shared: &mut Shared, action: TableAction, effects: &mut Vec<Effect>) {
    match action {
        TableAction::Scrolled(top, height) => table.scroll.seen_at(top, height),
        TableAction::RowClicked(row, extent) => go_to(table, shared, row, extent, effects),
        TableAction::SortChosen(column) => table.sort_by(column),
        TableAction::FilterTyped(text) => table.filter_by(text),
        TableAction::FilterDropped(Dropped::Sizes) => table.sizes = None,
        TableAction::FilterDropped(Dropped::Lives) => table.lives = None,
        TableAction::FilterDropped(Dropped::Node) => shared.views.node = None,
        TableAction::BarClicked(of, class, reach) => {
            let page = table.answer.latest().cloned();
            let weights = page.as_deref().map_or(&[][..], |page| weights(page, of));
            let chosen = if of == Histogram::Sizes { &mut table.sizes } else { &mut table.lives };
            histograms::click(weights, chosen, class, reach);
        }
    }
}

fn command(table: &mut Table, shared: &mut Shared, step: TableStep, _: &mut Vec<Effect>) {
    match step {
        TableStep::ToggleMeasure => {
            table.measure = if table.measure == Measure::Bytes { Measure::Count } else { Measure::Bytes };
        }
        TableStep::ClearBars => clear(table, shared),
    }
}

/// Handles the keys and controls that all lists of rows share.
pub(crate) fn rows(table: &mut Table, shared: &mut Shared, step: RowsStep, effects: &mut Vec<Effect>) {
    match step {
        RowsStep::Go(go, extent) => {
            if let Some(last) = table.scroll.rows.checked_sub(1) {
                go_to(table, shared, table.chosen.gone(go, last, &table.scroll), extent, effects);
            }
        }
        RowsStep::ChooseAll => table.chosen.all(table.scroll.rows),
        RowsStep::Copy => copy(table, shared, effects),
        RowsStep::Filter => effects.push(Effect::FocusFilter),
        RowsStep::Clear => clear(table, shared),
        RowsStep::SortByNext => {
            let all = TableColumn::ALL;
            let place = all.iter().position(|column| *column == table.sort.column).map_or(0, |place| place + 1);
            table.sort_by(all.get(place).copied().unwrap_or(TableColumn::Number));
        }
        RowsStep::SortOtherWay => table.sort_by(table.sort.column),
    }
}

impl Table {
    /// Sets the text of the filter field.
    fn filter_by(&mut self, text: String) {
        self.wrong = Filter::parse(&text).err();
        if self.wrong.is_none() {
            text.trim().clone_into(&mut self.filter);
        }
        self.text = text;
    }

    /// Sorts by a column, or reverses the order if it is already the sort column.
    fn sort_by(&mut self, column: TableColumn) {
        let now = self.sort;
        // For these columns the largest values are of interest first.
        let first = match column {
            TableColumn::Size | TableColumn::Age | TableColumn::Lifetime => SortWay::Descending,
            _ => SortWay::Ascending,
        };
        let other = if now.way == SortWay::Ascending { SortWay::Descending } else { SortWay::Ascending };
        self.sort = TableSort { column, way: if now.column == column { other } else { first } };
        self.scroll.to(0.0);
    }
}

fn weights(page: &TablePage, of: Histogram) -> &[Weight] {
    if of == Histogram::Sizes { &page.sizes } else { &page.lives }
}

/// Clears all filters.
fn clear(table: &mut Table, shared: &mut Shared) {
    (table.text, table.filter, table.wrong, table.sizes, table.lives) = Default::default();
    shared.views.node = None;
}

/// Handles a change of device. The user's settings are kept.
fn reset(table: &mut Table, _: &mut Shared, change: Change) {
    if change.is_of_device() {
        let Table { text, filter, wrong, sort, measure, mut scroll, .. } = std::mem::take(table);
        scroll.rows = 0;
        scroll.to(0.0);
        *table = Table { text, filter, wrong, sort, measure, scroll, ..Table::default() };
    }
}

/// Requests the missing rows. The next question waits for the reply to the previous one.
fn ask(table: &mut Table, shared: &mut Shared, device: i64, effects: &mut Vec<Effect>) {
    let is_grid = match shared.views.seen() {
        Some(Tab::Table) => true,
        Some(Tab::Histograms) => false,
        _ => return,
    };
    let find = shared.find.serial();
    let selected = shared.selection.as_deref().map(|selection| selection.allocation);
    let node = shared.views.node.map(|node| (shared.views.arrangement, node));
    if selected.is_none() && shared.selecting.is_none() {
        table.revealed = None;
    }
    let filter = TableFilter { text: table.filter.clone(), node, sizes: table.sizes, lives: table.lives };
    let mut question = TableQuestion {
        scope: shared.views.scope,
        filter,
        sort: table.sort,
        rows: [0, 0],
        reveal: None,
        chosen: Vec::new(),
        find,
    };
    if is_grid {
        let known = table.answer.question().filter(|known| is_same_table(known, &question));
        let is_same = known.is_some();
        question.rows = table.scroll.wanted(known.map(|known| known.rows));
        // Selected rows belong to the table that they were selected in.
        if is_same && table.chosen.count() > 1 {
            question.chosen = table.chosen.ranges().to_vec();
        }
        // While another selection is pending, the current one need not be located.
        let is_settled = shared.selecting.is_none();
        question.reveal = selected.filter(|selected| is_settled && table.revealed != Some(*selected));
    } else if let Some(known) = table.answer.question() {
        // Loaded rows stay loaded.
        (question.rows, question.chosen) = (known.rows, known.chosen.clone());
    }
    table.answer.ask(question, device, &mut shared.serial, effects, |it| Question::Table(Box::new(it)));
}

/// Returns true if two questions have the same rows in the same order.
fn is_same_table(one: &TableQuestion, other: &TableQuestion) -> bool {
    (one.scope, one.sort) == (other.scope, other.sort) && one.filter == other.filter
}

fn take(
    table: &mut Table,
    shared: &mut Shared,
    serial: u32,
    answer: Answer,
    effects: &mut Vec<Effect>,
) -> Option<Answer> {
    match answer {
        Answer::Table(page) => take_page(table, serial, page),
        Answer::TableText(ref part) if table.copying.take(shared, serial, part, effects) => {}
        other => return Some(other),
    }
    None
}

/// Handles a reply with rows of the table.
fn take_page(table: &mut Table, serial: u32, page: Box<TablePage>) {
    let Some(mut question) = table.answer.answered(serial) else { return };
    let before = table.answer.question();
    if !before.is_some_and(|known| is_same_table(known, &question)) {
        table.chosen = Chosen::default();
        // The row has another index now, or exists now. A moving cursor alone does not scroll the table.
        let is_other = before.is_none_or(|known| known.sort != question.sort || known.filter != question.filter);
        if is_other || table.is_missed {
            table.revealed = None;
        }
    }
    let (revealed, row) = (question.reveal.take(), page.revealed);
    table.scroll.rows = page.listed.count;
    table.answer.keep(question, Rc::from(page));
    if revealed.is_some() {
        (table.revealed, table.is_missed) = (revealed, row.is_none());
        if let Some(row) = row {
            table.chosen.only(row);
            table.scroll.bring(row);
        }
    }
}

/// Selects a row and its allocation, after a click or a key.
fn go_to(table: &mut Table, shared: &mut Shared, row: u32, extent: Extent, effects: &mut Vec<Effect>) {
    if row >= table.scroll.rows {
        return;
    }
    match extent {
        Extent::One => table.chosen.only(row),
        Extent::Through => table.chosen.through(row),
        Extent::Toggle => table.chosen.toggle(row),
    }
    table.scroll.bring(row);
    let allocation = table.row(row);
    if let (Extent::One, Some(allocation)) = (extent, allocation) {
        // The row is already in view.
        table.revealed = Some(allocation);
        selecting::select(shared, allocation, effects);
    }
}

/// Copies the selected rows as text, or all rows if none is selected.
fn copy(table: &mut Table, shared: &mut Shared, effects: &mut Vec<Effect>) {
    let Some(device) = shared.device().map(|device| device.device) else { return };
    let Some(mut question) = table.answer.question().cloned() else { return };
    question.chosen = table.chosen.or_all(&table.scroll);
    let rows = question.chosen.clone();
    table.copying.begin(shared, device, &rows, Question::TableText(Box::new(question)), effects);
}
