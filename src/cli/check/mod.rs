//! `memscape check`: checks snapshots against limits and a baseline, for CI. The exit status is 3 if a limit is exceeded.

mod baseline;
mod device;
mod json;
mod junit;
mod limits;
mod markdown;
mod snapshots;
mod text;
mod verdict;

use crate::output::{print, to_pretty_json};
use crate::output_file::OutputFile;
use crate::terminal::wrap_to_terminal;
use clap::{Args, ValueEnum};
use compare::Key;
use limits::{Growth, Limits, parse_size};
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use verdict::Verdict;

/// Renders a report as text.
type Render<'a> = &'a dyn Fn() -> Result<String, String>;

/// Exit status if a limit is exceeded.
const EXCEEDED: u8 = 3;

const AFTER: &str = "Exit status: 0 if all limits are kept, 1 if a file cannot be read, 2 for invalid arguments, \
                     3 if a limit is exceeded.";

/// Arguments of `memscape check`.
#[derive(Args, Clone, Debug)]
#[command(after_help = AFTER)]
pub(crate) struct Arguments {
    /// Snapshots to check, folders of snapshots, "-" for standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Snapshot to compare with, or a folder with one for each rank, step and reason; need not exist
    #[arg(long, value_name = "FILE|DIR")]
    baseline: Option<PathBuf>,
    /// Fail without a baseline
    #[arg(long, requires = "baseline")]
    require_baseline: bool,
    /// Limit of reserved bytes, such as 78GiB
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    budget: Option<u64>,
    /// Limit of live bytes (requested)
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    budget_live: Option<u64>,
    /// Allowed growth of the live and the reserved peak over the baseline: a percentage or a size; if omitted, 2%, and
    /// 5% for the reserved peak if allocator settings differ
    #[arg(long, value_name = "GROWTH", value_parser = Growth::parse)]
    max_growth: Option<Growth>,
    /// Growth that is always allowed
    #[arg(long, value_name = "SIZE", value_parser = parse_size, default_value = "1MiB")]
    noise: u64,
    /// Parts of the program to list that grew
    #[arg(long, value_enum, default_value_t = By::Function)]
    by: By,
    /// Accept snapshots with an OOM
    #[arg(long)]
    allow_oom: bool,
    /// Ranks to list: all, or the worst of each step and reason; all are checked
    #[arg(long, value_enum, default_value_t = ListedRanks::All)]
    ranks: ListedRanks,
    /// Write JSON to this file, "-" for standard output instead of text
    #[arg(long, value_name = "OUT.json")]
    json: Option<OutputFile>,
    /// Write JUnit XML
    #[arg(long, value_name = "OUT.xml")]
    junit: Option<OutputFile>,
    /// Write Markdown, such as for $GITHUB_STEP_SUMMARY
    #[arg(long, value_name = "OUT.md")]
    markdown: Option<OutputFile>,
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
    fn key(self) -> Key {
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
    fn limits(&self) -> Limits {
        Limits {
            budget: self.budget,
            live_budget: self.budget_live,
            growth: self.max_growth,
            noise: self.noise,
            allows_oom: self.allow_oom,
        }
    }

    /// Returns an error message if two outputs are the same file.
    pub(crate) fn conflict(&self) -> Option<String> {
        let outputs = [&self.json, &self.junit, &self.markdown].map(Option::as_ref);
        let pairs = [[0, 1], [0, 2], [1, 2]].map(|pair| pair.map(|index: usize| outputs.get(index).copied().flatten()));
        let is_same =
            |[one, other]: [Option<&OutputFile>; 2]| one.zip(other).is_some_and(|(one, other)| one.is_same(other));
        pairs.into_iter().any(is_same).then(|| "two outputs are the same file".to_owned())
    }

    /// Checks the snapshots, prints the result and writes the reports.
    ///
    /// # Errors
    /// Returns an error message for each snapshot that cannot be read, and for each report that cannot be written.
    pub(crate) fn run(&self) -> Result<ExitCode, Vec<String>> {
        let mut verdict = snapshots::check_all(self);
        if self.ranks == ListedRanks::Worst {
            verdict.keep_worst();
        }
        let mut errors: Vec<String> = verdict.errors.iter().map(|(file, error)| format!("{file}: {error}")).collect();
        errors.extend(self.write(&verdict).err());
        match (errors.is_empty(), verdict.is_exceeded) {
            (false, _) => Err(errors),
            (true, true) => Ok(ExitCode::from(EXCEEDED)),
            (true, false) => Ok(ExitCode::SUCCESS),
        }
    }

    /// Writes all reports. The text is printed unless a report is written to standard output.
    fn write(&self, verdict: &Verdict) -> Result<(), String> {
        let by = value_title(self.by);
        let reports: [(&Option<OutputFile>, Render<'_>); 3] = [
            (&self.json, &|| Ok(to_pretty_json(&json::as_json(verdict, &self.limits(), self.by)))),
            (&self.junit, &|| junit::as_junit(verdict)),
            (&self.markdown, &|| Ok(markdown::as_markdown(verdict, by))),
        ];
        let outputs = || reports.iter().filter_map(|(out, text)| Some((out.as_ref()?, text)));
        if !outputs().any(|(out, _)| out.is_standard_output()) {
            print(&wrap_to_terminal(&text::as_text(verdict)))?;
        }
        for (out, text) in outputs() {
            let wrong = |error: std::io::Error| format!("{}: {error}", out.path().display());
            let text = text()?;
            if out.is_standard_output() {
                print(&text)?;
            } else {
                let mut file = out.create().map_err(wrong)?;
                file.write_all(text.as_bytes()).and_then(|()| file.finish()).map_err(wrong)?;
            }
        }
        Ok(())
    }
}

/// Returns the plural of a grouping, for headings.
fn value_title(by: By) -> &'static str {
    match by {
        By::Function => "functions",
        By::Line => "call sites",
        By::File => "files",
        By::Module => "modules",
    }
}
