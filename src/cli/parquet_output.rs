//! `memscape export --to parquet`: writes a table of a snapshot.

use super::parquet_table::{ColumnType, ParquetTable};
use engine::Side;
use engine::tables::ValueType;
use exports::{columns, each_row};
use protocol::ExportQuestion;
use std::io::{self, Write};

/// Writes the rows of a table to `out`. Returns the number of rows.
///
/// # Errors
/// Returns the I/O error of `out`.
pub(crate) fn write(side: Side<'_>, question: &ExportQuestion, out: impl Write + Send) -> io::Result<u64> {
    let columns = columns(question.table);
    let typed: Vec<(&str, ColumnType)> = columns
        .iter()
        .map(|column| {
            let kind = match column.value_type() {
                ValueType::Unsigned => ColumnType::Unsigned,
                ValueType::Signed => ColumnType::Signed,
                ValueType::Bool => ColumnType::Bool,
                ValueType::Text => ColumnType::Text,
            };
            (column.key, kind)
        })
        .collect();
    let mut table = ParquetTable::create(out, &typed)?;
    let count = each_row(side, question, &mut |cells| table.push(cells))?;
    table.finish()?;
    Ok(count)
}
