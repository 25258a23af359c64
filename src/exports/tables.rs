//! Tables as CSV (RFC 4180, with a header) or JSON lines.

use crate::json;
use crate::rows::{columns, each_row};
use engine::Side;
use engine::tables::Value;
use protocol::{ExportFormat, ExportQuestion};
use std::io::{self, Write};

/// Writes the rows of a table. Returns the number of rows.
///
/// # Errors
/// Returns the errors of `out`.
pub(crate) fn write(side: Side<'_>, question: &ExportQuestion, out: &mut dyn Write) -> io::Result<u64> {
    let columns = columns(question.table);
    if question.format == ExportFormat::JsonLines {
        return each_row(side, question, &mut |cells| {
            out.write_all(b"{")?;
            for (at, (column, cell)) in columns.iter().zip(cells).enumerate() {
                write!(out, "{}\"{}\":", if at == 0 { "" } else { "," }, column.key)?;
                match cell {
                    Value::Empty => out.write_all(b"null")?,
                    Value::Unsigned(number) => write!(out, "{number}")?,
                    Value::Signed(number) => write!(out, "{number}")?,
                    Value::Bool(value) => write!(out, "{value}")?,
                    Value::Text(text) => json::text(out, text)?,
                }
            }
            out.write_all(b"}\n")
        });
    }
    for (at, column) in columns.iter().enumerate() {
        write!(out, "{}{}", if at == 0 { "" } else { "," }, column.key)?;
    }
    out.write_all(b"\r\n")?;
    each_row(side, question, &mut |cells| {
        for (at, cell) in cells.iter().enumerate() {
            if at > 0 {
                out.write_all(b",")?;
            }
            match cell {
                Value::Empty => {}
                Value::Unsigned(number) => write!(out, "{number}")?,
                Value::Signed(number) => write!(out, "{number}")?,
                Value::Bool(value) => write!(out, "{value}")?,
                Value::Text(text) => write_csv_text(out, text)?,
            }
        }
        out.write_all(b"\r\n")
    })
}

/// Writes text as a CSV field, quoted if necessary. Text that a spreadsheet would execute as a formula is prefixed with
/// `'`.
///
/// # Errors
/// Returns the errors of `out`.
pub fn write_csv_text(out: &mut dyn Write, text: &str) -> io::Result<()> {
    let is_formula = text.starts_with(['=', '+', '-', '@', '\t', '\r']);
    if !is_formula && !text.contains([',', '"', '\r', '\n']) {
        return out.write_all(text.as_bytes());
    }
    out.write_all(if is_formula { b"\"'" } else { b"\"" })?;
    for (at, part) in text.split('"').enumerate() {
        out.write_all(if at == 0 { b"" } else { b"\"\"" })?;
        out.write_all(part.as_bytes())?;
    }
    out.write_all(b"\"")
}
