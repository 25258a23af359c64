//! Writes Parquet files. Rows are written in groups, so that memory use does not depend on the size of the table.

use engine::Side;
use engine::tables::{CellFn, Column, Value};
use exports::{columns, each_row};
use parquet::basic::{Compression, ZstdLevel};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, Int64Type};
use parquet::errors::Result as ParquetResult;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;
use protocol::ExportQuestion;
use std::fmt::Write as _;
use std::io::{self, Write};
use std::sync::Arc;

/// Number of rows per row group.
const GROUP_ROWS: usize = 100_000;

/// Cells of one column in the current row group.
struct ColumnCells {
    numbers: Vec<i64>,
    texts: Vec<ByteArray>,
    bools: Vec<bool>,
    /// Definition level of each row: 1 for a value, 0 for an empty cell.
    levels: Vec<i16>,
}

/// Writes the rows of a table to `out`. Returns the number of rows.
///
/// # Errors
/// Returns the I/O error of `out`.
pub(crate) fn write(side: Side<'_>, question: &ExportQuestion, out: impl Write + Send) -> io::Result<u64> {
    let columns = &*columns(question.table);
    let properties = WriterProperties::builder().set_compression(Compression::ZSTD(ZstdLevel::default())).build();
    let schema = Arc::new(parse_message_type(&schema(columns)).map_err(io::Error::other)?);
    let mut writer = SerializedFileWriter::new(out, schema, Arc::new(properties)).map_err(io::Error::other)?;
    let mut group: Vec<ColumnCells> = columns.iter().map(|_| ColumnCells::new()).collect();
    let mut rows = 0;
    let count = each_row(side, question, &mut |cells| {
        group.iter_mut().zip(cells).for_each(|(column, cell)| column.push(cell));
        rows += 1;
        if rows == GROUP_ROWS {
            rows = 0;
            write_group(&mut writer, columns, &mut group).map_err(io::Error::other)?;
        }
        Ok(())
    })?;
    if rows > 0 {
        write_group(&mut writer, columns, &mut group).map_err(io::Error::other)?;
    }
    writer.close().map_err(io::Error::other)?;
    Ok(count)
}

/// Returns the Parquet schema for these columns.
fn schema(columns: &[Column]) -> String {
    let mut text = "message memscape {".to_owned();
    for Column { key, cell } in columns {
        // Writing to a string does not fail.
        let _ = match cell {
            CellFn::Unsigned(_) => write!(text, " optional int64 {key} (INTEGER(64,false));"),
            CellFn::Signed(_) => write!(text, " optional int64 {key};"),
            CellFn::Bool(_) => write!(text, " optional boolean {key};"),
            CellFn::Text(_) => write!(text, " optional binary {key} (UTF8);"),
        };
    }
    text + " }"
}

impl ColumnCells {
    fn new() -> ColumnCells {
        ColumnCells { numbers: Vec::new(), texts: Vec::new(), bools: Vec::new(), levels: Vec::new() }
    }

    fn push(&mut self, cell: &Value<'_>) {
        self.levels.push(i16::from(*cell != Value::Empty));
        match cell {
            Value::Empty => {}
            // Parquet stores unsigned integers as the same 64 bits.
            Value::Unsigned(number) => self.numbers.push(*number as i64),
            Value::Signed(number) => self.numbers.push(*number),
            Value::Bool(value) => self.bools.push(*value),
            Value::Text(text) => self.texts.push(text.as_bytes().to_vec().into()),
        }
    }
}

/// Writes a row group and clears its cells.
fn write_group<W: Write + Send>(
    writer: &mut SerializedFileWriter<W>,
    columns: &[Column],
    group: &mut [ColumnCells],
) -> ParquetResult<()> {
    let mut row_group: SerializedRowGroupWriter<'_, W> = writer.next_row_group()?;
    for (column, cells) in columns.iter().zip(group) {
        let Some(mut out) = row_group.next_column()? else { break };
        let levels = Some(&*cells.levels);
        match column.cell {
            CellFn::Unsigned(_) | CellFn::Signed(_) => {
                out.typed::<Int64Type>().write_batch(&cells.numbers, levels, None)?
            }
            CellFn::Bool(_) => out.typed::<BoolType>().write_batch(&cells.bools, levels, None)?,
            CellFn::Text(_) => out.typed::<ByteArrayType>().write_batch(&cells.texts, levels, None)?,
        };
        out.close()?;
        *cells = ColumnCells::new();
    }
    row_group.close()?;
    Ok(())
}
