//! Cells of the rows in the list of allocations and in the list of events.

use crate::state::shared::Shared;
use crate::text::names::shared_beginnings;
use base::units::{Bytes, group_digits};
use protocol::pool_name;

/// A cell of a row in a list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cell {
    pub text: String,
    /// Tooltip with the full value. Empty if `text` is already complete.
    pub title: String,
    /// Length in bytes of the beginning of a name that is cut first, see [`shared_beginnings`]. 0 for other texts.
    pub shared: usize,
}

/// A rendered row of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowView {
    pub row: u32,
    /// Id of the row's allocation, or index of its event.
    pub item: u32,
    pub cells: Vec<Cell>,
    /// CSS classes of the row, such as `chosen`, `selected` and `found`.
    pub class: String,
    pub is_chosen: bool,
}

/// The visible part of a list.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Grid {
    /// Total number of rows.
    pub count: u32,
    /// Height of all rows, in CSS pixels.
    pub total_px: f64,
    /// Offset of the first rendered row, in CSS pixels.
    pub offset_px: f64,
    /// The rendered rows: the visible ones, and a few above and below.
    pub rows: Vec<RowView>,
    /// Index of the row that arrow keys start from, if it is rendered.
    pub active: Option<u32>,
    pub empty: &'static str,
}

pub(crate) fn cell(text: String, title: String) -> Cell {
    Cell { text, title, shared: 0 }
}

/// Sets the beginnings that the names in a column share.
pub(crate) fn set_shared_beginnings(rows: &mut [RowView], column: usize) {
    let name = |row: &RowView| row.cells.get(column).map_or_else(String::new, |cell| cell.text.clone());
    let names: Vec<String> = rows.iter().map(name).collect();
    let shared = shared_beginnings(&names.iter().map(String::as_str).collect::<Vec<&str>>());
    for (row, shared) in rows.iter_mut().zip(shared) {
        row.cells.get_mut(column).into_iter().for_each(|cell| cell.shared = shared);
    }
}

/// Creates a cell with bytes in three significant digits, and the exact bytes as its tooltip.
pub(crate) fn bytes_cell(bytes: u64) -> Cell {
    cell(Bytes(bytes).to_string(), [&group_digits(bytes), " B"].concat())
}

/// Creates a cell with a stream handle, or a dash if the stream is unknown.
pub(crate) fn stream_cell(stream: Option<u64>) -> Cell {
    let text = stream.map_or_else(dash, |it| if it == 0 { "0".to_owned() } else { hexadecimal(it) });
    cell(text, String::new())
}

/// Creates a cell with the pool's name, or a dash if the pool is unknown.
pub(crate) fn pool_cell(shared: &Shared, pool: Option<(u64, u64)>) -> Cell {
    match pool {
        None => cell(dash(), String::new()),
        Some((0, 0)) => cell("default".to_owned(), String::new()),
        Some(pool) => {
            let name = pool_name(shared.file().map_or(&[], |file| &file.pools), pool);
            cell(name.clone(), name)
        }
    }
}

pub(crate) fn dash() -> String {
    "–".to_owned()
}

/// Formats an address, such as `0x7f00a400`.
pub(crate) fn hexadecimal(value: u64) -> String {
    let mut text = "0x".to_owned();
    text.push_str(&format!("{value:x}"));
    text
}

/// Joins the CSS class names whose flag is true.
pub(crate) fn classes(names: &[(bool, &'static str)]) -> String {
    names.iter().filter(|(condition, _)| *condition).map(|(_, name)| *name).collect()
}

/// Formats a number with thousands separators.
pub(crate) fn number(value: u32) -> String {
    group_digits(value.into())
}
