//! Facts about another process, from `/proc`: its owner, its Python, and whether it may be asked.

use regex_lite::Regex;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Oldest version of Python with a safe way for other processes to run code in it (PEP 768).
const WITH_REMOTE_EXEC: (u32, u32) = (3, 14);
/// Oldest version of Python that the recorder supports.
const SUPPORTED: (u32, u32) = (3, 9);

/// A running Python program.
pub(super) struct Process {
    pub(super) pid: u32,
    /// Start time, in clock ticks since the system started. Another process may get the same id, but not the same time.
    pub(super) started: u64,
    /// Owner and group.
    pub(super) user: u32,
    pub(super) group: u32,
    /// Major and minor version of its Python.
    pub(super) version: (u32, u32),
    /// The program file.
    pub(super) executable: PathBuf,
}

impl Process {
    /// Examines a process.
    ///
    /// # Errors
    /// Returns a sentence if there is no such process, it runs no supported Python, it is in another container, or it
    /// belongs to another user and `any_user` is false.
    pub(super) fn examine(pid: u32, any_user: bool) -> Result<Process, String> {
        let folder = PathBuf::from(format!("/proc/{pid}"));
        let missing = || format!("there is no process {pid}");
        // First of all: if the id is used again while the rest is read, this is what differs.
        let (_, started) = state(pid).ok_or_else(missing)?;
        let status = fs::read_to_string(folder.join("status")).map_err(|_| missing())?;
        let (users, groups) = (ids(&status, "Uid:"), ids(&status, "Gid:"));
        let [Some(user), Some(group), Some(own)] = [users.get(1).copied(), groups.get(1).copied(), own_user()] else {
            return Err(format!("process {pid} has no owner in /proc/{pid}/status"));
        };
        // A program with several identities, such as one that was started with sudo, counts as another user's.
        if users.iter().any(|it| *it != own) && !any_user {
            return Err(format!("process {pid} belongs to another user ({user}): add --yes to run code in it"));
        }
        let denied = |error: io::Error| format!("process {pid} cannot be examined: {error}{}", ptrace_hint());
        let executable = fs::read_link(folder.join("exe")).map_err(denied)?;
        let maps = fs::read_to_string(folder.join("maps")).map_err(denied)?;
        if is_elsewhere(&folder) {
            return Err(format!("process {pid} is in another container: run memscape attach inside it"));
        }
        let version = version(&maps, &executable).ok_or_else(|| format!("process {pid} is no Python program"))?;
        let process = Process { pid, started, user, group, version, executable };
        if version < SUPPORTED {
            return Err(format!("process {pid} runs Python {}: the recorder needs 3.9 or later", process.python()));
        }
        Ok(process)
    }

    /// Returns true if this Python runs code of other processes.
    pub(super) fn has_remote_exec(&self) -> bool {
        self.version >= WITH_REMOTE_EXEC
    }

    /// Returns the version of Python, such as 3.14.
    pub(super) fn python(&self) -> String {
        format!("{}.{}", self.version.0, self.version.1)
    }

    /// Returns the setting that forbids debugging this process, if it has one.
    pub(super) fn forbids_debugging(&self) -> Option<&'static str> {
        let words = |name: &str| fs::read(format!("/proc/{}/{name}", self.pid)).unwrap_or_default();
        let has =
            |bytes: &[u8], start: &str| bytes.split(|byte| *byte == 0).any(|word| word.starts_with(start.as_bytes()));
        let (environment, arguments) = (words("environ"), words("cmdline"));
        let is_set = environment.split(|byte| *byte == 0).any(|word| {
            word.strip_prefix(b"PYTHON_DISABLE_REMOTE_DEBUG=".as_slice()).is_some_and(|value| !value.is_empty())
        });
        let is_option = has(&arguments, "disable_remote_debug") || has(&arguments, "-Xdisable_remote_debug");
        if is_set { Some("PYTHON_DISABLE_REMOTE_DEBUG") } else { is_option.then_some("-X disable_remote_debug") }
    }

    /// Returns true while the process exists. False if another one has got its id.
    pub(super) fn is_running(&self) -> bool {
        state(self.pid).is_some_and(|(state, started)| state != 'Z' && started == self.started)
    }
}

/// Returns the effective user id of this program.
pub(super) fn own_user() -> Option<u32> {
    ids(&fs::read_to_string("/proc/self/status").ok()?, "Uid:").get(1).copied()
}

/// Returns the state of a process, such as `R` (running) or `Z` (ended, but not yet waited for), and its start time in
/// clock ticks.
fn state(pid: u32) -> Option<(char, u64)> {
    let bytes = fs::read(format!("/proc/{pid}/stat")).ok()?;
    parse_stat(&String::from_utf8_lossy(&bytes))
}

/// Parses `/proc/PID/stat`, whose second field is the program's name in parentheses and may have any character.
fn parse_stat(text: &str) -> Option<(char, u64)> {
    let (_, rest) = text.rsplit_once(')')?;
    let mut fields = rest.split_ascii_whitespace();
    // Fields 3 and 22 of the whole line.
    Some((fields.next()?.chars().next()?, fields.nth(18)?.parse().ok()?))
}

/// Returns what to try if the kernel refuses to let processes examine each other, or nothing.
pub(super) fn ptrace_hint() -> &'static str {
    let scope = fs::read_to_string("/proc/sys/kernel/yama/ptrace_scope").unwrap_or_default();
    if scope.trim() == "0" || scope.is_empty() {
        "; in a container, this needs the capability SYS_PTRACE"
    } else {
        "; kernel.yama.ptrace_scope allows it only to root: use sudo, or let the program call prctl(PR_SET_PTRACER)"
    }
}

/// Returns the numbers after a name in `/proc/PID/status`: real, effective, saved and file system id.
fn ids(status: &str, name: &str) -> Vec<u32> {
    let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default();
    line.split_whitespace().filter_map(|id| id.parse().ok()).collect()
}

/// Returns true if the process sees other files than this program.
fn is_elsewhere(folder: &Path) -> bool {
    let namespace = |folder: &Path| fs::read_link(folder.join("ns/mnt"));
    match (namespace(folder), namespace(Path::new("/proc/self"))) {
        (Ok(there), Ok(here)) => there != here,
        _ => false,
    }
}

/// Returns the version of Python in the names of the mapped files.
fn version(maps: &str, executable: &Path) -> Option<(u32, u32)> {
    let pattern = Regex::new(r"(?:libpython|/python)(\d)\.(\d+)").ok()?;
    let executable = executable.display().to_string();
    let found = pattern.captures_iter(maps).chain(pattern.captures_iter(&executable));
    let numbers = found.filter_map(|it| Some((it.get(1)?.as_str().parse().ok()?, it.get(2)?.as_str().parse().ok()?)));
    numbers.max()
}

#[cfg(test)]
#[path = "../../../tests/units/cli/attach/process.rs"]
pub(super) mod tests;
