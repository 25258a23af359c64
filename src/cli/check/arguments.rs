//! Arguments of `memscape check`.

use super::limits::{Growth, Limits, parse_size};
use crate::output_file::OutputFile;
use clap::{Args, ValueEnum};
use compare::Key;
use std::path::PathBuf;

const AFTER: &str = "Exit status: 0 if all limits are kept, 1 if a file cannot be read, 2 for invalid arguments, \
                     3 if a limit is exceeded.";

/// Arguments of `memscape check`.
#[derive(Args, Clone, Debug)]
#[command(after_help = AFTER)]
pub(crate) struct Arguments {
    /// Snapshots to check, folders of snapshots, "-" for standard input
    #[arg(required = true, value_name = "FILE")]
    pub(super) files: Vec<PathBuf>,
    /// Snapshot to compare with, or a folder with one for each rank, step and reason; need not exist
    #[arg(long, value_name = "FILE|DIR")]
    pub(super) baseline: Option<PathBuf>,
    /// Fail without a baseline
    #[arg(long, requires = "baseline")]
    pub(super) require_baseline: bool,
    /// Limit of reserved bytes, such as 78GiB
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    pub(super) budget: Option<u64>,
    /// Limit of live bytes (requested)
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    pub(super) budget_live: Option<u64>,
    /// Allowed growth of the live and the reserved peak over the baseline: a percentage or a size; if omitted, 2%, and
    /// 5% for the reserved peak if allocator settings differ
    #[arg(long, value_name = "GROWTH", value_parser = Growth::parse)]
    pub(super) max_growth: Option<Growth>,
    /// Growth that is always allowed
    #[arg(long, value_name = "SIZE", value_parser = parse_size, default_value = "1MiB")]
    pub(super) noise: u64,
    /// Parts of the program to list that grew
    #[arg(long, value_enum, default_value_t = By::Function)]
    pub(super) by: By,
    /// Accept snapshots with an OOM
    #[arg(long)]
    pub(super) allow_oom: bool,
    /// Ranks to list: all, or the worst of each step and reason; all are checked
    #[arg(long, value_enum, default_value_t = ListedRanks::All)]
    pub(super) ranks: ListedRanks,
    /// Write JSON to this file, "-" for standard output instead of text
    #[arg(long, value_name = "OUT.json")]
    pub(super) json: Option<OutputFile>,
    /// Write JUnit XML
    #[arg(long, value_name = "OUT.xml")]
    pub(super) junit: Option<OutputFile>,
    /// Write Markdown, such as for $GITHUB_STEP_SUMMARY
    #[arg(long, value_name = "OUT.md")]
    pub(super) markdown: Option<OutputFile>,
}

/// Grouping of live bytes by the code that allocated them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum By {
    Function,
    Line,
    File,
    Module,
}

impl By {
    pub(super) fn key(self) -> Key {
        match self {
            By::Function => Key::Function,
            By::Line => Key::CallSite,
            By::File => Key::File,
            By::Module => Key::Module,
        }
    }
}

/// Ranks that are listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ListedRanks {
    All,
    Worst,
}

impl Arguments {
    /// Returns the limits that these arguments set.
    pub(super) fn limits(&self) -> Limits {
        Limits {
            budget: self.budget,
            live_budget: self.budget_live,
            growth: self.max_growth,
            noise: self.noise,
            allows_oom: self.allow_oom,
        }
    }
}
