//! Rows of text as they are seen, in the table and in the list of events: their fields and how they are written.

use crate::shared::Shared;
use base::units::{Bytes, grouped};
use engine::protocol::pool_name;

/// A field of a row.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cell {
    pub text: String,
    /// What it is in full; empty where the text says it.
    pub title: String,
}

/// A row that is seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowView {
    pub row: u32,
    /// What it is about: the allocation, or the event of a list of those.
    pub of: u32,
    pub cells: Vec<Cell>,
    /// How it looks: whether it is chosen, selected, found.
    pub class: String,
    /// Whether it is among the chosen rows.
    pub is_chosen: bool,
}

/// What of the table is seen.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Grid {
    /// How many rows there are in all.
    pub count: u32,
    /// CSS pixels of all rows.
    pub all_px: f64,
    /// CSS pixels above the first of `rows`.
    pub rows_px: f64,
    /// What can be seen of them, and a little more.
    pub rows: Vec<RowView>,
    /// The row that keys start from, if it is among them.
    pub active: Option<u32>,
    pub empty: &'static str,
}

pub(crate) fn cell(text: String, title: String) -> Cell {
    Cell { text, title }
}

/// Bytes in short, and to the byte.
pub(crate) fn bytes_cell(bytes: u64) -> Cell {
    cell(Bytes(bytes).to_string(), [&grouped(bytes), " B"].concat())
}

/// A stream, where it is known.
pub(crate) fn stream_cell(stream: Option<u64>) -> Cell {
    let text = stream.map_or_else(nothing_known, |it| if it == 0 { "0".to_owned() } else { hexadecimal(it) });
    cell(text, String::new())
}

/// A pool, where it is known, as the file calls it.
pub(crate) fn pool_cell(shared: &Shared, pool: Option<(u64, u64)>) -> Cell {
    match pool {
        None => cell(nothing_known(), String::new()),
        Some((0, 0)) => cell("default".to_owned(), String::new()),
        Some(pool) => {
            let name = pool_name(shared.file().map_or(&[], |file| &file.pools), pool);
            cell(name.clone(), name)
        }
    }
}

pub(crate) fn nothing_known() -> String {
    "–".to_owned()
}

/// `0x7f00a400`.
pub(crate) fn hexadecimal(value: u64) -> String {
    let mut text = "0x".to_owned();
    text.push_str(&format!("{value:x}"));
    text
}

/// Those of the names that hold.
pub(crate) fn classes(names: &[(bool, &'static str)]) -> String {
    names.iter().filter(|(holds, _)| *holds).map(|(_, name)| *name).collect()
}

/// A number with commas.
pub(crate) fn number(value: u32) -> String {
    grouped(value.into())
}
