//! The command line, on the page's own engine: each command prints what a view of the page shows.
//!
//! Exit status: 0; 1 if a file cannot be read (one sentence on standard error); 2 for invalid arguments.

mod allocations;
mod asking;
mod begun;
mod carried;
mod crop;
mod diff;
mod events;
mod html;
mod input;
mod insights;
mod live;
mod live_rows;
mod manual;
mod opening;
mod output;
#[cfg(test)]
mod parsing;
mod plan;
mod plot;
mod ranks;
mod ranks_json;
mod ranks_survey;
mod segments;
mod segments_json;
mod serve;
mod summary;
mod terms;
mod viewer;
mod what_if;
mod written;

use clap::error::ErrorKind;
use clap::{CommandFactory, Parser, Subcommand};
use engine::protocol::Topic;
use output::{print, say};
use std::path::Path;
use std::process::ExitCode;

/// Inspect PyTorch memory snapshots: what was live when, and which code allocated it
#[derive(Parser, Clone, Debug)]
#[command(name = "memscape", version, args_override_self = true, after_help = AFTER)]
struct Memscape {
    #[command(subcommand)]
    command: Command,
}

const AFTER: &str = "A snapshot is what torch.cuda.memory._dump_snapshot() writes; gzip, zstd, zip and PyTorch's HTML pages work as well.\n\
                     Exit status: 0 on success, 1 if a file cannot be read, 2 for invalid arguments.";

#[derive(Subcommand, Clone, Debug)]
enum Command {
    /// Print the peak and other totals of each device
    Summary(summary::Summary),
    /// Print what stands out: OOM, peak, leaks, fragmentation and more
    ///
    /// Prints the findings of every insight, or one insight with its tables (--topic).
    Insights(insights::Insights),
    /// Explain out-of-memory errors (OOM)
    Oom(insights::Terms),
    /// Show what lowers the peak, and by how much
    Savings(insights::Terms),
    /// Show memory by category: parameters, gradients, activations, ...
    Categories(insights::Terms),
    /// Show steps and annotations
    #[command(alias = "stages")]
    Steps(insights::Terms),
    /// Show memory by nn.Module
    #[command(alias = "layers")]
    Modules(insights::Terms),
    /// Find leaks and waste
    #[command(alias = "waste")]
    Leaks(insights::Terms),
    /// Show fragmentation
    Fragmentation(insights::Terms),
    /// Show private pools and host memory
    Pools(insights::Terms),
    /// Show allocator settings and suggested changes
    Settings(insights::Terms),
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
    /// Replays the recorded requests in a model of PyTorch's caching allocator. First it says what the model reproduces of the recording;
    /// if that is too little, it predicts nothing.
    #[command(name = "whatif", alias = "what-if")]
    WhatIf(what_if::Simulate),
    /// The insight on the peak, by its name before `insights --topic peak`
    #[command(hide = true)]
    Report(insights::Terms),
    /// Plan a change: the peak with other sizes, and the largest batch that fits
    Plan(plan::Plan),
    /// Compare two snapshots, two devices or two moments: what is larger, by how much, and why
    ///
    /// Prints B against A at their peaks, or at --at-a and --at-b. Moments are aligned by steps, else by the sequence of allocations.
    Diff(diff::Diff),
    /// Compare the snapshots of many ranks: which differ, in what, and which ran out of memory first
    ///
    /// Takes folders, files and archives. Ranks come from the names of the files as torchtitan, Megatron-LM, composer, NeMo and others write
    /// them, else from their order. Files that are missing or cannot be read are listed with the reason.
    Ranks(ranks::Arguments),
    /// Save a range of the trace as a smaller snapshot
    ///
    /// Other tools open it as well: it has the events of the range, the segments and blocks as they were after it, and, before it, an event
    /// for each allocation that is live at its beginning, so that stacks are kept (see --no-prologue).
    Crop(crop::Arguments),
    /// Draw the timeline as an SVG image
    Plot(plot::Plot),
    /// Save the page and the snapshot as one HTML file that works offline
    Html(html::Html),
    /// Serve the page and snapshots to a browser, locally or through ssh -L
    ///
    /// Prints an address that only this machine can reach. Requests without the full address are rejected. Folders are searched
    /// each time the address is opened; the 200 newest snapshots are listed, and links are not followed. Press Ctrl+C to stop.
    Serve(serve::Serve),
    /// Print a shell completion script
    Completions(manual::Completions),
    /// Write man pages to a folder
    Man(manual::Man),
}

/// Runs the program on its own arguments.
pub fn main() -> ExitCode {
    let parsed = Memscape::try_parse().and_then(|Memscape { command }| match command.conflict() {
        Some(conflict) => Err(Memscape::command().error(ErrorKind::ArgumentConflict, conflict)),
        None => Ok(command),
    });
    match parsed.map(Command::run) {
        Ok(Ok(())) => ExitCode::SUCCESS,
        Ok(Err(errors)) => {
            errors.iter().for_each(|error| say(error));
            ExitCode::FAILURE
        }
        Err(error) => {
            // Help as well; nobody may read it.
            let _ = error.print();
            ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2))
        }
    }
}

impl Command {
    /// Arguments that contradict each other.
    fn conflict(&self) -> Option<String> {
        match self {
            Command::Peak(arguments) => arguments.conflict(),
            Command::Plot(arguments) => arguments.conflict(),
            Command::Html(arguments) => arguments.conflict(),
            _ => None,
        }
    }

    /// Runs it; the errors are a sentence each.
    fn run(self) -> Result<(), Vec<String>> {
        let (path, result): (&Path, _) = match &self {
            Command::Summary(arguments) => return summary::summary(arguments),
            Command::Insights(arguments) => {
                (&arguments.terms.source.file, insights::insights(arguments).and_then(printed))
            }
            Command::Live(arguments) => (&arguments.source.file, live::live(arguments).and_then(printed)),
            Command::Peak(arguments) => (&arguments.source.file, live::highest(arguments).and_then(printed)),
            Command::Allocations(arguments) => {
                (&arguments.source.file, allocations::allocations(arguments).and_then(printed))
            }
            Command::Segments(arguments) => (&arguments.source.file, segments::segments(arguments).and_then(printed)),
            Command::WhatIf(arguments) => (&arguments.source.file, what_if::simulate(arguments).and_then(printed)),
            Command::Events(arguments) => (&arguments.source.file, events::events(arguments)),
            Command::Report(terms) => reported(Topic::Peak, terms),
            Command::Oom(terms) => reported(Topic::OutOfMemory, terms),
            Command::Savings(terms) => reported(Topic::Savings, terms),
            Command::Categories(terms) => reported(Topic::Categories, terms),
            Command::Steps(terms) => reported(Topic::Steps, terms),
            Command::Modules(terms) => reported(Topic::Modules, terms),
            Command::Leaks(terms) => reported(Topic::Leaks, terms),
            Command::Fragmentation(terms) => reported(Topic::Fragmentation, terms),
            Command::Pools(terms) => reported(Topic::Pools, terms),
            Command::Settings(terms) => reported(Topic::Settings, terms),
            Command::Plan(arguments) => (&arguments.source.file, plan::plan(arguments).and_then(printed)),
            // Its errors name the file.
            Command::Diff(arguments) => {
                return diff::diff(arguments).and_then(printed).map_err(|error| vec![error]);
            }
            Command::Ranks(arguments) => {
                return ranks::ranks(arguments).and_then(printed).map_err(|error| vec![error]);
            }
            Command::Plot(arguments) => (&arguments.source.file, plot::plot(arguments)),
            Command::Html(arguments) => match arguments.write() {
                Ok(what) => {
                    say(&format!("{}: {what}", arguments.out.display()));
                    return Ok(());
                }
                Err(error) => (&arguments.source.file, Err(error)),
            },
            Command::Crop(arguments) => match arguments.write() {
                Ok(what) => {
                    say(&format!("{}: {what}", arguments.out.display()));
                    return Ok(());
                }
                Err(error) => (&arguments.source.file, Err(error)),
            },
            Command::Serve(arguments) => return arguments.run().map_err(|error| vec![error]),
            Command::Completions(arguments) => return arguments.run(Memscape::command()).map_err(|error| vec![error]),
            Command::Man(arguments) => (&arguments.folder, arguments.run(Memscape::command())),
        };
        result.map_err(|error| vec![format!("{}: {error}", path.display())])
    }
}

fn printed(text: String) -> Result<(), String> {
    print(&text)
}

fn reported(topic: Topic, terms: &insights::Terms) -> (&Path, Result<(), String>) {
    (&terms.source.file, insights::insight(topic, terms).and_then(printed))
}
