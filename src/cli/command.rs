//! The commands, with their descriptions for `--help`.

#[cfg(unix)]
use crate::attach;
use crate::common_args::LoadArgs;
use crate::{
    allocations, ask, check, convert, crop, diff, events, export, fleet, help, html, insight_command, insights, live,
    manual, mcp, plan, plot, ranks, run, segments, serve, sql, summary, survey, tui, what_if,
};
use clap::Subcommand;

#[derive(Subcommand, Clone, Debug)]
pub(super) enum Command {
    /// Print the peak and other totals of each device
    Summary(summary::Summary),
    /// Print what stands out: OOM, peak, leaks, fragmentation and more
    ///
    /// Prints the findings of every insight, or one insight with its tables (--topic).
    Insights(insights::Insights),
    #[command(flatten)]
    Insight(insight_command::InsightCommand),
    /// List what is live at one moment (default: the peak), by the code that allocated it
    Live(live::Live),
    /// List what is live at the peak of the trace or of a time range
    Peak(live::Peak),
    /// List allocations, largest first
    #[command(alias = "find")]
    Allocations(allocations::Allocations),
    /// List segments and blocks at one moment; see fragmentation for what keeps them
    #[command(aliases = ["state", "memory"])]
    Segments(segments::Segments),
    /// List events
    Events(events::Events),
    /// Simulate the allocator under other settings: what would have been reserved
    ///
    /// Replays the recorded requests in a model of PyTorch's caching allocator. First reports how well the model
    /// reproduces the recording. If it differs too much, nothing is predicted.
    #[command(name = "whatif", alias = "what-if")]
    WhatIf(what_if::WhatIfArgs),
    /// Former name of `insights --topic peak`
    #[command(hide = true)]
    Report(insights::InsightArgs),
    /// Plan a change: the peak with other sizes, and the largest batch that fits
    Plan(plan::Plan),
    /// Compare two snapshots, two devices or two moments: what is larger, by how much, and why
    ///
    /// Prints B against A at their peaks, or at --at-a and --at-b. Moments are aligned by steps, else by the sequence
    /// of allocations.
    Diff(diff::Diff),
    /// Check snapshots against limits and a baseline, for CI
    ///
    /// Checks out-of-memory errors, the peaks of reserved and live bytes, and their growth over a baseline. Lists the
    /// functions that grew. Writes text, and JSON, JUnit XML and Markdown to files.
    Check(check::Arguments),
    /// Compare the snapshots of many ranks: which differ, in what, and which ran out of memory first
    ///
    /// Takes folders, files and archives. Ranks come from the names of the files as torchtitan, Megatron-LM, composer,
    /// NeMo and others write them, else from their order. Files that are missing or cannot be read are listed with the
    /// reason.
    Ranks(ranks::Arguments),
    /// Read a list of files, each once, and write tables: totals, call sites, OOMs and steps of each
    ///
    /// Prints a line of JSON for each file when it is done. A file that cannot be read is a row with a status. memscape
    /// fleet runs this command for thousands of files, and queries the tables.
    Survey(survey::Arguments),
    /// Survey the snapshots of many jobs, on a disk or in object storage, and ask them in SQL
    ///
    /// Needs the Python package: pip install 'memscape[fleet]'.
    Fleet(fleet::Fleet),
    /// Save a range of the trace as a smaller snapshot
    ///
    /// Other tools open it as well: it has the events of the range, the segments and blocks as they were after it, and,
    /// before it, an event for each allocation that is live at its beginning, so that stacks are kept (see
    /// --no-prologue).
    Crop(crop::Arguments),
    /// Convert a snapshot: pickle, JSON, SnapViewer's archive, memscape's columns
    ///
    /// Writes all events, segments and blocks of all devices. Keys of the snapshot that memscape does not know are left
    /// out, and named.
    Convert(convert::Arguments),
    /// Write a snapshot in the format of another tool: speedscope, pprof, Firefox Profiler, Perfetto, DHAT, CSV,
    /// Parquet
    Export(export::Arguments),
    /// Ask a snapshot in SQL: allocations, events, stacks, segments, totals and more as tables
    ///
    /// Queries read the snapshot where it lies; nothing is copied. They only read: statements that write, attach files
    /// or change settings are refused. Without a query, statements are read from the terminal or standard input.
    Sql(sql::Sql),
    /// Draw the timeline as an SVG image
    Plot(plot::Plot),
    /// Save the page and the snapshot as one HTML file that works offline
    Html(html::Html),
    /// Serve the page and snapshots to a browser, locally or through ssh -L
    ///
    /// Prints an address that only this machine can reach. Requests without the full address are rejected. Folders are
    /// searched each time the address is opened; the page lists the 200 newest snapshots, and a survey of ranks reads
    /// all. With --lake, the snapshots that memscape fleet has surveyed are listed by job, step and rank, and only
    /// those that are opened are fetched; this needs the Python package. Press Ctrl+C to stop.
    Serve(serve::Serve),
    /// Explore snapshots in the terminal: timeline, call tree, insights, allocations; over SSH, without a browser
    ///
    /// Opens the newest snapshot of a folder, or compares two files. Press ? for the keys, : for commands, q to quit.
    /// Everything is read from disk on this machine.
    Tui(tui::Tui),
    /// Keep a snapshot open and answer one JSON request per line
    ///
    /// Reads {"id": 1, "command": "live", "arguments": ["--at", "oom"]} from standard input and prints {"id": 1,
    /// "answer": ...}, one line per request. Answers equal the output of the commands with --json. After the first
    /// request, requests about a large file take milliseconds.
    Ask(ask::Ask),
    /// Answer an agent's questions about snapshots, over the Model Context Protocol
    ///
    /// Speaks the protocol on standard input and output. Register it with an agent as the command memscape with the
    /// arguments mcp FOLDER. Answers are short, and say what was left out.
    Mcp(mcp::Mcp),
    /// Run a Python program and record what it allocates
    ///
    /// Needs the Python package: pip install memscape.
    Run(run::Run),
    /// Record in a Python program that is already running: start, save, stop, status
    ///
    /// Runs the recorder of this program in the process, on Linux. Memory allocated before has no stacks. The main
    /// thread does it when it next runs Python code. Exit status: 0 if the program answered, 1 if that is not possible,
    /// 4 if there is no answer in time.
    #[cfg(unix)]
    Attach(attach::Attach),
    /// Print a shell completion script
    Completions(manual::Completions),
    /// Write man pages to a folder
    Man(manual::Man),
    /// Print this message, the help of a command, or a page of the manual
    Help(help::Help),
}

impl Command {
    /// Returns an error message if arguments conflict, or `None`. `cli` creates the command line's definition.
    pub(super) fn conflict(&self, load: &LoadArgs, cli: fn() -> clap::Command) -> Option<String> {
        if !load.is_all() && !self.accepts_load_range() {
            return Some(
                "this command reads whole files: --load-from, --load-to and --load-last are for others".to_owned(),
            );
        }
        match self {
            Self::Peak(arguments) => arguments.conflict(),
            Self::Plot(arguments) => arguments.conflict(),
            Self::Html(arguments) => arguments.conflict(),
            Self::Check(arguments) => arguments.conflict(),
            Self::Help(arguments) => arguments.conflict(&cli()),
            _ => None,
        }
    }

    /// Returns true if the command is not about one snapshot.
    pub(super) fn is_general(&self) -> bool {
        #[cfg(unix)]
        if matches!(self, Self::Attach(_)) {
            return true;
        }
        matches!(
            self,
            Self::Check(_)
                | Self::Ranks(_)
                | Self::Survey(_)
                | Self::Fleet(_)
                | Self::Serve(_)
                | Self::Completions(_)
                | Self::Man(_)
                | Self::Help(_)
                | Self::Run(_)
        )
    }

    /// Returns true if the command accepts a range of events (`--load-from`, `--load-to`, `--load-last`).
    pub(super) fn accepts_load_range(&self) -> bool {
        !self.is_general() && !matches!(self, Self::Crop(_) | Self::Convert(_) | Self::Html(_))
    }

    /// Returns true if the command reads one snapshot, prints a result and exits.
    pub(super) fn answers_from_one_file(&self) -> bool {
        // Without a query, `sql` reads statements from standard input, which here carries the requests to `ask` or
        // `mcp`.
        let is_prompt = matches!(self, Self::Sql(arguments) if !arguments.is_complete());
        !is_prompt && !self.is_general() && !matches!(self, Self::Tui(_) | Self::Ask(_) | Self::Mcp(_))
    }
}
