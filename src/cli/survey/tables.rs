//! The five tables of a batch: sorts their rows and writes them. The rows of a batch are always in the same order, so
//! that surveying it again writes the same bytes.

use crate::output_file::OutputFile;
use crate::parquet_table::{ColumnType, ParquetTable};
use clap::ValueEnum;
use engine::tables::Value;
use exports::lake::{
    CellFn, Column, DeviceRows, OOM, OomRow, SITE, SITE_USE, SNAPSHOT, STEP, SiteRow, SiteUseRow, SnapshotRow, StepRow,
};
use serde_json::{Map, json};
use std::cmp::Reverse;
use std::collections::HashSet;
use std::io::{self, Write};
use std::sync::Arc;

/// Format of the tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    /// Parquet files, compressed with zstd
    Lake,
    /// JSON, one line for each row
    Jsonl,
}

impl Format {
    pub(super) fn file_name(self, table: TableName) -> String {
        let ending = match self {
            Format::Lake => "parquet",
            Format::Jsonl => "jsonl",
        };
        format!("{}.{ending}", table.name())
    }
}

base::listed! {
    /// A table of a batch, in the order of writing. A batch is complete when the last one exists.
    #[derive(Clone, Copy)]
    pub enum TableName {
        SiteUse = "site_use",
        Oom = "oom",
        Step = "step",
        Site = "site",
        Snapshot = "snapshot",
    }
}

/// Rows of a batch.
#[derive(Default)]
pub(super) struct Tables {
    pub(super) snapshots: Vec<SnapshotRow>,
    uses: Vec<SiteUseRow>,
    sites: Vec<SiteRow>,
    ooms: Vec<OomRow>,
    steps: Vec<StepRow>,
    /// Snapshot and device of all rows of `uses`, `ooms` and `steps`.
    added: HashSet<(Arc<str>, Option<i64>)>,
}

impl Tables {
    /// Adds the rows of a device. Those of a file that equals an earlier one are only in the table of snapshots.
    pub(super) fn add(&mut self, rows: DeviceRows) {
        let key = (rows.snapshot.key.snapshot.clone(), rows.snapshot.key.device);
        self.snapshots.push(rows.snapshot);
        if !self.added.insert(key) {
            return;
        }
        self.uses.extend(rows.uses);
        self.sites.extend(rows.sites);
        self.ooms.extend(rows.ooms);
        self.steps.extend(rows.steps);
    }

    /// Writes all tables in the order of [`TableName::ALL`]. `file` returns the output file with a name. Returns the
    /// number of rows of each table, as JSON.
    ///
    /// # Errors
    /// Returns an error message that names the file.
    pub(super) fn write(
        mut self,
        format: Format,
        file: &dyn Fn(&str) -> OutputFile,
    ) -> Result<serde_json::Value, String> {
        self.sort();
        let mut counts = Map::new();
        for table in TableName::ALL {
            let write = Writer { format, file: file(&format.file_name(table)) };
            let rows = match table {
                TableName::SiteUse => write.table(SITE_USE, &self.uses)?,
                TableName::Oom => write.table(OOM, &self.ooms)?,
                TableName::Step => write.table(STEP, &self.steps)?,
                TableName::Site => write.table(SITE, &self.sites)?,
                TableName::Snapshot => write.table(SNAPSHOT, &self.snapshots)?,
            };
            counts.insert(table.name().to_owned(), json!(rows));
        }
        Ok(serde_json::Value::Object(counts))
    }

    fn sort(&mut self) {
        self.snapshots.sort_by(|a, b| {
            let order = |row: &SnapshotRow| (row.object.rank, row.object.step);
            let url = (&a.object.url, a.key.device).cmp(&(&b.object.url, b.key.device));
            a.object.job.cmp(&b.object.job).then(order(a).cmp(&order(b))).then(url)
        });
        // Stable: the call sites of a device are ranked already.
        self.uses.sort_by(|a, b| {
            let size = |row: &SiteUseRow| (row.site == "rest", Reverse(row.sums.peak_bytes));
            let device = (&a.key.snapshot, a.key.device).cmp(&(&b.key.snapshot, b.key.device));
            device.then_with(|| size(a).cmp(&size(b)))
        });
        self.sites.sort_by(|a, b| a.site.cmp(&b.site));
        self.sites.dedup_by(|a, b| a.site == b.site);
        self.ooms.sort_by(|a, b| {
            (&a.key.snapshot, a.key.device, a.record.event).cmp(&(&b.key.snapshot, b.key.device, b.record.event))
        });
        self.steps
            .sort_by(|a, b| (&a.key.snapshot, a.key.device, a.step).cmp(&(&b.key.snapshot, b.key.device, b.step)));
    }
}

/// Writer of a table in one format.
struct Writer {
    format: Format,
    file: OutputFile,
}

impl Writer {
    /// Writes a table, and returns the number of its rows.
    fn table<R>(&self, columns: &[Column<R>], rows: &[R]) -> Result<usize, String> {
        let written = match self.format {
            Format::Lake => write_parquet(&self.file, columns, rows),
            Format::Jsonl => write_json(&self.file, columns, rows),
        };
        written.map(|()| rows.len()).map_err(|error| format!("{}: {error}", self.file.path().display()))
    }
}

fn write_parquet<R>(file: &OutputFile, columns: &[Column<R>], rows: &[R]) -> io::Result<()> {
    let kind = |column: &Column<R>| match column.cell {
        CellFn::Int(_) => ColumnType::Signed,
        CellFn::Text(_) => ColumnType::Text,
        CellFn::Time(_) => ColumnType::Time,
    };
    let typed: Vec<(&str, ColumnType)> = columns.iter().map(|column| (column.key, kind(column))).collect();
    let mut out = file.create()?;
    let mut table = ParquetTable::create(&mut out, &typed)?;
    let mut cells = Vec::with_capacity(columns.len());
    for row in rows {
        cells.clear();
        cells.extend(columns.iter().map(|column| value(column, row)));
        table.push(&cells)?;
    }
    table.finish()?;
    out.finish()
}

fn write_json<R>(file: &OutputFile, columns: &[Column<R>], rows: &[R]) -> io::Result<()> {
    let mut out = file.create()?;
    for row in rows {
        let cell = |column: &Column<R>| match value(column, row) {
            Value::Signed(number) => json!(number),
            Value::Text(text) => json!(text),
            _ => serde_json::Value::Null,
        };
        let object: Map<_, _> = columns.iter().map(|column| (column.key.to_owned(), cell(column))).collect();
        writeln!(out, "{}", serde_json::Value::Object(object))?;
    }
    out.finish()
}

fn value<'a, R>(column: &Column<R>, row: &'a R) -> Value<'a> {
    match column.cell {
        CellFn::Int(cell) | CellFn::Time(cell) => cell(row).map_or(Value::Empty, Value::Signed),
        CellFn::Text(cell) => cell(row).map_or(Value::Empty, |text| Value::Text(text.into())),
    }
}
