//! `memscape ask`: a file stays open, and each question gets the same answer as the corresponding command.

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

const MIB: u64 = 1 << 20;

fn memscape() -> Command {
    Command::new(env!("CARGO_BIN_EXE_memscape"))
}

/// Writes a snapshot with allocations of 1 and 3 MiB on device 0 and one of 5 MiB on device 1.
fn snapshot(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cli-ask");
    std::fs::create_dir_all(&folder).unwrap();
    let alloc = |addr: u64, size: u64| {
        json!({"action": "alloc", "addr": addr, "size": size, "stream": 0,
            "frames": [{"name": format!("f{size}"), "filename": "a.py", "line": 1}]})
    };
    let value =
        json!({"segments": [], "device_traces": [[alloc(0, MIB), alloc(4 * MIB, 3 * MIB)], [alloc(0, 5 * MIB)]]});
    let path = folder.join(name);
    std::fs::write(&path, value.to_string()).unwrap();
    path
}

struct Session {
    child: Child,
    lines: BufReader<std::process::ChildStdout>,
}

impl Session {
    fn new(words: &[&str]) -> Session {
        let mut command = memscape();
        command.arg("ask").args(words).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap());
        Session { child, lines }
    }

    fn line(&mut self) -> Value {
        let mut line = String::new();
        self.lines.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"))
    }

    fn send(&mut self, line: &str) -> Value {
        let input = self.child.stdin.as_mut().unwrap();
        input.write_all(line.as_bytes()).unwrap();
        input.write_all(b"\n").unwrap();
        self.line()
    }

    fn ask(&mut self, command: &str, arguments: &[&str]) -> Value {
        self.send(&json!({"id": command, "command": command, "arguments": arguments}).to_string())
    }

    fn end(mut self) -> i32 {
        drop(self.child.stdin.take());
        self.child.wait().unwrap().code().unwrap()
    }
}

fn json(words: &[&str]) -> Value {
    let output = memscape().args(words).arg("--json").output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{words:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn answers_of_ask_equal_command_output() {
    let path = snapshot("same.json");
    let path = path.to_str().unwrap();
    let mut asked = Session::new(&[path]);
    assert_eq!(asked.line()["ready"]["file"], "same.json");
    let questions: [(&str, &[&str]); 9] = [
        ("summary", &[]),
        ("live", &["--at", "0"]),
        ("live", &["--by", "tree", "--device", "1"]),
        ("peak", &[]),
        ("allocations", &[">=2MiB"]),
        ("events", &["--top", "1"]),
        ("insights", &["--topic", "peak,leaks", "--rules", "mosaic"]),
        ("leaks", &[]),
        ("diff", &[path]),
    ];
    // Asked forward and backward, because no question may affect another.
    for (command, arguments) in questions.iter().chain(questions.iter().rev()) {
        let reply = asked.ask(command, arguments);
        assert_eq!(reply["id"], *command);
        assert_eq!(reply["answer"], json(&[&[command, path], *arguments].concat()), "{command} {arguments:?}");
    }
    assert_eq!(asked.end(), 0);
}

#[test]
fn device_option_of_ask_is_default_for_questions() {
    let path = snapshot("device.json");
    let mut asked = Session::new(&["--device", "0", path.to_str().unwrap()]);
    asked.line();
    assert_eq!(asked.ask("live", &[])["answer"]["live_bytes"], 4 * MIB);
    assert_eq!(asked.ask("live", &["--device", "1"])["answer"]["live_bytes"], 5 * MIB);
    assert_eq!(asked.ask("live", &[])["answer"]["live_bytes"], 4 * MIB);
}

#[test]
fn session_continues_after_errors() {
    let path = snapshot("errors.json");
    let mut asked = Session::new(&[path.to_str().unwrap()]);
    asked.line();
    for (command, arguments, error) in [
        ("live", &["--at", "77"][..], "no event 77: the last is 0"),
        ("live", &["--at", "soon"], "invalid value 'soon' for '--at <WHEN>'"),
        ("live", &["--by", "x"], "[possible values: call-site, function, file, tree]"),
        ("live", &["--help"], ""),
        ("serve", &[], "serve is not about one snapshot: run memscape serve"),
        ("ask", &[], "ask is not about one snapshot: run memscape ask"),
        ("nothing", &[], "no command nothing: see memscape --help"),
    ] {
        let reply = asked.ask(command, arguments);
        assert!(reply["error"].as_str().unwrap().contains(error), "{reply}");
        assert!(reply.get("answer").is_none());
    }
    for line in ["{", "[]", "\u{1}", "{\"command\": 3}", &"x".repeat(3 << 20)] {
        let reply = asked.send(line);
        assert!(reply["error"].as_str().unwrap().starts_with("not a request: "), "{reply}");
    }
    let reply = asked.send("{\"id\": 7, \"commands\": \"live\"}");
    assert_eq!(reply["id"], 7, "the reply lacks the id: {reply}");
    assert_eq!(asked.ask("live", &[])["answer"]["live_bytes"], 5 * MIB);
    assert_eq!(asked.end(), 0);
}

#[test]
fn export_writes_file_and_plot_returns_text() {
    let path = snapshot("files.json");
    let out = path.with_extension("csv");
    let mut asked = Session::new(&[path.to_str().unwrap()]);
    asked.line();
    let reply = asked.ask("export", &["--to", "csv", "-o", out.to_str().unwrap()]);
    assert!(reply["answer"]["message"].as_str().unwrap().contains("5.00 MiB requested, 1 allocation"), "{reply}");
    assert!(std::fs::read_to_string(&out).unwrap().lines().count() == 2);
    let reply = asked.ask("plot", &["-o", "-"]);
    assert!(reply["answer"]["text"].as_str().unwrap().contains("<svg"), "{reply}");
}

#[test]
fn unreadable_file_reports_error_as_json() {
    let mut asked = Session::new(&["no-such-file.pickle"]);
    assert!(asked.line()["error"].as_str().unwrap().starts_with("no-such-file.pickle: "));
    assert_eq!(asked.end(), 1);
}
