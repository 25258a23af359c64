//! `--leave-out`: no written file contains the texts that are left out, and all totals stay.

use crate::planted::{PLANTED, all_bytes, has, snapshot};
use crate::recorded;
use memscape::protocol::{ExportFormat, LeaveOut};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

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

/// Writes the snapshot by every command that writes a file. Returns the name and the content of each.
fn outputs(file: &str, tag: &str, leave_out: &[&str]) -> Vec<(String, Vec<u8>)> {
    let mut commands: Vec<Vec<String>> = Vec::new();
    let mut add = |command: &str, extension: &str, more: &[&str]| {
        let out = path(&format!("private-{tag}-{}-{command}.{extension}", more.join("-").replace('/', "")));
        let words = [&[command, file], more, &["-o", out.to_str().unwrap()], leave_out].concat();
        commands.push(words.into_iter().map(str::to_owned).collect());
    };
    for extension in ["pickle", "pickle.gz", "json", "zip", "columns"] {
        add("convert", extension, &[]);
    }
    add("crop", "pickle", &["--from", "0", "--to", "6"]);
    add("plot", "svg", &[]);
    for format in ExportFormat::ALL {
        add("export", format.extension(), &["--to", format.name()]);
    }
    let mut written = Vec::new();
    for words in commands {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let done = memscape(&words);
        assert!(done.status.success(), "{words:?}: {}", String::from_utf8_lossy(&done.stderr));
        let out = words[words.iter().position(|word| *word == "-o").unwrap() + 1];
        written.push((words.join(" "), all_bytes(&std::fs::read(out).unwrap())));
    }
    for words in
        [&["summary", "--json"][..], &["insights", "--json"], &["allocations", "--json"], &["events", "--json"]]
    {
        let words = [&[words[0], file], &words[1..], leave_out].concat();
        let done = memscape(&words);
        assert!(done.status.success(), "{words:?}: {}", String::from_utf8_lossy(&done.stderr));
        written.push((words.join(" "), done.stdout));
    }
    written
}

#[test]
fn no_output_contains_texts_that_are_left_out() {
    let file = written_snapshot("private-all.json");
    let outputs = outputs(&file, "all", &["--leave-out", "all"]);
    for (command, bytes) in &outputs {
        for text in PLANTED.iter().flat_map(|(_, texts)| *texts) {
            assert!(!has(bytes, text), "{text} is in the output of {command}");
        }
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
    assert!(memscape(&["convert", &file, "-o", out, "--leave-out", "all"]).status.success());
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
fn general_commands_and_unknown_kinds_are_rejected() {
    let file = written_snapshot("private-wrong.json");
    let error = |words: &[&str]| {
        let done = memscape(words);
        assert_eq!(done.status.code(), Some(2), "{words:?}");
        String::from_utf8(done.stderr).unwrap()
    };
    assert!(error(&["summary", &file, "--leave-out", "paths,faces"]).contains("expected all, or some of paths,source"));
    assert!(error(&["ranks", &file, "--leave-out", "all"]).contains("write one without these texts with convert"));
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
