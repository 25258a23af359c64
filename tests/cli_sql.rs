//! `memscape sql` and `memscape export --to sqlite` on the command line.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may fail")]

use crate::generate;
use crate::opened;

use generate::Options;
use serde_json::{Value, json};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

fn output_path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

fn snapshot(name: &str, story: &str) -> String {
    let (options, _) = Options::parse(story.split_whitespace().map(str::to_owned)).unwrap();
    let path = output_path(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, generate::generate(&options, Vec::new()).unwrap().0).unwrap();
    path.to_str().unwrap().to_owned()
}

fn memscape(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_memscape")).args(arguments).stdin(Stdio::null()).output().unwrap()
}

fn stdout_of(arguments: &[&str]) -> String {
    let done = memscape(arguments);
    assert!(done.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8(done.stdout).unwrap()
}

fn rows(arguments: &[&str]) -> Value {
    serde_json::from_str::<Value>(&stdout_of(arguments)).unwrap()["rows"].take()
}

#[test]
fn query_prints_text_csv_and_json() {
    let file = snapshot("sql-forms.pickle", "--steps 2 --layers 2 --record-from-start");
    let query = "SELECT 1 AS one, 'a,\"b' AS two, NULL AS three, 2.5 AS four, '=x' AS five";
    assert_eq!(stdout_of(&["sql", &file, query]), "one  two   three  four  five\n  1  a,\"b          2.5  =x\n");
    let csv = "one,two,three,four,five\r\n1,\"a,\"\"b\",,2.5,\"'=x\"\r\n";
    assert_eq!(stdout_of(&["sql", &file, query, "--csv"]), csv);
    let output: Value = serde_json::from_str(&stdout_of(&["sql", &file, query, "--json"])).unwrap();
    let columns = ["one", "two", "three", "four", "five"];
    assert_eq!(output, json!({"schema": 2, "columns": columns, "rows": [[1, "a,\"b", null, 2.5, "=x"]]}));
    let none = "SELECT id FROM allocation WHERE 0";
    assert_eq!(stdout_of(&["sql", &file, none, "--csv"]), "id\r\n");
    assert_eq!(rows(&["sql", &file, none, "--json"]), json!([]));
    // The peak equals that of the summary.
    let summary: Value = serde_json::from_str(&stdout_of(&["summary", &file, "--json"])).unwrap();
    let peak = rows(&["sql", &file, "SELECT sum(requested_bytes) FROM live_at('peak')", "--json"]);
    assert_eq!(peak[0][0], summary[0]["devices"][0]["peak_requested"]);
}

#[test]
fn invalid_queries_exit_with_error() {
    let file = snapshot("sql-errors.pickle", "--steps 1 --layers 1");
    for (query, wanted) in [
        ("SELECT no_such FROM allocation", "no such column: no_such"),
        ("SELECT\n\n* FRM event", "line 3: near"),
        ("DROP TABLE event", "only read"),
        ("ATTACH 'x' AS y", "ATTACH is not allowed"),
        ("SELEC 1", "near \"SELEC\": syntax error"),
        ("EXPLAIN SELEC 1", "near \"SELEC\": syntax error"),
        ("SELECT @", "unrecognized token: \"@\""),
    ] {
        let done = memscape(&["sql", &file, query, "--json"]);
        let message = String::from_utf8(done.stderr).unwrap();
        assert_eq!(done.status.code(), Some(1), "{query}");
        assert!(message.contains(wanted) && done.stdout.is_empty(), "{query}: {message}");
    }
    let bomb = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n";
    let message = String::from_utf8(memscape(&["sql", &file, bomb, "--timeout", "1"]).stderr).unwrap();
    assert!(message.contains("stopped after 1 s"), "{message}");
}

#[test]
fn piped_statements_are_run() {
    let file = snapshot("sql-pipe.pickle", "--steps 1 --layers 1");
    let mut child = Command::new(env!("CARGO_BIN_EXE_memscape"))
        .args(["sql", &file])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let typed = ".mode csv\nSELECT 1\n  AS one;\n.schema step\n--show 0\n--find train\n.canned 1\nSELECT 2 AS two";
    child.stdin.take().unwrap().write_all(typed.as_bytes()).unwrap();
    let done = child.wait_with_output().unwrap();
    let text = String::from_utf8(done.stdout).unwrap();
    assert!(done.status.success());
    assert!(text.starts_with("one\r\n1\r\nstep  training steps\n"), "{text}");
    assert!(text.contains("device,id,size,category") && text.ends_with("two\r\n2\r\n"), "{text}");
}

#[test]
fn side_and_rank_columns_separate_files() {
    let a = snapshot("sql-ranks/rank_0.pickle", "--steps 1 --layers 1");
    let b = snapshot("sql-ranks/rank_1.pickle", "--steps 1 --layers 2");
    let count = |file: &str| rows(&["sql", file, "SELECT count(*) FROM event", "--json"])[0][0].clone();
    let (of_a, of_b) = (count(&a), count(&b));
    let by = |column: &str| format!("SELECT {column}, count(*) FROM event GROUP BY {column}");
    assert_eq!(rows(&["sql", &a, "--with", &b, &by("side"), "--json"]), json!([["A", of_a], ["B", of_b]]));
    let folder = output_path("sql-ranks");
    assert_eq!(rows(&["sql", folder.to_str().unwrap(), &by("rank"), "--json"]), json!([[0, of_a], [1, of_b]]));
    // On a single file, the query gives null for the side.
    assert_eq!(rows(&["sql", &a, &by("side"), "--json"]), json!([[null, of_a]]));
}

#[test]
fn python_reads_exported_sqlite() {
    if Command::new("python3").args(["-c", "import sqlite3"]).status().is_ok_and(|status| !status.success()) {
        eprintln!("SKIPPED: no python3 with sqlite3 to read the export with");
        return;
    }
    let mut files = opened::real_pickles().unwrap_or_default();
    files.push(PathBuf::from(snapshot("sql-export.pickle", "--steps 2 --layers 2")));
    let expected = opened::snapshots().map(|folder| std::fs::read_to_string(folder.join("expected.json")).unwrap());
    let expected: Value = expected.map_or(Value::Null, |text| serde_json::from_str(&text).unwrap());
    let out = output_path("sql-export.sqlite");
    for file in files {
        let path = file.to_str().unwrap();
        if !memscape(&["summary", path]).status.success() {
            continue;
        }
        stdout_of(&["export", path, "--to", "sqlite", "-o", out.to_str().unwrap()]);
        let name = file.file_name().unwrap().to_str().unwrap();
        let done = Command::new("python3")
            .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sql.py"))
            .args([path, out.to_str().unwrap(), &expected[name].to_string()])
            .output()
            .unwrap();
        assert!(done.status.success(), "{name}: {}", String::from_utf8_lossy(&done.stderr));
    }
    let piped = memscape(&["export", &snapshot("sql-export.pickle", "--steps 1"), "--to", "sqlite", "-o", "-"]);
    assert!(piped.status.success() && piped.stdout.starts_with(b"SQLite format 3\0"));
}
