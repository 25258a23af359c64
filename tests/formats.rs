//! Every real file in every format that we open: the numbers do not depend on it.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may fail")]

use crate::opened;
use crate::packed;
use crate::retold;

use memscape::engine::protocol::FileSummary;
use opened::{open, open_in, snapshots};
use retold::{Layout, Tree};
use std::io::Write;
use std::process::{Command, Stdio};

/// The real files, the smallest first. Told again without sharing a file grows up to fifty times, so most tests take those that
/// have at most `most` bytes.
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

/// The summary, but for how the file is written.
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
fn as_json_compact_and_pretty() {
    for (name, bytes) in files(700 << 10) {
        let expected = pickled(&name, &bytes);
        let tree = Tree::of(&bytes);
        let compact = tree.json(Layout::Compact);
        assert_eq!(summary(&name, &compact, "JSON"), expected, "{name}");
        let pretty = tree.json(Layout::Pretty);
        assert_eq!(summary(&name, &pretty, "JSON"), expected, "{name}, pretty");
        println!("{name}: {} bytes, {} as JSON, {} pretty", bytes.len(), compact.len(), pretty.len());
        if bytes.len() < 100 << 10 {
            let sliced = open_in(&compact, 4093, 1).unwrap_or_else(|error| panic!("{name}, sliced: {error}"));
            assert_eq!(FileSummary { format: String::new(), ..sliced.summary }, expected, "{name}, sliced");
        }
    }
}

#[test]
fn json_cut_anywhere_is_an_error_with_its_place() {
    for (name, bytes) in files(6 << 10) {
        let json = Tree::of(&bytes).json(Layout::Compact);
        for end in 0..json.len() {
            let error = open(&json[..end]).err().unwrap_or_else(|| panic!("{name} cut at {end} opens"));
            let place =
                error.rsplit("byte ").next().and_then(|place| place.trim_end_matches(')').parse::<usize>().ok());
            assert!(end == 0 || place == Some(end), "cut at {end}: {error}");
        }
    }
}

#[test]
fn as_pickles_of_protocols_0_and_1() {
    for (name, bytes) in files(5 << 20) {
        let expected = pickled(&name, &bytes);
        let tree = Tree::of(&bytes);
        assert_eq!(summary(&name, &tree.protocol_0(), "pickle 0 (Python)"), expected, "{name}");
        assert_eq!(summary(&name, &tree.protocol_1(), "pickle 1 (Python)"), expected, "{name}");
    }
}

#[test]
fn protocol_0_cut_anywhere_is_an_error_with_its_place() {
    for (name, bytes) in files(6 << 10) {
        let text = Tree::of(&bytes).protocol_0();
        assert_eq!(
            open_in(&text, 1, usize::MAX).unwrap().summary,
            open(&text).unwrap().summary,
            "{name}, byte by byte"
        );
        for end in 3..text.len() {
            let error = open(&text[..end]).err().unwrap_or_else(|| panic!("{name} cut at {end} opens"));
            assert_eq!(error, format!("unexpected end of file inside the pickle (at byte {end})"));
        }
    }
}

#[test]
fn as_python_writes_protocols_0_and_1() {
    let Some(folder) = snapshots() else { return };
    for name in ["torch-2.10-small.pickle", "anonymised-annotations-compile-context.pickle"] {
        let path = folder.join(name);
        let bytes = std::fs::read(&path).unwrap();
        let expected = pickled(name, &bytes);
        for protocol in 0..2 {
            let script = format!(
                "import pickle, sys; sys.stdout.buffer.write(pickle.dumps(pickle.load(open(sys.argv[1], 'rb')), {protocol}))"
            );
            let Some(file) = by_program("python3", &["-c", &script, &path.display().to_string()], b"") else { return };
            assert_eq!(summary(name, &file, &format!("pickle {protocol} (Python)")), expected, "{name}");
        }
    }
}

#[test]
fn packed_in_every_way() {
    for (name, bytes) in files(500 << 10) {
        let expected = pickled(&name, &bytes);
        let inner = open(&bytes).unwrap().summary.format;
        let json = Tree::of(&bytes).json(Layout::Compact);
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

/// What stands behind the end is not read, and said; padding is not worth it.
#[test]
fn bytes_behind_the_end_are_a_warning() {
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
    for (pack, behind, told) in cases {
        for chunk in [1, 1 << 20] {
            let opened = open_in(&[&pack(pickle), behind].concat(), chunk, usize::MAX).unwrap();
            let told = told.map(|what| format!("data after the end of the {what}, ignored"));
            let warnings = opened.summary.warnings.iter().filter(|warning| warning.kind == "bytes_behind");
            assert_eq!(warnings.map(|warning| warning.message.clone()).next(), told, "{behind:?}");
        }
    }
}

#[test]
fn as_the_zstd_program_packs_it() {
    for (name, bytes) in files(150 << 10) {
        let expected = pickled(&name, &bytes);
        let inner = open(&bytes).unwrap().summary.format;
        for options in [&["-1"][..], &["-19", "--no-check"], &["--long=27", "-5"]] {
            let Some(file) = by_program("zstd", options, &bytes) else { return };
            assert_eq!(summary(&name, &file, &format!("zstd, {inner}")), expected, "{name} by zstd {options:?}");
        }
    }
}

/// What a program writes that is fed these bytes; `None`, said aloud, where there is no such program.
fn by_program(program: &str, options: &[&str], bytes: &[u8]) -> Option<Vec<u8>> {
    let started = Command::new(program).args(options).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
    let Ok(mut child) = started else {
        println!("SKIPPED: there is no {program}: what it writes is not opened");
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
