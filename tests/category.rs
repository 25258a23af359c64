//! Categories: sets of rules, and what they tell of real files.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may fail")]

#[path = "support/opened.rs"]
#[allow(dead_code, reason = "each test file uses its part")]
mod opened;

use memscape::engine::protocol::{CategorySet, Grouping, LegendEntry};
use memscape::engine::{Reply, Request};
use opened::{Opened, open, real_pickles, reply};

/// The files of the corpus that hold a training step.
const TRAINING: &[&str] = &[
    "adam-35-events.pickle",
    "deep-stacks-no-time.pickle",
    "no-time-expandable.pickle",
    "no-time-segments-freed.pickle",
    "tiny-97-events.pickle",
    "torch-2.10-annotated.pickle",
    "torch-2.10-small.pickle",
    "train-annotated-100.pickle",
    "train-annotated-mixed-precision.pickle",
    "train-fp32-1185-segments.pickle",
    "train-ring-buffer-wrapped.pickle",
];

fn legend(opened: &mut Opened, device: i64, at: Option<u32>) -> Vec<LegendEntry> {
    match reply(&mut opened.engine, Request::Legend { serial: 1, device, colouring: Grouping::Category, at }) {
        Reply::Legend { entries, .. } => entries,
        other => panic!("a legend was asked for, not {other:?}"),
    }
}

#[test]
fn nine_tenths_of_the_peak_of_each_training_file_are_known() {
    let Some(files) = real_pickles() else { return };
    let mut trained = 0;
    for path in files {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let mut opened = open(&std::fs::read(&path).unwrap()).unwrap_or_else(|error| panic!("{name}: {error}"));
        let devices: Vec<(i64, u64)> =
            opened.summary.devices.iter().map(|device| (device.device, device.peak_requested as u64)).collect();
        for (device, peak) in devices {
            let entries = legend(&mut opened, device, None);
            let parts: Vec<(&str, u64)> =
                entries.iter().map(|entry| (entry.label.as_str(), entry.peak_requested)).collect();
            let unknown = parts.iter().find(|(label, _)| *label == "unknown").unwrap().1;
            println!("{name}: {:.1} % unknown", 100.0 * unknown as f64 / peak.max(1) as f64);
            for (label, bytes) in parts.iter().filter(|(_, bytes)| *bytes > 0) {
                println!("    {:5.1} % {label}", 100.0 * *bytes as f64 / peak.max(1) as f64);
            }
            if TRAINING.contains(&name.as_str()) {
                trained += 1;
                assert!(unknown <= peak / 10, "{name}: {unknown} of {peak} bytes are unknown");
            }
        }
    }
    assert_eq!(trained, TRAINING.len(), "each training file is there and has one device");
}

#[test]
fn sets_that_come_with_the_program_are_read_and_written_as_they_are() {
    for name in ["default", "mosaic"] {
        let set = CategorySet::named(name).unwrap();
        assert!(set.name == name && set.rules.len() > 10, "{name} can't be read");
        assert_eq!(CategorySet::parse(&set.to_json()), Ok(set));
    }
}
