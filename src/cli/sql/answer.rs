//! Prints query results as text, CSV or JSON.

use crate::output::{escape_json, ignore_broken_pipe, print_stderr, standard_output};
use crate::table::{self, Table};
use base::units::group_digits;
use protocol::SCHEMA;
use serde_json::Value as Json;
use sql::{Queries, Value};
use std::cell::RefCell;
use std::io::{self, BufWriter, Write};

/// Output format of query results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OutputFormat {
    Text,
    Csv,
    Json,
}

/// Maximum number of rows in text output. Text output needs all rows in memory to compute the column widths.
const MAX_ROWS: usize = 10_000;

/// Runs one statement and prints its result.
pub(super) fn print(queries: &Queries, query: &str, format: OutputFormat) -> Result<(), String> {
    match format {
        OutputFormat::Text => print_text(queries, query),
        OutputFormat::Csv => print_csv(queries, query),
        OutputFormat::Json => print_json(queries, query),
    }
}

fn run(
    queries: &Queries,
    query: &str,
    head: &mut dyn FnMut(&[&str]),
    row: &mut dyn FnMut(&[Value<'_>]) -> bool,
) -> Result<(), String> {
    queries.run(query, head, row).map_err(|error| error.to_string())
}

fn print_text(queries: &Queries, query: &str) -> Result<(), String> {
    let mut names: Vec<String> = Vec::new();
    let mut rows: Vec<Vec<String>> = Vec::new();
    let mut is_number: Vec<bool> = Vec::new();
    let mut has_more = false;
    run(queries, query, &mut |columns| names = to_strings(columns), &mut |values| {
        has_more = rows.len() == MAX_ROWS;
        if has_more {
            return false;
        }
        is_number.resize(values.len(), true);
        for (is_number, value) in is_number.iter_mut().zip(values) {
            *is_number &= matches!(value, Value::Null | Value::Integer(_) | Value::Real(_));
        }
        rows.push(values.iter().map(|value| text(*value)).collect());
        true
    })?;
    let is_number = is_number.into_iter().chain(std::iter::repeat(false));
    let columns = names.into_iter().zip(is_number).map(|(name, is_number)| match is_number {
        true => table::number_column(name, 0),
        false => table::name_column(name),
    });
    let mut table = Table::new(0, columns.collect::<Vec<_>>());
    rows.into_iter().for_each(|row| table.push(row));
    crate::output::print(&table.text())?;
    if has_more {
        print_stderr(&format!("only the first {} rows: use --csv, or LIMIT", group_digits(MAX_ROWS as u64)));
    }
    Ok(())
}

fn text(value: Value<'_>) -> String {
    match value {
        Value::Null => String::new(),
        Value::Integer(value) => value.to_string(),
        Value::Real(value) => value.to_string(),
        Value::Text(text) => text.to_owned(),
        Value::Blob(bytes) => bytes.iter().fold("x'".to_owned(), |text, byte| text + &format!("{byte:02x}")) + "'",
    }
}

fn print_csv(queries: &Queries, query: &str) -> Result<(), String> {
    let mut out = BufWriter::new(standard_output());
    let mut done = Ok(());
    let names = RefCell::new(Vec::new());
    // The header is written with the first row, because the query may fail before that.
    run(queries, query, &mut |columns| *names.borrow_mut() = to_strings(columns), &mut |values| {
        done = write_header(&mut out, &mut names.borrow_mut()).and_then(|()| csv_row(&mut out, values));
        done.is_ok()
    })?;
    ignore_broken_pipe(done.and_then(|()| write_header(&mut out, &mut names.borrow_mut())).and_then(|()| out.flush()))
}

fn to_strings(columns: &[&str]) -> Vec<String> {
    columns.iter().map(|&name| name.to_owned()).collect()
}

fn csv_row(out: &mut dyn Write, values: &[Value<'_>]) -> io::Result<()> {
    for (at, value) in values.iter().enumerate() {
        out.write_all(if at == 0 { b"" } else { b"," })?;
        match value {
            Value::Text(text) => exports::write_csv_text(out, text)?,
            value => out.write_all(text(*value).as_bytes())?,
        }
    }
    out.write_all(b"\r\n")
}

/// Writes the column names on the first call. Later calls do nothing.
fn write_header(out: &mut dyn Write, names: &mut Vec<String>) -> io::Result<()> {
    let names = std::mem::take(names);
    let cells: Vec<Value<'_>> = names.iter().map(|name| Value::Text(name)).collect();
    if cells.is_empty() { Ok(()) } else { csv_row(out, &cells) }
}

fn print_json(queries: &Queries, query: &str) -> Result<(), String> {
    let mut columns = Json::Null;
    // Collect all rows first, so that a query that fails midway does not print half a JSON document.
    let mut rows = String::new();
    run(queries, query, &mut |names| columns = names.iter().map(|&name| Json::from(name)).collect(), &mut |values| {
        let row: Json = values.iter().map(|value| json(*value)).collect();
        rows += if rows.is_empty() { "\n    " } else { ",\n    " };
        rows += &escape_json(&row.to_string());
        true
    })?;
    let mut out = standard_output();
    let end = if rows.is_empty() { "]" } else { "\n  ]" };
    ignore_broken_pipe(
        writeln!(out, "{{\n  \"schema\": {SCHEMA},\n  \"columns\": {columns},\n  \"rows\": [{rows}{end}\n}}")
            .and_then(|()| out.flush()),
    )
}

fn json(value: Value<'_>) -> Json {
    match value {
        Value::Null => Json::Null,
        Value::Integer(value) => value.into(),
        Value::Real(value) => value.into(),
        Value::Text(text) => text.into(),
        Value::Blob(_) => text(value).into(),
    }
}
