//! Ways to make a running Python program execute a script: Python's own, and gdb.

use super::process::{Process, ptrace_hint};
use std::io::ErrorKind;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// Program for Python's own way: process and script are its arguments.
const REMOTE_EXEC: &str = "import sys; sys.remote_exec(int(sys.argv[1]), sys.argv[2])";
/// Size of the page that gdb maps for the program text, in bytes.
const PAGE_SIZE: usize = 4096;

/// A way to run a script.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Way {
    /// Python's own, since 3.14
    Pep768,
    /// The debugger, for older versions
    Gdb,
}

impl Way {
    /// Returns the way for a process, or the chosen one.
    ///
    /// # Errors
    /// Returns a sentence if the process does not support the chosen way, or forbids it.
    pub(super) fn choose(process: &Process, chosen: Option<Way>) -> Result<Way, String> {
        let way = chosen.unwrap_or(if process.has_remote_exec() { Way::Pep768 } else { Way::Gdb });
        if way == Way::Pep768 && !process.has_remote_exec() {
            return Err(format!("process {} runs Python {}: pep768 needs 3.14", process.pid, process.python()));
        }
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
        match self {
            Way::Pep768 => remote_exec(process, script),
            Way::Gdb => gdb(process, script),
        }
    }
}

fn remote_exec(process: &Process, script: &Path) -> Result<(), String> {
    let output = Command::new(interpreter(process))
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

fn gdb(process: &Process, script: &Path) -> Result<(), String> {
    let mut gdb = Command::new("gdb");
    gdb.args(["-nx", "-q", "-batch"]);
    for command in gdb_commands(process.pid, script)? {
        gdb.args(["-ex", &command]);
    }
    // Ctrl+C must not end gdb while it has stopped the program.
    let output = gdb.process_group(0).stdin(Stdio::null()).output().map_err(|error| match error.kind() {
        ErrorKind::NotFound => format!(
            "Python {} needs gdb for this, which is not installed. Install it, or record with on_signal (memscape help recording)",
            process.python()
        ),
        _ => format!("gdb: {error}"),
    })?;
    if String::from_utf8_lossy(&output.stdout).contains("memscape: pending 0") {
        Ok(())
    } else {
        Err(failure("gdb", &output))
    }
}

/// Returns the commands that let Python's main thread run a script.
///
/// Only `mmap` and `Py_AddPendingCall` are called in the stopped program. They take no lock of Python or of the memory
/// allocator that the program could be holding. The text is written by gdb into a page of its own, so nothing is allocated.
///
/// # Errors
/// Returns a sentence if the path of the script is too long.
fn gdb_commands(pid: u32, script: &Path) -> Result<Vec<String>, String> {
    let path = serde_json::to_string(&script.display().to_string()).unwrap_or_default();
    // An exception in a pending call would be raised in the program.
    let text =
        format!("try:\n exec(compile(open({path}).read(), {path}, 'exec'), {{}})\nexcept BaseException: pass\n\0");
    if text.len() > PAGE_SIZE {
        return Err(format!("the path is too long: {}", script.display()));
    }
    let mut commands: Vec<String> = [
        "set confirm off",
        "set pagination off",
        // Only the symbols that are called: those of PyTorch would take minutes.
        "set auto-solib-add off",
        "set print thread-events off",
        "set debuginfod enabled off",
        "set auto-load no",
        "set unwindonsignal on",
        &format!("attach {pid}"),
        "sharedlibrary libpython",
        "sharedlibrary libc.so",
        "sharedlibrary ld-linux",
        // Readable, writable, private, anonymous.
        "set $page = ((void*(*)(void*,unsigned long,int,int,int,long))mmap)(0, 4096, 3, 0x22, -1, 0)",
    ]
    .map(str::to_owned)
    .into();
    for (index, part) in text.as_bytes().chunks(8).enumerate() {
        let mut word = [0; 8];
        word[..part.len()].copy_from_slice(part);
        commands.push(format!("set {{unsigned long}}((char*)$page + {}) = {}", index * 8, u64::from_le_bytes(word)));
    }
    let call =
        "set $result = ((int(*)(int(*)(void*),void*))Py_AddPendingCall)((int(*)(void*))PyRun_SimpleString, $page)";
    commands.extend([call, "printf \"memscape: pending %d\\n\", $result", "detach", "quit"].map(str::to_owned));
    Ok(commands)
}

/// Returns a sentence with the last line that a program printed as an error.
fn failure(program: &str, output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr);
    let last = text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("no message");
    let is_denied = ["PermissionError", "Operation not permitted", "ptrace"].iter().any(|it| text.contains(it));
    format!("{program}: {}{}", last.trim(), if is_denied { ptrace_hint() } else { "" })
}
