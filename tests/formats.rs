//! Real files in every supported format: the numbers do not depend on the format.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may fail")]

use crate::opened;
use crate::packed;
use crate::reencoded;

use memscape::protocol::FileSummary;
use memscape::units::pluralize;
use opened::{open, open_in_chunks, snapshots};
use reencoded::{Layout, Tree};
use std::io::Write;
use std::process::{Command, Stdio};

/// Returns the real files of at most `most` bytes, the smallest first. Written without shared containers, a file grows
/// up to fifty times, so most tests use the smaller ones.
fn files(most: usize) -> Vec<(String, Vec<u8>)> {
    let Some(folder) = snapshots() else { return Vec::new() };
    let mut files: Vec<(String, Vec<u8>)> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "pickle"))
        .map(|path| (path.file_name().unwrap().to_string_lossy().into_owned(), std::fs::read(&path).unwrap()))
        .filter(|(_, bytes)| bytes.len() <= most)
        .collect();
    files.sort_by_key(|(_, bytes)| bytes.len());
    files
}

/// Returns the summary of a file with its format string cleared.
fn summary(name: &str, bytes: &[u8], format: &str) -> FileSummary {
    let mut summary = open(bytes).unwrap_or_else(|error| panic!("{name} as {format}: {error}")).summary;
    assert_eq!(summary.format, format, "{name}");
    summary.format.clear();
    summary
}

fn pickled(name: &str, bytes: &[u8]) -> FileSummary {
    let mut summary = open(bytes).unwrap_or_else(|error| panic!("{name}: {error}")).summary;
    summary.format.clear();
    summary
}

#[test]
fn json_has_same_summary_as_pickle() {
    for (name, bytes) in files(700 << 10) {
        let expected = pickled(&name, &bytes);
        let tree = Tree::from_pickle(&bytes);
        let compact = tree.json(Layout::Compact);
        assert_eq!(summary(&name, &compact, "JSON"), expected, "{name}");
        let pretty = tree.json(Layout::Pretty);
        assert_eq!(summary(&name, &pretty, "JSON"), expected, "{name}, pretty");
        println!("{name}: {} bytes, {} as JSON, {} pretty", bytes.len(), compact.len(), pretty.len());
        if bytes.len() < 100 << 10 {
            let sliced = open_in_chunks(&compact, 4093, 1).unwrap_or_else(|error| panic!("{name}, sliced: {error}"));
            assert_eq!(FileSummary { format: String::new(), ..sliced.summary }, expected, "{name}, sliced");
        }
    }
}

#[test]
fn truncated_json_reports_error_with_offset() {
    for (name, bytes) in files(6 << 10) {
        let json = Tree::from_pickle(&bytes).json(Layout::Compact);
        for end in 0..json.len() {
            let error = open(&json[..end]).err().unwrap_or_else(|| panic!("{name} cut at {end} opens"));
            let place =
                error.rsplit("byte ").next().and_then(|place| place.trim_end_matches(')').parse::<usize>().ok());
            assert!(end == 0 || place == Some(end), "cut at {end}: {error}");
        }
    }
}

#[test]
fn protocols_0_and_1_have_same_summary_as_original_pickle() {
    for (name, bytes) in files(5 << 20) {
        let expected = pickled(&name, &bytes);
        let tree = Tree::from_pickle(&bytes);
        assert_eq!(summary(&name, &tree.protocol_0(), "pickle 0 (Python)"), expected, "{name}");
        assert_eq!(summary(&name, &tree.protocol_1(), "pickle 1 (Python)"), expected, "{name}");
    }
}

#[test]
fn truncated_protocol_0_reports_error_with_offset() {
    for (name, bytes) in files(6 << 10) {
        let text = Tree::from_pickle(&bytes).protocol_0();
        assert_eq!(
            open_in_chunks(&text, 1, usize::MAX).unwrap().summary,
            open(&text).unwrap().summary,
            "{name}, byte by byte"
        );
        for end in 3..text.len() {
            let error = open(&text[..end]).err().unwrap_or_else(|| panic!("{name} cut at {end} opens"));
            let place = format!("the pickle is cut off after {}", pluralize(end as u64, "byte"));
            assert!(error.starts_with(&place) && error.ends_with(": the dump did not finish"), "{error}");
        }
    }
}

#[test]
fn python_pickles_of_protocols_0_and_1_can_be_opened() {
    let Some(folder) = snapshots() else { return };
    for name in ["torch-2.10-small.pickle", "anonymised-annotations-compile-context.pickle"] {
        let path = folder.join(name);
        let bytes = std::fs::read(&path).unwrap();
        let expected = pickled(name, &bytes);
        for protocol in 0..2 {
            let script = format!(
                "import pickle, sys; sys.stdout.buffer.write(pickle.dumps(pickle.load(open(sys.argv[1], 'rb')), {protocol}))"
            );
            let Some(file) = run_program("python3", &["-c", &script, &path.display().to_string()], b"") else { return };
            assert_eq!(summary(name, &file, &format!("pickle {protocol} (Python)")), expected, "{name}");
        }
    }
}

#[test]
fn compressed_and_html_files_have_same_summary_as_plain_file() {
    for (name, bytes) in files(500 << 10) {
        let expected = pickled(&name, &bytes);
        let inner = open(&bytes).unwrap().summary.format;
        let json = Tree::from_pickle(&bytes).json(Layout::Compact);
        let two_members = [packed::gzip(&bytes[..bytes.len() / 2]), packed::gzip(&bytes[bytes.len() / 2..])].concat();
        let two_frames = [packed::zstd(&bytes[..bytes.len() / 2]), packed::zstd(&bytes[bytes.len() / 2..])].concat();
        let ways = [
            (two_members, format!("gzip, {inner}")),
            (two_frames, format!("zstd, {inner}")),
            (packed::html(&bytes), format!("HTML, {inner}")),
            (packed::gzip(&packed::html(&packed::zstd(&bytes))), format!("gzip, HTML, zstd, {inner}")),
            (packed::zstd(&json), "zstd, JSON".to_owned()),
            (packed::gzip(&json), "gzip, JSON".to_owned()),
        ];
        for (file, format) in ways {
            assert_eq!(summary(&name, &file, &format), expected, "{name} as {format}");
        }
    }
}

/// Trailing bytes are ignored with a warning. Zero padding gives no warning.
#[test]
fn trailing_bytes_give_warning() {
    let pickle = b"\x80\x02}X\x08\0\0\0segments]s.";
    type Pack = fn(&[u8]) -> Vec<u8>;
    let cases: [(Pack, &[u8], Option<&str>); 14] = [
        (packed::gzip, b"", None),
        (packed::gzip, &[0; 600], None),
        (packed::gzip, b"\0\0\0x", Some("gzip")),
        (packed::gzip, b"\x1f", Some("gzip")),
        (packed::gzip, b"\x1f\x8b\x09", Some("gzip")),
        (packed::zstd, &[0; 600], None),
        (packed::zstd, b"\x28\xb5", Some("zstd")),
        (packed::zstd, b"hello, this is more", Some("zstd")),
        (packed::html, b"more", None),
        (<[u8]>::to_vec, b"", None),
        (<[u8]>::to_vec, b"\x80\x02N.", Some("pickle")),
        (<[u8]>::to_vec, b"\0\0\0x", Some("pickle")),
        (<[u8]>::to_vec, b"\0\0\0", None),
        (|pickle| packed::html(&[pickle, b"\0\0"].concat()), b"", None),
    ];
    for (pack, behind, expected_warning) in cases {
        for chunk in [1, 1 << 20] {
            let opened = open_in_chunks(&[&pack(pickle), behind].concat(), chunk, usize::MAX).unwrap();
            let expected_warning = expected_warning.map(|what| format!("data after the end of the {what}, ignored"));
            let warnings = opened.summary.warnings.iter().filter(|warning| warning.kind == "bytes_behind");
            assert_eq!(warnings.map(|warning| warning.message.clone()).next(), expected_warning, "{behind:?}");
        }
    }
}

#[test]
fn files_packed_by_zstd_program_open() {
    for (name, bytes) in files(150 << 10) {
        let expected = pickled(&name, &bytes);
        let inner = open(&bytes).unwrap().summary.format;
        for options in [&["-1"][..], &["-19", "--no-check"], &["--long=27", "-5"]] {
            let Some(file) = run_program("zstd", options, &bytes) else { return };
            assert_eq!(summary(&name, &file, &format!("zstd, {inner}")), expected, "{name} by zstd {options:?}");
        }
    }
}

/// Returns what a program writes for the given input. Returns `None`, with a note on stdout, if it is not installed.
fn run_program(program: &str, options: &[&str], bytes: &[u8]) -> Option<Vec<u8>> {
    let started = Command::new(program).args(options).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
    let Ok(mut child) = started else {
        println!("SKIPPED: {program} is not installed");
        return None;
    };
    let mut input = child.stdin.take().unwrap();
    let output = std::thread::scope(|scope| {
        scope.spawn(move || input.write_all(bytes).unwrap());
        child.wait_with_output().unwrap()
    });
    assert!(output.status.success(), "{program} {options:?}");
    Some(output.stdout)
}
