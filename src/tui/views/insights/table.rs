//! Formats a table of a report.

use crate::app::App;
use crate::text::{Line, Tone, align_left, align_right, truncate, width, wrap};
use base::units::Bytes;
use protocol::Tone as Said;
use ui::features::insights::cells::CellView;
use ui::features::insights::view::{ColumnKind, SheetRowView, SheetView, StackView};
use ui::text::names::shorten;

/// Maximum width of a text column or a heading, in cells.
const MAX_TEXT_WIDTH: usize = 26;
/// Minimum width of the name column in cells.
const MIN_NAME_WIDTH: usize = 14;
/// Gap between columns in cells.
const GAP: usize = 2;

fn text_of<'a>(app: &App, cell: &'a CellView) -> &'a str {
    if app.is_exact && !cell.exact.is_empty() && cell.per_mille.is_none() { &cell.exact } else { &cell.text }
}

/// Formats a table. Returns each line with the index of its row, or `None` for a heading.
pub(super) fn table(app: &App, sheet: &SheetView, cells: usize) -> Vec<(Option<usize>, Line)> {
    let mut lines: Vec<(Option<usize>, Line)> = vec![(None, Line::default())];
    let folded = if sheet.is_collapsed { "▸ " } else { "▾ " };
    lines.push((None, Line::new([folded, &sheet.title].concat(), Tone::Strong)));
    if sheet.is_collapsed {
        return lines;
    }
    let note = |text: &str| {
        wrap(text, cells.saturating_sub(2))
            .into_iter()
            .filter(|it| !it.is_empty())
            .map(|it| (None, Line::new(["  ", &it].concat(), Tone::Soft)))
            .collect::<Vec<_>>()
    };
    lines.extend(note(&sheet.note));
    if let Some((threshold, short)) = &sheet.threshold {
        let short = if short.is_empty() { String::new() } else { format!(" ({})", Bytes(threshold.value)) };
        lines.extend(note(&[&ui::text::cell_text::threshold_text(threshold), short.as_str()].concat()));
    }
    let widths = widths(app, sheet, cells);
    let is_visible = |index: usize| widths.get(index).is_some_and(|wide| *wide > 0);
    let mut head = Line::new("  ", Tone::Soft);
    for (index, (name, kind)) in sheet.columns.iter().enumerate().filter(|(index, _)| is_visible(*index)) {
        let wide = widths.get(index).copied().unwrap_or(0);
        head = head.with([aligned(name, *kind, wide), " ".repeat(GAP)].concat(), Tone::Soft);
    }
    if !sheet.rows.is_empty() {
        lines.push((None, head));
    }
    for row in &sheet.rows {
        lines.push((Some(row.index), row_line(app, sheet, row, &widths)));
        if let StackView::Visible(frames, place) = &row.stack {
            if !place.is_empty() {
                let place = Line::new(["      ", place, " (s, S)"].concat(), Tone::Accent);
                lines.push((Some(row.index), place));
            }
            lines.extend(
                frames.iter().map(|frame| (Some(row.index), Line::new(["      ", frame].concat(), Tone::Soft))),
            );
        }
    }
    if !sheet.total.is_empty() {
        let mut line = Line::new("  ", Tone::Strong);
        for (index, (cell, (_, kind))) in
            sheet.total.iter().zip(&sheet.columns).enumerate().filter(|(index, _)| is_visible(*index))
        {
            let wide = widths.get(index).copied().unwrap_or(0);
            line = line.with([aligned(text_of(app, cell), *kind, wide), " ".repeat(GAP)].concat(), Tone::Strong);
        }
        lines.push((None, line));
    }
    let more = if sheet.more.is_empty() { &sheet.not_shown } else { &sheet.more };
    if !more.is_empty() {
        let key = if sheet.more.is_empty() { "" } else { " (m)" };
        lines.push((None, Line::new(["  ", more, key].concat(), Tone::Accent)));
    }
    lines
}

fn aligned(text: &str, kind: ColumnKind, cells: usize) -> String {
    match kind {
        ColumnKind::Number | ColumnKind::Share => align_right(&truncate(text, cells), cells),
        ColumnKind::Name | ColumnKind::Text => align_left(text, cells),
    }
}

fn row_line(app: &App, sheet: &SheetView, row: &SheetRowView, widths: &[usize]) -> Line {
    let sign_of = match (&row.stack, row.tone) {
        (_, Said::Alarm) => "⚠ ",
        (StackView::Hidden, _) => "▸ ",
        (StackView::Visible(..), _) => "▾ ",
        _ => "  ",
    };
    let mut line = Line::new(sign_of, if row.tone == Said::Alarm { Tone::Alarm } else { Tone::Soft });
    for (at, ((cell, _), (_, kind))) in row.cells.iter().zip(&sheet.columns).enumerate() {
        let Some(wide) = widths.get(at).copied().filter(|wide| *wide > 0) else { continue };
        let text = text_of(app, cell);
        let indent = if *kind == ColumnKind::Name { "  ".repeat(row.depth as usize) } else { String::new() };
        let text = match cell.shared {
            0 => text.to_owned(),
            shared => shorten(text, shared, wide.saturating_sub(indent.len())),
        };
        let text = indent + &text;
        line = line.with([aligned(&text, *kind, wide), " ".repeat(GAP)].concat(), Tone::Plain);
    }
    line
}

/// Returns the width of each column, or 0 for columns that do not fit. The name column takes the remaining width.
fn widths(app: &App, sheet: &SheetView, cells: usize) -> Vec<usize> {
    let column_width = |at: usize| {
        let cells = sheet.rows.iter().filter_map(|row| row.cells.get(at)).map(|(cell, _)| width(text_of(app, cell)));
        let total = sheet.total.get(at).map(|cell| width(text_of(app, cell)));
        cells.chain(total).max().unwrap_or(0)
    };
    let mut available = cells.saturating_sub(2);
    let name = sheet.columns.iter().position(|(_, kind)| *kind == ColumnKind::Name);
    let deepest = sheet.rows.iter().map(|row| 2 * row.depth as usize).max().unwrap_or(0);
    if name.is_some() {
        available = available.saturating_sub(MIN_NAME_WIDTH + GAP);
    }
    let mut widths = vec![0; sheet.columns.len()];
    for (at, (label, kind)) in sheet.columns.iter().enumerate().filter(|(at, _)| Some(*at) != name) {
        let max_width = if *kind == ColumnKind::Text { MAX_TEXT_WIDTH } else { usize::MAX };
        let wanted = column_width(at).max(width(label).min(MAX_TEXT_WIDTH)).clamp(1, max_width.max(1));
        if let (Some(left), Some(place)) = (available.checked_sub(wanted + GAP), widths.get_mut(at)) {
            (available, *place) = (left, wanted);
        }
    }
    if let Some(place) = name.and_then(|name| widths.get_mut(name)) {
        let label = name.and_then(|name| sheet.columns.get(name)).map_or(0, |(label, _)| width(label));
        *place =
            (MIN_NAME_WIDTH + available).min((name.map_or(0, column_width) + deepest).max(label).max(MIN_NAME_WIDTH));
    }
    widths
}
