//! What stands in a cell of a report's sheet, as text: for the page, for Markdown and for the terminal alike.

use super::amount::percent;
use base::units::{Bytes, duration_us, grouped};
use engine::protocol::{Cell, Sheet, SheetRow, Threshold};

/// A cell to the last byte: `39,951,360 B`. Nothing is an empty text.
pub fn exact(cell: &Cell) -> String {
    match cell {
        Cell::Nothing => String::new(),
        Cell::Text(text) => text.clone(),
        Cell::Bytes(bytes) => grouped(*bytes) + " B",
        Cell::Change(bytes) => signed(*bytes, &(grouped(bytes.unsigned_abs()) + " B")),
        Cell::Count(count) => grouped(*count),
        Cell::Share { whole: 0, .. } => String::new(),
        Cell::Share { part, whole } => percent(*part, *whole),
        // In thousandths, so that no float is written.
        Cell::Ratio(ratio) => percent((ratio.clamp(0.0, 1.0) * 1e6) as u64, 1_000_000),
        Cell::Micros(us) => duration_us(i64::try_from(*us).unwrap_or(i64::MAX)),
        Cell::Event(event) if *event < 0 => "before the first".to_owned(),
        Cell::Event(event) => grouped(event.unsigned_abs()),
    }
}

/// A cell with three digits where those do: `38.1 MiB`.
pub fn short(cell: &Cell) -> String {
    match cell {
        Cell::Bytes(bytes) => Bytes(*bytes).to_string(),
        Cell::Change(bytes) => signed(*bytes, &Bytes(bytes.unsigned_abs()).to_string()),
        other => exact(other),
    }
}

fn signed(value: i64, text: &str) -> String {
    let sign = match value {
        ..0 => "−",
        0 => "",
        1.. => "+",
    };
    [sign, text].concat()
}

/// Whether a column holds numbers, which stand at the right.
pub fn is_of_numbers(sheet: &Sheet, column: usize) -> bool {
    let mut cells = sheet.rows.iter().filter_map(|row| row.cells.get(column));
    cells.all(|cell| !matches!(cell, Cell::Text(_)))
}

/// What all rows are together, as a row of its own, where the sheet has that: the first cell that could be a name says so.
pub fn total(sheet: &Sheet) -> Option<SheetRow> {
    let mut cells = sheet.total.clone();
    let mut free = (0..cells.len()).filter(|&place| cells.get(place) == Some(&Cell::Nothing));
    let name = free.clone().find(|&place| !is_of_numbers(sheet, place)).or_else(|| free.next());
    if let Some(cell) = name.and_then(|place| cells.get_mut(place)) {
        *cell = Cell::Text("all".to_owned());
    }
    (!cells.is_empty()).then(|| SheetRow { cells, ..SheetRow::default() })
}

/// A threshold as words: `at least 1,048,576 bytes`.
pub fn threshold(threshold: &Threshold) -> String {
    [&threshold.label, " ", &grouped(threshold.value), " ", &threshold.unit].concat()
}

/// How many rows are left out, as words.
pub fn left_out(sheet: &Sheet) -> Option<String> {
    (sheet.left_out > 0).then(|| ["and ", &grouped(sheet.left_out.into()), " more"].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_has_its_text() {
        let cases = [
            (Cell::Nothing, "", ""),
            (Cell::Text("a|b".to_owned()), "a|b", "a|b"),
            (Cell::Bytes(39_951_360), "39,951,360 B", "38.1 MiB"),
            (Cell::Change(-2048), "−2,048 B", "−2.00 KiB"),
            (Cell::Change(2048), "+2,048 B", "+2.00 KiB"),
            (Cell::Change(0), "0 B", "0 B"),
            (Cell::Count(1234), "1,234", "1,234"),
            (Cell::Share { part: 1, whole: 3 }, "33.3 %", "33.3 %"),
            (Cell::Share { part: 0, whole: 0 }, "", ""),
            (Cell::Ratio(0.256), "25.6 %", "25.6 %"),
            (Cell::Ratio(f64::NAN), "0 %", "0 %"),
            (Cell::Micros(1_250), "1.25 ms", "1.25 ms"),
            (Cell::Micros(u64::MAX), "2562047788 h 00 min", "2562047788 h 00 min"),
            (Cell::Event(-1), "before the first", "before the first"),
            (Cell::Event(126_670), "126,670", "126,670"),
        ];
        for (cell, whole, few) in cases {
            assert_eq!((exact(&cell).as_str(), short(&cell).as_str()), (whole, few), "{cell:?}");
        }
    }

    #[test]
    fn a_total_has_a_name() {
        let all = Cell::Text("all".to_owned());
        let mut sheet = Sheet { total: vec![Cell::Nothing, Cell::Bytes(5), Cell::Nothing], ..Sheet::default() };
        assert_eq!(total(&sheet).unwrap().cells, [all.clone(), Cell::Bytes(5), Cell::Nothing]);
        let cells = vec![Cell::Count(1), Cell::Bytes(5), Cell::Text("a".to_owned())];
        sheet.rows = vec![SheetRow { cells, ..SheetRow::default() }];
        assert_eq!(total(&sheet).unwrap().cells, [Cell::Nothing, Cell::Bytes(5), all]);
        sheet.total.clear();
        assert_eq!(total(&sheet), None);
    }
}
