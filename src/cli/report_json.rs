//! Writes reports and rows of tables as JSON.

use super::output::with_fields;
use base::units::Moment;
use engine::tables::{self, Row, Value as CellValue};
use protocol::{
    Cell, Chart, ChartPart, DeltaBox, Evidence, ExportTable, Report, Sheet, SheetColumn, SheetRow, Threshold, Tone,
};
use serde_json::{Map, Value, json};

/// Converts a report to JSON.
pub(crate) fn as_json(report: &Report) -> Value {
    let statement = report.statements.iter().map(|it| {
        json!({
            "tone": it.tone.name(),
            "text": it.text,
            "fix": Some(&it.fix).filter(|fix| !fix.is_empty()),
            "chart": it.chart.as_ref().map(as_chart),
            "evidence": it.evidence.as_ref().map(as_evidence),
        })
    });
    let sheets: Map<String, Value> = report.sheets.iter().map(|sheet| (sheet.key.clone(), as_sheet(sheet))).collect();
    json!({
        "topic": report.topic.name(),
        "statements": statement.collect::<Vec<Value>>(),
        "sheets": sheets,
    })
}

fn as_chart(chart: &Chart) -> Value {
    match chart {
        Chart::Line { values, ends } => json!({"live_bytes": values, "from": ends[0], "to": ends[1]}),
        Chart::Parts(parts) => {
            let part = |part: &ChartPart| json!({"name": part.name, "bytes": part.bytes, "live_bytes": part.bytes});
            json!({"parts": parts.iter().map(part).collect::<Vec<Value>>()})
        }
        Chart::Delta(_, boxes) => {
            let node = |it: &DeltaBox| json!({"depth": it.depth, "name": it.name, "a_bytes": it.a, "b_bytes": it.b});
            json!({"nodes": boxes.iter().map(node).collect::<Vec<Value>>()})
        }
        Chart::HeatMap(map) => {
            let names: Vec<&String> = map.rows.iter().map(|row| &row.name).collect();
            json!({"rows": names, "columns": map.columns, "most_bytes": map.max})
        }
    }
}

fn as_sheet(sheet: &Sheet) -> Value {
    let threshold = sheet.threshold.as_ref();
    let columns = sheet.columns.iter().map(|column| json!({"key": column.key, "label": column.label}));
    json!({
        "title": sheet.title,
        "note": sheet.note,
        "threshold": threshold.map(as_threshold),
        "columns": columns.collect::<Vec<Value>>(),
        "rows": sheet.rows.iter().map(|row| as_row(sheet, row)).collect::<Vec<Value>>(),
        "rows_left_out": sheet.left_out,
        "total": (!sheet.total.is_empty()).then(|| as_cells(sheet, &sheet.total)),
    })
}

/// Converts a row to an object, with the keys of the columns. The extra keys `depth`, `tone`, `stack`, `stack_count`
/// and `evidence` are never names of columns.
fn as_row(sheet: &Sheet, row: &SheetRow) -> Value {
    let mut fields = as_cells(sheet, &row.cells);
    if row.depth > 0 {
        fields.insert("depth".to_owned(), json!(row.depth));
    }
    if row.tone != Tone::Fact {
        fields.insert("tone".to_owned(), json!(row.tone.name()));
    }
    if !row.stack.is_empty() {
        fields.insert("stack".to_owned(), json!(row.stack));
    }
    if !row.other_stacks.is_empty() {
        fields.insert("stack_count".to_owned(), json!(1 + row.other_stacks.len()));
    }
    if let Some(evidence) = &row.evidence {
        fields.insert("evidence".to_owned(), as_evidence(evidence));
    }
    Value::Object(fields)
}

fn as_threshold(threshold: &Threshold) -> Value {
    let Threshold { key, label, unit, value } = threshold;
    let fields = json!({"key": key, "label": label, "unit": unit, "value": value});
    if unit == "bytes" { with_fields(fields, json!({ "value_bytes": value })) } else { fields }
}

fn as_cells(sheet: &Sheet, cells: &[Cell]) -> Map<String, Value> {
    let mut fields = Map::new();
    for (SheetColumn { key, .. }, cell) in sheet.columns.iter().zip(cells) {
        fields.insert(key.clone(), as_value(cell));
        if matches!(cell, Cell::Bytes(_) | Cell::Change(_)) && !key.ends_with("_bytes") {
            fields.insert(key.replacen("_bytes", "", 1) + "_bytes", as_value(cell));
        }
    }
    fields
}

/// Converts a row of a table to an object, with all columns that the engine declares.
pub(crate) fn row_as_json(table: ExportTable, row: &Row<'_>) -> Value {
    let field = |column: &tables::Column| {
        let value = match column.value(row) {
            CellValue::Empty => Value::Null,
            CellValue::Unsigned(number) => json!(number),
            CellValue::Signed(number) => json!(number),
            CellValue::Bool(flag) => json!(flag),
            CellValue::Text(text) => json!(text),
        };
        (column.key.to_owned(), value)
    };
    tables::columns(table).iter().map(field).collect()
}

/// Converts a cell to JSON: exact numbers, and a share as its two numbers.
fn as_value(cell: &Cell) -> Value {
    match cell {
        Cell::Empty => Value::Null,
        Cell::Text(text) => json!(text),
        Cell::Bytes(number) | Cell::Count(number) | Cell::Micros(number) => json!(number),
        Cell::Change(number) | Cell::Event(number) => json!(number),
        Cell::Share { part, whole } => json!({"part": part, "whole": whole}),
        Cell::Ratio(ratio) => json!(ratio),
    }
}

/// Converts evidence to JSON. A moment is written as the event before it, −1 before the first event.
fn as_evidence(evidence: &Evidence) -> Value {
    let after = |moment: u32| Moment(moment).event_or_minus_one();
    let mut fields = Map::new();
    if let Some(span) = evidence.span {
        let span = json!({"first_event": span.from, "events": span.to.saturating_sub(span.from)});
        fields.insert("span".to_owned(), span);
    }
    if let Some(moment) = evidence.moment {
        fields.insert("after_event".to_owned(), json!(after(moment)));
    }
    if let Some(allocation) = evidence.allocation {
        fields.insert("allocation".to_owned(), json!(allocation));
    }
    if let Some(find) = &evidence.find {
        fields.insert("find".to_owned(), json!(find));
    }
    Value::Object(fields)
}
