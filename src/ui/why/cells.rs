//! What stands in a cell of a report, as text: short for the eye, exact for the title, plain for a spreadsheet.

use crate::engine::protocol::Cell;
use crate::ui::amount::{per_mille, percent};
use crate::units::{Bytes, duration_us, grouped};

/// A cell as it is shown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shown {
    /// In short: `38.1 MiB`.
    pub text: String,
    /// In full, where that is more: `39,951,360 B`; else empty.
    pub exact: String,
    /// Thousandths of the whole, where it is a share.
    pub part: Option<u32>,
}

/// A cell for the eye.
pub fn shown(cell: &Cell) -> Shown {
    let (text, exact) = match cell {
        Cell::Nothing => Default::default(),
        Cell::Text(text) => (text.clone(), text.clone()),
        Cell::Bytes(bytes) => (Bytes(*bytes).to_string(), exact_bytes(*bytes)),
        Cell::Change(change) => {
            let size = change.unsigned_abs();
            (signed(*change, Bytes(size).to_string()), signed(*change, exact_bytes(size)))
        }
        Cell::Count(count) => (grouped(*count), String::new()),
        Cell::Share { whole: 0, .. } => Default::default(),
        Cell::Share { part, whole } => (percent(*part, *whole), grouped(*part) + " of " + &grouped(*whole)),
        Cell::Ratio(ratio) => (percent(millionths(*ratio), MILLION), String::new()),
        Cell::Micros(us) => (duration_us(i64::try_from(*us).unwrap_or(i64::MAX)), grouped(*us) + " µs"),
        Cell::Event(event) => match u64::try_from(*event) {
            Ok(event) => (grouped(event), String::new()),
            Err(_) => ("−1".to_owned(), "before the first event".to_owned()),
        },
    };
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
            let millionths = u128::from(*part) * u128::from(MILLION) / u128::from(*whole);
            quotient(u64::try_from(millionths).unwrap_or(MILLION))
        }
        Cell::Ratio(ratio) => quotient(millionths(*ratio)),
    }
}

const MILLION: u64 = 1_000_000;

/// A quotient in millionths; what is none is 0.
fn millionths(ratio: f64) -> u64 {
    (ratio * MILLION as f64).round() as u64
}

fn quotient(millionths: u64) -> String {
    format!("{}.{:06}", millionths / MILLION, millionths % MILLION)
}

fn exact_bytes(bytes: u64) -> String {
    grouped(bytes) + " B"
}

fn signed(change: i64, size: String) -> String {
    let sign = match change {
        0 => "",
        1.. => "+",
        _ => "−",
    };
    sign.to_owned() + &size
}
