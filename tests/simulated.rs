//! Simulated runs written as snapshots. Under the recorded settings a run equals the recording to the address and byte.
//! Under other settings it has the predicted peak. Simulating the written snapshot again reproduces it.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests may panic")]

use crate::crop::check_segments;
use crate::generate;
use crate::opened;
use crate::without::histories;

use generate::Options;
use memscape::engine::crop::{CropError, SimulatedRun, SimulatedSummary};
use memscape::engine::{Answer, Ask, Question, Reply, Request, Work};
use memscape::protocol::{WhatIf, WhatIfQuestion};
use memscape::replay::DeviceHistory;
use memscape::snapshot::{Action, BlockState, Snapshot};
use memscape::units::{EventIdx, Moment};
use opened::{open, real_pickles};

/// Allocator settings that are tried besides the recorded ones.
const SETTINGS: [&str; 5] = [
    "expandable_segments:True",
    "expandable_segments:False",
    "roundup_power2_divisions:8",
    "max_split_size_mb:128",
    "expandable_segments:True,roundup_power2_divisions:4",
];

fn run(device: i64, line: Option<&str>) -> SimulatedRun {
    let settings = line.map(str::to_owned);
    SimulatedRun { device, settings, source: "recorded.pickle".to_owned(), ..SimulatedRun::default() }
}

fn write_simulated(bytes: &[u8], run: &SimulatedRun) -> Result<(Vec<u8>, SimulatedSummary), String> {
    let mut out = Vec::new();
    match open(bytes).unwrap().engine.write_simulated(run, &mut out) {
        Ok(written) => Ok((out, written)),
        Err(CropError::Invalid(why)) => Err(why),
        Err(error) => panic!("{error}"),
    }
}

fn what_if(bytes: &[u8], device: i64, question: WhatIfQuestion) -> WhatIf {
    let mut opened = open(bytes).unwrap();
    let what = Question::WhatIf(Box::new(question));
    opened.engine.request(Request::Ask(Ask { serial: 9, device, question: what }));
    while opened.engine.step(&mut || true) == Work::More {}
    loop {
        if let Reply::Answer { serial: 9, answer: Answer::WhatIf(answer) } = opened.engine.next_reply().unwrap() {
            return *answer;
        }
    }
}

/// Alloc and free events with live and reserved bytes after each, minus the bytes that exist throughout without an
/// address.
fn event_totals(history: &DeviceHistory) -> Vec<(Action, u64, u64, i64, i64)> {
    let unexplained = history.numbers.remainder;
    let about = |action| matches!(action, Action::Alloc | Action::FreeRequested | Action::FreeCompleted);
    let events = (0..history.event_count()).map(EventIdx);
    let known = events.filter(|&at| about(history.events.action(at.0)) && history.allocation_of(at).is_some());
    let row = |at: EventIdx| {
        let ((address, size), after) = (history.address_and_size(at), Moment::after(at));
        let live = history.drawn_at(after) - unexplained;
        (history.events.action(at.0), address, size, live, history.reserved_at(after))
    };
    known.map(row).collect()
}

fn device_history(histories: Vec<DeviceHistory>, device: i64) -> DeviceHistory {
    histories.into_iter().find(|history| history.device == device).unwrap()
}

/// Compares the run under the recorded settings with the recording. Returns false if no prediction was possible.
fn compare(name: &str, bytes: &[u8], device: i64) -> bool {
    let proof = what_if(bytes, device, WhatIfQuestion::default()).proof;
    let done = write_simulated(bytes, &run(device, None));
    if let Some(why) = &proof.refused {
        assert_eq!(done.unwrap_err(), format!("no prediction: {why}"), "{name}");
        return false;
    }
    assert!(proof.is_exact, "{name}: {proof:?}");
    let (pickle, done) = done.unwrap();
    let (recorded, histories_of) = histories(name, bytes);
    let original = device_history(histories_of, device);
    let (snapshot, again) = histories(name, &pickle);
    let again = device_history(again, device);
    check_segments(name, &snapshot);
    assert_eq!(u64::from(again.event_count()), done.events, "{name}");
    let (one, other) = (event_totals(&original), event_totals(&again));
    for (at, (one, other)) in one.iter().zip(&other).enumerate() {
        assert_eq!(one, other, "{name}: {at}");
    }
    assert_eq!(one.len(), other.len(), "{name}");
    // Before the first event, and at the end.
    let start = |history: &DeviceHistory| {
        let live = history.drawn_at(Moment(0)) - history.numbers.remainder;
        (live, history.reserved_at(Moment(0)), history.live_count_at(Moment(0)))
    };
    assert_eq!(start(&again).0, start(&original).0, "{name}: live at the start");
    assert_eq!(start(&again).1, start(&original).1, "{name}: reserved at the start");
    let live = |snapshot: &Snapshot| {
        let own = snapshot.segments.iter().filter(|segment| segment.device == device);
        let ranges = own.map(|segment| segment.blocks.start as usize..segment.blocks.end as usize);
        let blocks = ranges.flat_map(|range| snapshot.blocks[range].iter().filter(|block| block.state.is_live()));
        let mut blocks: Vec<_> =
            blocks.map(|block| (block.address, block.size, block.requested, block.state)).collect();
        blocks.sort_by_key(|block| block.0);
        blocks
    };
    assert_eq!(live(&snapshot), live(&recorded), "{name}: blocks at the end");
    assert_eq!(done.peak_reserved, proof.recorded_peak_reserved, "{name}");
    true
}

#[test]
fn recorded_settings_reproduce_recording() {
    let Some(files) = real_pickles() else { return };
    let (mut same, mut refused) = (0, Vec::new());
    for path in files {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let bytes = std::fs::read(&path).unwrap();
        let Ok(opened) = open(&bytes) else { continue };
        let devices = opened.summary.devices.iter().filter(|device| device.device >= 0);
        for device in devices.filter(|device| device.actions.iter().any(|(action, _)| action == "alloc")) {
            match compare(&name, &bytes, device.device) {
                true => same += 1,
                false => refused.push(name.clone()),
            }
        }
    }
    assert!(same >= 17, "only {same} runs are equal");
    assert_eq!(refused, ["anonymised-annotations-compile-context.pickle"]);
}

/// Generated traces with features that no real file has: frees awaiting completion when recording starts, private
/// pools, annotations, an OOM.
const GENERATED: [&str; 12] = [
    "",
    " --pending",
    " --private-pools",
    " --expandable",
    " --oom",
    " --oom --expandable",
    " --ring 1500",
    " --ring 1500 --pending",
    " --ring 700 --pending --expandable",
    " --ring 900 --private-pools",
    " --metadata --snapshots --host",
    " --record-from-start --leak --no-time",
];

fn generated(words: &str) -> Vec<u8> {
    let (options, _) = Options::parse(words.split(' ').map(str::to_owned)).unwrap();
    generate::generate(&options, Vec::new()).unwrap().0
}

#[test]
fn recorded_settings_reproduce_generated_traces() {
    for words in GENERATED.map(|more| format!("--events 6000{more}")) {
        assert!(compare(&words, &generated(&words), 0), "{words}");
    }
}

#[test]
fn allocations_before_recording_are_kept() {
    for (seed, more) in (2..).zip(GENERATED) {
        let words = format!("--events 4000 --seed {seed}{more}");
        let bytes = generated(&words);
        let (_, original) = histories(&words, &bytes);
        let original = device_history(original, 0);
        for line in SETTINGS {
            let (pickle, done) = write_simulated(&bytes, &run(0, Some(line))).unwrap();
            let (snapshot, again) = histories(&words, &pickle);
            let again = device_history(again, 0);
            check_segments(&words, &snapshot);
            let (one, other) = (event_totals(&original), event_totals(&again));
            let unexplained = original.numbers.remainder;
            assert_eq!(again.drawn_at(Moment(0)), original.drawn_at(Moment(0)) - unexplained, "{words} {line}");
            assert!(done.ends_at.is_some() || one.len() == other.len(), "{words} {line}");
            // A request that failed in the recording but succeeds here is the last event.
            let known = other.len() - usize::from(done.ends_at.is_some());
            for (at, (one, other)) in one.iter().zip(&other).take(known).enumerate() {
                assert_eq!((one.0, one.2, one.3), (other.0, other.2, other.3), "{words} {line}: {at}");
            }
        }
    }
}

#[test]
fn trace_simulated_under_changed_settings_has_predicted_peak() {
    let Some(files) = real_pickles() else { return };
    let mut runs = 0;
    for path in files {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let bytes = std::fs::read(&path).unwrap();
        let Ok(opened) = open(&bytes) else { continue };
        for device in opened.summary.devices.iter().filter(|device| device.device >= 0 && device.events > 0) {
            let device = device.device;
            let lines = SETTINGS.map(str::to_owned).to_vec();
            let answer = what_if(&bytes, device, WhatIfQuestion { lines, ..WhatIfQuestion::default() });
            if answer.proof.refused.is_some() {
                continue;
            }
            let (_, original) = histories(&name, &bytes);
            let original = device_history(original, device);
            for predicted in answer.runs.iter().skip(1) {
                let what = format!("{name} {}", predicted.settings);
                let (pickle, done) = write_simulated(&bytes, &run(device, Some(&predicted.settings))).unwrap();
                assert_eq!(
                    (&done.settings, done.peak_reserved),
                    (&predicted.settings, predicted.peak_reserved),
                    "{what}"
                );
                let (snapshot, again) = histories(&what, &pickle);
                let Some(again) = again.into_iter().find(|history| history.device == device) else {
                    assert_eq!(done.peak_reserved, 0, "{what}");
                    continue;
                };
                check_segments(&what, &snapshot);
                assert_eq!(again.numbers.peak_reserved, i64::try_from(done.peak_reserved).unwrap(), "{what}");
                if done.ends_at.is_none() {
                    let live = |history: &DeviceHistory| {
                        event_totals(history).into_iter().map(|row| row.3).collect::<Vec<_>>()
                    };
                    assert!(live(&original) == live(&again), "{what}: live bytes");
                }
                let opened = open(&pickle).unwrap();
                let warning = opened.summary.warnings.iter().find(|warning| warning.kind == "simulated").unwrap();
                assert!(warning.message.ends_with(&predicted.settings) && warning.example == "recorded.pickle");
                let proof = what_if(&pickle, device, WhatIfQuestion::default()).proof;
                assert!(proof.is_exact && proof.refused.is_none(), "{what}: {proof:?}");
                runs += 1;
            }
        }
    }
    assert!(runs > 60, "{runs} runs");
}

/// A block whose free was requested before the first event.
#[test]
fn blocks_awaiting_free_at_start_are_kept() {
    let Some(files) = real_pickles() else { return };
    for path in files {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let bytes = std::fs::read(&path).unwrap();
        let Ok((pickle, _)) = write_simulated(&bytes, &run(0, Some("expandable_segments:True"))) else { continue };
        let pending = |bytes: &[u8]| {
            let (snapshot, _) = histories(&name, bytes);
            snapshot.blocks.iter().filter(|block| block.state == BlockState::AwaitingFree).count()
        };
        assert_eq!(pending(&pickle), pending(&bytes), "{name}");
    }
}
