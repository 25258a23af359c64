//! The table of allocations: what it lists and in which order, which part of it is seen, which rows are chosen; and when the worker
//! is asked for what.

mod chosen;
pub(crate) mod grid;

pub use chosen::{Chosen, Extent, Go};
pub use grid::{COLUMNS, Cell, Grid, RowView, TableStatus, grid, order, status};

use super::action::Effect;
use super::answer::Answer;
use super::feature::{Change, Feature, Turn};
use super::histograms::Measure;
use super::scroll::Scroll;
use super::state::State;
use super::views::Tab;
use base::units::counted;
use engine::protocol::{
    self, Ask, Filter, QueryError, Question, Reply, Request, SortWay, TableColumn, TableFilter, TablePage,
    TableQuestion, TableSort, TableText,
};
use std::rc::Rc;

/// CSS pixels of a row.
pub const ROW_PX: f64 = 22.0;
/// The table of allocations and the histograms beside it.
#[derive(Clone, Debug)]
pub struct Table {
    /// What stands in the field of the filter.
    pub text: String,
    /// What is wrong with it.
    pub wrong: Option<QueryError>,
    /// What stood there last that nothing was wrong with.
    filter: String,
    /// The order.
    pub sort: TableSort,
    /// The classes of sizes that are listed alone.
    pub sizes: Option<[u8; 2]>,
    /// The classes of lives that are listed alone.
    pub lives: Option<[u8; 2]>,
    /// What the height of the histograms' bars tells.
    pub measure: Measure,
    /// Rows that are chosen, and the one that keys start from.
    pub chosen: Chosen,
    /// How far its rows are scrolled.
    pub scroll: Scroll,
    answer: Answer<TableQuestion, Rc<TablePage>>,
    /// The allocation whose row was looked for last.
    revealed: Option<u32>,
    /// Whether the table had no row of it.
    is_missed: bool,
    copying: Option<Copying>,
    /// What is said when the text has reached the clipboard.
    pub(super) copied: Option<String>,
}

#[derive(Clone, Debug)]
struct Copying {
    serial: u32,
    wanted: u32,
    text: String,
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
            answer: Answer::default(),
            revealed: None,
            is_missed: false,
            copying: None,
            copied: None,
        }
    }
}

impl Table {
    /// What is shown: the last answer and its question, until the next one comes.
    pub fn page(&self) -> Option<&TablePage> {
        self.answer.latest().map(|page| &**page)
    }

    /// The search that it was asked about.
    pub(super) fn known_find(&self) -> Option<u32> {
        self.answer.question().and_then(|known| known.find)
    }

    /// Whether anything but the scope decides what is listed.
    pub fn is_filtered(&self) -> bool {
        self.answer.question().is_some_and(|question| question.filter != TableFilter::default())
    }
}

/// The shell tells how far the table is scrolled, and how much of it is seen, in CSS pixels.
pub(super) fn scrolled(state: &mut State, top: f64, height: f64) {
    state.table.scroll.told(top, height);
}

/// This stands in the field of the filter now.
pub(super) fn typed(state: &mut State, text: String) {
    state.table.wrong = Filter::parse(&text).err();
    if state.table.wrong.is_none() {
        state.table.filter = text.trim().to_owned();
    }
    state.table.text = text;
}

/// The header of a column was clicked: it is sorted by that, or the other way.
pub(super) fn sort(state: &mut State, column: TableColumn) {
    let now = state.table.sort;
    // What is largest is looked for first; what has an order of its own is read from its beginning.
    let first = match column {
        TableColumn::Size | TableColumn::Age | TableColumn::Lifetime => SortWay::Descending,
        _ => SortWay::Ascending,
    };
    let other = if now.way == SortWay::Ascending { SortWay::Descending } else { SortWay::Ascending };
    state.table.sort = TableSort { column, way: if now.column == column { other } else { first } };
    state.table.scroll.to(0.0);
}

/// A part of the filter that is given up alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dropped {
    /// The classes of sizes.
    Sizes,
    /// The classes of lives.
    Lives,
    /// The selected node.
    Node,
}

/// A part of the filter is given up.
pub(super) fn drop_filter(state: &mut State, dropped: Dropped) {
    match dropped {
        Dropped::Sizes => state.table.sizes = None,
        Dropped::Lives => state.table.lives = None,
        Dropped::Node => state.views.node = None,
    }
}

/// Sorts by the column after the one that is sorted by.
pub(super) fn sort_by_next(state: &mut State) {
    let all = TableColumn::ALL;
    let place = all.iter().position(|column| *column == state.table.sort.column).map_or(0, |place| place + 1);
    sort(state, all.get(place).copied().unwrap_or(TableColumn::Number));
}

/// All that is in the scope is listed again.
pub(super) fn clear(state: &mut State) {
    let table = &mut state.table;
    (table.text, table.filter, table.wrong, table.sizes, table.lives) = Default::default();
    state.views.node = None;
}

/// How it takes part.
pub(super) const FEATURE: Feature = Feature { reset, asks: &[(Turn::WithScene, ask)], take };

/// Another device: what a person set stays.
fn reset(state: &mut State, change: Change) {
    if change != Change::File {
        let Table { text, filter, wrong, sort, measure, mut scroll, .. } = std::mem::take(&mut state.table);
        scroll.rows = 0;
        scroll.to(0.0);
        state.table = Table { text, filter, wrong, sort, measure, scroll, ..Table::default() };
    }
}

/// Asks for what is to be seen and is not known; the next question waits for the answer to the one before.
fn ask(state: &mut State, device: i64, effects: &mut Vec<Effect>) {
    let is_grid = match state.views.seen() {
        Some(Tab::Table) => true,
        Some(Tab::Histograms) => false,
        _ => return,
    };
    let find = state.find.serial();
    let selected = state.selection.as_deref().map(|selection| selection.allocation);
    let node = state.views.node.map(|node| (state.views.arrangement, node));
    let table = &mut state.table;
    if selected.is_none() && state.selecting.is_none() {
        table.revealed = None;
    }
    let filter = TableFilter { text: table.filter.clone(), node, sizes: table.sizes, lives: table.lives };
    let mut question = TableQuestion {
        scope: state.views.scope,
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
        // What is chosen belongs to the table it was chosen in.
        if is_same && table.chosen.count() > 1 {
            question.chosen = table.chosen.ranges().to_vec();
        }
        // What is selected while another selection is on its way is of no interest.
        let is_settled = state.selecting.is_none();
        question.reveal = selected.filter(|selected| is_settled && table.revealed != Some(*selected));
    } else if let Some(known) = table.answer.question() {
        // The rows that are there stay there.
        (question.rows, question.chosen) = (known.rows, known.chosen.clone());
    }
    let request = |serial, question| Request::Ask(Ask { serial, device, what: Question::Table(Box::new(question)) });
    table.answer.ask(question, &mut state.serial, effects, request);
}

/// Whether two questions are about the same rows in the same order.
fn is_same_table(one: &TableQuestion, other: &TableQuestion) -> bool {
    (one.scope, one.sort) == (other.scope, other.sort) && one.filter == other.filter
}

fn take(state: &mut State, reply: Reply, _: f64, effects: &mut Vec<Effect>) -> Option<Reply> {
    match reply {
        Reply::Answer { serial, answer: protocol::Answer::Table(page) } => take_page(&mut state.table, serial, page),
        Reply::Answer { serial, answer: protocol::Answer::TableText(part) } => take_text(state, serial, part, effects),
        other => return Some(other),
    }
    None
}

/// Takes a part of the table.
fn take_page(table: &mut Table, serial: u32, page: Box<TablePage>) {
    let Some(mut question) = table.answer.answered(serial) else { return };
    let before = table.answer.question();
    if !before.is_some_and(|known| is_same_table(known, &question)) {
        table.chosen = Chosen::default();
        // Its row is elsewhere now; or there may be one. A moment that moves does not scroll.
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

/// A row was clicked, or is gone to by a key: it is chosen, and its allocation selected.
pub(super) fn go_to(state: &mut State, row: u32, extent: Extent, effects: &mut Vec<Effect>) {
    let table = &mut state.table;
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
        // Its row is here already.
        table.revealed = Some(allocation);
        super::pointing::select(state, allocation, effects);
    }
}

/// A key leads from row to row.
pub(super) fn step(state: &mut State, go: Go, extent: Extent, effects: &mut Vec<Effect>) {
    let table = &state.table;
    let Some(last) = table.scroll.rows.checked_sub(1) else { return };
    let row = table.chosen.gone(go, last, &table.scroll);
    go_to(state, row, extent, effects);
}

/// All rows are chosen.
pub(super) fn choose_all(state: &mut State) {
    let rows = state.table.scroll.rows;
    state.table.chosen.all(rows);
}

/// Asks for the chosen rows as text; without any, for all.
pub(super) fn copy(state: &mut State, effects: &mut Vec<Effect>) {
    let Some(device) = state.device().map(|device| device.device) else { return };
    let Some(mut question) = state.table.answer.question().cloned() else { return };
    question.chosen = state.table.chosen.or_all(&state.table.scroll);
    copy_rows(state, question.chosen.clone(), effects, &|serial| {
        Request::Ask(Ask { serial, device, what: Question::TableText(Box::new(question.clone())) })
    });
}

/// Asks for some rows as text, by a request with this serial.
pub(super) fn copy_rows(
    state: &mut State,
    rows: Vec<[u32; 2]>,
    effects: &mut Vec<Effect>,
    request: &dyn Fn(u32) -> Request,
) {
    let wanted = rows.iter().map(|[from, to]| to - from).sum();
    if wanted == 0 {
        state.remark = Some("There is no row to copy.".to_owned());
        return;
    }
    let serial = state.next_serial();
    state.table.copying = Some(Copying { serial, wanted, text: String::new() });
    effects.push(Effect::PromiseCopy);
    effects.push(Effect::Ask(request(serial)));
}

/// Takes the next part of the text.
fn take_text(state: &mut State, serial: u32, part: TableText, effects: &mut Vec<Effect>) {
    let Some(mut copying) = state.table.copying.take_if(|copying| copying.serial == serial) else { return };
    copying.text.push_str(&part.text);
    if !part.last {
        state.table.copying = Some(copying);
        return;
    }
    let mut said = "Copied ".to_owned();
    if part.rows < copying.wanted {
        said.push_str("the first ");
    }
    said.push_str(&counted(part.rows.into(), "row"));
    if part.rows < copying.wanted {
        said.push_str(&format!(" of {}", grid::number(copying.wanted)));
    }
    said.push('.');
    state.table.copied = Some(said);
    effects.push(Effect::CopyPromised(copying.text));
}
