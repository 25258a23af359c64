//! `--leave-out`: no written file contains the texts that are left out, and all totals stay.

use crate::planted::{PLANTED, all_bytes, has, snapshot};
use crate::recorded;
use memscape::protocol::{ExportFormat, ExportTable, LeaveOut, Topic};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

fn memscape(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_memscape")).args(arguments).env("MEMSCAPE_CACHE", "off").output().unwrap()
}

fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

fn written_snapshot(name: &str) -> String {
    let file = path(name);
    std::fs::write(&file, snapshot().to_string()).unwrap();
    file.to_str().unwrap().to_owned()
}

/// Commands that write a file, and the extension of that file.
fn writing_commands() -> Vec<(String, String)> {
    let mut commands: Vec<(String, String)> = ["pickle", "pickle.gz", "pickle.zst", "json", "zip", "columns"]
        .map(|extension| ("convert {in}".to_owned(), extension.to_owned()))
        .into();
    for (command, extension) in [
        ("crop {in} --from 0 --to 6", "pickle"),
        ("whatif {in} --set expandable_segments:True", "pickle"),
        ("plot {in}", "svg"),
        ("html {in} --viewer {page}", "html"),
        ("html {in} --with {in} --viewer {page}", "html"),
        ("export {in} --to sqlite", "sqlite"),
        ("export {in} --to mindstudio", "db"),
        ("export {in} --to trace --onto {trace}", "json"),
        ("export {in} --to collapsed --scope all", "txt"),
    ] {
        commands.push((command.to_owned(), extension.to_owned()));
    }
    for format in ExportFormat::ALL.map(ExportFormat::name).into_iter().chain(["parquet"]) {
        let has_tables = ["csv", "jsonl", "parquet"].contains(&format);
        let tables: &[ExportTable] = if has_tables { &ExportTable::ALL } else { &[ExportTable::Allocations] };
        let more = |table: &ExportTable| if has_tables { [" --table ", table.name()].concat() } else { String::new() };
        commands
            .extend(tables.iter().map(|table| (format!("export {{in}} --to {format}{}", more(table)), format.into())));
    }
    commands
}

/// First message of an MCP client.
const HELLO: &str = r#"{"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": "2025-06-18",
    "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}}"#;
const INITIALIZED: &str = r#"{"jsonrpc": "2.0", "method": "notifications/initialized"}"#;
const CALL: &str =
    r#"{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "events", "arguments": {}}}"#;

/// Commands that read requests, and the requests, which save all tables in one file.
fn answering_commands(saved: &str) -> Vec<(&'static str, String)> {
    let ask =
        ["insights", "events", "summary"].map(|name| json!({ "id": name, "command": name }).to_string()).join("\n");
    vec![
        ("ask {in}", ask + "\n"),
        ("mcp {in}", [&*HELLO.replace('\n', " "), INITIALIZED, CALL, ""].join("\n")),
        ("sql {in}", format!("select * from annotation;\nselect * from meta;\n.find zq\n.show 1\n.save {saved}\n")),
    ]
}

/// Commands that print as text, and in other forms.
const FORMS: [(&str, &[&str]); 15] = [
    ("summary {in}", &["--json"]),
    ("insights {in}", &["--json", "--markdown"]),
    ("live {in}", &["--json"]),
    ("peak {in}", &["--json"]),
    ("allocations {in}", &["--json"]),
    ("segments {in}", &["--json"]),
    ("events {in}", &["--json"]),
    ("whatif {in} --set expandable_segments:True", &["--json"]),
    ("plan {in}", &["--json"]),
    ("diff {in} {in} --at-a 3 --at-b end", &["--json", "--markdown"]),
    ("sql {in} select*from(frame)", &["--json", "--csv"]),
    ("sql {in} select*from(event)", &["--json", "--csv"]),
    ("sql {in} --find zq", &["--json"]),
    ("export {in} --to csv -o -", &[]),
    ("convert {in} --to json -o -", &[]),
];

/// Insights. Those that have a command print the same tables as `insights`.
const INSIGHTS: [Topic; Topic::ALL.len()] = Topic::ALL;

/// Commands that refuse the option, because they are not about one snapshot.
const GENERAL: [&str; 10] = [
    "check {in}",
    "ranks {in}",
    "survey --list {in} -o {in}.tables",
    "fleet report {in}",
    "serve {in}",
    "run train.py",
    "attach 1 status",
    "completions bash",
    "man {in}.man",
    "help",
];

/// Commands without an output to search: what `tui` draws is not kept.
const DRAWING: [&str; 1] = ["tui"];

/// Returns the names of all commands.
fn command_names() -> Vec<String> {
    let help = String::from_utf8(memscape(&["--help"]).stdout).unwrap();
    let lines = help.lines().filter_map(|line| line.strip_prefix("  ").filter(|line| !line.starts_with([' ', '-'])));
    lines.filter_map(|line| line.split_whitespace().next()).map(str::to_owned).collect()
}

/// Runs every command that writes or prints. Returns each with its output.
fn outputs(tag: &str, leave_out: &[&str]) -> Vec<(String, Vec<u8>)> {
    let file = written_snapshot(&format!("private-{tag}.json"));
    let page = path(&format!("private-{tag}-page.html"));
    std::fs::write(&page, "<html><body><script id=\"part-wasm\"></script></body></html>").unwrap();
    let trace = path(&format!("private-{tag}-trace.json"));
    std::fs::write(
        &trace,
        r#"{"traceEvents": [{"ph": "X", "name": "k", "ts": 1700000000002000, "dur": 1000, "pid": 1, "tid": 1}]}"#,
    )
    .unwrap();
    let run = |line: &str, more: &[&str], input: &str| -> Output {
        let words: Vec<String> = line
            .split_whitespace()
            .map(|word| word.replace("{in}", &file))
            .map(|word| word.replace("{page}", page.to_str().unwrap()).replace("{trace}", trace.to_str().unwrap()))
            .collect();
        let mut command = Command::new(env!("CARGO_BIN_EXE_memscape"));
        command.args(words).args(more).args(leave_out).env("MEMSCAPE_CACHE", "off");
        let pipes = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = pipes.spawn().unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        let done = child.wait_with_output().unwrap();
        assert!(done.status.success(), "{line} {more:?}: {}", String::from_utf8_lossy(&done.stderr));
        done
    };
    let mut found = Vec::new();
    for (number, (line, extension)) in writing_commands().into_iter().enumerate() {
        let out = path(&format!("private-{tag}-{number}.{extension}"));
        run(&line, &["-o", out.to_str().unwrap()], "");
        found.push((format!("{line} to .{extension}"), all_bytes(&std::fs::read(out).unwrap())));
    }
    let names = command_names();
    // `memscape peak` is another command.
    let insights =
        INSIGHTS.iter().filter(|topic| **topic != Topic::Peak && names.iter().any(|name| name == topic.name()));
    let insights = insights.map(|topic| ([topic.name(), " {in}"].concat(), &["--json", "--markdown"][..], ""));
    let forms = FORMS.iter().map(|(line, forms)| ((*line).to_owned(), *forms, ""));
    let saved = path(&format!("private-{tag}-saved.sqlite"));
    let _ = std::fs::remove_file(&saved);
    let answering = answering_commands(saved.to_str().unwrap());
    let answering = answering.iter().map(|(line, input)| ((*line).to_owned(), &[][..], &**input));
    for (line, forms, input) in forms.chain(answering).chain(insights) {
        for form in [""].iter().chain(forms) {
            let form: Vec<&str> = form.split_whitespace().collect();
            let done = run(&line, &form, input);
            found.push((format!("{line} {form:?}"), [done.stdout, done.stderr].concat()));
        }
    }
    found.push((".save to .sqlite".to_owned(), all_bytes(&std::fs::read(saved).unwrap())));
    found
}

#[test]
fn no_output_contains_texts_that_are_left_out() {
    for (command, bytes) in outputs("all", &["--leave-out", "all"]) {
        for text in PLANTED.iter().flat_map(|(_, texts)| *texts) {
            assert!(!has(&bytes, text), "{text} is in the output of {command}");
        }
    }
}

#[test]
fn search_finds_planted_texts_in_outputs_without_the_option() {
    let mut found = BTreeSet::new();
    for (command, bytes) in outputs("kept", &[]) {
        let texts = PLANTED.iter().flat_map(|(_, texts)| *texts).filter(|text| has(&bytes, text));
        let texts: Vec<&str> = texts.copied().collect();
        // Tables of numbers have no text, and reports name some functions only.
        let is_written = command.contains(" to .")
            && !["--table segments", "--table curve"].iter().any(|table| command.contains(table));
        assert!(!texts.is_empty() || !is_written, "no planted text is in the output of {command}");
        found.extend(texts);
    }
    assert_eq!(found.len(), PLANTED.iter().map(|(_, texts)| texts.len()).sum::<usize>());
}

#[test]
fn every_command_is_searched_or_refuses_the_option() {
    let writing = writing_commands();
    let lines = writing.iter().map(|(line, _)| &**line).chain(FORMS.map(|(line, _)| line));
    let lines = lines.chain(GENERAL).chain(DRAWING).chain(["ask", "mcp"]);
    let tried: BTreeSet<&str> = lines.filter_map(|line| line.split_whitespace().next()).collect();
    let names = command_names();
    let is_tried = |name: &str| tried.contains(name) || INSIGHTS.iter().any(|topic| topic.name() == name);
    let missing: Vec<&String> = names.iter().filter(|name| !is_tried(name)).collect();
    assert!(names.len() > 20 && missing.is_empty(), "{missing:?} of {names:?}");
    let file = written_snapshot("private-general.json");
    for line in GENERAL.iter().filter(|line| cfg!(unix) || !line.starts_with("attach")) {
        let line = line.replace("{in}", &file);
        let words: Vec<&str> = ["--leave-out", "all"].into_iter().chain(line.split_whitespace()).collect();
        let done = memscape(&words);
        let error = String::from_utf8_lossy(&done.stderr).into_owned();
        assert_eq!(done.status.code(), Some(2), "{line}: {error}");
        assert!(error.contains("write one without these texts with convert"), "{line}: {error}");
    }
}

#[test]
fn each_kind_leaves_out_its_texts_and_keeps_the_others() {
    let file = written_snapshot("private-kinds.json");
    for (kind, texts) in PLANTED {
        let out = path(&format!("private-{kind}.json"));
        let out = out.to_str().unwrap();
        assert!(memscape(&["convert", &file, "-o", out, "--leave-out", kind]).status.success());
        let bytes = std::fs::read(out).unwrap();
        texts.iter().for_each(|text| assert!(!has(&bytes, text), "{kind}: {text} was not left out"));
        for (other, texts) in PLANTED.iter().filter(|(other, _)| *other != kind) {
            // The recorder's facts include the host and source texts, which are listed by path.
            let is_included = matches!(
                (kind, *other),
                ("recorder", "host" | "source" | "paths") | ("paths", "source") | ("source", "paths")
            );
            let kept = texts.iter().filter(|text| has(&bytes, text)).count();
            assert!(is_included || kept == texts.len(), "{kind}: only {kept} texts of {other} were kept");
        }
    }
}

#[test]
fn planted_texts_are_in_the_file_without_the_option() {
    let file = written_snapshot("private-none.json");
    let out = path("private-none.pickle");
    assert!(memscape(&["convert", &file, "-o", out.to_str().unwrap()]).status.success());
    let bytes = std::fs::read(out).unwrap();
    for text in PLANTED.iter().flat_map(|(_, texts)| *texts) {
        assert!(has(&bytes, text), "{text}");
    }
}

#[test]
fn totals_stay_and_file_says_what_was_left_out() {
    let file = written_snapshot("private-totals.json");
    let out = path("private-totals.pickle");
    let out = out.to_str().unwrap();
    let done = memscape(&["convert", &file, "-o", out, "--leave-out", "all"]);
    let message = String::from_utf8(done.stderr).unwrap();
    assert!(
        message.ends_with("5 segments; left out: paths, source, annotations, metadata, host, recorder\n"),
        "{message}"
    );
    let summary = |file: &str| -> Value {
        serde_json::from_slice::<Vec<Value>>(&memscape(&["summary", file, "--json"]).stdout).unwrap().remove(0)
    };
    let (before, after) = (summary(&file), summary(out));
    assert_eq!(before["devices"], after["devices"]);
    assert_eq!(before["devices"][0]["peak_requested"], recorded::PEAK);
    let left_out = after["recorder"].to_string();
    for kind in ["paths", "source", "annotations", "metadata", "host", "recorder"] {
        assert!(left_out.contains(kind), "{kind}: {left_out}");
    }
}

#[test]
fn columns_without_private_texts_open_again() {
    let file = written_snapshot("private-columns.json");
    for kind in PLANTED.map(|(kind, _)| kind).into_iter().chain(["all"]) {
        let out = path(&format!("private-{kind}.columns"));
        let out = out.to_str().unwrap();
        assert!(memscape(&["convert", &file, "-o", out, "--leave-out", kind]).status.success());
        let [before, after] = [&*file, out].map(|file| {
            let done = memscape(&["summary", file, "--json"]);
            assert!(done.status.success(), "{kind}: {}", String::from_utf8_lossy(&done.stderr));
            serde_json::from_slice::<Value>(&done.stdout).unwrap()[0]["devices"].clone()
        });
        assert_eq!(before, after, "{kind}");
    }
}

#[test]
fn unknown_kinds_are_rejected() {
    let file = written_snapshot("private-wrong.json");
    let error = |words: &[&str]| {
        let done = memscape(words);
        assert_eq!(done.status.code(), Some(2), "{words:?}");
        String::from_utf8(done.stderr).unwrap()
    };
    assert!(error(&["summary", &file, "--leave-out", "paths,faces"]).contains("expected all, or some of paths,source"));
}

#[test]
fn kinds_are_set_by_name_and_listed_in_a_sentence() {
    let mut what = LeaveOut::default();
    assert_eq!((what.is_any(), what.note()), (false, String::new()));
    assert!(what.set("host", true) && what.set("paths", true) && what.set("host", false) && what.set("source", true));
    assert!(!what.set("faces", true));
    assert_eq!((what.is_any(), what.note()), (true, " Left out: paths, source.".to_owned()));
    let names: Vec<&str> = LeaveOut::ALL.names().collect();
    assert_eq!(names, PLANTED.map(|(kind, _)| kind));
}
