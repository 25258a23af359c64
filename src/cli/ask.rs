//! `memscape ask`: keeps a snapshot open and answers one request per line, as JSON.
//!
//! A request is `{"id": 3, "command": "live", "arguments": ["--at", "oom"]}`: a command and its arguments, without the
//! file and `--json`. Its reply is `{"id": 3, "answer": …}` with the command's `--json` output. The reply to a command
//! that writes a file is `{"message": …}`, plus `{"text": …}` if the file is `-`. The reply to a failed request is
//! `{"id": 3, "error": "message"}`. The first line is `{"ready": {…}}`, or `{"error": …}` if the file cannot be opened.

use super::opening::keep_open;
use super::output::{escape_json, ignore_broken_pipe, standard_output};
use clap::Args;
use protocol::FileSummary;
use serde::Deserialize;
use serde_json::{Value, json};
use std::io::{self, BufRead, Read};
use std::path::{Path, PathBuf};

/// Function that runs a command on a snapshot and returns its JSON output. Takes the path of the file, the name of the
/// command, and its arguments.
pub(crate) type CommandRunner = fn(&str, &str, &[String]) -> Result<Value, String>;

/// Maximum length of a request in bytes.
const MAX_REQUEST_BYTES: u64 = 1 << 20;

/// Arguments of `memscape ask`.
#[derive(Args, Clone, Debug)]
pub(crate) struct Ask {
    /// Snapshot to read
    pub(crate) file: PathBuf,
    /// Device for requests that name none: an ordinal, -1 for host memory
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) device: Option<i64>,
}

#[derive(Deserialize)]
struct Request {
    #[serde(default)]
    id: Value,
    command: String,
    #[serde(default)]
    arguments: Vec<String>,
}

impl Ask {
    /// Replies to requests until standard input ends.
    ///
    /// # Errors
    /// Returns error messages if the file cannot be opened or I/O fails. If the file cannot be opened, the error is
    /// also printed as JSON.
    pub(crate) fn run(&self, answerer: CommandRunner) -> Result<(), Vec<String>> {
        let session = match Session::open(&self.file, self.device, answerer) {
            Ok(session) => session,
            Err(error) => {
                reply(&json!({ "error": error })).map_err(|error| vec![error])?;
                return Err(vec![error]);
            }
        };
        let summary = &session.summary;
        let ready = json!({"file": summary.file, "schema": summary.schema, "version": env!("CARGO_PKG_VERSION")});
        reply(&json!({ "ready": ready })).map_err(|error| vec![error])?;
        let mut lines = io::stdin().lock();
        while let Some(line) = next_line(&mut lines).map_err(|error| vec![format!("standard input: {error}")])? {
            if line.trim().is_empty() {
                continue;
            }
            reply(&session.reply(&line)).map_err(|error| vec![error])?;
        }
        Ok(())
    }
}

/// Reads a line, truncated to [`MAX_REQUEST_BYTES`]. Returns `None` at the end of the input.
fn next_line(lines: &mut impl BufRead) -> io::Result<Option<String>> {
    let mut line = Vec::new();
    if lines.by_ref().take(MAX_REQUEST_BYTES).read_until(b'\n', &mut line)? == 0 {
        return Ok(None);
    }
    if line.last() != Some(&b'\n') {
        lines.skip_until(b'\n')?;
    }
    Ok(Some(String::from_utf8_lossy(&line).into_owned()))
}

fn reply(value: &Value) -> Result<(), String> {
    let mut out = standard_output();
    ignore_broken_pipe(writeln!(out, "{}", escape_json(&value.to_string())).and_then(|()| out.flush()))
}

/// A session with a snapshot that stays open between requests.
struct Session {
    path: String,
    summary: FileSummary,
    answerer: CommandRunner,
}

impl Session {
    /// Opens a file and keeps it open on the current thread.
    ///
    /// # Errors
    /// Returns an error message that names the file if it cannot be read or has no such device.
    fn open(file: &Path, device: Option<i64>, answerer: CommandRunner) -> Result<Session, String> {
        let wrong = |error: String| format!("{}: {error}", file.display());
        // An absolute path cannot be mistaken for an option.
        let path = std::path::absolute(file).map_err(|error| wrong(error.to_string()))?;
        let summary = keep_open(&path, device).map_err(wrong)?;
        if device.is_some() {
            super::open_snapshot::select_device(&summary, device).map_err(wrong)?;
        }
        let path = path.to_str().ok_or_else(|| wrong("the name is not UTF-8".to_owned()))?.to_owned();
        Ok(Session { path, summary, answerer })
    }

    fn reply(&self, line: &str) -> Value {
        match serde_json::from_str::<Request>(line) {
            Ok(Request { id, command, arguments }) => match (self.answerer)(&self.path, &command, &arguments) {
                Ok(answer) => json!({"id": id, "answer": answer}),
                Err(error) => json!({"id": id, "error": error}),
            },
            Err(error) => {
                let id = serde_json::from_str::<Value>(line).ok().and_then(|request| request.get("id").cloned());
                json!({"id": id, "error": format!("not a request: {error}")})
            }
        }
    }
}

/// Shortens clap's error text to one sentence: the cause, the possible values and suggestions, without the usage.
pub(crate) fn argument_error(text: &str) -> String {
    let is_usage = |line: &&str| line.starts_with("Usage:") || line.starts_with("For more information");
    let mut sentence = String::new();
    for line in text.lines().map(str::trim).take_while(|line| !is_usage(line)).filter(|line| !line.is_empty()) {
        let separator = if line.starts_with("tip:") { "; " } else { " " };
        sentence.push_str(if sentence.is_empty() { "" } else { separator });
        sentence.push_str(line.strip_prefix("error: ").unwrap_or(line));
    }
    sentence
}

#[cfg(test)]
#[path = "../../tests/units/cli/ask.rs"]
mod tests;
