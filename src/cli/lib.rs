//! The command line, on the page's own engine: `memscape summary` prints what the page's summary shows, and so on for the other tabs.
//!
//! Exit status: 0; 1 when a file can't be read (one sentence on standard error); 2 for wrong usage.

mod asking;
mod begun;
mod carried;
mod events;
mod find;
mod html;
mod input;
mod live;
mod live_rows;
mod manual;
mod opening;
mod output;
#[cfg(test)]
mod parsing;
mod plot;
mod report;
mod serve;
mod state;
mod state_json;
mod summary;
mod terms;
mod viewer;
mod written;

use clap::error::ErrorKind;
use clap::{CommandFactory, Parser, Subcommand};
use engine::protocol::Topic;
use output::{print, say};
use std::path::Path;
use std::process::ExitCode;

/// Reads PyTorch memory snapshots of any size: what was live when, and which code allocated it
#[derive(Parser, Clone, Debug)]
#[command(name = "memscape", version, args_override_self = true, after_help = AFTER)]
struct Memscape {
    #[command(subcommand)]
    command: Command,
}

const AFTER: &str = "A snapshot is what torch.cuda.memory._dump_snapshot() writes; gzip, zstd, zip and PyTorch's HTML page are read as well.\n\
                     Exit status: 0 on success, 1 if a file cannot be read, 2 for wrong usage.";

#[derive(Subcommand, Clone, Debug)]
enum Command {
    /// Print the peak and other totals of each device
    Summary(summary::Summary),
    /// List what is live at a point in the trace, by the code that allocated it
    Live(live::Live),
    /// List what is live at the peak, of the whole trace or of a time range
    Peak(live::Peak),
    /// List the allocations that match a search, largest first
    Find(find::Find),
    /// List segments and blocks at a point in the trace, and the free memory in them
    State(state::Segments),
    /// List events
    Events(events::Events),
    /// Report the peak: when, how much, and what made it
    Report(report::Terms),
    /// Report failed requests (OOM) and what was in their way
    Oom(report::Terms),
    /// Report what the memory is for, by category
    Categories(report::Terms),
    /// Report steps and annotations
    Stages(report::Terms),
    /// Report memory by nn.Module
    Layers(report::Terms),
    /// Report leaks and waste
    Leaks(report::Terms),
    /// Report memory that is reserved and free
    Fragmentation(report::Terms),
    /// Report private pools and host memory
    Pools(report::Terms),
    /// Report the allocator's settings, and others that the trace suggests
    Settings(report::Terms),
    /// Draw the timeline as an SVG picture
    Plot(plot::Plot),
    /// Save the page with the snapshot in it: one HTML file that works offline
    Html(html::Html),
    /// Serve the page and snapshots to a browser, here or at the other end of ssh -L
    ///
    /// Prints an address that only this machine can reach. Requests without the full address are rejected. Folders are searched
    /// each time the address is opened; the 200 newest snapshots are listed, and links are not followed. Ctrl+C ends it.
    Serve(serve::Serve),
    /// Print a completion script for a shell
    Completions(manual::Completions),
    /// Write the manual pages into a folder
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

    /// Does it; the errors are a sentence each.
    fn run(self) -> Result<(), Vec<String>> {
        let (path, result): (&Path, _) = match &self {
            Command::Summary(arguments) => return summary::summary(arguments),
            Command::Live(arguments) => (&arguments.source.file, live::live(arguments).and_then(printed)),
            Command::Peak(arguments) => (&arguments.source.file, live::highest(arguments).and_then(printed)),
            Command::Find(arguments) => (&arguments.source.file, find::find(arguments).and_then(printed)),
            Command::State(arguments) => (&arguments.source.file, state::state(arguments).and_then(printed)),
            Command::Events(arguments) => (&arguments.source.file, events::events(arguments)),
            Command::Report(terms) => reported(Topic::Peak, terms),
            Command::Oom(terms) => reported(Topic::OutOfMemory, terms),
            Command::Categories(terms) => reported(Topic::Categories, terms),
            Command::Stages(terms) => reported(Topic::Steps, terms),
            Command::Layers(terms) => reported(Topic::Modules, terms),
            Command::Leaks(terms) => reported(Topic::Leaks, terms),
            Command::Fragmentation(terms) => reported(Topic::Fragmentation, terms),
            Command::Pools(terms) => reported(Topic::Pools, terms),
            Command::Settings(terms) => reported(Topic::Settings, terms),
            Command::Plot(arguments) => (&arguments.source.file, plot::plot(arguments)),
            Command::Html(arguments) => match arguments.write() {
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

fn reported(topic: Topic, terms: &report::Terms) -> (&Path, Result<(), String>) {
    (&terms.source.file, report::report(topic, terms).and_then(printed))
}
