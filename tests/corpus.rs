//! Numbers of real files, and of files from the reference generator, compared with the reference implementation.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may fail")]

use crate::opened;

use memscape::protocol::DeviceSummary;
use memscape::timeline::View;
use opened::{Opened, open, open_in_chunks, snapshots};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Compares every field of the reference, device by device.
fn compare(file: &str, devices: &[DeviceSummary], expected: &Value) {
    let expected = expected.as_array().expect("a list of devices");
    let ours = serde_json::to_value(devices).unwrap();
    assert_eq!(ours.as_array().map(Vec::len), Some(expected.len()), "{file}: devices");
    for (ours, expected) in ours.as_array().unwrap().iter().zip(expected) {
        for (field, value) in expected.as_object().expect("fields") {
            assert_eq!(&ours[field], value, "{file}, device {}: {field}", expected["device"]);
        }
    }
}

/// Checks totals against the drawing: the top of the silhouette is the peak, the stack of a column adds up to its
/// total, and every byte of the stack belongs to an allocation that is live there.
fn check_drawing(file: &str, opened: &mut Opened) {
    for device in opened.summary.devices.clone() {
        let view = View::fit(device.events + 1, device.drawn_peak, 300, 200);
        let scene = opened.scene(device.device, view);
        let highest = scene.columns.total.iter().max().copied().unwrap_or(0);
        assert_eq!(highest, device.drawn_peak, "{file}: top of the silhouette");
        assert_eq!(device.drawn_peak as i64, device.peak_requested, "{file}: drawn and counted peak");
        for (&moment, &total) in scene.columns.moment.iter().zip(&scene.columns.total).step_by(37) {
            let mut byte = 0;
            let mut seen = 0u64;
            while byte < total && seen < 50 {
                let hit = opened.hit(device.device, moment, byte).expect("an allocation at every byte below the total");
                assert_eq!(hit.lowest_byte, byte, "{file}: stacked without gaps");
                assert!(
                    hit.allocated_at <= moment && hit.freed_at.is_none_or(|freed_at| moment < freed_at),
                    "{file}: not live at the column"
                );
                byte += hit.requested.max(1);
                seen += 1;
            }
            assert_eq!(opened.hit(device.device, moment, total), None, "{file}: nothing above the total");
        }
    }
}

#[test]
fn real_files_match_expected_summaries() {
    let Some(folder) = snapshots() else { return };
    let expected: Value = serde_json::from_slice(&std::fs::read(folder.join("expected.json")).unwrap()).unwrap();
    let files = expected.as_object().unwrap();
    for (file, devices) in files {
        let bytes = std::fs::read(folder.join(file)).unwrap();
        let mut whole = open(&bytes).unwrap_or_else(|error| panic!("{file}: {error}"));
        compare(file, &whole.summary.devices, devices);
        let odd: Vec<&str> = whole.summary.warnings.iter().map(|warning| warning.kind.as_str()).collect();
        // The addresses of this file were changed, so most of its allocations lie in no segment.
        let has_no_events = matches!(file.as_str(), "empty-trace.pickle" | "segments-only-tiny.pickle");
        let known: &[&str] = match file.starts_with("anonymised-") {
            true => &["requested_beyond_reserved"],
            false if has_no_events => &["not_recorded"],
            false => &[],
        };
        assert_eq!(odd, known, "{file}: unexpected warnings");
        check_drawing(file, &mut whole);
        // Odd chunk sizes and the shortest slices give the same summary.
        let sliced = open_in_chunks(&bytes, 4093, 1).unwrap_or_else(|error| panic!("{file}, sliced: {error}"));
        assert_eq!(sliced.summary, whole.summary, "{file}, sliced");
    }
    println!("{} real files agree with the reference", files.len());
}

#[test]
fn truncated_file_reports_error_with_offset() {
    let Some(folder) = snapshots() else { return };
    let bytes = std::fs::read(folder.join("segments-only-tiny.pickle")).unwrap();
    for end in 0..bytes.len() {
        let error = open(&bytes[..end]).err().expect("a cut file does not open");
        let place = error.split("cut off after ").nth(1).or(error.rsplit("byte ").next()).unwrap_or_default();
        let digits = place.chars().take_while(|it| it.is_ascii_digit() || *it == ',').filter(char::is_ascii_digit);
        let place = digits.collect::<String>().parse::<usize>().ok();
        assert!(end == 0 || place.is_some_and(|place| place <= end), "cut at {end}: {error}");
    }
}

fn tools() -> Option<PathBuf> {
    let tools = snapshots()?.parent()?.join("tools");
    let python = Command::new("python3").arg("--version").output().is_ok_and(|output| output.status.success());
    if !python || !tools.join("gen_snapshot.py").is_file() {
        println!("SKIPPED: no python3 or no ../shared/tools: generated files are not checked against the reference");
        return None;
    }
    Some(tools)
}

fn python(script: PathBuf, arguments: &[&str]) -> Vec<u8> {
    let output = Command::new("python3").arg(script).args(arguments).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

#[test]
fn generated_files_match_reference_in_every_format() {
    let Some(tools) = tools() else { return };
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("generated");
    std::fs::create_dir_all(&folder).unwrap();
    let cases: [&[&str]; 9] = [
        &[],
        &["--ring", "1500"],
        &["--pending"],
        &["--oom"],
        &["--expandable"],
        &["--devices", "3"],
        &["--no-time"],
        &["--leak"],
        &["--ring", "900", "--pending", "--expandable", "--devices", "2", "--compile-context"],
    ];
    for (at, options) in cases.iter().enumerate() {
        let protocol = (2 + at % 4).to_string();
        let path = folder.join(format!("{at}.pickle")).display().to_string();
        let by_torch = folder.join(format!("{at}-cpp.pickle")).display().to_string();
        let mut arguments = vec![path.as_str(), "--events", "3000", "--frames", "12", "--protocol", &protocol];
        arguments.extend_from_slice(options);
        python(tools.join("gen_snapshot.py"), &arguments);
        python(tools.join("cpp_style_pickle.py"), &[&path, &by_torch]);
        let numbers: Value = serde_json::from_slice(&python(tools.join("reference.py"), &[&path])).unwrap();
        for (path, format) in
            [(&path, format!("pickle {protocol} (Python)")), (&by_torch, "pickle 2 (torch C++)".into())]
        {
            let mut opened = open(&std::fs::read(path).unwrap()).unwrap_or_else(|error| panic!("{options:?}: {error}"));
            compare(&format!("{options:?}, {format}"), &opened.summary.devices, &numbers[format!("{at}.pickle")]);
            assert_eq!(opened.summary.format, format);
            assert_eq!(opened.summary.warnings, [], "{options:?}");
            check_drawing(&format!("{options:?}"), &mut opened);
        }
    }
}
