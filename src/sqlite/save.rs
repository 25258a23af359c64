//! Conversion of rows in memory to the bytes of an SQLite file.

use crate::cell::Cell;
use crate::error::Error;
use rusqlite::types::{ToSqlOutput, Value, ValueRef};
use rusqlite::{Connection, params_from_iter};

/// URI of a new file in memory whose bytes can be read. SQLite reads those of `:memory:` with PRAGMA statements, which
/// the page's build lacks.
pub(crate) const MEMORY_FILE: &str = "file:saved?vfs=memdb";

/// Returns the bytes of an SQLite file with a single table named `result`.
///
/// # Errors
/// Returns an error if SQLite runs out of memory.
pub fn save_rows(columns: &[String], rows: &[Vec<Cell<'_>>]) -> Result<Vec<u8>, Error> {
    write(columns, rows).map_err(|error| Error::from_sqlite(&error, 0))
}

fn write(columns: &[String], rows: &[Vec<Cell<'_>>]) -> rusqlite::Result<Vec<u8>> {
    let mut connection = Connection::open(MEMORY_FILE)?;
    let mut names: Vec<String> = Vec::new();
    for column in columns {
        // Columns of a result may share a name, those of a table may not.
        let is_taken = |name: &str| names.iter().any(|known| known.eq_ignore_ascii_case(name));
        let mut name = column.clone();
        let mut number = 2;
        while is_taken(&name) {
            name = format!("{column}_{number}");
            number += 1;
        }
        names.push(name);
    }
    let quoted: Vec<String> = names.iter().map(|name| format!("\"{}\"", name.replace('"', "\"\""))).collect();
    connection.execute_batch(&format!("CREATE TABLE result({}); BEGIN", quoted.join(", ")))?;
    let values = vec!["?"; names.len()].join(", ");
    let mut insert = connection.prepare(&format!("INSERT INTO result VALUES({values})"))?;
    for row in rows {
        insert.execute(params_from_iter(row.iter().map(|cell| match cell {
            Cell::Null => ToSqlOutput::Owned(Value::Null),
            Cell::Integer(value) => ToSqlOutput::Owned(Value::Integer(*value)),
            Cell::Real(value) => ToSqlOutput::Owned(Value::Real(*value)),
            Cell::Text(text) => ToSqlOutput::Borrowed(ValueRef::Text(text.as_bytes())),
        })))?;
    }
    drop(insert);
    connection.execute_batch("COMMIT")?;
    Ok(connection.serialize("main")?.to_vec())
}
