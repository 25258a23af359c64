//! `memscape export --to mindstudio`: a Python reader that pairs events as MindStudio Insight does.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may fail")]

use crate::generate::{Options, generate};
use crate::opened::real_pickles;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

fn generated(name: &str, options: &str) -> PathBuf {
    let (options, _) = Options::parse(options.split_whitespace().map(str::to_owned)).unwrap();
    let path = path(name);
    std::fs::write(&path, generate(&options, Vec::new()).unwrap().0).unwrap();
    path
}

fn memscape(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_memscape")).args(arguments).output().unwrap()
}

/// Exports a file, reads the export, and returns the number of allocations with a stack.
fn read(file: &Path) -> usize {
    let (file, out) = (file.to_str().unwrap(), path("mindstudio.db"));
    let written = memscape(&["export", file, "--to", "mindstudio", "-o", out.to_str().unwrap()]);
    assert!(written.status.success(), "{file}: {}", String::from_utf8_lossy(&written.stderr));
    let summary = String::from_utf8(memscape(&["summary", file, "--json"]).stdout).unwrap();
    let reader = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mindstudio.py");
    let done = Command::new("python3").arg(reader).args([out.to_str().unwrap(), &summary]).output().unwrap();
    assert!(done.status.success(), "{file}: {}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8(done.stdout).unwrap().trim().parse().unwrap()
}

#[test]
fn mindstudio_reads_peaks_and_ends_of_every_device() {
    if !Command::new("python3").args(["-c", "import sqlite3"]).status().is_ok_and(|status| status.success()) {
        eprintln!("SKIPPED: no python3 with sqlite3 to read the export with");
        return;
    }
    let options = [
        "--steps 2 --layers 2 --hidden 64 --prerecord-mib 2 --frames 80",
        "--steps 2 --layers 2 --hidden 64 --prerecord-mib 2 --devices 2 --expandable --snapshots",
        "--steps 3 --layers 2 --hidden 64 --pending --host --oom --record-from-start",
        "--steps 2 --layers 2 --hidden 64 --prerecord-mib 2 --no-time --private-pools",
        "--steps 2 --layers 2 --hidden 64 --prerecord-mib 2 --ring 60",
    ];
    for (number, options) in options.iter().enumerate() {
        assert!(read(&generated(&format!("mindstudio-{number}.pickle"), options)) > 20, "{options}");
    }
    for file in real_pickles().unwrap_or_default() {
        if memscape(&["summary", file.to_str().unwrap()]).status.success() {
            read(&file);
        }
    }
}

#[test]
fn stacks_are_cut_at_fifty_frames_and_owners_name_categories() {
    let file = generated("mindstudio-stacks.pickle", "--steps 1 --layers 1 --hidden 64 --prerecord-mib 2 --frames 80");
    let out = path("mindstudio-stacks.db");
    let written = memscape(&["export", file.to_str().unwrap(), "--to", "mindstudio", "-o", out.to_str().unwrap()]);
    assert!(written.status.success());
    let query = "import sqlite3,sys,json;print(json.dumps(sqlite3.connect(sys.argv[1]).execute('SELECT max(length(\"Call Stack(Python)\") \
                 - length(replace(\"Call Stack(Python)\", char(10), \\'\\')) + length(\"Call Stack(C)\") \
                 - length(replace(\"Call Stack(C)\", char(10), \\'\\'))), count(DISTINCT json_extract(Attr, \\'$.owner\\')) FROM memscope_dump').fetchone()))";
    let answer = Command::new("python3").args(["-c", query, out.to_str().unwrap()]).output().unwrap();
    let answer: Value = serde_json::from_slice(&answer.stdout).unwrap();
    // Two texts of fifty lines in all have 48 or 49 line ends between them.
    assert!((48..=49).contains(&answer[0].as_i64().unwrap()), "{answer}");
    assert!(answer[1].as_i64().unwrap() > 2, "{answer}");
}

#[test]
fn names_of_categories_are_escaped() {
    let file = generated("mindstudio-names.pickle", "--steps 1 --layers 1 --hidden 64 --prerecord-mib 2");
    let [rules, out] = [path("mindstudio-names.json"), path("mindstudio-names.db")];
    let name = "a \"b\" \\ c\u{9}ä";
    let set = serde_json::json!({ name: "." });
    std::fs::write(&rules, set.to_string()).unwrap();
    let [file, rules, out] = [&file, &rules, &out].map(|path| path.to_str().unwrap());
    let written = memscape(&["export", file, "--to", "mindstudio", "--rules", rules, "-o", out]);
    assert!(written.status.success(), "{}", String::from_utf8_lossy(&written.stderr));
    let query = "import sqlite3,sys,json;print(json.dumps([json.loads(it[0]).get('owner') for it in \
                 sqlite3.connect(sys.argv[1]).execute('SELECT Attr FROM memscope_dump')]))";
    let answer = Command::new("python3").args(["-c", query, out]).output().unwrap();
    let owners: Vec<Option<String>> = serde_json::from_slice(&answer.stdout).unwrap();
    assert!(owners.contains(&Some(format!("PTA@{name}"))), "{owners:?}");
}

#[test]
fn options_of_one_device_are_rejected() {
    let file = generated("mindstudio-options.pickle", "--steps 1 --layers 1 --hidden 64 --prerecord-mib 2");
    let options = ["export", file.to_str().unwrap(), "--to", "mindstudio", "-o", "-"];
    for more in [["--device", "0"], ["--scope", "all"], ["--range", "1..2"]] {
        let output = memscape(&[&options[..], &more].concat());
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(1) && error.contains("--to mindstudio writes all devices"), "{error}");
    }
}
