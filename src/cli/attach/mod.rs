//! `memscape attach`: records in a Python program that is already running.

mod process;
mod request;
mod ways;

use super::output::{print, print_stderr, to_pretty_json};
use clap::{Args, ValueEnum};
use process::Process;
use request::Request;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::time::{Duration, Instant};
use ways::Way;

/// Exit status if the program did not answer in time.
const NO_ANSWER: i32 = 4;
/// Time between two looks for the reply.
const PERIOD: Duration = Duration::from_millis(20);

/// Request to the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Action {
    /// Start recording
    Start,
    /// Save a snapshot
    Save,
    /// Stop recording
    Stop,
    /// Print whether it records, and where
    Status,
}

/// Arguments of `memscape attach`.
#[derive(Args, Clone, Debug)]
pub(crate) struct Attach {
    /// Process id of the Python program
    pid: u32,
    #[arg(value_enum)]
    action: Action,
    /// Folder for snapshots
    #[arg(short = 'o', long = "output", value_name = "DIR", default_value = "memscape", hide_default_value = true)]
    folder: PathBuf,
    /// Events to keep per device
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    entries: Option<u64>,
    /// Way to run code in the program
    #[arg(long, value_enum)]
    how: Option<Way>,
    /// Seconds to wait for the answer
    #[arg(long, value_name = "S", default_value_t = 30)]
    wait: u64,
    /// Attach to a program of another user too
    #[arg(long)]
    yes: bool,
    /// Print the answer as JSON
    #[arg(long)]
    json: bool,
}

impl Attach {
    /// Asks the program and prints its answer. Exits with status 4 if there is none in time.
    ///
    /// # Errors
    /// Returns an error message if the program cannot be asked, or could not do what it was asked.
    pub(crate) fn run(&self) -> Result<(), Vec<String>> {
        match self.ask() {
            Ok(Some(reply)) => self.print(&reply).map_err(|error| vec![error]),
            Ok(None) => {
                print_stderr(&format!(
                    "no answer in {} s: the main thread of process {} runs no Python code, for example because it waits in a \
                     collective. It will do this when it returns.",
                    self.wait, self.pid
                ));
                std::process::exit(NO_ANSWER)
            }
            Err(error) => Err(vec![error]),
        }
    }

    /// Returns the reply, or `None` if there is none in time.
    fn ask(&self) -> Result<Option<Value>, String> {
        let process = Process::examine(self.pid, self.yes)?;
        let way = Way::choose(&process, self.how)?;
        let folder =
            std::path::absolute(&self.folder).map_err(|error| format!("{}: {error}", self.folder.display()))?;
        let what = self.action.to_possible_value().map(|value| value.get_name().to_owned());
        let request = Request::write(&process, json!({"what": what, "folder": folder, "entries": self.entries}))?;
        let ended = || format!("process {} has ended", self.pid);
        // Its id may belong to another process by now.
        if !process.is_running() {
            return Err(ended());
        }
        way.run(&process, request.script())?;
        let began = Instant::now();
        loop {
            if let Some(reply) = request.reply()? {
                return match reply.get("error").and_then(Value::as_str) {
                    Some(error) => Err(format!("process {}: {error}", self.pid)),
                    None => Ok(Some(reply)),
                };
            }
            if !process.is_running() {
                return Err(ended());
            }
            if began.elapsed() >= Duration::from_secs(self.wait) {
                return Ok(None);
            }
            std::thread::sleep(PERIOD);
        }
    }

    fn print(&self, reply: &Value) -> Result<(), String> {
        if self.json {
            return print(&to_pretty_json(reply));
        }
        let field = |name: &str| reply.get(name).and_then(Value::as_str).unwrap_or("?");
        let program = format!("process {} (Python {}, PyTorch {})", self.pid, field("python"), field("torch"));
        let records = reply.get("is_recording").and_then(Value::as_bool) == Some(true);
        print(&match self.action {
            Action::Save => format!("{}\n", field("path")),
            Action::Stop => format!("{program} has stopped recording\n"),
            _ if records => format!("{program} records into {}\n", field("folder")),
            _ => format!("{program} does not record\n"),
        })
    }
}
