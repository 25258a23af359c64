//! Writer of Parquet tables. Rows are written in groups, so that memory use does not depend on the size of the table.

use engine::tables::Value;
use parquet::basic::{Compression, ZstdLevel};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, Int64Type};
use parquet::errors::{ParquetError, Result as ParquetResult};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;
use std::io::{self, Write};
use std::sync::Arc;

/// Number of rows per row group.
const GROUP_ROWS: usize = 100_000;

/// Type of a column. Any cell may be empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ColumnType {
    Unsigned,
    Signed,
    Bool,
    Text,
    /// µs since 1970, as [`Value::Signed`].
    Time,
}

/// Cells of one column in the current row group.
#[derive(Default)]
struct ColumnCells {
    numbers: Vec<i64>,
    texts: Vec<ByteArray>,
    bools: Vec<bool>,
    /// Definition level of each row: 1 for a value, 0 for an empty cell.
    levels: Vec<i16>,
}

/// A Parquet table that is being written.
pub(crate) struct ParquetTable<W: Write + Send> {
    writer: SerializedFileWriter<W>,
    types: Vec<ColumnType>,
    group: Vec<ColumnCells>,
    /// Number of rows in the current group.
    rows: usize,
}

impl<W: Write + Send> ParquetTable<W> {
    /// Starts a table with these columns.
    ///
    /// # Errors
    /// Returns the I/O error of `out`.
    pub(crate) fn create(out: W, columns: &[(&str, ColumnType)]) -> io::Result<ParquetTable<W>> {
        let properties = WriterProperties::builder().set_compression(Compression::ZSTD(ZstdLevel::default())).build();
        let schema = Arc::new(parse_message_type(&schema(columns)).map_err(io_error)?);
        let writer = SerializedFileWriter::new(out, schema, Arc::new(properties)).map_err(io_error)?;
        let types: Vec<ColumnType> = columns.iter().map(|&(_, kind)| kind).collect();
        let group = types.iter().map(|_| ColumnCells::default()).collect();
        Ok(ParquetTable { writer, types, group, rows: 0 })
    }

    /// Adds a row, with a cell for each column.
    ///
    /// # Errors
    /// Returns the I/O error of the output.
    pub(crate) fn push(&mut self, cells: &[Value<'_>]) -> io::Result<()> {
        self.group.iter_mut().zip(cells).for_each(|(column, cell)| column.push(cell));
        self.rows += 1;
        if self.rows == GROUP_ROWS { self.write_group().map_err(io_error) } else { Ok(()) }
    }

    /// Writes the remaining rows and the end of the file.
    ///
    /// # Errors
    /// Returns the I/O error of the output.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        if self.rows > 0 {
            self.write_group().map_err(io_error)?;
        }
        self.writer.close().map(drop).map_err(io_error)
    }

    /// Writes a row group and clears its cells.
    fn write_group(&mut self) -> ParquetResult<()> {
        let mut row_group: SerializedRowGroupWriter<'_, W> = self.writer.next_row_group()?;
        for (kind, cells) in self.types.iter().zip(&mut self.group) {
            let Some(mut out) = row_group.next_column()? else { break };
            let levels = Some(&*cells.levels);
            match kind {
                ColumnType::Unsigned | ColumnType::Signed | ColumnType::Time => {
                    out.typed::<Int64Type>().write_batch(&cells.numbers, levels, None)?
                }
                ColumnType::Bool => out.typed::<BoolType>().write_batch(&cells.bools, levels, None)?,
                ColumnType::Text => out.typed::<ByteArrayType>().write_batch(&cells.texts, levels, None)?,
            };
            out.close()?;
            *cells = ColumnCells::default();
        }
        row_group.close()?;
        self.rows = 0;
        Ok(())
    }
}

/// Unwraps the I/O error of the output, which parquet boxes.
fn io_error(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(cause) => cause.downcast().map_or_else(io::Error::other, |cause: Box<io::Error>| *cause),
        error => io::Error::other(error),
    }
}

/// Returns the Parquet schema for these columns.
fn schema(columns: &[(&str, ColumnType)]) -> String {
    let fields = columns.iter().map(|(key, kind)| match kind {
        ColumnType::Unsigned => format!(" optional int64 {key} (INTEGER(64,false));"),
        ColumnType::Signed => format!(" optional int64 {key};"),
        ColumnType::Bool => format!(" optional boolean {key};"),
        ColumnType::Text => format!(" optional binary {key} (UTF8);"),
        ColumnType::Time => format!(" optional int64 {key} (TIMESTAMP(MICROS,true));"),
    });
    format!("message memscape {{{} }}", fields.collect::<String>())
}

impl ColumnCells {
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
