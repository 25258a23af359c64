//! Makes a running Python program execute a script, by `sys.remote_exec` (PEP 768).

use super::process::{Process, own_user, ptrace_hint};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// Program for Python's own way: process and script are its arguments.
const REMOTE_EXEC: &str = "import sys; sys.remote_exec(int(sys.argv[1]), sys.argv[2])";

/// A way to run a script.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Way {
    /// Python's own, since 3.14
    Pep768,
}

impl Way {
    /// Returns the way for a process, or the chosen one.
    ///
    /// # Errors
    /// Returns a sentence if the process does not support this, or forbids it.
    pub(super) fn choose(process: &Process, chosen: Option<Way>) -> Result<Way, String> {
        if !process.has_remote_exec() {
            let (pid, python) = (process.pid, process.python());
            return Err(format!(
                "process {pid} runs Python {python}, and attaching needs 3.14 or later. Start the program with `memscape run \
                 --on-signal SIGUSR2` instead, then `kill -USR2 {pid}` saves a snapshot at any time (memscape help recording)"
            ));
        }
        let way = chosen.unwrap_or(Way::Pep768);
        if let Some(setting) = process.forbids_debugging() {
            return Err(format!("process {} was started with {setting}, which forbids this", process.pid));
        }
        Ok(way)
    }

    /// Makes the process run a script as soon as its main thread runs Python code.
    ///
    /// # Errors
    /// Returns a sentence if that is not possible.
    pub(super) fn run(self, process: &Process, script: &Path) -> Result<(), String> {
        let Way::Pep768 = self;
        remote_exec(process, script)
    }
}

fn remote_exec(process: &Process, script: &Path) -> Result<(), String> {
    let mut command = Command::new(interpreter(process));
    if own_user() != Some(process.user) {
        // The interpreter is a file of the program's owner, so it runs with no more rights than the owner has.
        command.uid(process.user).gid(process.group);
    }
    let output = command
        .args(["-I", "-c", REMOTE_EXEC, &process.pid.to_string()])
        .arg(script)
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("Python {} cannot be started: {error}", process.python()))?;
    if output.status.success() { Ok(()) } else { Err(failure("Python", &output)) }
}

/// Returns the interpreter of the process: `sys.remote_exec` needs the same minor version.
fn interpreter(process: &Process) -> PathBuf {
    let name = process.executable.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    if !name.starts_with("python") {
        return PathBuf::from(format!("python{}", process.python()));
    }
    // The file may have been replaced or removed since the program started.
    if process.executable.is_file() {
        process.executable.clone()
    } else {
        PathBuf::from(format!("/proc/{}/exe", process.pid))
    }
}

/// Returns a sentence with the last line that a program printed as an error.
fn failure(program: &str, output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr);
    let last = text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("no message");
    let is_denied = ["PermissionError", "Operation not permitted", "ptrace"].iter().any(|it| text.contains(it));
    format!("{program}: {}{}", last.trim(), if is_denied { ptrace_hint() } else { "" })
}
