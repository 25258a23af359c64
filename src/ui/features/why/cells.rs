//! What stands in a cell of a report, beside what `cell_text` makes of it: for the eye, and plain for a spreadsheet.

use crate::amount::per_mille;
use crate::cell_text::{exact, short};
use engine::protocol::Cell;

/// A cell as it is shown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shown {
    /// In short: `38.1 MiB`.
    pub text: String,
    /// In full, where that is more or may be cut: `39,951,360 B`; else empty.
    pub exact: String,
    /// Thousandths of the whole, where it is a share.
    pub part: Option<u32>,
}

/// A cell for the eye.
pub fn shown(cell: &Cell) -> Shown {
    let (text, mut exact) = (short(cell), exact(cell));
    if text == exact && !matches!(cell, Cell::Text(_)) {
        exact.clear();
    }
    let part = match *cell {
        Cell::Share { part, whole } if whole > 0 => Some(per_mille(part, whole)),
        _ => None,
    };
    Shown { text, exact, part }
}

/// A cell for a spreadsheet: plain numbers, bytes as bytes and times in µs, shares and quotients from 0 to 1 with six places.
pub fn plain(cell: &Cell) -> String {
    match cell {
        Cell::Nothing | Cell::Share { whole: 0, .. } => String::new(),
        // A cell is one cell of one line.
        Cell::Text(text) => text.replace(['\t', '\n', '\r'], " "),
        Cell::Bytes(number) | Cell::Count(number) | Cell::Micros(number) => number.to_string(),
        Cell::Change(number) | Cell::Event(number) => number.to_string(),
        Cell::Share { part, whole } => {
            let whole = u128::from(*whole);
            let millionths = (u128::from(*part) * 2 * u128::from(MILLION) + whole) / (2 * whole);
            quotient(u64::try_from(millionths).unwrap_or(MILLION))
        }
        Cell::Ratio(ratio) => quotient((ratio * MILLION as f64).round() as u64),
    }
}

const MILLION: u64 = 1_000_000;

/// A quotient in millionths.
fn quotient(millionths: u64) -> String {
    let digits = (millionths % MILLION + MILLION).to_string();
    let places = digits.get(1..).unwrap_or_default();
    [&(millionths / MILLION).to_string(), ".", places].concat()
}
