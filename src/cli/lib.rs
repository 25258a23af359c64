//! The command line of memscape.
//!
//! Takes the arguments of the `memscape` program, opens snapshots with the engine that the page uses, and prints
//! results as text, JSON or Markdown. This crate also contains `memscape serve`, the SQL prompt and the MCP server.
//!
//! Read first: this file (the commands), `opening.rs` (opens a file in an engine) and `open_snapshot.rs` (queries of an
//! open snapshot).
//!
//! Exit status: 0 on success, 1 if a file cannot be read (with a message on standard error), 2 for invalid arguments,
//! 3 if `memscape check` finds a limit exceeded.

mod allocations;
mod ask;
#[cfg(unix)]
mod attach;
mod cache;
mod cancellation;
mod capture;
mod check;
mod common_args;
mod compressed;
mod convert;
mod crop;
mod diff;
mod embedded;
mod events;
mod export;
mod file_survey;
mod fleet;
mod help;
mod html;
mod input;
mod insight_command;
mod insights;
mod kept_file;
mod live;
mod live_rows;
mod manual;
mod markdown_text;
mod mcp;
mod memory_warning;
mod one_stream;
mod open_snapshot;
mod opening;
mod output;
mod output_file;
mod parquet_output;
mod parquet_table;
#[cfg(test)]
#[path = "../../tests/units/cli/parsing.rs"]
mod parsing;
mod plan;
mod plot;
mod ranks;
mod ranks_survey;
mod report_html;
mod report_json;
mod report_text;
mod rules;
mod run;
mod scaling;
mod segments;
mod segments_json;
mod serve;
mod simulated_snapshot;
mod sql;
mod step_args;
mod stream_arg;
mod summary;
mod survey;
mod table;
mod temporary_file;
mod terminal;
mod tui;
mod viewer;
mod what_if;

use cache::CacheArgs;
use capture::capture;
use clap::error::ErrorKind;
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use common_args::{LeaveOutArgs, LoadArgs};
use memory_warning::MemoryArgs;
use output::{print, print_stderr};
use output_file::OutputFile;
use protocol::Topic;
use serde_json::{Value, json};
use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;
use terminal::LayoutArgs;

/// Inspect PyTorch memory snapshots: what was live when, and which code allocated it
#[derive(Parser, Clone, Debug)]
#[command(name = "memscape", version, args_override_self = true, disable_help_subcommand = true, after_help = AFTER)]
struct Memscape {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    load: LoadArgs,
    #[command(flatten)]
    leave_out: LeaveOutArgs,
    #[command(flatten)]
    caching: CacheArgs,
    #[command(flatten)]
    layout: LayoutArgs,
    #[command(flatten)]
    room: MemoryArgs,
}

const AFTER: &str = "Snapshots may be compressed (gzip, zstd, zip). Exit status: 0 on success, 1 if a file cannot be read, 2 for invalid \
                     arguments. Manual: memscape help TOPIC.";

#[derive(Subcommand, Clone, Debug)]
enum Command {
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
    /// Prints B against A at their peaks, or at --at-a and --at-b. Moments are aligned by steps, else by the sequence of allocations.
    Diff(diff::Diff),
    /// Check snapshots against limits and a baseline, for CI
    ///
    /// Checks out-of-memory errors, the peaks of reserved and live bytes, and their growth over a baseline. Lists the functions that grew.
    /// Writes text, and JSON, JUnit XML and Markdown to files.
    Check(check::Arguments),
    /// Compare the snapshots of many ranks: which differ, in what, and which ran out of memory first
    ///
    /// Takes folders, files and archives. Ranks come from the names of the files as torchtitan, Megatron-LM, composer, NeMo and others write
    /// them, else from their order. Files that are missing or cannot be read are listed with the reason.
    Ranks(ranks::Arguments),
    /// Read a list of files, each once, and write tables: totals, call sites, OOMs and steps of each
    ///
    /// Prints a line of JSON for each file when it is done. A file that cannot be read is a row with a status. memscape fleet runs this
    /// command for thousands of files, and queries the tables.
    Survey(survey::Arguments),
    /// Survey the snapshots of many jobs, on a disk or in object storage, and ask them in SQL
    ///
    /// Needs the Python package: pip install 'memscape[fleet]'.
    Fleet(fleet::Fleet),
    /// Save a range of the trace as a smaller snapshot
    ///
    /// Other tools open it as well: it has the events of the range, the segments and blocks as they were after it, and, before it, an event
    /// for each allocation that is live at its beginning, so that stacks are kept (see --no-prologue).
    Crop(crop::Arguments),
    /// Convert a snapshot: pickle, JSON, SnapViewer's archive, memscape's columns
    ///
    /// Writes all events, segments and blocks of all devices. Keys of the snapshot that memscape does not know are left out, and named.
    Convert(convert::Arguments),
    /// Write a snapshot in the format of another tool: speedscope, pprof, Firefox Profiler, Perfetto, DHAT, CSV, Parquet
    Export(export::Arguments),
    /// Ask a snapshot in SQL: allocations, events, stacks, segments, totals and more as tables
    ///
    /// Queries read the snapshot where it lies; nothing is copied. They only read: statements that write, attach files or change settings
    /// are refused. Without a query, statements are read from the terminal or standard input.
    Sql(sql::Sql),
    /// Draw the timeline as an SVG image
    Plot(plot::Plot),
    /// Save the page and the snapshot as one HTML file that works offline
    Html(html::Html),
    /// Serve the page and snapshots to a browser, locally or through ssh -L
    ///
    /// Prints an address that only this machine can reach. Requests without the full address are rejected. Folders are searched
    /// each time the address is opened; the page lists the 200 newest snapshots, and a survey of ranks reads all. With --lake, the
    /// snapshots that memscape fleet has surveyed are listed by job, step and rank, and only those that are opened are fetched; this
    /// needs the Python package. Press Ctrl+C to stop.
    Serve(serve::Serve),
    /// Explore snapshots in the terminal: timeline, call tree, insights, allocations; over SSH, without a browser
    ///
    /// Opens the newest snapshot of a folder, or compares two files. Press ? for the keys, : for commands, q to quit. Everything is read
    /// from disk on this machine.
    Tui(tui::Tui),
    /// Keep a snapshot open and answer one JSON request per line
    ///
    /// Reads {"id": 1, "command": "live", "arguments": ["--at", "oom"]} from standard input and prints {"id": 1,
    /// "answer": ...}, one line per request. Answers equal the output of the commands with --json. After the first
    /// request, requests about a large file take milliseconds.
    Ask(ask::Ask),
    /// Answer an agent's questions about snapshots, over the Model Context Protocol
    ///
    /// Speaks the protocol on standard input and output. Register it with an agent as the command memscape with the arguments mcp FOLDER.
    /// Answers are short, and say what was left out.
    Mcp(mcp::Mcp),
    /// Run a Python program and record what it allocates
    ///
    /// Needs the Python package: pip install memscape.
    Run(run::Run),
    /// Record in a Python program that is already running: start, save, stop, status
    ///
    /// Runs the recorder of this program in the process, on Linux. Memory allocated before has no stacks. The main thread does it when
    /// it next runs Python code. Exit status: 0 if the program answered, 1 if that is not possible, 4 if there is no answer in time.
    #[cfg(unix)]
    Attach(attach::Attach),
    /// Print a shell completion script
    Completions(manual::Completions),
    /// Write man pages to a folder
    Man(manual::Man),
    /// Print this message, the help of a command, or a page of the manual
    Help(help::Help),
}

/// Runs the command line with the arguments of this process.
pub fn main() -> ExitCode {
    let parsed = parse(std::env::args_os()).and_then(
        |(Memscape { command, load, leave_out, caching, layout, room }, refused)| {
            let conflict = command.conflict(&load).or_else(|| leave_out.conflict(command.is_general()));
            let range = load.range().and_then(|range| conflict.map_or(Ok(range), Err));
            let conflict = |conflict| Memscape::command().error(ErrorKind::ArgumentConflict, conflict);
            opening::set_load_range(range.map_err(conflict)?);
            leave_out.apply();
            caching.apply();
            layout.apply();
            room.apply(command.accepts_load_range());
            Ok((command, refused))
        },
    );
    let ended = parsed.map(|(command, refused)| refused.map_err(|error| vec![error]).and_then(|()| command.run()));
    // All output is printed. Wait for cache files that are still being written.
    kept_file::close();
    cache::finish();
    match ended {
        Ok(Ok(status)) => status,
        Ok(Err(errors)) => {
            errors.iter().for_each(|error| print_stderr(error));
            ExitCode::FAILURE
        }
        Err(error) => {
            output::print_clap(&error);
            ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2))
        }
    }
}

/// Parses arguments. The inner result is an error if an output file would overwrite an input file.
///
/// # Errors
/// Returns clap's error for invalid arguments, and for `--help` and `--version`.
fn parse(words: impl IntoIterator<Item = OsString>) -> Result<(Memscape, Result<(), String>), clap::Error> {
    let cli = Memscape::command();
    let matches = cli.clone().try_get_matches_from(words)?;
    let refused = output_file::refuse_inputs(&cli, &matches);
    Memscape::from_arg_matches(&matches).map(|parsed| (parsed, refused))
}

impl Command {
    /// Returns an error message if arguments conflict, or `None`.
    fn conflict(&self, load: &LoadArgs) -> Option<String> {
        if !load.is_all() && !self.accepts_load_range() {
            return Some(
                "this command reads whole files: --load-from, --load-to and --load-last are for others".to_owned(),
            );
        }
        match self {
            Command::Peak(arguments) => arguments.conflict(),
            Command::Plot(arguments) => arguments.conflict(),
            Command::Html(arguments) => arguments.conflict(),
            Command::Check(arguments) => arguments.conflict(),
            Command::Help(arguments) => arguments.conflict(&Memscape::command()),
            _ => None,
        }
    }

    /// Returns true if the command is not about one snapshot.
    fn is_general(&self) -> bool {
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
    fn accepts_load_range(&self) -> bool {
        !self.is_general() && !matches!(self, Self::Crop(_) | Self::Convert(_) | Self::Html(_))
    }

    /// Returns true if the command reads one snapshot, prints a result and exits.
    fn answers_from_one_file(&self) -> bool {
        // Without a query, `sql` reads statements from standard input, which here carries the requests to `ask` or
        // `mcp`.
        let is_prompt = matches!(self, Self::Sql(arguments) if !arguments.is_complete());
        !is_prompt && !self.is_general() && !matches!(self, Self::Tui(_) | Self::Ask(_) | Self::Mcp(_))
    }

    /// Runs the command. Returns the exit status, or error messages on failure.
    fn run(self) -> Result<ExitCode, Vec<String>> {
        match self {
            Command::Check(arguments) => arguments.run(),
            other => other.run_to_success().map(|()| ExitCode::SUCCESS),
        }
    }

    /// Runs a command whose exit status is 0 unless it fails.
    fn run_to_success(self) -> Result<(), Vec<String>> {
        let only = |result: Result<(), String>| result.map_err(|error| vec![error]);
        let (path, result): (&Path, _) = match &self {
            Command::Summary(args) => return summary::summary(args),
            Command::Insights(args) => (&args.terms.source.file, insights::insights(args).and_then(print_text)),
            Command::Live(args) => (&args.source.file, live::live(args).and_then(print_text)),
            Command::Peak(args) => (&args.source.file, live::peak(args).and_then(print_text)),
            Command::Allocations(args) => (&args.source.file, allocations::allocations(args).and_then(print_text)),
            Command::Segments(args) => (&args.source.file, segments::segments(args).and_then(print_text)),
            Command::WhatIf(args @ what_if::WhatIfArgs { out: Some(out), .. }) => {
                print_written(out, &args.source.file, simulated_snapshot::write(args, out))
            }
            Command::WhatIf(args) => (&args.source.file, what_if::simulate(args).and_then(print_text)),
            Command::Events(args) => (&args.source.file, events::events(args)),
            Command::Insight(command) => (&command.terms.source.file, command.run().and_then(print_text)),
            Command::Report(terms) => (
                &terms.source.file,
                insights::insight(Topic::Peak, terms, false, &insights::RangeBounds::default()).and_then(print_text),
            ),
            Command::Plan(args) => (&args.source.file, plan::plan(args).and_then(print_text)),
            // The errors of these commands already name the file.
            Command::Diff(args) => return only(diff::diff(args).and_then(print_text)),
            Command::Check(args) => return args.run().map(drop),
            Command::Ranks(args) => return only(ranks::ranks(args).and_then(print_text)),
            Command::Survey(args) => return only(args.run()),
            Command::Fleet(args) => return args.run(),
            Command::Sql(args) => return only(args.run()),
            Command::Plot(args) => (&args.source.file, plot::plot(args)),
            Command::Html(args) => print_written(&args.out, &args.source.file, args.write()),
            Command::Crop(args) => print_written(&args.out, &args.source.file, args.write()),
            Command::Convert(args) => print_written(&args.out, &args.source.file, args.write()),
            Command::Export(args) => print_written(&args.out, &args.source.file, args.write()),
            Command::Serve(args) => return only(args.run()),
            Command::Tui(args) => return tui::tui(args),
            Command::Ask(args) => return args.run(answer),
            Command::Mcp(args) => return only(args.run(answer_ranks_too)),
            Command::Run(args) => return args.run(),
            #[cfg(unix)]
            Command::Attach(args) => return args.run(),
            Command::Completions(args) => return only(args.run(Memscape::command())),
            Command::Man(args) => return only(args.run(Memscape::command())),
            Command::Help(args) => return only(args.run(Memscape::command())),
        };
        result.map_err(|error| vec![format!("{}: {error}", path.display())])
    }
}

fn print_text(text: String) -> Result<(), String> {
    print(&text)
}

/// Prints `what`, a message about the written file `out`, if the command succeeded. Returns the path of the source
/// file, for error messages, and the result without the message.
fn print_written<'a>(
    out: &OutputFile,
    source: &'a Path,
    what: Result<String, String>,
) -> (&'a Path, Result<(), String>) {
    (source, what.map(|what| print_stderr(&format!("{}: {what}", out.path().display()))))
}

/// Runs a command on one snapshot and returns its `--json` output. For commands that write a file, returns their
/// message.
///
/// # Errors
/// Returns an error message if the arguments are invalid or the command fails.
fn answer(path: &str, command: &str, arguments: &[String]) -> Result<Value, String> {
    run_for_answer(path, command, arguments, Command::answers_from_one_file)
}

/// Like [`answer`], but also accepts `ranks` on a folder of snapshots.
///
/// # Errors
/// Returns the same errors as [`answer`].
fn answer_ranks_too(path: &str, command: &str, arguments: &[String]) -> Result<Value, String> {
    run_for_answer(path, command, arguments, |parsed| {
        parsed.answers_from_one_file() || matches!(parsed, Command::Ranks(_))
    })
}

fn run_for_answer(
    path: &str,
    command: &str,
    arguments: &[String],
    is_answered: fn(&Command) -> bool,
) -> Result<Value, String> {
    let cli = Memscape::command();
    let is_named =
        |known: &&clap::Command| known.get_name() == command || known.get_all_aliases().any(|alias| alias == command);
    let known =
        cli.get_subcommands().find(is_named).ok_or_else(|| format!("no command {command}: see memscape --help"))?;
    let has_json = known.get_arguments().any(|argument| argument.get_id() == "json");
    let words = ["memscape", command].into_iter().chain(has_json.then_some("--json")).chain([path]);
    let parsed = parse(words.chain(arguments.iter().map(String::as_str)).map(OsString::from));
    // clap reports --help as an error, which is not an answer here.
    let (Memscape { command: parsed_command, load, leave_out, .. }, refused) =
        parsed.map_err(|error| ask::argument_error(&error.to_string()))?;
    if !is_answered(&parsed_command) {
        return Err(format!("{command} is not about one snapshot: run memscape {command}"));
    }
    if leave_out.is_given() {
        return Err("the file is open already: give --leave-out to the program".to_owned());
    }
    if !load.is_all() {
        return Err("the file is open already: give --load-from, --load-to and --load-last to the program".to_owned());
    }
    if let Some(conflict) = parsed_command.conflict(&load) {
        return Err(conflict);
    }
    refused?;
    let (result, caught) = capture(|| parsed_command.run());
    let prefix = format!("{path}: ");
    result.map_err(|errors| errors.join("; ").replace(&prefix, ""))?;
    if has_json {
        return serde_json::from_slice(&caught.text).map_err(|error| error.to_string());
    }
    let message = caught.messages.join("; ").replace(&prefix, "");
    Ok(match caught.text.as_slice() {
        [] => json!({ "message": message }),
        text => json!({"message": message, "text": String::from_utf8_lossy(text)}),
    })
}
