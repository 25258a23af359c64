//! Real files converted to every other format: memscape gives the same answers, and Python reads the same values.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may fail")]

use crate::generate;
use crate::opened;

use memscape::protocol::{ExportFormat, ExportQuestion, ExportTable, FileSummary, Scope, Span};
use memscape::writing::{JsonWriter, PickleWriter};
use opened::{Opened, open, real_pickles};
use std::path::{Path, PathBuf};
use std::process::Command;

fn pickled(opened: &Opened, protocol: u8) -> Vec<u8> {
    let mut out = Vec::new();
    opened.engine.convert(&mut PickleWriter::new(&mut out, protocol).unwrap()).unwrap();
    out
}

fn as_json(opened: &Opened) -> Vec<u8> {
    let mut out = Vec::new();
    opened.engine.convert(&mut JsonWriter::new(&mut out)).unwrap();
    out
}

/// Returns the rows of all tables of all devices as CSV.
fn tables(opened: &mut Opened) -> Vec<String> {
    let mut tables = Vec::new();
    for device in opened.summary.devices.clone() {
        for table in ExportTable::ALL {
            let range = Span { from: 0, to: device.events as u32 };
            let question =
                ExportQuestion { format: ExportFormat::Csv, table, cursor: 0, range, scope: Scope::All, largest: 0 };
            // Stacks are numbered in file order.
            if table != ExportTable::Stacks {
                let mut out = Vec::new();
                let side = opened.engine.complete_side(device.device).unwrap();
                memscape::exports::write(side, &question, &mut out).unwrap();
                tables.push(without_stacks(&String::from_utf8(out).unwrap()));
            }
        }
    }
    tables
}

/// Returns CSV without the column of stack ids.
fn without_stacks(csv: &str) -> String {
    let column = csv.lines().next().unwrap().split(',').position(|name| name == "stack");
    let Some(column) = column else { return csv.to_owned() };
    let row = |line: &str| {
        let (mut cells, mut is_quoted) = (vec![String::new()], false);
        for letter in line.chars() {
            is_quoted ^= letter == '"';
            match letter {
                ',' if !is_quoted => cells.push(String::new()),
                letter => cells.last_mut().unwrap().push(letter),
            }
        }
        if column < cells.len() {
            cells.remove(column);
        }
        cells.join(",")
    };
    csv.lines().map(row).collect::<Vec<_>>().join("\n")
}

/// Returns devices and settings of a summary, without its format.
fn content(summary: &FileSummary) -> String {
    format!("{:?} {:?}", summary.devices, summary.settings)
}

#[test]
fn converted_files_give_same_answers_as_originals() {
    let Some(files) = real_pickles() else { return };
    let mut checked = 0;
    for path in files {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let Ok(mut original) = open(&std::fs::read(&path).unwrap()) else { continue };
        let rows = tables(&mut original);
        let forms = [("json", as_json(&original))].into_iter().chain([2, 3, 4, 5].map(|protocol| {
            let bytes = pickled(&original, protocol);
            assert_eq!(bytes[..2], [0x80, protocol]);
            ("pickle", bytes)
        }));
        for (form, bytes) in forms {
            let mut again = open(&bytes).unwrap_or_else(|error| panic!("{name} as {form}: {error}"));
            assert_eq!(content(&again.summary), content(&original.summary), "{name} as {form}");
            let other = tables(&mut again);
            let differs = rows.iter().zip(&other).find(|(was, is)| was != is);
            assert!(rows.len() == other.len() && differs.is_none(), "{name} as {form}: {}", first_difference(differs));
            checked += 1;
        }
    }
    assert!(checked >= 100, "{checked}");
}

fn first_difference(tables: Option<(&String, &String)>) -> String {
    let Some((was, is)) = tables else { return "other tables".to_owned() };
    let line = was.lines().zip(is.lines()).find(|(was, is)| was != is);
    format!("{line:?}")
}

#[test]
fn python_reads_same_values_from_original_and_converted_files() {
    let Some(files) = real_pickles() else { return };
    if Command::new("python3").arg("--version").output().is_err() {
        eprintln!("SKIPPED: no python3 to read what was converted");
        return;
    }
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("convert");
    std::fs::create_dir_all(&folder).unwrap();
    let mut checked = 0;
    for path in files {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let Ok(original) = open(&std::fs::read(&path).unwrap()) else { continue };
        let (pickle, json) = (folder.join(&name), folder.join(&name).with_extension("json"));
        std::fs::write(&pickle, pickled(&original, 5)).unwrap();
        std::fs::write(&json, as_json(&original)).unwrap();
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/convert.py");
        let done = Command::new("python3").arg(script).args([&path, &pickle, &json]).output().unwrap();
        assert!(done.status.success(), "{name}: {}", String::from_utf8_lossy(&done.stderr));
        std::fs::remove_file(pickle).unwrap();
        std::fs::remove_file(json).unwrap();
        checked += 1;
    }
    assert!(checked >= 20, "{checked}");
}

fn convert(arguments: &[&str]) -> (Option<i32>, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_memscape")).arg("convert").args(arguments).output().unwrap();
    (output.status.code(), String::from_utf8(output.stderr).unwrap())
}

/// Writes a generated snapshot. Returns its path, and a function that gives paths for output.
fn write_generated(name: &str, words: &str) -> (PathBuf, impl Fn(&str) -> String) {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("convert-{name}"));
    std::fs::create_dir_all(&folder).unwrap();
    let (options, _) = generate::Options::parse(words.split_whitespace().map(str::to_owned)).unwrap();
    let bytes = generate::generate(&options, Vec::new()).unwrap().0;
    let path = folder.join("story.pickle");
    std::fs::write(&path, bytes).unwrap();
    (path, move |name| folder.join(name).to_string_lossy().into_owned())
}

#[test]
fn output_name_selects_format_and_compression() {
    let (path, place) = write_generated("names", "--steps 2 --layers 3 --frames 12 --host --devices 2");
    let original = open(&std::fs::read(&path).unwrap()).unwrap();
    let begins: [(&str, &[u8]); 5] = [
        ("a.pickle", &[0x80, 4]),
        ("a.json", b"{\"segments\""),
        ("a.pickle.gz", &[0x1f, 0x8b]),
        ("a.json.zst", &[0x28, 0xb5, 0x2f, 0xfd]),
        ("a.columns", b"memscape columns"),
    ];
    for (name, magic) in begins {
        let (code, said) = convert(&[path.to_str().unwrap(), "-o", &place(name)]);
        assert_eq!(code, Some(0), "{said}");
        let bytes = std::fs::read(place(name)).unwrap();
        assert!(bytes.starts_with(magic), "{name}");
        let again = open(&bytes).unwrap();
        assert_eq!(content(&again.summary), content(&original.summary), "{name}");
    }
    let (code, said) = convert(&[path.to_str().unwrap(), "-o", &place("a.other")]);
    assert_eq!((code, said.contains("--to")), (Some(1), true), "{said}");
    let (code, _) = convert(&[path.to_str().unwrap(), "-o", &place("b.pickle"), "--protocol", "6"]);
    assert_eq!(code, Some(2));
}

#[test]
fn snapviewer_archive_matches_recording() {
    let (path, place) = write_generated("snapviewer", "--steps 3 --layers 4 --frames 12");
    let (code, said) = convert(&[path.to_str().unwrap(), "-o", &place("a.zip")]);
    assert_eq!(code, Some(0), "{said}");
    let original = open(&std::fs::read(&path).unwrap()).unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/snapviewer.py");
    let done = Command::new("python3").arg(script).arg(&path).arg(place("a.zip")).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    // The archive lacks memory that was neither allocated nor freed during the recording.
    let device = &original.summary.devices[0];
    let again = open(&std::fs::read(place("a.zip")).unwrap()).unwrap();
    assert_eq!(again.summary.devices.len(), 1);
    assert!(again.summary.devices[0].drawn_peak <= device.drawn_peak);
}
