//! Files loaded in part: each loaded event has the same state as in the whole file.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may fail")]

use crate::opened;

use memscape::engine::Side;
use memscape::engine::crop::{Crop, CropError};
use memscape::protocol::LoadRange;
use memscape::replay::{Curve, DeviceHistory};
use memscape::units::{EventIdx, Moment};
use opened::{OpenOptions, Opened, open, open_range, real_pickles};
use serde_json::Value;
use std::collections::BTreeMap;
use std::process::Command;

/// A deterministic random number generator.
struct Random(u64);

impl Random {
    fn below(&mut self, most: u32) -> u32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % u64::from(most.max(1))) as u32
    }
}

fn loaded(bytes: &[u8], load: LoadRange) -> Opened {
    open_range(bytes, OpenOptions::default(), load).unwrap()
}

/// Returns live, awaiting-free and reserved bytes before event `from` and after each event of the range.
fn curve(history: &DeviceHistory, from: u32, to: u32) -> Vec<[i64; 3]> {
    let pending = |event| history.awaiting_free_change(event);
    let moment = Moment(from);
    let awaiting = Curve::new(&history.awaiting_free, &pending).at(moment);
    let mut now = [history.drawn_at(moment), awaiting, history.reserved_at(moment)];
    let mut all = vec![now];
    for event in (from..to).map(EventIdx) {
        now[0] += history.drawn_change(event);
        now[1] += history.awaiting_free_change(event);
        now[2] += history.reserved_change(event);
        all.push(now);
    }
    all
}

/// Returns live allocations at a moment, keyed by address and size, with the first frames of their stacks.
fn live(side: Side<'_>, moment: u32) -> BTreeMap<(u64, u64), Vec<String>> {
    let mut found: BTreeMap<_, Vec<String>> = BTreeMap::new();
    let (history, snapshot) = (side.history, side.snapshot());
    for id in history.live.live_at(&history.allocations, Moment(moment)) {
        let stack = side.stack(id);
        let frames = snapshot.stacks.frames(stack).take(3).map(|frame| format!("{frame:?}"));
        let known = format!("{:?} {}", frames.collect::<Vec<_>>(), side.is_of_free(id, stack));
        let key = (history.allocations.address(id), history.allocations.size(id));
        found.entry(key).or_default().push(known);
    }
    found.values_mut().for_each(|stacks| stacks.sort());
    found
}

/// Returns mapped ranges at a moment as address and size. Adjacent ranges are merged.
fn mapped(side: Side<'_>, moment: u32) -> Vec<(u64, u64)> {
    let lives = side.segment_lives().unwrap();
    let ids = lives.live.live_at(&lives.ranges, Moment(moment));
    let mut ranges: Vec<_> = ids.map(|id| (lives.ranges.address(id), lives.ranges.size(id))).collect();
    ranges.sort_unstable();
    let mut found: Vec<(u64, u64)> = Vec::new();
    for (address, size) in ranges {
        match found.last_mut() {
            Some(last) if last.0 + last.1 == address => last.1 += size,
            _ => found.push((address, size)),
        }
    }
    found
}

#[test]
fn loaded_range_has_totals_of_whole_file() {
    let Some(files) = real_pickles() else { return };
    let mut dice = Random(20);
    for path in files {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let bytes = std::fs::read(&path).unwrap();
        let mut whole = open(&bytes).unwrap();
        for device in whole.summary.devices.clone() {
            let events = device.events as u32;
            let all = LoadRange::ALL;
            let mut ranges = vec![
                LoadRange { max_events: dice.below(events), ..all },
                LoadRange { to: dice.below(events), max_events: 50, ..all },
                LoadRange { from: events, ..all },
            ];
            for most in [1, 200, 5000] {
                let from = dice.below(events);
                ranges.push(LoadRange { from, to: from + 1 + dice.below(most), ..all });
            }
            for range in ranges {
                let mut part = loaded(&bytes, range);
                let (Some(part), Some(whole)) =
                    (part.engine.complete_side(device.device), whole.engine.complete_side(device.device))
                else {
                    panic!("{name}: a device is missing")
                };
                let (first, end) = (part.history.events.first(), part.history.event_count());
                let place = format!("{name}, device {}, {range:?}", device.device);
                let wanted_end = range.to.min(events);
                assert_eq!(end, wanted_end.max(range.from.min(events)), "{place}");
                assert_eq!(first, range.from.min(events).max(end.saturating_sub(range.max_events)), "{place}");
                assert!(curve(part.history, first, end) == curve(whole.history, first, end), "{place}: totals");
                let base = part.history.numbers.baseline;
                assert_eq!(
                    i64::from(device.identity) * base,
                    i64::from(device.identity) * whole.history.drawn_at(Moment(first))
                );
                for moment in [first, first + dice.below(end - first + 1), end] {
                    let place = format!("{place}, moment {moment}");
                    assert_eq!(
                        part.history.live_count_at(Moment(moment)),
                        whole.history.live_count_at(Moment(moment)),
                        "{place}"
                    );
                    assert_eq!(mapped(part, moment), mapped(whole, moment), "{place}: mapped ranges");
                    assert_eq!(live(part, moment), live(whole, moment), "{place}: live allocations and their stacks");
                }
            }
        }
    }
}

#[test]
fn cropping_or_writing_columns_of_loaded_range_reports_error() {
    let Some(files) = real_pickles() else { return };
    let path = files.iter().find(|path| path.ends_with("train-annotated-100.pickle")).unwrap();
    let mut part = loaded(&std::fs::read(path).unwrap(), LoadRange { max_events: 10, ..LoadRange::ALL });
    let device = part.summary.devices[0].device;
    let crop = Crop { devices: vec![(device, [0, 5])], prologue: true, stream: None, source: String::new() };
    let error = part.engine.crop(&crop, Vec::new()).unwrap_err();
    assert!(
        matches!(error, CropError::Invalid(_)) && error.to_string().contains("only a range of the events is loaded")
    );
    assert!(part.engine.write_columns(Vec::new()).is_err());
}

#[test]
fn load_options_select_range() {
    let Some(files) = real_pickles() else { return };
    let path = files.iter().find(|path| path.ends_with("train-annotated-100.pickle")).unwrap().to_str().unwrap();
    let run = |arguments: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_memscape")).args(arguments).output().unwrap();
        let [out, error] = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        (output.status.code(), out, error)
    };
    let json = |arguments: &[&str]| -> Value { serde_json::from_str(&run(arguments).1).unwrap() };
    let whole = json(&["summary", path, "--json"]);
    let events = whole[0]["devices"][0]["events"].as_u64().unwrap();
    assert_eq!(whole[0]["devices"][0].get("loaded"), None);
    let part = json(&["summary", path, "--json", "--load-from", "100", "--load-to", "299"]);
    let device = &part[0]["devices"][0];
    assert_eq!(device["loaded"], serde_json::json!({"first_event": 100, "end_event": 300, "of_events": events}));
    let [of_part, of_whole] = [&["--load-from", "100", "--load-to", "299"][..], &[]]
        .map(|load| json(&[&["live", path, "--at", "200", "--json"], load].concat()));
    assert_eq!((of_part["event"].as_u64(), &of_part["live_bytes"]), (Some(200), &of_whole["live_bytes"]));
    let (status, text, _) = run(&["summary", path, "--load-last", "10"]);
    assert_eq!(status, Some(0));
    assert!(text.contains("loaded: events ") && text.contains("baseline (before the range)"), "{text}");
    let (status, _, error) = run(&["live", path, "--at", "5", "--load-from", "100"]);
    assert_eq!(status, Some(1));
    assert!(error.contains("event 5 is not loaded: events 100–"), "{error}");
    for arguments in [
        &["convert", path, "-o", "-", "--load-last", "5"][..],
        &["summary", path, "--load-from", "9", "--load-to", "3"],
    ] {
        let (status, _, error) = run(arguments);
        assert_eq!(status, Some(2), "{error}");
    }
}
