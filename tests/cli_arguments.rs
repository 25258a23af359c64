//! Command-line arguments: typos, file names that are not UTF-8, closed output pipes, shell completions and manual
//! pages.

#![cfg(unix)]

use serde_json::{Value, json};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

const MIB: u64 = 1 << 20;

fn memscape() -> Command {
    Command::new(env!("CARGO_BIN_EXE_memscape"))
}

fn run(words: &[&str]) -> Output {
    memscape().args(words).output().unwrap()
}

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap()
}

fn json(words: &[&str]) -> Value {
    let output = run(&[words, &["--json"]].concat());
    assert_eq!((output.status.code(), text(output.stderr).as_str()), (Some(0), ""), "{words:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Creates a folder with one snapshot of two allocations in a file of the given name.
fn folder(name: &str, file: &OsStr) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cli-arguments").join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    let alloc = |addr: u64| {
        json!({"action": "alloc", "addr": addr, "size": MIB, "stream": 0,
        "frames": [{"name": format!("f{addr}"), "filename": "a.py", "line": 1}]})
    };
    let segment = json!({"device": 0, "address": 0, "total_size": 20 * MIB, "stream": 0, "segment_type": "large", "blocks": [
        {"address": 0, "size": MIB, "requested_size": MIB, "state": "active_allocated"},
        {"address": MIB, "size": MIB, "requested_size": MIB, "state": "active_allocated"},
        {"address": 2 * MIB, "size": 18 * MIB, "requested_size": 0, "state": "inactive"}]});
    let value = json!({"segments": [segment], "device_traces": [[alloc(0), alloc(MIB)]]});
    std::fs::write(folder.join(file), value.to_string()).unwrap();
    folder
}

fn snapshot(name: &str) -> String {
    folder(name, OsStr::new("a.json")).join("a.json").to_str().unwrap().to_owned()
}

#[test]
fn option_value_after_equals_sign_is_parsed() {
    let path = snapshot("equals");
    assert_eq!(json(&["live", &path, "--top=1"])["rows"].as_array().unwrap().len(), 1);
}

#[test]
fn help_of_command_lists_its_options() {
    for words in [&["live", "--help"][..], &["help", "live"]] {
        let output = run(words);
        let help = text(output.stdout);
        assert_eq!(output.status.code(), Some(0));
        assert!(help.contains("--at") && help.contains("reserved-peak") && help.contains("alloc:"), "{help}");
        assert!(!help.contains("browser") && !help.contains("--pool"), "{help}");
    }
    let whole = text(run(&["--help"]).stdout);
    for command in ["summary", "insights", "live", "allocations", "segments", "serve", "completions"] {
        assert!(whole.contains(&format!("\n  {command} ")), "{whole}");
    }
    assert!(whole.lines().count() <= 58, "{whole}");
}

#[test]
fn help_of_run_works_without_python() {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/python/memscape/run.py");
    let script = std::fs::read_to_string(script).unwrap();
    let quoted = script.split('"').filter(|word| word.starts_with('-') && !word.contains(' '));
    let options: Vec<&str> = quoted.collect();
    assert!(options.contains(&"--on-growth") && options.contains(&"-m"), "{options:?}");
    for words in [&["run", "--help"][..], &["run", "-h"], &["help", "run"]] {
        let output = memscape().args(words).env("MEMSCAPE_PYTHON", "/nowhere/python").env("PATH", "").output().unwrap();
        let help = text(output.stdout);
        assert_eq!((output.status.code(), text(output.stderr).as_str()), (Some(0), ""), "{words:?}");
        for option in &options {
            let is_there = help.lines().any(|line| line.trim().split([' ', ',']).any(|word| word == *option));
            assert!(is_there, "{option}: {help}");
        }
    }
    // Arguments after the program belong to the program.
    let output =
        memscape().args(["run", "train.py", "--help"]).env("MEMSCAPE_PYTHON", "/nowhere/python").output().unwrap();
    assert!(output.status.code() == Some(1) && text(output.stderr).contains("MEMSCAPE_PYTHON"));
}

#[test]
fn python_without_the_package_is_named_with_what_to_install() {
    let python = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/python/without_package.sh");
    for words in [&["run", "train.py"][..], &["fleet", "ask", "lake"], &["serve", "--lake", "lake"]] {
        let output = memscape().args(words).env("MEMSCAPE_PYTHON", &python).output().unwrap();
        let error = text(output.stderr);
        assert_eq!(output.status.code(), Some(1), "{error}");
        let expected = format!("{} has no package memscape (pip install memscape)", python.display());
        assert!(error.contains(&expected) && error.contains("MEMSCAPE_PYTHON"), "{error}");
    }
    // A real interpreter without installed packages, in a folder whose folder `memscape` is no package. It is the only
    // one on the PATH.
    let folder = folder("no-package", OsStr::new("a.json"));
    std::fs::create_dir(folder.join("memscape")).unwrap();
    let find = Command::new("python3").args(["-c", "import sys; print(sys.executable)"]).output().unwrap();
    let python = text(find.stdout);
    let python = Path::new(python.trim());
    std::os::unix::fs::symlink(python, folder.join("python3")).unwrap();
    let home = format!("home = {}\n", python.parent().unwrap().display());
    std::fs::write(folder.join("pyvenv.cfg"), home).unwrap();
    let output = memscape()
        .args(["fleet", "ask", "lake"])
        .current_dir(&folder)
        .env_remove("MEMSCAPE_PYTHON")
        .env_remove("VIRTUAL_ENV")
        .env("PYTHONPATH", "")
        .env("PATH", &folder)
        .output()
        .unwrap();
    let error = text(output.stderr);
    assert!(error.contains("python3 has no package memscape (pip install memscape)"), "{error}");
}

#[test]
fn arguments_after_double_dash_are_not_options() {
    let path = snapshot("dashes");
    let found = run(&["allocations", &path, "--json", "--", "-h"]);
    let found: Value = serde_json::from_slice(&found.stdout).unwrap();
    assert_eq!((&found["pattern"], &found["count"]), (&json!("-h"), &json!(0)));
    let folder = folder("dash-file", OsStr::new("-x.json"));
    let output = memscape().args(["summary", "--", "-x.json"]).current_dir(folder).output().unwrap();
    assert_eq!((output.status.code(), text(output.stderr).as_str()), (Some(0), ""));
}

#[test]
fn size_suffixes_are_parsed() {
    let path = snapshot("sizes");
    for (size, bytes) in [("1.5GiB", 3u64 << 29), ("64M", 64 * MIB), ("3145728", 3 * MIB)] {
        assert_eq!(json(&["segments", &path, "--request", size])["request_bytes"], json!(bytes), "{size}");
    }
    let leaks = json(&["leaks", &path, "--threshold", "unused=1.5M"]);
    let mut thresholds = leaks["sheets"].as_object().unwrap().values().map(|sheet| &sheet["threshold"]["value"]);
    assert!(thresholds.any(|value| *value == json!(3 * MIB / 2)), "{leaks}");
    let ambiguous = run(&["segments", &path, "--request", "64MB"]);
    assert_eq!(ambiguous.status.code(), Some(2));
    assert!(text(ambiguous.stderr).contains("write MiB"));
}

#[test]
fn typos_suggest_nearest_match() {
    for (words, meant) in [
        (&["summery", "x"][..], "'summary'"),
        (&["live", "x", "--devise", "1"], "'--device'"),
        (&["live", "x", "--by", "call-sites"], "'call-site'"),
    ] {
        let output = run(words);
        let error = text(output.stderr);
        assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{words:?}");
        assert!(error.starts_with("error: ") && error.contains(meant), "{error}");
    }
}

#[test]
fn non_utf8_file_names_are_accepted() {
    let name = OsStr::from_bytes(b"\xff.json");
    let folder = folder("not-text", name);
    let of = |command: &str, words: &[&str]| {
        let output = memscape().arg(command).arg(name).args(words).current_dir(&folder).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{command}: {}", text(output.stderr));
        text(output.stdout)
    };
    let summary: Value = serde_json::from_str(&of("summary", &["--json"])).unwrap();
    assert_eq!(summary[0]["file"], json!("\u{fffd}.json"));
    std::fs::write(folder.join("viewer.html"), "<html><body><script id=\"part-wasm\"></script></body></html>").unwrap();
    for (command, words) in [
        ("live", &["--json"][..]),
        ("allocations", &["f"]),
        ("insights", &[]),
        ("report", &[]),
        ("plot", &["-o", "-"]),
        ("html", &["--viewer", "viewer.html", "-o", "-"]),
    ] {
        assert!(of(command, words).contains("\u{fffd}.json"), "{command}");
    }
    let missing = memscape().arg("live").arg(OsStr::from_bytes(b"\xfe")).output().unwrap();
    assert_eq!(missing.status.code(), Some(1));
    assert!(text(missing.stderr).contains("No such file"));
}

#[test]
fn closed_output_pipe_keeps_exit_status() {
    let path = snapshot("closed");
    let closed = || {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        Stdio::from(writer)
    };
    for (words, status) in [
        (&["--help"][..], 0),
        (&["--version"], 0),
        (&["summary", &path], 0),
        (&["events", &path], 0),
        (&["completions", "bash"], 0),
        (&["live", "/nowhere/at.all"], 1),
        (&["live", "--nonsense"], 2),
        (&["html", &path, "-o", "/nowhere/at.all"], 1),
    ] {
        let ended = memscape().args(words).stdout(closed()).stderr(closed()).status().unwrap();
        assert_eq!(ended.code(), Some(status), "{words:?}");
    }
}

#[test]
fn completions_and_man_pages_are_generated() {
    for shell in ["bash", "zsh", "fish"] {
        let script = text(run(&["completions", shell]).stdout);
        assert!(script.contains("hide-internal") && script.contains("memscape"), "{shell}: {script}");
    }
    let folder = folder("man", OsStr::new("a.json"));
    let output = run(&["man", folder.to_str().unwrap()]);
    assert_eq!((output.status.code(), text(output.stderr).as_str()), (Some(0), ""));
    let page = std::fs::read_to_string(folder.join("memscape-live.1")).unwrap();
    assert!(page.contains(".TH") && page.contains("hide\\-internal"), "{page}");
    assert!(folder.join("memscape.1").exists());
}

/// Piped snapshots may be confidential.
#[test]
fn temporary_file_of_piped_snapshot_is_private() {
    let folder = folder("private", OsStr::new("a.json"));
    let kept = folder.join("tmp");
    std::fs::create_dir(&kept).unwrap();
    let mut command = memscape();
    command.args(["html", "-", "-o", "-", "--viewer", "none.html"]).env("TMPDIR", &kept);
    std::fs::write(folder.join("none.html"), "<html><body><script id=\"part-wasm\"></script></body></html>").unwrap();
    let mut child = command.current_dir(&folder).stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    let entry = loop {
        match std::fs::read_dir(&kept).unwrap().next() {
            Some(entry) => break entry.unwrap(),
            None => assert!(child.try_wait().unwrap().is_none(), "memscape ended before reading its input"),
        }
    };
    let mode = entry.metadata().unwrap().permissions().mode() & 0o777;
    let name = entry.file_name().into_string().unwrap();
    assert_eq!(mode, 0o600, "{name}");
    assert!(!name.contains(&child.id().to_string()), "{name}");
    drop(child.stdin.take());
    assert_eq!(child.wait().unwrap().code(), Some(1), "empty input");
    assert_eq!(std::fs::read_dir(&kept).unwrap().count(), 0);
}

#[test]
fn file_larger_than_free_memory_prints_warning() {
    let path = snapshot("room");
    let message = |words: &[&str]| {
        let output = run(words);
        assert_eq!(output.status.code(), Some(0), "{words:?}");
        (text(output.stdout), text(output.stderr))
    };
    let (printed, silence) = message(&["summary", &path, "--free-memory", "1000000"]);
    assert_eq!(silence, "");
    let (same, warning) = message(&["summary", &path, "--free-memory", "100"]);
    assert_eq!(same, printed);
    assert!(warning.starts_with("memscape: a.json: "), "{warning}");
    let rest = "100 B is free. A range takes less: --load-last 1000000\n";
    assert!(warning.ends_with(rest) && warning.lines().count() == 1, "{warning}");
    // A range was chosen already.
    assert_eq!(message(&["summary", &path, "--free-memory", "100", "--load-last", "1"]).1, "");
    // `convert` cannot load a range, so none is suggested.
    let (_, warning) = message(&["convert", &path, "-o", "-", "--to", "json", "--free-memory", "100"]);
    assert!(warning.contains("100 B is free\n"), "{warning}");
    // The size of piped input is unknown.
    let piped = memscape()
        .args(["summary", "-", "--free-memory", "100"])
        .stdin(pipe_from(std::fs::File::open(&path).unwrap()))
        .output()
        .unwrap();
    assert_eq!((piped.status.code(), text(piped.stderr).as_str()), (Some(0), ""));
}

/// Returns a pipe with the contents of a file.
fn pipe_from(file: std::fs::File) -> std::process::ChildStdout {
    Command::new("cat").stdin(file).stdout(Stdio::piped()).spawn().unwrap().stdout.unwrap()
}
