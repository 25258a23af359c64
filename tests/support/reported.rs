//! Reports as tests read them: sheets, rows and cells by their keys.

use crate::opened::Opened;
use memscape::engine::protocol::{Cell, Report, ReportQuestion, Sheet, SheetRow, Topic};
use memscape::engine::{Answer, Ask, Question, Reply, Request};

/// The request of a report with these thresholds.
pub(crate) fn asked(device: i64, topic: Topic, at: Option<u32>, thresholds: &[(&str, u64)]) -> Request {
    let thresholds = thresholds.iter().map(|(key, value)| ((*key).to_owned(), *value)).collect();
    Request::Ask(Ask {
        serial: 7,
        device,
        what: Question::Report(ReportQuestion { topic, at, thresholds, rows: 10_000 }),
    })
}

/// A report with these thresholds.
pub(crate) fn report(opened: &mut Opened, device: i64, topic: Topic, thresholds: &[(&str, u64)]) -> Report {
    of(opened.reply(asked(device, topic, None, thresholds)))
}

/// The report that a reply is.
pub(crate) fn of(reply: Reply) -> Report {
    match reply {
        Reply::Answer { serial: 7, answer: Answer::Report(report) } => *report,
        other => panic!("a report was asked for, not {other:?}"),
    }
}

/// The sheet of that key.
pub(crate) fn sheet<'a>(report: &'a Report, key: &str) -> &'a Sheet {
    report.sheets.iter().find(|sheet| sheet.key == key).unwrap_or_else(|| panic!("no sheet {key}"))
}

/// The cell of a row in the column of that key.
pub(crate) fn cell<'a>(sheet: &Sheet, row: &'a SheetRow, key: &str) -> &'a Cell {
    let place = sheet.columns.iter().position(|column| column.key == key).unwrap_or_else(|| panic!("no column {key}"));
    &row.cells[place]
}

/// The number in it.
pub(crate) fn number(sheet: &Sheet, row: &SheetRow, key: &str) -> i128 {
    match cell(sheet, row, key) {
        Cell::Bytes(number) | Cell::Count(number) | Cell::Micros(number) => i128::from(*number),
        Cell::Change(number) | Cell::Event(number) => i128::from(*number),
        other => panic!("{key} is {other:?}"),
    }
}

/// Its words.
pub(crate) fn text<'a>(sheet: &Sheet, row: &'a SheetRow, key: &str) -> &'a str {
    match cell(sheet, row, key) {
        Cell::Text(text) => text,
        other => panic!("{key} is {other:?}"),
    }
}
