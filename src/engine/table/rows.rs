//! Rows of the Allocations table, as data and as text.

use crate::copying::{as_field, hexadecimal, number, pool, write_fields};
use crate::open::OpenFile;
use crate::origin::site_with_name;
use crate::tables::{CellFn, Row, tab_column};
use analysis::site;
use base::units::Moment;
use history::replay::AllocationId;
use history::snapshot::FrameId;
use protocol::{ColumnKind, TableCell, TableColumn, TableRow};

/// Returns the header line with the names of the fields that are written by [`write_line`].
pub(super) fn header() -> String {
    let mut fields = String::new();
    for column in columns_as_text() {
        let (key, kind) = (column.texts().key, column.texts().kind);
        match kind {
            ColumnKind::Start | ColumnKind::End => {
                let key = key.trim_end_matches("_at");
                fields += &[key, "_event\t", key, "_us"].concat();
            }
            ColumnKind::Events => fields += &[key, "\t", key.trim_end_matches("events"), "us"].concat(),
            _ => fields += key,
        }
        fields.push('\t');
    }
    fields + TableColumn::CallSite.texts().key + "\n"
}

/// Returns the columns in the order of the text, without the call site, which is last.
fn columns_as_text() -> impl Iterator<Item = TableColumn> {
    TableColumn::ALL.into_iter().filter(|column| *column != TableColumn::CallSite)
}

/// Returns a row without its call site, and the frame of the call site if known. `None` if the device is unknown.
fn row_facts(file: &mut OpenFile, device: i64, moment: u32, id: u32) -> Option<(TableRow, Option<FrameId>)> {
    let side = file.side(device)?;
    let (sites, totals) = Default::default();
    let row = Row { moment: Moment(moment), ..Row::new(side, &sites, &totals) }.at(id);
    let facts = TableRow {
        allocation: id,
        requested: row.allocations().size(row.id()),
        allocated_at: row.allocated_at().map(|event| event.0),
        freed: row.freed_at(row.allocations()).map(|event| event.0),
        call_site: String::new(),
        matches: false,
        cells: TableColumn::ALL.map(|column| cell(&row, column)).into(),
    };
    let stack = side.stack(AllocationId(id));
    Some((facts, file.sites.call_site(&file.snapshot, stack)))
}

fn cell(row: &Row<'_>, column: TableColumn) -> TableCell {
    match tab_column(column).cell {
        CellFn::Unsigned(cell) => TableCell::Unsigned(cell(row)),
        CellFn::Signed(cell) => TableCell::Text(number(cell(row)).unwrap_or_default()),
        CellFn::Bool(cell) => TableCell::Text(number(cell(row)).unwrap_or_default()),
        CellFn::Text(cell) => TableCell::Text(cell(row).unwrap_or_default().into_owned()),
        CellFn::Bytes(cell) => TableCell::Bytes(cell(row)),
        CellFn::Address(cell) => TableCell::Address(cell(row)),
        CellFn::Stream(cell) => TableCell::Stream(cell(row)),
        CellFn::Pool(cell) => TableCell::Pool(cell(row)),
        CellFn::Start(cell) => TableCell::Start(cell(row).map(|event| event.0), row.time_us(cell(row))),
        CellFn::End(cell) => TableCell::End(cell(row).map(|event| event.0), row.time_us(cell(row))),
        CellFn::CallSite(_) => TableCell::CallSite,
        CellFn::Events(cell) => TableCell::Events(cell(row)),
    }
}

/// Returns a row of the table, including its call site.
pub(super) fn row(
    file: &mut OpenFile,
    device: i64,
    moment: u32,
    id: u32,
    search_serial: Option<u32>,
) -> Option<TableRow> {
    let (mut row, frame) = row_facts(file, device, moment, id)?;
    let site = frame.map_or_else(String::new, |frame| site::short_truncated(&file.snapshot, frame));
    row.call_site = match file.history(device) {
        Some(history) => site_with_name(&file.snapshot, history, AllocationId(id), site),
        None => site,
    };
    let found = file.found.as_ref().filter(|found| Some(found.serial) == search_serial && found.device == device);
    row.matches = found.is_some_and(|found| found.matches.contains(id));
    Some(row)
}

/// Appends a row as a line of tab-separated text. Unknown values are empty.
pub(super) fn write_line(text: &mut String, file: &mut OpenFile, device: i64, moment: u32, id: u32) {
    let Some((row, frame)) = row_facts(file, device, moment, id) else { return };
    let cells = columns_as_text().filter_map(|column| row.cells.get(column as usize));
    let fields = cells.flat_map(|cell| match *cell {
        TableCell::Unsigned(value) | TableCell::Bytes(value) => [Some(number(value)), None],
        TableCell::Text(ref value) => [Some(Some(as_field(value))), None],
        TableCell::Address(value) | TableCell::Stream(value) => [Some(hexadecimal(value)), None],
        TableCell::Pool(value) => [Some(pool(value)), None],
        TableCell::Start(event, us) | TableCell::End(event, us) => [Some(number(event)), Some(number(us))],
        TableCell::CallSite => [None, None],
        // The age of an allocation made before recording is unknown.
        TableCell::Events(span) => [Some(number(span.events.filter(|_| !span.is_lower_bound))), Some(number(span.us))],
    });
    write_fields(text, fields.flatten(), &file.snapshot, frame);
}
