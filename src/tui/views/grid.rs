//! Draws lists with columns: allocations and events.

use super::rows::{body, draw_empty, foot_row, lines};
use crate::app::App;
use crate::text::{Line, Tone, align_left, align_right, width, write_line, write_row};
use protocol::{ColumnKind, SortDirection, TableColumn};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ui::features::rows::{Cell, Grid, RowView};
use ui::features::{events, table};
use ui::text::names::shorten;

/// Layout of the columns of a list.
struct Columns {
    names: Vec<String>,
    /// Index of the column that takes the remaining width.
    name_column: usize,
    /// Indices of the columns that are hidden on narrow screens, in this order.
    drop_order: Vec<usize>,
    /// Indices of the left-aligned columns, which contain names and addresses.
    left_aligned: Vec<usize>,
}

/// Minimum width of the name column in cells.
const MIN_NAME_WIDTH: usize = 18;
/// Columns of allocations that are hidden on narrow screens, in this order.
const DROP_ORDER: [TableColumn; 6] = [
    TableColumn::Stream,
    TableColumn::Pool,
    TableColumn::Freed,
    TableColumn::Address,
    TableColumn::Age,
    TableColumn::Allocated,
];
const LEFT_ALIGNED: [ColumnKind; 4] = [ColumnKind::CallSite, ColumnKind::Text, ColumnKind::Address, ColumnKind::Pool];

pub(crate) fn allocations(app: &App, buffer: &mut Buffer, pane: Rect) {
    let state = &app.state;
    let grid = table::grid(&state.table, state);
    let sort = state.table.sort;
    let names = TableColumn::ALL.into_iter().map(|column| {
        let (name, arrow) = (column.texts().title, if sort.direction == SortDirection::Ascending { "▲" } else { "▼" });
        if column == sort.column { [name, arrow].concat() } else { name.to_owned() }
    });
    let positions = |listed: fn(TableColumn) -> bool| {
        TableColumn::ALL.into_iter().filter(move |column| listed(*column)).map(|column| column as usize)
    };
    // Columns that were added later are hidden first.
    let added = positions(|column| column as usize > TableColumn::Lifetime as usize);
    let columns = Columns {
        names: names.collect(),
        name_column: TableColumn::CallSite as usize,
        drop_order: added.chain(DROP_ORDER.map(|column| column as usize)).collect(),
        left_aligned: positions(|column| LEFT_ALIGNED.contains(&column.texts().kind)).collect(),
    };
    let status = table::status(&state.table, state);
    let filter = if state.table.text.is_empty() { String::new() } else { [" · filter: ", &state.table.text].concat() };
    let status_text = if app.is_exact && !status.exact.is_empty() { status.exact } else { status.text };
    draw(app, buffer, pane, &grid, &columns, &[status_text, filter].concat(), status.is_error);
}

pub(crate) fn events(app: &App, buffer: &mut Buffer, pane: Rect) {
    let state = &app.state;
    let grid = events::grid(&state.events, state);
    let all = || events::COLUMNS.iter().zip(0..);
    let mut hidden: Vec<_> = all().filter_map(|(column, index)| Some((column.hidden?, index))).collect();
    hidden.sort_unstable();
    let columns = Columns {
        names: all().map(|(column, _)| column.title.to_owned()).collect(),
        name_column: events::SITE_COLUMN,
        drop_order: hidden.into_iter().map(|(_, index)| index).collect(),
        left_aligned: all().filter(|(column, _)| column.is_text).map(|(_, index)| index).collect(),
    };
    let status = events::status(&state.events);
    let filter =
        if state.events.text.is_empty() { String::new() } else { [" · filter: ", &state.events.text].concat() };
    draw(app, buffer, pane, &grid, &columns, &[status.text, filter].concat(), status.is_error);
}

fn text<'a>(app: &App, cell: &'a Cell) -> &'a str {
    if app.is_exact && cell.title.ends_with(" B") { &cell.title } else { &cell.text }
}

fn widths(app: &App, grid: &Grid, columns: &Columns, cells: usize) -> Vec<usize> {
    let column_width = |at: usize, name: &String| {
        let cells = grid.rows.iter().filter_map(|row| row.cells.get(at)).map(|cell| width(text(app, cell)));
        cells.max().unwrap_or(0).max(width(name))
    };
    let mut widths: Vec<usize> = columns.names.iter().enumerate().map(|(at, name)| column_width(at, name)).collect();
    let others = |widths: &[usize]| -> usize {
        let others = widths.iter().enumerate().filter(|(at, wide)| *at != columns.name_column && **wide > 0);
        others.map(|(_, wide)| wide + 2).sum()
    };
    for dropped in &columns.drop_order {
        if others(&widths) + MIN_NAME_WIDTH <= cells {
            break;
        }
        widths.get_mut(*dropped).into_iter().for_each(|wide| *wide = 0);
    }
    let rest = cells.saturating_sub(others(&widths) + 2);
    widths.get_mut(columns.name_column).into_iter().for_each(|wide| *wide = (*wide).min(rest));
    widths
}

fn line(columns: &Columns, widths: &[usize], cell: impl Fn(usize) -> String, tone: Tone) -> Line {
    let mut line = Line::default();
    for (index, wide) in widths.iter().enumerate().filter(|(_, wide)| **wide > 0) {
        let text = cell(index);
        let text =
            if columns.left_aligned.contains(&index) { align_left(&text, *wide) } else { align_right(&text, *wide) };
        line = line.with([&text, "  "].concat(), tone);
    }
    line
}

fn draw(app: &App, buffer: &mut Buffer, pane: Rect, grid: &Grid, columns: &Columns, status_text: &str, is_wrong: bool) {
    let widths = widths(app, grid, columns, usize::from(pane.width));
    let head = line(columns, &widths, |at| columns.names.get(at).cloned().unwrap_or_default(), Tone::Soft);
    write_row(buffer, pane, 0, &head);
    let area = body(pane);
    if !grid.empty.is_empty() {
        draw_empty(buffer, area, grid.empty);
    }
    let first = grid.rows.first().map_or(0, |row| row.row);
    let above = if pane.is_empty() { 0 } else { scroll_above(app) };
    let skipped = above.saturating_sub(first) as usize;
    let has_focus = super::rows::has_focus(app);
    let shown: Vec<Line> = grid
        .rows
        .iter()
        .skip(skipped)
        .take(usize::from(area.height))
        .map(|row| {
            let tone = tone(row);
            let cell = |at: usize| match row.cells.get(at) {
                Some(cell) if cell.shared > 0 => shorten(&cell.text, cell.shared, widths.get(at).copied().unwrap_or(0)),
                cell => cell.map(|cell| text(app, cell).to_owned()).unwrap_or_default(),
            };
            line(columns, &widths, cell, tone).active_if(has_focus && (row.is_chosen || grid.active == Some(row.row)))
        })
        .collect();
    lines(buffer, area, &shown, 0);
    if let Some(foot) = foot_row(pane) {
        let active = grid.active.and_then(|active| grid.rows.iter().find(|row| row.row == active));
        let exact = active.map(exact).filter(|it| !it.is_empty()).map_or_else(String::new, |it| [" · ", &it].concat());
        let tone = if is_wrong { Tone::Alarm } else { Tone::Soft };
        write_line(buffer, foot, &Line::new([status_text, &exact].concat(), tone));
    }
}

fn scroll_above(app: &App) -> u32 {
    let scroll = match app.state.views.tab {
        ui::text::tab::Tab::Events => &app.state.events.scroll,
        _ => &app.state.table.scroll,
    };
    scroll.rows_above().round().max(0.0) as u32
}

/// Returns exact values that the cells of a row abbreviate, such as bytes and times.
fn exact(row: &RowView) -> String {
    let more = row.cells.iter().filter(|cell| !cell.title.is_empty() && cell.title != cell.text);
    more.map(|cell| cell.title.as_str()).collect::<Vec<_>>().join(" · ")
}

fn tone(row: &RowView) -> Tone {
    let is = |class: &str| row.class.split(' ').any(|it| it == class);
    if is("oom") {
        Tone::Alarm
    } else if is("found") || is("selected") || is("now") {
        Tone::Accent
    } else {
        Tone::Plain
    }
}
