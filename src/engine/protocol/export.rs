//! What is exported, and as what.

use super::{Scope, Span};
use serde::{Deserialize, Serialize};

base::listed! {
    /// A format of another tool, in the order of the dialog.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
    pub enum ExportFormat {
        Speedscope,
        Pprof,
        Collapsed,
        Firefox,
        Trace,
        Dhat,
        Csv,
        JsonLines,
    }
}

base::listed! {
    /// What the rows of CSV and JSON lines are.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
    pub enum ExportTable {
        #[default]
        Allocations,
        Events,
        Segments,
        Curve,
        Stacks,
    }
}

/// An export of one device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExportQuestion {
    pub format: ExportFormat,
    pub table: ExportTable,
    /// The cursor: how many events come before it.
    pub at: u32,
    /// What of the trace is exported where a format has a time; of the stacks, what counts as allocated.
    pub range: Span,
    /// Which allocations collapsed stacks and the table of allocations have.
    pub scope: Scope,
    /// How many of the largest allocations a trace shows.
    pub largest: u32,
}

/// What becomes a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ExportJob {
    Format(ExportQuestion),
    /// A range of events, the first and the first beyond, as a snapshot of its own.
    Crop {
        events: [u32; 2],
        /// What the open file is called.
        source: String,
    },
    /// A simulated run as a snapshot.
    Simulated {
        settings: String,
        /// Bytes of the device; where it is not said, what failed requests tell.
        capacity: Option<u64>,
        never_empties: bool,
        /// What the open file is called.
        source: String,
    },
}

impl ExportFormat {
    /// What the command line calls it.
    pub fn name(self) -> &'static str {
        match self {
            ExportFormat::Speedscope => "speedscope",
            ExportFormat::Pprof => "pprof",
            ExportFormat::Collapsed => "collapsed",
            ExportFormat::Firefox => "firefox",
            ExportFormat::Trace => "trace",
            ExportFormat::Dhat => "dhat",
            ExportFormat::Csv => "csv",
            ExportFormat::JsonLines => "jsonl",
        }
    }

    /// What the name of a file ends in, without the first dot: the tools go by it.
    pub fn ending(self) -> &'static str {
        match self {
            ExportFormat::Speedscope => "speedscope.json",
            ExportFormat::Pprof => "pb.gz",
            ExportFormat::Collapsed => "collapsedstack.txt",
            ExportFormat::Firefox => "firefox.json",
            ExportFormat::Trace => "trace.json",
            ExportFormat::Dhat => "dhat.json",
            ExportFormat::Csv => "csv",
            ExportFormat::JsonLines => "jsonl",
        }
    }

    /// Whether it has rows of one table.
    pub fn has_rows(self) -> bool {
        matches!(self, ExportFormat::Csv | ExportFormat::JsonLines)
    }
}

impl ExportTable {
    /// What it is called, in the names of files and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            ExportTable::Allocations => "allocations",
            ExportTable::Events => "events",
            ExportTable::Segments => "segments",
            ExportTable::Curve => "curve",
            ExportTable::Stacks => "stacks",
        }
    }
}
