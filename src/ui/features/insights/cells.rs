//! Formatting of report cells for the page and for spreadsheets.

use crate::text::amount::per_mille;
use crate::text::cell_text::{exact, short};
use protocol::Cell;

/// A cell of a report table, formatted for the page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CellView {
    /// Abbreviated text: `38.1 MiB`.
    pub text: String,
    /// Full text, such as `39,951,360 B`. Empty if `text` is already complete and cannot be cut off.
    pub exact: String,
    /// Length in bytes of the beginning of a name that is cut first. 0 for other texts.
    pub shared: usize,
    /// Share in thousandths. `None` if the cell is not a share.
    pub per_mille: Option<u32>,
}

/// Formats a cell for the page.
pub fn cell_view(cell: &Cell) -> CellView {
    let (text, mut exact) = (short(cell), exact(cell));
    if text == exact && !matches!(cell, Cell::Text(_)) {
        exact.clear();
    }
    let per_mille = match *cell {
        Cell::Share { part, whole } if whole > 0 => Some(per_mille(part, whole)),
        _ => None,
    };
    CellView { text, exact, shared: 0, per_mille }
}

/// Formats a cell for a spreadsheet: plain numbers, bytes, times in µs. Shares and ratios have six decimals.
pub fn spreadsheet_text(cell: &Cell) -> String {
    match cell {
        Cell::Empty | Cell::Share { whole: 0, .. } => String::new(),
        // A cell must not contain separators.
        Cell::Text(text) => text.replace(['\t', '\n', '\r'], " "),
        Cell::Bytes(number) | Cell::Count(number) | Cell::Micros(number) => number.to_string(),
        Cell::Change(number) | Cell::Event(number) => number.to_string(),
        Cell::Share { part, whole } => {
            let whole = u128::from(*whole);
            let millionths = (u128::from(*part) * 2 * u128::from(MILLION) + whole) / (2 * whole);
            format_ratio(u64::try_from(millionths).unwrap_or(MILLION))
        }
        Cell::Ratio(ratio) => format_ratio((ratio * MILLION as f64).round() as u64),
    }
}

const MILLION: u64 = 1_000_000;

/// Formats a ratio that is given in millionths.
fn format_ratio(millionths: u64) -> String {
    let digits = (millionths % MILLION + MILLION).to_string();
    let places = digits.get(1..).unwrap_or_default();
    [&(millionths / MILLION).to_string(), ".", places].concat()
}
