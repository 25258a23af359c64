//! Access to reports in tests: sheets, rows and cells by their keys.

use crate::opened::Opened;
use memscape::engine::{Answer, Ask, Question, Reply, Request};
use memscape::protocol::{Cell, Report, ReportQuestion, Sheet, SheetRow, Topic};

/// Returns the request of a report.
pub(crate) fn report_request(device: i64, topic: Topic, at: Option<u32>, thresholds: &[(&str, u64)]) -> Request {
    let thresholds = thresholds.iter().map(|(key, value)| ((*key).to_owned(), *value)).collect();
    Request::Ask(Ask {
        serial: 7,
        device,
        question: Question::Report(ReportQuestion { topic, at, thresholds, rows: 10_000, ..ReportQuestion::default() }),
    })
}

/// Requests a report.
pub(crate) fn report(opened: &mut Opened, device: i64, topic: Topic, thresholds: &[(&str, u64)]) -> Report {
    report_of(opened.reply(report_request(device, topic, None, thresholds)))
}

/// Returns the report of a reply.
pub(crate) fn report_of(reply: Reply) -> Report {
    match reply {
        Reply::Answer { serial: 7, answer: Answer::Report(report) } => *report,
        other => panic!("expected a report, got {other:?}"),
    }
}

/// Returns the sheet with this key.
pub(crate) fn sheet<'a>(report: &'a Report, key: &str) -> &'a Sheet {
    report.sheets.iter().find(|sheet| sheet.key == key).unwrap_or_else(|| panic!("no sheet {key}"))
}

/// Returns the cell of a row in the column with this key.
pub(crate) fn cell<'a>(sheet: &Sheet, row: &'a SheetRow, key: &str) -> &'a Cell {
    let place = sheet.columns.iter().position(|column| column.key == key).unwrap_or_else(|| panic!("no column {key}"));
    &row.cells[place]
}

/// Returns the number in a cell.
pub(crate) fn number(sheet: &Sheet, row: &SheetRow, key: &str) -> i128 {
    match cell(sheet, row, key) {
        Cell::Bytes(number) | Cell::Count(number) | Cell::Micros(number) => i128::from(*number),
        Cell::Change(number) | Cell::Event(number) => i128::from(*number),
        other => panic!("{key} is {other:?}"),
    }
}

/// Returns the text in a cell.
pub(crate) fn text<'a>(sheet: &Sheet, row: &'a SheetRow, key: &str) -> &'a str {
    match cell(sheet, row, key) {
        Cell::Text(text) => text,
        other => panic!("{key} is {other:?}"),
    }
}
