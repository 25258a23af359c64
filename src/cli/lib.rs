//! The command line of memscape.
//!
//! Takes the arguments of the `memscape` program, opens snapshots with the engine that the page uses, and prints
//! results as text, JSON or Markdown. This crate also contains `memscape serve`, the SQL prompt and the MCP server.
//!
//! Read first: `command.rs` (the commands), this file (runs them), `opening.rs` (opens a file in an engine) and
//! `open_snapshot.rs` (queries of an open snapshot).
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
mod command;
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
mod signals;
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
use clap::{CommandFactory, FromArgMatches, Parser};
use command::Command;
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

/// Runs the command line with the arguments of this process.
pub fn main() -> ExitCode {
    let parsed = parse(std::env::args_os()).and_then(
        |(Memscape { command, load, leave_out, caching, layout, room }, refused)| {
            let conflict =
                command.conflict(&load, Memscape::command).or_else(|| leave_out.conflict(command.is_general()));
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
        Ok(Err(errors)) => fail(&errors),
        Err(error) => {
            let status = ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2));
            output::print_clap(&error).map_or_else(|error| fail(&[error]), |()| status)
        }
    }
}

fn fail(errors: &[String]) -> ExitCode {
    errors.iter().for_each(|error| print_stderr(error));
    ExitCode::FAILURE
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

/// Prints `what`, a message about the written file `out`, and which texts were left out, if the command succeeded.
/// Returns the path of the source file, for error messages, and the result without the message.
fn print_written<'a>(
    out: &OutputFile,
    source: &'a Path,
    what: Result<String, String>,
) -> (&'a Path, Result<(), String>) {
    let left_out = opening::left_out()
        .map_or_else(String::new, |what| ["; left out: ", &what.names().collect::<Vec<_>>().join(", ")].concat());
    (source, what.map(|what| print_stderr(&format!("{}: {what}{left_out}", out.path().display()))))
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
    if let Some(conflict) = parsed_command.conflict(&load, Memscape::command) {
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
