//! `memscape export`: writes a snapshot in the format of another tool.

use super::common_args::{SnapshotArgs, TracePosition, one_of, parse_trace_position};
use super::compressed::{CompressedWriter, CompressionKind};
use super::events::{end_event, first_event};
use super::open_snapshot::OpenSnapshot;
use super::output_file::OutputFile;
use super::parquet_output;
use super::rules::CategoryRules;
use base::units::{Bytes, pluralize};
use clap::builder::PossibleValuesParser;
use clap::{Args, ValueEnum};
use exports::{MergeError, Total};
use flate2::read::MultiGzDecoder;
use protocol::sql::SqlFile;
use protocol::{ExportContents, ExportFormat, ExportQuestion, ExportTable, Scope, Span};
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, Write};
use std::path::{Path, PathBuf};

const FORMATS: &str = "Format:

speedscope   speedscope.app: live at the cursor, at the peak and at the end, allocated in the range, and not freed in it
pprof        go tool pprof, Perfetto, Grafana: inuse_space is live at the cursor, alloc_space is allocated in the range
collapsed    flamegraph.pl, inferno, Perfetto: a line for each stack of --scope
firefox      profiler.firefox.com: every allocation and free, counters, annotations
trace        Perfetto, chrome://tracing: counters, annotations, OOMs and the largest allocations (see --onto)
dhat         dh_view.html of Valgrind: for each stack its total, its maximum, and what is live at the peak and at the end
csv, jsonl   rows of one table (see --table)
parquet      the same in typed columns: pandas, polars, DuckDB, Spark
sqlite       all tables of memscape sql, of all devices: sqlite3, DB Browser, pandas, DuckDB
mindstudio   MindStudio Insight (Ascend): allocations and memory of the driver of all devices, as msMemScope writes them";

/// Name of the Parquet format. Only the command line supports it, because the Parquet writer is too large for the page.
const PARQUET: &str = "parquet";
/// Name of the SQLite format. Written by SQLite instead of the `exports` crate.
const SQLITE: &str = "sqlite";

fn formats() -> PossibleValuesParser {
    let others = [PARQUET, SQLITE].into_iter().chain(SqlFile::ALL.map(SqlFile::name));
    PossibleValuesParser::new(ExportFormat::ALL.map(ExportFormat::name).into_iter().chain(others))
}

/// Allocations that an export counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum CountedAllocations {
    /// Live at the cursor
    Live,
    /// All allocations of the trace, and those from before recording
    All,
    /// Allocated in the range
    Allocated,
    /// Freed in the range
    Freed,
    /// Allocated in the range and not freed in it
    NotFreed,
}

/// Arguments of `memscape export`.
#[derive(Args, Clone, Debug)]
pub(crate) struct Arguments {
    #[command(flatten)]
    pub(crate) source: SnapshotArgs,
    /// Format to write: speedscope, pprof, collapsed, firefox, trace, dhat, csv, jsonl, parquet, sqlite or mindstudio
    #[arg(long, value_name = "FORMAT", long_help = FORMATS, hide_possible_values = true, value_parser = formats())]
    pub(crate) to: String,
    /// File to write, "-" for standard output; compressed if its name ends in .gz or .zst
    #[arg(short, long = "output", value_name = "OUT")]
    pub(crate) out: OutputFile,
    /// Cursor position: peak, oom, end, an event number or a time (see "memscape live --help")
    #[arg(long, value_name = "WHEN", value_parser = parse_trace_position, allow_negative_numbers = true, default_value = "peak")]
    pub(crate) at: TracePosition,
    /// First and last event, or times; if omitted, the whole trace
    #[arg(long, value_name = "A..B", value_parser = parse_range, allow_negative_numbers = true)]
    pub(crate) range: Option<(TracePosition, TracePosition)>,
    /// With collapsed (live if omitted), and for the table of allocations (all if omitted): which allocations to count
    #[arg(long, value_enum, value_name = "SCOPE")]
    pub(crate) scope: Option<CountedAllocations>,
    /// With csv, jsonl and parquet: which rows to write
    #[arg(long, value_name = "TABLE", default_value = "allocations", value_parser = one_of(ExportTable::ALL, ExportTable::name))]
    pub(crate) table: ExportTable,
    #[command(flatten)]
    pub(crate) rules: CategoryRules,
    /// With trace: how many of the largest allocations to write
    #[arg(long, value_name = "N", default_value_t = 200)]
    pub(crate) largest: u32,
    /// With trace: add the memory to this trace of torch.profiler, so that it shows below the kernels
    #[arg(long, value_name = "TRACE.json[.gz]")]
    pub(crate) onto: Option<PathBuf>,
}

/// Parses a range such as `100..200` or `0.5s..end`.
pub(crate) fn parse_range(text: &str) -> Result<(TracePosition, TracePosition), String> {
    let (from, to) = text.split_once("..").ok_or("expected two cursor positions such as 100..200")?;
    Ok((parse_trace_position(from)?, parse_trace_position(to)?))
}

impl Arguments {
    /// Writes the file. Returns a summary sentence about the written file, or an error message.
    pub(crate) fn write(&self) -> Result<String, String> {
        let tool = SqlFile::from_name(&self.to);
        if tool.is_some() || self.to == SQLITE {
            return self.write_sqlite(tool);
        }
        let mut snapshot = OpenSnapshot::open(&self.source)?;
        self.rules.classify(&mut snapshot)?;
        let question = self.question(&mut snapshot)?;
        let device = snapshot.device.device;
        let mut engine = snapshot.into_engine();
        let side = engine.complete_side(device).ok_or("the file has no such device")?;
        let to_message = |error: io::Error| format!("{}: {error}", self.out.path().display());
        let compression = match question.format.is_gzipped() {
            true => CompressionKind::Gzip,
            false => CompressionKind::from_path(self.out.path()),
        };
        let mut out = CompressedWriter::create(&self.out, compression).map_err(to_message)?;
        let total = match &self.onto {
            Some(trace) => {
                merge_into_trace(trace, side, &question, &mut out).map_err(|failure| match failure {
                    Failure::Output(error) => to_message(error),
                    Failure::Other(error) => error,
                })?;
                Total::default()
            }
            None if self.to == PARQUET => {
                let count = parquet_output::write(side, &question, &mut out).map_err(to_message)?;
                Total { bytes: 0, count }
            }
            None => exports::write(side, &question, &mut out).map_err(to_message)?,
        };
        out.finish().map_err(to_message)?;
        let sum = || format!("{} requested, {}", Bytes(total.bytes), pluralize(total.count, "allocation"));
        Ok(match (question.format.contents(), question.table) {
            _ if self.to == PARQUET => pluralize(total.count, "row"),
            (ExportContents::Scope, _) | (ExportContents::Rows, ExportTable::Allocations) => sum(),
            (ExportContents::Rows, _) => pluralize(total.count, "row"),
            _ if self.onto.is_some() => "the trace with the memory below its kernels".to_owned(),
            (ExportContents::Peak, _) => format!("at the peak {}", sum()),
            (ExportContents::Cursor, _) => format!("live at the cursor: {}", sum()),
        })
    }

    /// Writes all tables as a SQLite file, or, with `tool`, the file that this tool opens.
    fn write_sqlite(&self, tool: Option<SqlFile>) -> Result<String, String> {
        if self.range.is_some() || self.scope.is_some() || self.source.device.is_some() {
            let format = &self.to;
            return Err(format!("--to {format} writes all devices: leave out --range, --scope and --device"));
        }
        super::sql::save_snapshot(&self.source.file, &self.rules, tool, &self.out)?;
        Ok(tool.map_or("all tables of memscape sql", SqlFile::contents).to_owned())
    }

    fn question(&self, snapshot: &mut OpenSnapshot) -> Result<ExportQuestion, String> {
        let cursor = snapshot.facts_at(self.at)?.moment;
        let range = match self.range {
            Some((from, to)) => Span { from: first_event(snapshot, from)?, to: end_event(snapshot, to)? },
            None => Span { from: 0, to: snapshot.facts_at(TracePosition::End)?.moment },
        };
        if range.from > range.to {
            return Err("the range ends before it begins".to_owned());
        }
        // Parquet has the same rows as CSV.
        let format = ExportFormat::from_name(&self.to).unwrap_or_default();
        let has_scope = format.contents() == ExportContents::Scope;
        let takes_scope = has_scope || (format.has_rows() && self.table == ExportTable::Allocations);
        if self.scope.is_some() && !takes_scope {
            return Err("--scope is for --to collapsed and for the table of allocations".to_owned());
        }
        if self.onto.is_some() && !format.extends_trace() {
            return Err("--onto needs --to trace".to_owned());
        }
        let otherwise = if has_scope { CountedAllocations::Live } else { CountedAllocations::All };
        let scope = match self.scope.unwrap_or(otherwise) {
            CountedAllocations::Live => Scope::At(cursor),
            CountedAllocations::All => Scope::All,
            CountedAllocations::Allocated => Scope::Allocated(range),
            CountedAllocations::Freed => Scope::Freed(range),
            CountedAllocations::NotFreed => Scope::StillLive(range),
        };
        Ok(ExportQuestion { format, table: self.table, cursor, range, scope, largest: self.largest })
    }
}

/// Copies a torch.profiler trace to `out` and adds the memory of a device.
fn merge_into_trace(
    path: &Path,
    side: engine::Side<'_>,
    question: &ExportQuestion,
    out: &mut CompressedWriter,
) -> Result<(), Failure> {
    let mut out = TrackedWriter { out, has_failed: false };
    exports::merge_into_trace(&mut || open_unpacked(path), side, question, &mut out).map_err(|error| match error {
        MergeError::Io(error) if out.has_failed => Failure::Output(error),
        MergeError::NoTimes => Failure::Other(error.to_string()),
        _ => Failure::Other(format!("{}: {error}", path.display())),
    })
}

/// An I/O error of the output file, or the message of any other error.
enum Failure {
    Output(io::Error),
    Other(String),
}

/// A writer that records whether a write failed. Used to distinguish I/O errors of the output from I/O errors of the
/// input.
struct TrackedWriter<'a> {
    out: &'a mut CompressedWriter,
    has_failed: bool,
}

impl Write for TrackedWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.out.write(bytes).inspect_err(|_| self.has_failed = true)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush().inspect_err(|_| self.has_failed = true)
    }
}

/// Opens a file for reading, and decompresses it if it is gzipped.
fn open_unpacked(path: &Path) -> io::Result<Box<dyn Read>> {
    let mut file = File::open(path)?;
    let mut magic = [0; 2];
    let is_packed = file.read_exact(&mut magic).is_ok() && magic == [0x1f, 0x8b];
    file.rewind()?;
    let file = BufReader::with_capacity(1 << 20, file);
    Ok(if is_packed { Box::new(BufReader::with_capacity(1 << 20, MultiGzDecoder::new(file))) } else { Box::new(file) })
}
