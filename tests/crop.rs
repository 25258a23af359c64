//! Cropping a trace to a range: each event has the same bytes as in the original, segments are complete, and
//! allocations from before the range keep their stacks. A Python script checks the same.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may fail")]

use crate::opened;
use crate::without::histories;

use memscape::engine::crop::{Crop, CropError, Cropped, PROLOGUE};
use memscape::replay::DeviceHistory;
use memscape::snapshot::Snapshot;
use memscape::units::{EventIdx, Moment};
use opened::{open, real_pickles};
use std::path::Path;
use std::process::Command;

/// A deterministic random number generator.
struct Random(u64);

impl Random {
    fn below(&mut self, most: u32) -> u32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % u64::from(most.max(1))) as u32
    }
}

fn cropped(bytes: &[u8], device: i64, events: [u32; 2], prologue: bool) -> Result<(Vec<u8>, Cropped), CropError> {
    let mut opened = open(bytes).unwrap();
    let mut out = Vec::new();
    let crop = Crop { devices: vec![(device, events)], prologue, stream: None, source: "original.pickle".to_owned() };
    let cropped = opened.engine.crop(&crop, &mut out)?;
    Ok((out, cropped))
}

/// Returns the event ranges to test on a device.
fn ranges(events: u32, dice: &mut Random) -> Vec<[u32; 2]> {
    let mut ranges = vec![[0, events], [events / 2, events / 2]];
    for most in [1, 10, 200, 2000] {
        let from = dice.below(events);
        ranges.push([from, (from + 1 + dice.below(most)).min(events)]);
    }
    ranges
}

fn compare(name: &str, history: &DeviceHistory, crop: &DeviceHistory, from: u32, done: Cropped) {
    assert_eq!(crop.event_count(), done.prologue + done.events, "{name}");
    for at in 0..=done.events {
        let (was, now) = (Moment(from + at), Moment(done.prologue + at));
        assert_eq!(crop.drawn_at(now), history.drawn_at(was), "{name}: requested at {at}");
        assert_eq!(crop.reserved_at(now), history.reserved_at(was), "{name}: reserved at {at}");
        assert_eq!(crop.live_count_at(now), history.live_count_at(was), "{name}: allocations at {at}");
    }
    for at in 0..done.events {
        let (was, now) = (EventIdx(from + at), EventIdx(done.prologue + at));
        assert_eq!(crop.events.action(now.0), history.events.action(was.0), "{name}: action at {at}");
        assert_eq!(crop.address_and_size(now), history.address_and_size(was), "{name}: at {at}");
        assert_eq!(crop.events.times.at(now.0), history.events.times.at(was.0), "{name}: time at {at}");
    }
}

/// Checks that the blocks of each segment are adjacent and fill it.
pub(crate) fn check_segments(name: &str, snapshot: &Snapshot) {
    for segment in &snapshot.segments {
        let mut address = segment.address.unwrap();
        for block in &snapshot.blocks[segment.blocks.start as usize..segment.blocks.end as usize] {
            assert_eq!(block.address, address, "{name}");
            assert!(block.requested <= block.size, "{name}: {block:?}");
            address += block.size;
        }
        assert_eq!(address, segment.address.unwrap() + segment.total_size, "{name}");
    }
}

#[test]
fn cropped_file_matches_original_after_every_event() {
    let Some(files) = real_pickles() else { return };
    let (mut dice, mut checked, mut refused) = (Random(7), 0, Vec::new());
    for path in files {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let bytes = std::fs::read(&path).unwrap();
        let (_, originals) = histories(&name, &bytes);
        for history in originals.iter().filter(|history| history.event_count() > 0 && history.device >= 0) {
            for [from, to] in ranges(history.event_count(), &mut dice) {
                for prologue in [true, false] {
                    let what = format!("{name} {from}..{to} {prologue}");
                    let (crop, done) = match cropped(&bytes, history.device, [from, to], prologue) {
                        Ok(done) => done,
                        Err(CropError::Invalid(why)) => {
                            assert!(why.starts_with("after event "), "{what}: {why}");
                            refused.push(name.clone());
                            continue;
                        }
                        Err(error) => panic!("{what}: {error}"),
                    };
                    assert!(prologue || done.prologue == 0, "{what}");
                    let (snapshot, crops) = histories(&what, &crop);
                    check_segments(&what, &snapshot);
                    let crop = crops.iter().find(|crop| crop.device == history.device);
                    match crop {
                        Some(crop) => compare(&what, history, crop, from, done),
                        None => assert!(done.events == 0 && done.live_before == 0, "{what}"),
                    }
                    checked += 1;
                }
            }
        }
    }
    refused.dedup();
    assert_eq!(refused, ["anonymised-annotations-compile-context.pickle"]);
    assert!(checked > 150, "{checked} crops");
}

#[test]
fn allocations_before_range_keep_stack_and_are_marked() {
    let Some(files) = real_pickles() else { return };
    let path = files.iter().find(|path| path.ends_with("train-annotated-100.pickle")).unwrap();
    let bytes = std::fs::read(path).unwrap();
    let (crop, done) = cropped(&bytes, 0, [4000, 5000], true).unwrap();
    assert!(done.prologue > 100 && done.live_before > 0, "{done:?}");
    let mut opened = open(&crop).unwrap();
    let count = opened.summary.devices[0].allocations as u32;
    let details: Vec<_> = (0..count).filter_map(|id| opened.details(0, id)).collect();
    assert!(details.iter().all(|details| !details.is_free_stack && !details.frames.is_empty()));
    let marked = details.iter().filter(|details| details.metadata.iter().any(|(_, text)| text == PROLOGUE)).count();
    assert!(marked > 100, "{marked}");
    // The crop opens without additional warnings.
    let original = open(&bytes).unwrap().summary;
    assert_eq!(opened.summary.warnings, original.warnings);
    // The keys that mark the prologue do not affect the detected PyTorch version. Without annotations, an older one may
    // be detected.
    let minor = |torch: &Option<String>| torch.as_ref()?.strip_prefix("2.")?.split(' ').next()?.parse::<u32>().ok();
    assert!(minor(&opened.summary.torch).is_some_and(|minor_of_crop| Some(minor_of_crop) <= minor(&original.torch)));
}

#[test]
fn python_finds_same_sums_in_original_and_cropped_file() {
    let Some(files) = real_pickles() else { return };
    if Command::new("python3").arg("--version").output().is_err() {
        eprintln!("SKIPPED: no python3 to read crops with");
        return;
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/crop.py");
    let mut checked = 0;
    for name in [
        "train-annotated-100.pickle",
        "no-time-expandable.pickle",
        "train-ring-buffer-wrapped.pickle",
        "torch-2.10-annotated.pickle",
    ] {
        let path = files.iter().find(|path| path.ends_with(name)).unwrap();
        let bytes = std::fs::read(path).unwrap();
        let (_, originals) = histories(name, &bytes);
        let history = originals.iter().max_by_key(|history| history.event_count()).unwrap();
        let events = [history.event_count() / 3, history.event_count() / 2];
        for prologue in [true, false] {
            let (crop, done) = cropped(&bytes, history.device, events, prologue).unwrap();
            let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("crop-{prologue}-{name}"));
            std::fs::write(&out, crop).unwrap();
            let numbers = [history.device.to_string(), events[0].to_string(), done.prologue.to_string()];
            let output = Command::new("python3").arg(&script).arg(path).arg(&out).args(numbers).output().unwrap();
            assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
            checked += 1;
        }
    }
    assert_eq!(checked, 8);
}

#[test]
fn crop_command_writes_snapshot_of_range() {
    let Some(files) = real_pickles() else { return };
    let path = files.iter().find(|path| path.ends_with("train-annotated-100.pickle")).unwrap();
    let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cli-crop.pickle.gz");
    let run = |arguments: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_memscape"))
            .arg("crop")
            .arg(path)
            .arg("-o")
            .arg(&out)
            .args(arguments)
            .output();
        let output = output.unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    let (code, said) = run(&["--around", "peak", "--events", "50"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("101 events, ") && said.contains(" events added for their stacks"), "{said}");
    let mut opened = open(&std::fs::read(&out).unwrap()).unwrap();
    let summary = open(&std::fs::read(path).unwrap()).unwrap().summary;
    assert_eq!(
        opened.summary.devices[0].peak_requested, summary.devices[0].peak_requested,
        "the crop contains the peak"
    );
    assert!(opened.details(0, 0).is_some());
    let (code, said) = run(&["--from", "5000", "--to", "100"]);
    assert_eq!((code, said.contains("--from is after --to")), (Some(1), true), "{said}");
    let (code, _) = run(&["--from", "5", "--around", "peak"]);
    assert_eq!(code, Some(2));
}
