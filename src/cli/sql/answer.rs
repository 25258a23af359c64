//! Output of query results as text, CSV or JSON.

use crate::output::{escaped, say, standard_output, written};
use crate::table::{self, Table};
use base::units::grouped;
use engine::protocol::SCHEMA;
use serde_json::Value as Json;
use sql::{Queries, Value};
use std::cell::RefCell;
use std::io::{self, BufWriter, Write};

/// Output format of query results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Text,
    Csv,
    Json,
}

/// Maximum number of rows in text output. All rows are held in memory to compute the column widths.
const MOST_ROWS: usize = 10_000;

/// Runs one statement and prints its result.
pub(super) fn print(queries: &Queries, query: &str, form: Form) -> Result<(), String> {
    match form {
        Form::Text => print_text(queries, query),
        Form::Csv => print_csv(queries, query),
        Form::Json => print_json(queries, query),
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
    run(queries, query, &mut |columns| names = owned(columns), &mut |values| {
        has_more = rows.len() == MOST_ROWS;
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
        true => table::number(name, 0),
        false => table::name(name, 0),
    });
    let mut table = Table::new(0, 2, columns.collect::<Vec<_>>());
    rows.into_iter().for_each(|row| table.push(row));
    crate::output::print(&table.text())?;
    if has_more {
        say(&format!("only the first {} rows: use --csv, or LIMIT", grouped(MOST_ROWS as u64)));
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
    run(queries, query, &mut |columns| *names.borrow_mut() = owned(columns), &mut |values| {
        done = head(&mut out, &mut names.borrow_mut()).and_then(|()| csv_row(&mut out, values));
        done.is_ok()
    })?;
    written(done.and_then(|()| head(&mut out, &mut names.borrow_mut())).and_then(|()| out.flush()))
}

fn owned(columns: &[&str]) -> Vec<String> {
    columns.iter().map(|&name| name.to_owned()).collect()
}

fn csv_row(out: &mut dyn Write, values: &[Value<'_>]) -> io::Result<()> {
    for (at, value) in values.iter().enumerate() {
        field(out, at, &text(*value), matches!(value, Value::Text(_)))?;
    }
    out.write_all(b"\r\n")
}

/// Writes the names of the columns, on the first call only.
fn head(out: &mut dyn Write, names: &mut Vec<String>) -> io::Result<()> {
    if names.is_empty() {
        return Ok(());
    }
    for (at, name) in std::mem::take(names).iter().enumerate() {
        field(out, at, name, true)?;
    }
    out.write_all(b"\r\n")
}

/// Writes a CSV field (RFC 4180). Text that looks like a formula is prefixed with `'`, so that spreadsheets do not
/// execute it.
fn field(out: &mut dyn Write, at: usize, text: &str, is_text: bool) -> io::Result<()> {
    if at > 0 {
        out.write_all(b",")?;
    }
    let is_formula = is_text && text.starts_with(['=', '+', '-', '@', '\t', '\r']);
    if !is_formula && !text.contains([',', '"', '\r', '\n']) {
        return out.write_all(text.as_bytes());
    }
    write!(out, "\"{}{}\"", if is_formula { "'" } else { "" }, text.replace('"', "\"\""))
}

fn print_json(queries: &Queries, query: &str) -> Result<(), String> {
    let mut columns = Json::Null;
    // Collect all rows first, so that a query that fails midway does not print half a JSON document.
    let mut rows = String::new();
    run(queries, query, &mut |names| columns = names.iter().map(|&name| Json::from(name)).collect(), &mut |values| {
        let row: Json = values.iter().map(|value| json(*value)).collect();
        rows += if rows.is_empty() { "\n    " } else { ",\n    " };
        rows += &escaped(&row.to_string());
        true
    })?;
    let mut out = standard_output();
    let end = if rows.is_empty() { "]" } else { "\n  ]" };
    written(
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
