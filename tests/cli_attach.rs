//! `memscape attach`: refusals, the permissions of its files, and a whole session with a Python program, by gdb and, if
//! it is installed, with Python 3.14.

#![cfg(target_os = "linux")]

use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
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

    /// Starts a Python program and waits until it has imported the stand-in for PyTorch. `None` without Python.
    fn python(options: &[&str], variables: &[(&str, &str)]) -> Option<Target> {
        Self::start("python3", options, variables)
    }

    fn start(python: &str, options: &[&str], variables: &[(&str, &str)]) -> Option<Target> {
        let standin = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/python/standin");
        let mut command = Command::new(python);
        command.args(options).args(["-c", PROGRAM]).env("PYTHONPATH", standin).envs(variables.iter().copied());
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
fn folder_that_others_can_write_to_is_refused() {
    let Some(target) = Target::python(&[], &[]) else { return };
    let folder = folder("open");
    let shown = fs::canonicalize(&folder).unwrap().display().to_string();
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o777)).unwrap();
    let (status, error) = target.refused(&["status"], |command| {
        command.env("TMPDIR", &folder);
    });
    assert_eq!(status, Some(1));
    assert!(error.contains(&format!("other users can write to {shown}")) && error.contains("TMPDIR"), "{error}");
    // The same folder inside of one that only the owner can change would be safe, and so is a sticky one.
    let inner = folder.join("inner");
    fs::create_dir(&inner).unwrap();
    let (_, error) = target.refused(&["status"], |command| {
        command.env("TMPDIR", &inner);
    });
    assert!(error.contains(&format!("other users can write to {shown}")), "{error}");
    assert_eq!(fs::read_dir(&inner).unwrap().count(), 0);
}

#[test]
fn program_that_forbids_debugging_is_refused() {
    for (options, variables, setting) in [
        (&[][..], &[("PYTHON_DISABLE_REMOTE_DEBUG", "1")][..], "PYTHON_DISABLE_REMOTE_DEBUG"),
        (&["-X", "disable_remote_debug"], &[], "-X disable_remote_debug"),
        (&["-Xdisable_remote_debug"], &[], "-X disable_remote_debug"),
    ] {
        let Some(target) = Target::python(options, variables) else { return };
        let (status, error) = target.refused(&["start"], nothing);
        let pid = target.0.id();
        assert_eq!(status, Some(1));
        assert_eq!(error, format!("memscape: process {pid} was started with {setting}, which forbids this\n"));
    }
}

#[test]
fn missing_debugger_is_named() {
    let Some(target) = Target::python(&[], &[]) else { return };
    let (status, error) = target.refused(&["start", "--how", "gdb"], |command| {
        command.env("PATH", "");
    });
    assert_eq!(status, Some(1));
    assert!(error.contains("needs gdb for this, which is not installed") && error.contains("on_signal"), "{error}");
}

#[test]
fn script_is_private_and_removed_and_silence_is_status_four() {
    let Some(target) = Target::python(&[], &[]) else { return };
    let folder = folder("private");
    let temporary = folder.join("temporary");
    fs::create_dir(&temporary).unwrap();
    // A debugger that only looks at the files.
    let gdb = folder.join("gdb");
    let look = "#!/bin/sh\nstat -c '%a %u' \"$TMPDIR\"/* \"$TMPDIR\"/*/* >\"$TMPDIR/../seen\"\nprintf 'memscape: pending 0\\n'\n";
    fs::write(&gdb, look).unwrap();
    fs::set_permissions(&gdb, fs::Permissions::from_mode(0o755)).unwrap();
    let path = std::env::join_paths([folder.as_path(), Path::new("/usr/bin"), Path::new("/bin")]).unwrap();
    let (status, error) = target.refused(&["start", "--how", "gdb", "--wait", "0"], |command| {
        command.env("TMPDIR", &temporary).env("PATH", path);
    });
    assert_eq!(status, Some(4), "{error}");
    assert!(error.contains("no answer in 0 s") && error.contains("collective"), "{error}");
    let user = fs::read_to_string("/proc/self/status").unwrap();
    let user =
        user.lines().find_map(|line| line.strip_prefix("Uid:\t")).unwrap().split('\t').next().unwrap().to_owned();
    assert_eq!(fs::read_to_string(folder.join("seen")).unwrap(), format!("700 {user}\n600 {user}\n"));
    assert_eq!(fs::read_dir(&temporary).unwrap().count(), 0);
}

#[test]
fn running_program_is_recorded_and_goes_on() {
    if Command::new("gdb").arg("--version").output().is_ok_and(|output| output.status.success()) {
        check_session("python3");
    }
    check_session("python3.14");
}

/// Runs all actions on a program. Does nothing without this Python.
fn check_session(python: &str) {
    let Some(mut target) = Target::start(python, &[], &[]) else { return };
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
