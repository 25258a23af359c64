//! `memscape survey`: rows against the other commands, against a golden file, and of files that cannot be read.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may fail")]

use crate::tar::tar;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const TABLES: [&str; 5] = ["site_use", "oom", "step", "site", "snapshot"];
const SAMPLES: [&str; 4] = ["cuda-graphs", "leak", "out-of-memory", "training"];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

fn json_of(arguments: &[&str]) -> Value {
    let output = Command::new(env!("CARGO_BIN_EXE_memscape")).args(arguments).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Runs a survey of a list, and returns its lines of output.
fn survey(folder: &Path, list: &[Value], more: &[&str]) -> Vec<Value> {
    let path = folder.join("list.jsonl");
    let lines: String = list.iter().map(|line| format!("{line}\n")).collect();
    fs::write(&path, lines).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_memscape"));
    command.args(["survey", "--list"]).arg(path).arg("-o").arg(folder.join("out")).args(more);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

type Rows = Vec<Map<String, Value>>;

/// Runs a survey and returns the rows of each table.
fn tables(folder: &Path, list: &[Value], more: &[&str]) -> BTreeMap<&'static str, Rows> {
    survey(folder, list, &[&["--to", "jsonl"], more].concat());
    let rows = |table: &str| {
        let text = fs::read_to_string(folder.join(format!("out/{table}.jsonl"))).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    TABLES.map(|table| (table, rows(table))).into()
}

fn entry(path: &Path) -> Value {
    json!({"path": path})
}

fn sample(name: &str) -> PathBuf {
    root().join("www").join(format!("{name}.pickle.gz"))
}

/// Files of the shared folder and the sample files.
fn all_files() -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = SAMPLES.map(sample).to_vec();
    match std::env::var_os("MEMSCAPE_SNAPSHOTS") {
        Some(shared) => {
            let found = fs::read_dir(shared).unwrap().map(|entry| entry.unwrap().path());
            let is_small = |path: &PathBuf| path.metadata().is_ok_and(|it| it.is_file() && it.len() < 3_000_000);
            files.extend(found.filter(|path| is_small(path) && path.extension().is_some_and(|it| it != "json")));
        }
        None => eprintln!("SKIPPED: real snapshots (no MEMSCAPE_SNAPSHOTS)"),
    }
    files.sort();
    // Equal files have the same id.
    let mut known = std::collections::BTreeSet::new();
    files.retain(|path| known.insert(fs::read(path).unwrap()));
    files
}

#[test]
fn rows_of_sample_files_equal_golden_rows() {
    let list: Vec<Value> = SAMPLES
        .iter()
        .zip(0..)
        .map(|(name, index)| {
            json!({"path": sample(name), "url": format!("s3://bucket/runs/job-7/{name}_rank{index}_step120.pickle.gz"),
                "version": "e1", "modified_us": 1_793_491_200_000_000_u64, "bytes": 1000 + index, "job": "job-7"})
        })
        .collect();
    let tables = tables(&folder("survey-golden"), &list, &["--batch", "b1"]);
    let text: String = tables
        .iter()
        .flat_map(|(table, rows)| rows.iter().map(move |row| (table, row.clone())))
        .map(|(table, mut row)| {
            // All findings of the insight, which may be worded differently later.
            row.retain(|key, _| *table != "oom" || key != "verdict");
            format!("{table} {}\n", Value::Object(row))
        })
        .collect();
    let golden = root().join("tests/golden/lake.jsonl");
    if std::env::var_os("MEMSCAPE_BLESS").is_some() {
        fs::write(&golden, &text).unwrap();
    }
    let expected = fs::read_to_string(golden).unwrap();
    for (found, expected) in text.lines().zip(expected.lines()) {
        assert_eq!(found, expected);
    }
    assert_eq!(text.lines().count(), expected.lines().count());
}

#[test]
fn figures_equal_summary_and_sums_by_call_site_equal_peak() {
    let files = all_files();
    let list: Vec<Value> = files.iter().map(|path| entry(path)).collect();
    let tables = tables(&folder("survey-figures"), &list, &[]);
    let mut peaks: BTreeMap<(String, i64), u64> = BTreeMap::new();
    for row in &tables["site_use"] {
        let key = (row["snapshot"].as_str().unwrap().to_owned(), row["device"].as_i64().unwrap());
        *peaks.entry(key).or_default() += row["peak_bytes"].as_u64().unwrap();
    }
    let mut checked = 0;
    for path in &files {
        let path = path.to_str().unwrap();
        let summary = &json_of(&["summary", "--json", path])[0];
        for device in summary["devices"].as_array().unwrap() {
            let is_row = |row: &&Map<String, Value>| row["url"] == path && row["device"] == device["device"];
            let row = tables["snapshot"].iter().find(is_row).unwrap_or_else(|| panic!("{path} has no row"));
            assert_eq!(row["status"], "ok", "{path}");
            for (key, known) in [
                ("events", "events"),
                ("base_bytes", "base_requested"),
                ("peak_bytes", "drawn_peak"),
                ("end_bytes", "end_requested"),
            ] {
                assert_eq!(row[key], device[known], "{path}: {key}");
            }
            if device["peak_reserved"].as_i64().unwrap() > 0 {
                assert_eq!(row["peak_reserved_bytes"], device["peak_reserved"], "{path}");
                assert_eq!(row["end_reserved_bytes"], device["reserved_end"], "{path}");
            }
            let ooms = device["actions"].get("oom").and_then(Value::as_u64).unwrap_or(0);
            assert_eq!(row["ooms"], ooms, "{path}");
            let key = (row["snapshot"].as_str().unwrap().to_owned(), row["device"].as_i64().unwrap());
            assert_eq!(peaks.get(&key).copied().unwrap_or(0), row["peak_bytes"].as_u64().unwrap(), "{path}");
            checked += 1;
        }
    }
    assert!(checked >= SAMPLES.len(), "{checked} devices were checked");
}

#[test]
fn sizes_at_ooms_equal_those_of_insight() {
    let path = sample("out-of-memory");
    let tables = tables(&folder("survey-oom"), &[entry(&path)], &[]);
    let insight = json_of(&["oom", "--json", "--top", "1000", path.to_str().unwrap()]);
    let requests = insight["sheets"]["requests"]["rows"].as_array().unwrap();
    assert_eq!(requests.len(), tables["oom"].len());
    assert!(!requests.is_empty());
    for (request, row) in requests.iter().zip(tables["oom"].iter().rev()) {
        for (key, known) in [
            ("event", "event"),
            ("requested_bytes", "requested_bytes"),
            ("live_bytes", "live_bytes"),
            ("reserved_bytes", "reserved_bytes"),
            ("device_free_bytes", "device_free_bytes"),
            ("idle_bytes", "free_bytes"),
            ("outside_bytes", "outside_bytes"),
            ("kind", "kind"),
        ] {
            assert_eq!(row[key], request[known], "{key} of {request}");
        }
    }
    let statements = insight["statements"].as_array().unwrap();
    assert_eq!(tables["snapshot"][0]["verdict"], statements[0]["text"]);
    let room = insight["sheets"]["room"]["rows"].as_array().unwrap();
    let largest = room.iter().filter_map(|row| row["largest_free_bytes"].as_u64()).max();
    assert_eq!(tables["oom"].last().unwrap()["largest_hole_bytes"].as_u64(), largest);
}

#[test]
fn files_that_cannot_be_read_are_rows_with_status() {
    let folder = folder("survey-statuses");
    let (empty, broken, hostile) = (folder.join("empty.pickle"), folder.join("broken.gz"), folder.join("os.pickle"));
    fs::write(&empty, "").unwrap();
    let whole = fs::read(sample("training")).unwrap();
    fs::write(&broken, &whole[..whole.len() / 2]).unwrap();
    fs::write(&hostile, b"\x80\x04cos\nsystem\nX\x02\x00\x00\x00id\x85R.").unwrap();
    let list = [
        entry(&empty),
        entry(&broken),
        entry(&hostile),
        entry(&folder.join("gone.pickle")),
        entry(&folder),
        json!({"url": "s3://bucket/secret.pickle", "version": "v", "status": "denied", "error": "é".repeat(400)}),
        entry(&sample("training")),
    ];
    let rows = tables(&folder, &list, &[]).remove("snapshot").unwrap();
    let statuses: BTreeMap<&str, &str> =
        rows.iter().map(|row| (row["url"].as_str().unwrap(), row["status"].as_str().unwrap())).collect();
    let expected = ["empty", "decode", "decode", "gone", "read", "denied", "ok"];
    for (entry, expected) in list.iter().zip(expected) {
        let url = entry.get("url").or(entry.get("path")).unwrap().as_str().unwrap();
        assert_eq!(statuses[url], expected, "{url}");
    }
    assert!(rows.iter().all(|row| row["error"].is_null() == (row["status"] == "ok")), "{rows:?}");
    let denied = rows.iter().find(|row| row["status"] == "denied").unwrap();
    assert_eq!((denied["error"].as_str().unwrap().len(), &denied["device"]), (500, &Value::Null));
    // A file that was read is identified by its bytes, so that a copy is recognized.
    let python = "import hashlib,sys; print(hashlib.sha256(open(sys.argv[1],'rb').read()).hexdigest())";
    let run = Command::new("python3").arg("-c").arg(python).arg(&broken).output();
    match run {
        Ok(output) => {
            let sha256 = String::from_utf8(output.stdout).unwrap().trim().to_owned();
            let row = rows.iter().find(|row| row["url"] == broken.to_str().unwrap()).unwrap();
            assert_eq!((row["sha256"].as_str(), row["snapshot"].as_str()), (Some(&*sha256), Some(&sha256[..16])));
        }
        Err(_) => eprintln!("SKIPPED: there is no python3 to hash a file"),
    }
}

#[test]
fn file_larger_than_memory_limit_is_too_big() {
    let folder = folder("survey-too-big");
    let lines = survey(&folder, &[entry(&sample("training"))], &["--memory", "1000", "--to", "jsonl"]);
    assert_eq!(lines[0]["status"], "too_big", "{lines:?}");
    let error = lines[0]["error"].as_str().unwrap();
    assert!(error.contains("--memory") && !error.contains("command line"), "{error}");
}

#[test]
fn archive_with_several_snapshots_has_member_names() {
    let folder = folder("survey-archive");
    let path = folder.join("two.zip");
    let mut archive = ::zip::ZipWriter::new(File::create(&path).unwrap());
    let options = ::zip::write::SimpleFileOptions::default().compression_method(::zip::CompressionMethod::Stored);
    for name in ["leak", "training"] {
        archive.start_file(format!("{name}.pickle.gz"), options).unwrap();
        archive.write_all(&fs::read(sample(name)).unwrap()).unwrap();
    }
    archive.finish().unwrap();
    let found = tables(&folder, &[entry(&path)], &[]);
    let alone = tables(&folder, &["leak", "training"].map(|name| entry(&sample(name))), &[]);
    for name in ["leak", "training"] {
        let member = format!("{name}.pickle.gz");
        let row = found["snapshot"].iter().find(|row| row["member"] == *member).unwrap();
        let url = sample(name);
        let expected = alone["snapshot"].iter().find(|row| row["url"] == url.to_str().unwrap()).unwrap();
        assert_eq!((&row["peak_bytes"], &row["events"]), (&expected["peak_bytes"], &expected["events"]), "{name}");
        assert_ne!(row["snapshot"], expected["snapshot"]);
        let uses = |rows: &Rows, id: &Value| rows.iter().filter(|row| row["snapshot"] == *id).count();
        let expected = uses(&alone["site_use"], &expected["snapshot"]);
        assert_eq!(uses(&found["site_use"], &row["snapshot"]), expected, "{name}");
    }
    let ids: Vec<&Value> = found["snapshot"].iter().map(|row| &row["snapshot"]).collect();
    assert!(ids.len() == 2 && ids[0] != ids[1], "{ids:?}");
}

#[test]
fn members_with_equal_names_have_rows_of_their_own() {
    let path = folder("survey-equal-names").join("two.tar");
    let [leak, training] = ["leak", "training"].map(|name| fs::read(sample(name)).unwrap());
    fs::write(&path, tar(&[("a.pickle.gz", &leak), ("a.pickle.gz", &training)], false)).unwrap();
    let found = tables(path.parent().unwrap(), &[entry(&path)], &[]);
    let names: Vec<&Value> = found["snapshot"].iter().map(|row| &row["member"]).collect();
    assert_eq!(names, ["a.pickle.gz", "a.pickle.gz (2)"]);
    for row in &found["snapshot"] {
        let uses = found["site_use"].iter().filter(|use_| use_["snapshot"] == row["snapshot"]);
        let sum: i64 = uses.map(|use_| use_["peak_bytes"].as_i64().unwrap()).sum();
        assert_eq!(row["peak_bytes"], sum, "{}", row["member"]);
    }
}

#[test]
fn repeated_survey_writes_same_bytes() {
    let list = SAMPLES.map(|name| entry(&sample(name)));
    let bytes = |name: &str| {
        let folder = folder(name);
        survey(&folder, &list, &["--batch", "b"]);
        TABLES.map(|table| fs::read(folder.join(format!("out/{table}.parquet"))).unwrap())
    };
    let (first, second) = (bytes("survey-first"), bytes("survey-second"));
    for (table, (first, second)) in TABLES.iter().zip(first.iter().zip(&second)) {
        assert!(first == second, "{table} differs");
        assert_eq!((&first[..4], &first[first.len() - 4..]), (&b"PAR1"[..], &b"PAR1"[..]), "{table}");
    }
}

#[test]
fn empty_list_writes_empty_tables() {
    let lines = survey(&folder("survey-empty"), &[], &["--batch", "schema"]);
    let rows: Map<String, Value> = TABLES.map(|table| (table.to_owned(), json!(0))).into_iter().collect();
    assert_eq!(lines, [json!({"batch": "schema", "rows": rows})]);
}

#[test]
fn pipe_has_same_rows_as_file() {
    let folder = folder("survey-pipe");
    let expected = tables(&folder, &[entry(&sample("leak"))], &[]);
    fs::write(folder.join("list.jsonl"), "{\"path\": \"/dev/stdin\"}\n").unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_memscape"));
    command
        .args(["survey", "--to", "jsonl", "--list"])
        .arg(folder.join("list.jsonl"))
        .arg("-o")
        .arg(folder.join("pipe"));
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(&fs::read(sample("leak")).unwrap()).unwrap();
    assert!(child.wait_with_output().unwrap().status.success());
    let read = |table: &str| fs::read_to_string(folder.join(format!("pipe/{table}.jsonl"))).unwrap();
    for table in ["site_use", "site", "step"] {
        let found: Rows = read(table).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert!(found == expected[table], "{table}");
    }
}

#[test]
fn invalid_lines_of_list_are_reported_with_their_number() {
    let folder = folder("survey-invalid");
    for (line, message) in [
        ("{", "EOF"),
        ("{\"path\": \"a\", \"colour\": 1}", "colour"),
        ("{\"url\": \"a\"}", "the line needs a path, or a url and a status"),
    ] {
        fs::write(folder.join("list.jsonl"), format!("\n{line}\n")).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_memscape"));
        command.args(["survey", "--list"]).arg(folder.join("list.jsonl")).arg("-o").arg(folder.join("out"));
        let output = command.output().unwrap();
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{error}");
        assert!(error.contains("list.jsonl:2: ") && error.contains(message), "{error}");
        assert!(!folder.join("out").exists());
    }
}
