//! Output on a terminal: lines fit its width, and control characters in names of files, folders and arguments are
//! replaced.

#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may fail")]

use crate::tmux::{Tmux, has_tmux};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const MEMSCAPE: &str = env!("CARGO_BIN_EXE_memscape");
const MIB: u64 = 1 << 20;
/// Text with an escape sequence that sets a title, a single-character control sequence, a carriage return, and
/// characters that reverse the rest of the line.
const HOSTILE: &str = "x\u{1b}]0;title\u{7}\u{9b}31m\u{7f}\r\u{202e}\u{2066}y";

/// Commands that print text about `{in}`.
const COMMANDS: [&str; 28] = [
    "summary {in}",
    "insights {in}",
    "insights {in} --topic peak",
    "oom {in}",
    "savings {in}",
    "categories {in}",
    "steps {in}",
    "modules {in}",
    "leaks {in}",
    "fragmentation {in}",
    "pools {in}",
    "settings {in}",
    "live {in}",
    "live {in} --by tree",
    "peak {in}",
    "allocations {in}",
    "segments {in} --request 3MiB",
    "segments {in} --blocks",
    "events {in}",
    "whatif {in} --search",
    "plan {in} --set file_1=2x",
    "diff {in} {in}",
    "diff {in} {in} --at-a 5 --markdown",
    "ranks {in} {in}",
    "sql {in} SELECT+*+FROM+allocation",
    "sql {in} SELECT+*+FROM+stack,frame --csv",
    "sql {in} --schema",
    "insights {in} --markdown",
];

/// Writes a snapshot under the given name, all of whose strings contain `text`.
fn snapshot(folder: &str, name: &str, text: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cli-terminal").join(folder);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    let frames = |at: u64| {
        let frame = |depth: u64| json!({"name": format!("f{at}_{depth} {text}"), "filename": format!("/home/{text}/src/file_{at}.py"), "line": depth});
        (0..4).map(frame).collect::<Vec<Value>>()
    };
    let event = |action: &str, at: u64| {
        json!({"action": action, "addr": (1 + at) * 64 * MIB, "size": (1 + at) * MIB, "stream": 0, "time_us": 1000 + at,
            "frames": frames(at), "compile_context": text, "user_metadata": format!("meta {text}")})
    };
    let mut trace: Vec<Value> = (0..12).map(|at| event("alloc", at)).collect();
    trace.extend((6..9).flat_map(|at| [event("free_requested", at), event("free_completed", at)]));
    trace.push(json!({"action": "oom", "size": 900 * MIB, "device_free": 3 * MIB, "stream": 0, "time_us": 2000, "frames": frames(3)}));
    let block = |at: u64| {
        json!({"address": (1 + at) * 64 * MIB, "size": (1 + at) * MIB, "requested_size": (1 + at) * MIB,
        "state": "active_allocated", "frames": frames(at)})
    };
    let segment = |at: u64| {
        json!({"device": 0, "address": (1 + at) * 64 * MIB, "total_size": (1 + at) * MIB, "stream": 0, "segment_type": "large",
            "frames": frames(at), "blocks": [block(at)]})
    };
    let mark = |stage: &str, at: u64| json!({"stage": stage, "name": format!("ProfilerStep#{text}"), "device": 0, "time_us": 1000 + at});
    let value = json!({
        "segments": (0..12).filter(|at| !(6..9).contains(at)).map(segment).collect::<Vec<Value>>(),
        "device_traces": [trace],
        "external_annotations": [mark("START", 0), mark("END", 5), mark("ODD", 6)],
        "allocator_settings": {"PYTORCH_CUDA_ALLOC_CONF": format!("roundup_power2_divisions:{text}"), text: text},
        text: 3,
    });
    let path = folder.join(name);
    std::fs::write(&path, value.to_string()).unwrap();
    path
}

fn words(line: &str, path: &Path) -> Vec<String> {
    line.split(' ').map(|word| word.replace("{in}", path.to_str().unwrap()).replace('+', " ")).collect()
}

fn run(words: &[String]) -> Output {
    Command::new(MEMSCAPE).args(words).output().unwrap()
}

fn assert_safe(what: &str, bytes: &[u8]) {
    let text = String::from_utf8(bytes.to_vec()).unwrap();
    let is_bidi = |letter: char| matches!(letter, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let is_unsafe = |letter: &char| letter.is_control() && !matches!(letter, '\n' | '\t') || is_bidi(*letter);
    let found = text.chars().find(is_unsafe);
    assert_eq!(found, None, "{what}: {text:?}");
}

#[test]
fn control_characters_are_not_printed() {
    let path = snapshot("hostile", &format!("a{HOSTILE}.json"), HOSTILE);
    let missing = path.with_extension("none");
    for line in COMMANDS.iter().filter(|line| !line.contains("--csv")) {
        for form in ["", " --json"] {
            let takes_json = !(line.contains("--markdown") || line.contains("--schema"));
            if form.is_empty() || takes_json {
                let output = run(&words(&[line, form].concat(), &path));
                assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
                assert_safe(line, &output.stdout);
                assert_safe(line, &output.stderr);
            }
        }
        let output = run(&words(line, &missing));
        // `ranks` lists unreadable files.
        assert!(!output.status.success() || line.starts_with("ranks"), "{line}");
        assert_safe(line, &output.stdout);
        assert_safe(line, &output.stderr);
    }
    let path = path.to_str().unwrap();
    for (option, value) in
        [("live --at", HOSTILE), ("plot -o", HOSTILE), ("export --to", HOSTILE), ("insights --rules", HOSTILE)]
    {
        let (command, option) = option.split_once(' ').unwrap();
        let output = run(&[command, path, option, &format!("none/{value}")].map(str::to_owned));
        assert!(!output.status.success(), "{command}");
        assert_safe(command, &output.stderr);
    }
}

#[test]
fn json_escapes_control_characters() {
    let path = snapshot("json", &format!("a{HOSTILE}.json"), HOSTILE);
    let output = run(&words("live {in} --json", &path));
    let value: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(value["file"], json!(format!("a{HOSTILE}.json")));
    assert!(value["rows"][0]["name"].as_str().unwrap().contains(HOSTILE), "{value}");
}

/// Returns the lines that a command prints in a terminal, with wrapped lines joined.
fn in_terminal(columns: u16, command: &str) -> Vec<String> {
    let tmux = Tmux::run([columns, 50], &format!("{command}; echo; echo the end; sleep 60"));
    tmux.wait_for(&["the end"]);
    let text = tmux.whole_lines();
    text.lines().map(|line| line.trim_end().to_owned()).take_while(|line| line != "the end").collect()
}

#[test]
fn tables_are_fitted_to_terminal_width_but_not_in_pipes() {
    if !has_tmux() {
        return;
    }
    let text = "a_module_with_a_name_that_is_long_enough_to_need_more_than_a_line_of_any_terminal";
    let path = snapshot("wide", "a.json", text);
    for line in COMMANDS.iter().filter(|line| !line.contains("--markdown") && !line.contains("--csv")) {
        let words: Vec<String> = words(line, &path).iter().map(|word| format!("'{word}'")).collect();
        let command = format!("'{MEMSCAPE}' {}", words.join(" "));
        let wide = |lines: &[String], columns: usize| lines.iter().find(|line| line.chars().count() > columns).cloned();
        for columns in [80, 120] {
            let lines = in_terminal(columns, &command);
            assert_eq!(wide(&lines, columns.into()), None, "{line} in {columns} columns");
        }
    }
    let command = format!("'{MEMSCAPE}' live '{}' --by tree", path.display());
    let piped = run(&words("live {in} --by tree", &path));
    let piped: Vec<String> = String::from_utf8(piped.stdout).unwrap().lines().map(str::to_owned).collect();
    assert!(piped.iter().any(|line| line.chars().count() > 120 && line.contains(text)), "{piped:#?}");
    assert_eq!(in_terminal(80, &format!("{command} --wide"))[..piped.len()], piped);
    assert_eq!(in_terminal(80, &format!("{command} | cat"))[..piped.len()], piped);
    let set = in_terminal(120, &format!("COLUMNS=60 {command}"));
    assert!(set.iter().all(|line| line.chars().count() <= 60), "{set:#?}");
}

#[test]
fn exports_to_terminal_have_no_control_characters() {
    if !has_tmux() {
        return;
    }
    let path = snapshot("guarded", "a.json", "x\u{1b}]0;title\u{7}\u{202e}y");
    let export = format!("'{MEMSCAPE}' export '{}' --to csv --table stacks -o -", path.display());
    let lines = in_terminal(200, &export);
    assert!(lines.iter().any(|line| line.contains("x\u{fffd}]0;title\u{fffd}\u{fffd}y")), "{lines:#?}");
    let piped =
        run(&["export", path.to_str().unwrap(), "--to", "csv", "--table", "stacks", "-o", "-"].map(str::to_owned));
    assert!(String::from_utf8(piped.stdout).unwrap().contains("x\u{1b}]0;title\u{7}\u{202e}y"));
}
