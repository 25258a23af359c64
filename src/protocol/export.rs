//! Export formats, and descriptions of exports to write.

use super::{Scope, Span};
use serde::{Deserialize, Serialize};

base::listed! {
    /// Export formats, in the order of the export dialog.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
    pub enum ExportFormat {
        Speedscope = "speedscope",
        Pprof = "pprof",
        Collapsed = "collapsed",
        Firefox = "firefox",
        Trace = "trace",
        Dhat = "dhat",
        #[default]
        Csv = "csv",
        JsonLines = "jsonl",
    }
}

base::listed! {
    /// Table that a CSV or JSON Lines export contains.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
    pub enum ExportTable {
        #[default]
        Allocations = "allocations",
        Events = "events",
        Segments = "segments",
        Curve = "curve",
        Stacks = "stacks",
    }
}

/// Parameters of an export of one device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExportQuestion {
    pub format: ExportFormat,
    pub table: ExportTable,
    /// Position of the cursor, as the number of events before it.
    pub cursor: u32,
    /// Exported range of the trace, for formats with a time axis. In stack exports, only allocations made in this range
    /// count as allocated.
    pub range: Span,
    /// Set of allocations to export as collapsed stacks or as a table.
    pub scope: Scope,
    /// Number of largest allocations that are shown individually in a trace export.
    pub largest: u32,
}

/// Description of a file to write: an export of one device, or a new snapshot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ExportJob {
    Format(ExportQuestion),
    /// Writes a range of events, from start to end (exclusive), as a new snapshot.
    Crop {
        events: [u32; 2],
        /// Name of the open file.
        source: String,
    },
    /// Writes the whole snapshot as columns.
    Columns,
    /// Writes a simulated run as a snapshot.
    Simulated {
        settings: String,
        /// Bytes that the driver can provide. `None` derives them from requests that failed in the recording.
        capacity: Option<u64>,
        /// Total memory of the device in bytes. A memory fraction refers to it.
        total: Option<u64>,
        never_empties: bool,
        /// Name of the open file.
        source: String,
    },
}

/// Contents of an export.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExportContents {
    /// Live allocations at the cursor, and others by format.
    Cursor,
    /// Live allocations at the peak.
    Peak,
    /// Allocations of [`ExportQuestion::scope`].
    Scope,
    /// Rows of [`ExportQuestion::table`].
    Rows,
}

impl ExportFormat {
    /// Returns the file extension and the contents of the format.
    const fn row(self) -> (&'static str, ExportContents) {
        match self {
            ExportFormat::Speedscope => ("speedscope.json", ExportContents::Cursor),
            ExportFormat::Pprof => ("pb.gz", ExportContents::Cursor),
            ExportFormat::Collapsed => ("collapsedstack.txt", ExportContents::Scope),
            ExportFormat::Firefox => ("firefox.json", ExportContents::Cursor),
            ExportFormat::Trace => ("trace.json", ExportContents::Cursor),
            ExportFormat::Dhat => ("dhat.json", ExportContents::Peak),
            ExportFormat::Csv => ("csv", ExportContents::Rows),
            ExportFormat::JsonLines => ("jsonl", ExportContents::Rows),
        }
    }

    /// Returns the file extension without the leading dot. Other tools recognize the format by its extension.
    pub fn extension(self) -> &'static str {
        self.row().0
    }

    pub fn contents(self) -> ExportContents {
        self.row().1
    }

    /// Returns whether the format exports the rows of a table ([`ExportTable`]).
    pub fn has_rows(self) -> bool {
        self.contents() == ExportContents::Rows
    }

    /// Returns whether files of the format are compressed with gzip.
    pub fn is_gzipped(self) -> bool {
        self.extension().ends_with(".gz")
    }

    /// Returns whether the export can be added to a trace of torch.profiler.
    pub fn extends_trace(self) -> bool {
        self == ExportFormat::Trace
    }
}
