//! Counts of one are followed by a singular noun, in the texts about real files, and about parts with a few events.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may fail")]

use crate::cases;
use crate::opened::{Opened, open, real_pickles, recordings_folder};
use crate::reported::report;
use memscape::protocol::{Cell, Topic};
use memscape::ui::text::summary::{facts, headlines};
use regex_lite::Regex;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Maximum size of the files in bytes. Large files have few counts of one.
const MAX_BYTES: u64 = 1 << 20;

/// Words that end in "s", are not plural nouns, and follow a number in texts.
const NOT_PLURAL: [&str; 8] = ["across", "address", "allocates", "has", "is", "less", "ms", "was"];

/// Returns the parts of a text with a plural after a count of one, such as `1 events` and `1 of 1 files`.
fn plurals(text: &str) -> Vec<String> {
    let one = Regex::new(r"(?:^|[^\w.,:/#-])1 (?:[a-z]+ )?([a-z]+s)\b").unwrap();
    let found = one.captures_iter(text).filter(|hit| !NOT_PLURAL.contains(&&hit[1]));
    found.map(|hit| format!("{:?} in {text}", &hit[0])).collect()
}

/// Returns all texts about an open file: its facts and warnings, and the statements and tables of its insights.
fn texts(opened: &mut Opened) -> Vec<String> {
    let file = opened.summary.clone();
    let mut all: Vec<String> = file.warnings.iter().flat_map(|it| [it.message.clone(), it.example.clone()]).collect();
    for device in &file.devices {
        let lines = facts(&file, device).into_iter().flat_map(|group| group.lines);
        all.extend(lines.map(|line| format!("{}: {}", line.label, line.value)));
        all.extend(headlines(device, None).into_iter().map(|headline| headline.note));
        for topic in Topic::ALL.into_iter().filter(|topic| !topic.depends_on_range()) {
            let report = report(opened, device.device, topic, &[]);
            all.extend(report.headline.map(|headline| headline.text));
            all.extend(report.statements.into_iter().flat_map(|it| [it.text, it.fix]));
            for sheet in report.sheets {
                all.extend([sheet.title, sheet.note]);
                let cells = sheet.rows.into_iter().flat_map(|row| row.cells);
                all.extend(cells.filter_map(|cell| if let Cell::Text(text) = cell { Some(text) } else { None }));
            }
        }
    }
    all
}

fn small_files() -> Vec<PathBuf> {
    let recordings = recordings_folder("their texts are not checked").map(|folder| folder.join("programs-2.11"));
    let folders = cases::folder().into_iter().chain(recordings);
    let found = folders.flat_map(|folder| std::fs::read_dir(folder).unwrap()).map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> = real_pickles().unwrap_or_default().into_iter().chain(found).collect();
    files.retain(|path| path.metadata().unwrap().len() <= MAX_BYTES);
    files.sort();
    files
}

#[test]
fn nouns_after_one_are_singular_in_insights() {
    let mut wrong = Vec::new();
    for path in small_files() {
        // Some cases are no snapshots.
        let Ok(mut opened) = open(&std::fs::read(&path).unwrap()) else { continue };
        let found = texts(&mut opened).iter().flat_map(|text| plurals(text)).collect::<Vec<_>>();
        wrong.extend(found.into_iter().map(|text| format!("{}: {text}", path.display())));
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Runs the command line. Returns what it prints.
fn printed(arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_memscape")).args(arguments).output().unwrap();
    [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap()).concat()
}

#[test]
fn nouns_after_one_are_singular_in_commands() {
    let Some(files) = real_pickles() else { return };
    let file = |name: &str| files.iter().find(|path| path.ends_with(name)).unwrap().to_str().unwrap();
    let out = |name: &str| Path::new(env!("CARGO_TARGET_TMPDIR")).join(name).to_str().unwrap().to_owned();
    let (cropped, converted) = (out("counts.pickle"), out("counts.zip"));
    let whole = file("adam-35-events.pickle");
    let mut wrong = Vec::new();
    // Parts of a trace: its first event, its first allocation and free, and a few events.
    for [from, to] in [["0", "0"], ["0", "1"], ["3", "6"]] {
        let crop = ["crop", whole, "--from", from, "--to", to, "-o", &cropped];
        for arguments in [
            &crop[..],
            &["convert", &cropped, "--to", "snapviewer", "-o", &converted],
            &["convert", &cropped, "--to", "json", "-o", &out("counts.json")],
            &["summary", &cropped],
            &["insights", &cropped, "--markdown"],
            &["live", &cropped],
            &["segments", &cropped],
            &["allocations", &cropped, "--top", "1"],
            &["events", &cropped, "--top", "1"],
            &["whatif", &cropped],
            &["range", &cropped, "--from", "0", "--to", "1"],
            &["diff", &cropped, whole],
            &["diff", whole, &cropped],
            &["check", whole, "--baseline", &cropped],
            &["check", &cropped, "--baseline", whole, "--budget", "1MiB"],
            &["tui", &cropped, "--plain"],
        ] {
            let text = printed(arguments);
            wrong.extend(text.lines().flat_map(plurals).map(|text| format!("{arguments:?}: {text}")));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
