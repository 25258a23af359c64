//! Segments and blocks of real and generated files at random moments, compared with the brute-force implementation in
//! brute_force_state.py, and the reserved peak.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may fail")]

use crate::generate;
use crate::opened;
use crate::stated;

use memscape::protocol::PieceKind;
use opened::{Opened, open, real_pickles, snapshots};
use serde_json::Value;
use stated::{list, pieces};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Number of random moments compared on each device, besides the first and the last.
const MOMENTS: &str = "200";

/// Runs the script on a file. Returns `None`, with a note on stdout, if there is no Python.
fn python(path: &Path) -> Option<String> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/brute_force_state.py");
    let arguments = [path.as_os_str(), MOMENTS.as_ref(), "7".as_ref()];
    let Ok(output) = Command::new("python3").arg("-B").arg(script).args(arguments).output() else {
        println!("SKIPPED: there is no python3 to ask for a second opinion");
        return None;
    };
    assert!(output.status.success(), "{path:?}: {}", String::from_utf8_lossy(&output.stderr));
    Some(String::from_utf8(output.stdout).unwrap())
}

/// Returns the engine's segments and blocks as the script writes them, and the count and bytes of blocks outside
/// segments.
fn state(opened: &mut Opened, device: i64, moment: u32) -> (Vec<String>, (u32, u64)) {
    let page = list(opened, device, moment);
    let mut bars: Vec<_> = page.bars.iter().collect();
    bars.sort_by_key(|bar| bar.segment);
    let mut lines: Vec<String> = bars.iter().map(|bar| format!("s {} {}", bar.segment, bar.sums.reserved)).collect();
    for bar in bars {
        for piece in pieces(&page, bar) {
            let state = match piece.kind {
                PieceKind::Live => "l",
                PieceKind::AwaitingFree => "p",
                PieceKind::Free | PieceKind::Rounding => continue,
            };
            lines.push(format!("b {} {} {state} {}", piece.address, piece.requested, bar.segment));
        }
    }
    (lines, (page.outside_mapped.count, page.outside_mapped.bytes))
}

/// Returns the number of blocks that were compared.
fn check(path: &Path) -> usize {
    let name = path.file_name().unwrap().to_string_lossy().into_owned();
    let Some(expected_devices) = python(path) else { return 1 };
    let mut opened = open(&std::fs::read(path).unwrap()).unwrap_or_else(|error| panic!("{name}: {error}"));
    let devices = opened.summary.devices.clone();
    let mut compared = 0;
    let expected_devices: Vec<&str> = expected_devices.split("device ").skip(1).collect();
    assert_eq!(expected_devices.len(), devices.len(), "{name}: devices");
    for (expected_devices, device) in expected_devices.iter().zip(&devices) {
        let mut parts = expected_devices.split("moment ");
        let head: Vec<&str> = parts.next().unwrap().lines().collect();
        let numbers: Vec<i128> = head[0].split(' ').map(|number| number.parse().unwrap()).collect();
        let [ordinal, peak_moment, peak, end] = numbers[..] else { panic!("{head:?}") };
        assert_eq!(ordinal, i128::from(device.device), "{name}");
        let reserved = list(&mut opened, device.device, peak_moment as u32).total.reserved;
        assert_eq!((i128::from(reserved), i128::from(device.peak_reserved)), (peak, peak), "{name}: most reserved");
        let listed = list(&mut opened, device.device, end as u32);
        let mut bars: Vec<_> = listed.bars.iter().collect();
        bars.sort_by_key(|bar| bar.segment);
        let at_end = bars.iter().map(|bar| format!("e {} {} {}", bar.segment, bar.sums.reserved, bar.sums.blocks));
        assert_eq!(at_end.collect::<Vec<_>>(), head[1..], "{name}: the segments that the file lists");
        for part in parts {
            let mut lines = part.lines();
            let moment: u32 = lines.next().unwrap().parse().unwrap();
            let (astray, lines): (Vec<&str>, Vec<&str>) = lines.partition(|line| line.ends_with(" -1"));
            let bytes = |line: &&str| line.split(' ').nth(2).unwrap().parse::<u64>().unwrap();
            let astray = (astray.len() as u32, astray.iter().map(bytes).sum());
            let (ours, our_astray) = state(&mut opened, device.device, moment);
            let differs = ours.iter().zip(&lines).find(|(ours, theirs)| ours != theirs);
            assert!(
                ours.len() == lines.len() && differs.is_none(),
                "{name}, device {ordinal}, moment {moment}: {} and {} lines, {differs:?}",
                ours.len(),
                lines.len()
            );
            assert_eq!(our_astray, astray, "{name}, device {ordinal}, moment {moment}: in no segment");
            compared += lines.len();
        }
    }
    compared
}

#[test]
fn blocks_of_real_files_match_python() {
    for path in real_pickles().unwrap_or_default() {
        assert!(check(&path) > 0, "{path:?}");
    }
}

#[test]
fn blocks_of_generated_files_match_python() {
    for (place, words) in [
        "--steps 2 --layers 4 --expandable --pending",
        "--steps 2 --layers 4 --private-pools --pending",
        "--steps 3 --layers 4 --ring 900 --expandable --pending",
        "--steps 3 --layers 4 --ring 900 --private-pools",
        "--steps 2 --layers 3 --host",
        "--steps 2 --layers 3 --oom --leak",
        "--steps 2 --layers 3 --devices 2 --expandable --private-pools",
    ]
    .iter()
    .enumerate()
    {
        let (options, _) = generate::Options::parse(words.split_whitespace().map(str::to_owned)).unwrap();
        let (bytes, _) = generate::generate(&options, Vec::new()).unwrap();
        let path: PathBuf = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("state{place}.pickle"));
        std::fs::write(&path, bytes).unwrap();
        assert!(check(&path) > 1, "{words}");
    }
}

#[test]
fn reserved_peaks_match_expected_json() {
    let Some(folder) = snapshots() else { return };
    let expected: Value = serde_json::from_slice(&std::fs::read(folder.join("expected.json")).unwrap()).unwrap();
    let mut highest = Vec::new();
    for (name, devices) in expected.as_object().unwrap() {
        let opened = open(&std::fs::read(folder.join(name)).unwrap()).unwrap();
        for (expected, device) in devices.as_array().unwrap().iter().zip(&opened.summary.devices) {
            assert_eq!(expected["peak_reserved"].as_i64(), Some(device.peak_reserved), "{name}");
            highest.push(device.peak_reserved);
        }
    }
    assert!(highest.contains(&643_825_664), "the file of an NPU with expandable segments");
}
