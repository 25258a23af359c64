//! Text tables, fitted to the width of a terminal. In pipes and files, columns have their natural width.
//!
//! Numbers are never truncated. Names are truncated in the middle, or wrapped if truncated names would be identical.
//! Columns that still do not fit continue on additional lines of the row.

use super::output::printable;
use super::terminal::{fitting_prefix, line_width, text_width, wrap};
use std::collections::{BTreeMap, BTreeSet};

/// Minimum width to which a name column is reduced.
const MIN_NAME: usize = 16;
/// Number of spaces between columns.
const GAP: usize = 2;
/// Indent of the additional lines of a row.
const CONTINUATION_INDENT: usize = 4;
/// Minimum length of a common prefix that is removed from names.
const MIN_SHARED: usize = 8;

/// A column of a table.
#[derive(Clone, Debug)]
pub(crate) struct Column {
    heading: String,
    is_number: bool,
    /// True if cells are never truncated or wrapped.
    is_uncut: bool,
    /// Minimum width of the column if the table is not fitted to a terminal.
    min: usize,
    /// Maximum width of the column if the table is not fitted to a terminal. Longer cells overflow.
    max: usize,
}

/// Creates right-aligned columns of numbers, with heading and minimum width, followed by left-aligned columns of names.
pub(crate) fn columns<const N: usize, const M: usize>(numbers: [(&str, usize); N], names: [&str; M]) -> Vec<Column> {
    let numbers = numbers.into_iter().map(|(heading, min)| number_column(heading, min));
    numbers.chain(names.into_iter().map(name_column)).collect()
}

/// Creates a right-aligned column of numbers.
pub(crate) fn number_column(heading: impl Into<String>, min: usize) -> Column {
    Column { heading: printable(&heading.into()), is_number: true, is_uncut: true, min, max: usize::MAX }
}

/// Creates a left-aligned column of names.
pub(crate) fn name_column(heading: impl Into<String>) -> Column {
    Column { heading: printable(&heading.into()), is_number: false, is_uncut: false, min: 0, max: usize::MAX }
}

impl Column {
    /// Prevents the cells of the column from being truncated or wrapped, and sets its minimum width.
    pub(crate) fn uncut(self, min: usize) -> Column {
        Column { is_uncut: true, min, ..self }
    }

    /// Limits the width of the column if the table is not fitted to a terminal. Longer cells overflow.
    pub(crate) fn max_width(self, max: usize) -> Column {
        Column { max, ..self }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Table {
    columns: Vec<Column>,
    rows: Vec<Vec<String>>,
    indent: usize,
}

/// Columns that are printed on the same line. A row takes one line, or more if cells are wrapped, for each band.
struct Band {
    indent: usize,
    columns: Vec<PlacedColumn>,
}

/// Position and contents of a column in a band.
struct PlacedColumn {
    at: usize,
    width: usize,
    /// Lines of each cell. The first cell is the heading.
    cells: Vec<Vec<String>>,
}

impl Table {
    /// Creates an empty table, indented by `indent`.
    pub(crate) fn new(indent: usize, columns: impl Into<Vec<Column>>) -> Table {
        Table { columns: columns.into(), rows: Vec::new(), indent }
    }

    /// Adds a row. Control characters in its cells are replaced.
    pub(crate) fn push<S: AsRef<str>>(&mut self, cells: impl IntoIterator<Item = S>) {
        self.rows.push(cells.into_iter().map(|cell| printable(cell.as_ref())).collect());
    }

    /// Formats the table, fitted to the width of standard output.
    pub(crate) fn text(&self) -> String {
        self.texts().concat()
    }

    /// Formats the table after an empty line. Returns an empty string if it has no rows.
    pub(crate) fn paragraph(&self) -> String {
        if self.rows.is_empty() { String::new() } else { "\n".to_owned() + &self.text() }
    }

    /// Formats the table as Markdown.
    pub(crate) fn markdown(&self) -> String {
        let line = |cells: &mut dyn Iterator<Item = &String>| {
            let cells: Vec<String> = cells.map(|cell| cell.replace('|', "\\|")).collect();
            format!("| {} |\n", cells.join(" | "))
        };
        let rule: String = self.columns.iter().map(|column| if column.is_number { "|--:" } else { "|---" }).collect();
        let head = line(&mut self.columns.iter().map(|column| &column.heading)) + &rule + "|\n";
        head + &self.rows.iter().map(|row| line(&mut row.iter())).collect::<String>()
    }

    /// Formats the headings and each row, fitted to the width of standard output.
    pub(crate) fn texts(&self) -> Vec<String> {
        self.texts_in(line_width())
    }

    fn texts_in(&self, width: Option<usize>) -> Vec<String> {
        let headings: Vec<String> = self.columns.iter().map(|column| column.heading.clone()).collect();
        let lines: Vec<&Vec<String>> = std::iter::once(&headings).chain(&self.rows).collect();
        let cells = |index: usize| -> Vec<&str> {
            lines.iter().map(|line| line.get(index).map_or("", String::as_str)).collect()
        };
        let natural: Vec<usize> = (0..self.columns.len()).map(|index| widest(&cells(index))).collect();
        let mut bands = self.bands(&natural, width);
        for placed in bands.iter_mut().flat_map(|band| &mut band.columns) {
            let column = cells(placed.at);
            let is_cut = width.is_some() && widest(&column) > placed.width && !self.is_uncut(placed.at);
            placed.cells = match is_cut {
                true => shorten_cells(&column, placed.width),
                false => column.iter().map(|cell| vec![(*cell).to_owned()]).collect(),
            };
        }
        let text = |line: usize| bands.iter().map(|band| self.text_of(band, line)).collect();
        (0..lines.len()).map(text).collect()
    }

    fn is_uncut(&self, index: usize) -> bool {
        self.columns.get(index).is_some_and(|column| column.is_uncut)
    }

    /// Formats the cells of a row that belong to a band.
    fn text_of(&self, band: &Band, line: usize) -> String {
        let cell =
            |placed: &PlacedColumn, part: usize| placed.cells.get(line).and_then(|lines| lines.get(part).cloned());
        let height = band.columns.iter().filter_map(|placed| placed.cells.get(line)).map(Vec::len).max().unwrap_or(0);
        let mut text = String::new();
        for part in 0..height {
            let mut words = " ".repeat(band.indent);
            for (place, placed) in band.columns.iter().enumerate() {
                let cell = cell(placed, part).unwrap_or_default();
                let padding = " ".repeat(placed.width.saturating_sub(text_width(&cell)));
                let is_number = self.columns.get(placed.at).is_some_and(|column| column.is_number);
                words += &" ".repeat(if place == 0 { 0 } else { GAP });
                words += &if is_number { padding + &cell } else { cell + &padding };
            }
            text += words.trim_end();
            text.push('\n');
        }
        text
    }

    /// Distributes the columns over as few bands as possible. `natural` are the widths of the columns' contents.
    fn bands(&self, natural: &[usize], width: Option<usize>) -> Vec<Band> {
        let full = self.columns.iter().zip(natural).map(|(column, &natural)| natural.min(column.max).max(column.min));
        let full: Vec<usize> = full.collect();
        let sum = |widths: &[usize]| widths.iter().sum::<usize>() + GAP * widths.len().saturating_sub(1);
        let longest = |widths: &[usize]| self.indent + sum(widths);
        let placed = |(at, width)| PlacedColumn { at, width, cells: Vec::new() };
        let stands_out = natural.iter().zip(&full).any(|(natural, full)| natural > full);
        match width {
            Some(width) if stands_out || longest(&full) > width => {}
            _ => {
                return vec![Band { indent: self.indent, columns: full.into_iter().enumerate().map(placed).collect() }];
            }
        }
        let width = width.unwrap_or(usize::MAX);
        let min_width = |at: usize| {
            let natural = natural.get(at).copied().unwrap_or(0);
            if self.is_uncut(at) { natural } else { natural.min(MIN_NAME) }
        };
        let mut bands = vec![Band { indent: self.indent, columns: Vec::new() }];
        for at in 0..self.columns.len() {
            let available =
                |band: &Band| band.indent + band.columns.iter().map(|placed| placed.width + GAP).sum::<usize>();
            let is_full =
                bands.last().is_some_and(|band| !band.columns.is_empty() && available(band) + min_width(at) > width);
            if is_full {
                bands.push(Band { indent: self.indent + CONTINUATION_INDENT, columns: Vec::new() });
            }
            bands.last_mut().into_iter().for_each(|band| band.columns.push(placed((at, min_width(at)))));
        }
        for band in &mut bands {
            let used: Vec<usize> = band.columns.iter().map(|placed| placed.width).collect();
            let spare = width.saturating_sub(band.indent + sum(&used));
            widen(band, spare, |at| natural.get(at).copied().filter(|_| !self.is_uncut(at)).unwrap_or(0));
        }
        bands
    }
}

/// Distributes unused width among the columns of a band, so that the narrowest columns fit completely first.
fn widen(band: &mut Band, spare: usize, natural: impl Fn(usize) -> usize) {
    let needs = |cap: usize| -> usize {
        band.columns.iter().map(|placed| natural(placed.at).min(cap).saturating_sub(placed.width)).sum()
    };
    let max_width = band.columns.iter().map(|placed| natural(placed.at)).max().unwrap_or(0);
    let (mut low, mut high) = (0, max_width);
    while low < high {
        let middle = low + (high - low).div_ceil(2);
        if needs(middle) <= spare { low = middle } else { high = middle - 1 }
    }
    for placed in &mut band.columns {
        placed.width = placed.width.max(natural(placed.at).min(low));
    }
}

fn widest(cells: &[&str]) -> usize {
    cells.iter().map(|cell| text_width(cell)).max().unwrap_or(0)
}

/// Shortens the cells of a column to a width. Removes a prefix that all long cells share, then truncates in the middle.
/// Cells that would become identical are wrapped instead.
fn shorten_cells(cells: &[&str], width: usize) -> Vec<Vec<String>> {
    let long: BTreeSet<&str> = cells.iter().copied().filter(|cell| text_width(cell) > width).collect();
    let shared = shared_prefix_bytes(&long);
    let cut: Vec<String> = cells
        .iter()
        .map(|cell| if long.contains(cell) { shorten(cell, shared, width) } else { (*cell).to_owned() })
        .collect();
    let mut shortened: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (cell, cut) in cells.iter().zip(&cut) {
        shortened.entry(cut).or_default().insert(cell);
    }
    let lines = |(cell, cut): (&&str, &String)| match shortened.get(cut.as_str()).map_or(0, BTreeSet::len) {
        0 | 1 => vec![cut.clone()],
        _ => wrap(cell, width),
    };
    cells.iter().zip(&cut).map(lines).collect()
}

/// Returns the length in bytes of the longest common prefix that ends at a folder or word boundary. Returns 0 if the
/// prefix is too short to remove.
fn shared_prefix_bytes(texts: &BTreeSet<&str>) -> usize {
    // The texts are sorted, so the prefix of the first and the last one is shared by all.
    let (Some(first), Some(last)) = (texts.first(), texts.last()) else { return 0 };
    let common = first.char_indices().zip(last.chars()).take_while(|((_, one), other)| one == other);
    let end = common.filter(|((_, letter), _)| matches!(letter, '/' | '\\' | ' ')).last();
    let end = end.map_or(0, |((at, letter), _)| at + letter.len_utf8());
    // Leading spaces are the indent of a tree and must stay.
    if texts.len() < 2 || end < MIN_SHARED || first.starts_with(' ') { 0 } else { end }
}

/// Shortens a text to a width. Removes the first `shared` bytes if that is enough, otherwise truncates in the middle.
fn shorten(text: &str, shared: usize, width: usize) -> String {
    let rest = if shared > 0 { ["…", text.get(shared..).unwrap_or(text)].concat() } else { text.to_owned() };
    if text_width(&rest) <= width {
        return rest;
    }
    let available = width.saturating_sub(1);
    let head = fitting_prefix(&rest, available / 2);
    // The tail gets the remaining width.
    let mut tail = rest.len();
    for (at, _) in rest.char_indices().rev() {
        if text_width(rest.get(at..).unwrap_or_default()) > available - available / 2 {
            break;
        }
        tail = at;
    }
    [rest.get(..head).unwrap_or_default(), "…", rest.get(tail.max(head)..).unwrap_or_default()].concat()
}

#[cfg(test)]
#[path = "../../tests/units/cli/table.rs"]
mod tests;
