//! The generated warm-up snapshot that a worker opens before the first file.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

use crate::opened;

use memscape::engine::rehearsal::SyntheticSnapshot;
use memscape::engine::{Answer, Ask, Question, Reply, Request};
use memscape::protocol::{ReportQuestion, Topic};
use opened::open;

#[test]
fn warm_up_snapshot_opens_without_warning() {
    let bytes: Vec<u8> = SyntheticSnapshot::new(16).flatten().collect();
    let mut opened = open(&bytes).unwrap();
    assert_eq!(opened.summary.warnings, []);
    assert_eq!(opened.summary.format, "pickle 4 (Python)");
    let [device] = opened.summary.devices.as_slice() else { panic!("{:?}", opened.summary.devices) };
    let device = device.clone();
    // Six allocations that stay, and eighteen per step that are freed by two events each.
    assert_eq!((device.events, device.allocations), (6 + 16 * 18 * 3, 6 + 16 * 18));
    assert!(device.identity, "every byte live at the end has an event");
    assert_eq!(device.end_requested, (1..=6).map(|place| place * 163_840 - 96).sum::<u64>());
    for topic in Topic::ALL {
        let question =
            ReportQuestion { topic, at: None, thresholds: Vec::new(), rows: 10, ..ReportQuestion::default() };
        let ask = Ask { serial: 1, device: device.device, question: Question::Report(question) };
        let Reply::Answer { answer: Answer::Report(report), .. } = opened.reply(Request::Ask(ask)) else {
            panic!("no report of {topic:?}")
        };
        assert_eq!(report.topic, topic);
    }
}

#[test]
fn warm_up_snapshot_is_split_every_8_steps() {
    for steps in [1, 7, 8, 9, 400] {
        let pieces: Vec<Vec<u8>> = SyntheticSnapshot::new(steps).collect();
        assert_eq!(pieces.len() as u32, steps.div_ceil(8));
        let opened = open(&pieces.concat()).unwrap();
        assert_eq!(opened.summary.devices[0].events, u64::from(6 + steps.div_ceil(8) * 8 * 18 * 3));
    }
    assert_eq!(SyntheticSnapshot::new(0).count(), 0);
}
