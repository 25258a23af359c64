//! `memscape attach`: refusals, the permissions of its files, and a whole session, if Python 3.14
//! is installed.

#![cfg(target_os = "linux")]

use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

/// User without a name, for programs of another user.
const NOBODY: u32 = 65534;
/// A program that uses the stand-in for PyTorch, and then waits for its standard input to close.
const PROGRAM: &str = "import sys, torch
torch.cuda.memory.allocate(99)
print('ready', flush=True)
end = __import__('threading').Event()
__import__('threading').Thread(target=lambda: (sys.stdin.read(), end.set())).start()
while not end.is_set():
    torch.cuda.memory.release(torch.cuda.memory.allocate(7))
print('went on', flush=True)
";

fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cli-attach").join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// A process that ends with the test.
struct Target(Child);

impl Drop for Target {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Target {
    fn sleep(change: impl FnOnce(&mut Command)) -> Target {
        let mut command = Command::new("sleep");
        change(command.arg("60"));
        Target(command.spawn().unwrap())
    }

    /// Starts a Python program and waits until it has imported the stand-in for PyTorch. `None` without this Python.
    fn start(python: &str) -> Option<Target> {
        let standin = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/python/standin");
        let mut command = Command::new(python);
        command.args(["-c", PROGRAM]).env("PYTHONPATH", standin);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().ok()?;
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        assert_eq!(line, "ready\n");
        Some(Target(child))
    }

    fn attach(&self, words: &[&str], change: impl FnOnce(&mut Command)) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_memscape"));
        command.arg("attach").arg(self.0.id().to_string()).args(words);
        change(&mut command);
        command.output().unwrap()
    }

    /// Attaches, and returns the exit status and the message.
    fn refused(&self, words: &[&str], change: impl FnOnce(&mut Command)) -> (Option<i32>, String) {
        let output = self.attach(words, change);
        assert!(output.stdout.is_empty());
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    }
}

fn nothing(_: &mut Command) {}

#[test]
fn process_that_does_not_exist_or_is_no_python_is_refused() {
    let target = Target::sleep(|_| ());
    let pid = target.0.id();
    assert_eq!(
        target.refused(&["status"], nothing),
        (Some(1), format!("memscape: process {pid} is no Python program\n"))
    );
    let output =
        Command::new(env!("CARGO_BIN_EXE_memscape")).args(["attach", "4294967295", "status"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "memscape: there is no process 4294967295\n");
}

#[test]
fn program_of_another_user_is_refused_without_yes() {
    let is_root = fs::read_to_string("/proc/self/status").unwrap().contains("Uid:\t0\t0\t0\t0");
    // Without root, process 1 is another user's.
    let target = Target::sleep(|command| {
        if is_root {
            command.uid(NOBODY);
        }
    });
    if is_root {
        let pid = target.0.id();
        let (status, error) = target.refused(&["start"], nothing);
        assert_eq!(status, Some(1));
        assert_eq!(
            error,
            format!("memscape: process {pid} belongs to another user (65534): add --yes to run code in it\n")
        );
        let (_, error) = target.refused(&["start", "--yes"], nothing);
        assert!(error.contains("is no Python program"), "{error}");
    } else {
        let output = Command::new(env!("CARGO_BIN_EXE_memscape")).args(["attach", "1", "start"]).output().unwrap();
        assert!(String::from_utf8(output.stderr).unwrap().contains("belongs to another user (0)"));
    }
}

#[test]
fn older_python_is_refused() {
    let Some(target) = Target::start("python3") else { return };
    let (status, error) = target.refused(&["start"], nothing);
    let pid = target.0.id();
    let Some(rest) = error.strip_prefix(&format!("memscape: process {pid} runs Python 3.")) else { return };
    let (minor, rest) = rest.split_once(',').unwrap();
    assert!(minor.parse::<u32>().unwrap() < 14 && status == Some(1), "{error}");
    assert_eq!(
        rest,
        format!(
            " and attaching needs 3.14 or later. Start the program with `memscape run --on-signal SIGUSR2` instead, then \
             `kill -USR2 {pid}` saves a snapshot at any time (memscape help recording)\n"
        )
    );
}

#[test]
fn running_program_is_recorded_and_goes_on() {
    check_session("python3.14");
}

/// Runs all actions on a program. Does nothing without this Python.
fn check_session(python: &str) {
    let Some(mut target) = Target::start(python) else { return };
    let folder = folder(python);
    let out = folder.join("out");
    let say = |target: &Target, words: &[&str]| {
        let output = target.attach(words, |command| {
            command.current_dir(&folder);
        });
        let [text, error] = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
        assert_eq!((output.status.code(), error.as_str()), (Some(0), ""), "{words:?}");
        text
    };
    let pid = target.0.id();
    let text = say(&target, &["status"]);
    assert!(text.starts_with(&format!("process {pid} (Python 3.")) && text.ends_with(") does not record\n"), "{text}");
    let answer: Value =
        serde_json::from_str(&say(&target, &["start", "-o", "out", "--entries", "500", "--json"])).unwrap();
    assert_eq!((&answer["is_recording"], &answer["pid"]), (&Value::Bool(true), &Value::from(pid)));
    assert_eq!(answer["folder"].as_str(), out.to_str());
    assert!(say(&target, &["status"]).ends_with(&format!(") records into {}\n", out.display())));
    let output = target.attach(&["start"], nothing);
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(error.contains("RuntimeError: memscape records into"), "{error}");
    let saved = say(&target, &["save"]);
    let summary =
        Command::new(env!("CARGO_BIN_EXE_memscape")).args(["summary", saved.trim(), "--json"]).output().unwrap();
    assert!(summary.status.success(), "{saved}");
    assert!(say(&target, &["stop"]).ends_with(") has stopped recording\n"));
    assert!(say(&target, &["status"]).ends_with(") does not record\n"));
    drop(target.0.stdin.take());
    let mut line = String::new();
    BufReader::new(target.0.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line, "went on\n");
    assert!(target.0.wait().unwrap().success());
}
