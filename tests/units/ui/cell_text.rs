//! Unit tests of `src/ui/text/cell_text.rs`.

use super::*;

#[test]
fn every_cell_kind_has_exact_and_short_text() {
    let cases = [
        (Cell::Empty, "", ""),
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
fn total_row_is_labelled_all() {
    let all = Cell::Text("all".to_owned());
    let mut sheet = Sheet { total: vec![Cell::Empty, Cell::Bytes(5), Cell::Empty], ..Sheet::default() };
    assert_eq!(total_row(&sheet).unwrap().cells, [all.clone(), Cell::Bytes(5), Cell::Empty]);
    let cells = vec![Cell::Count(1), Cell::Bytes(5), Cell::Text("a".to_owned())];
    sheet.rows = vec![SheetRow { cells, ..SheetRow::default() }];
    assert_eq!(total_row(&sheet).unwrap().cells, [Cell::Empty, Cell::Bytes(5), all]);
    sheet.total.clear();
    assert_eq!(total_row(&sheet), None);
}
