//! List of recent files, stored and parsed again.

use super::*;
use crate::state::effect::Origin;
use crate::state::stage::{SnapshotChoice, Stage};
use protocol::{DeviceSummary, FileSummary, SCHEMA};

fn open(name: &str, peaks: &[i64]) -> Shared {
    let choice = SnapshotChoice {
        origin: Origin::File(0),
        member: None,
        file: name.to_owned(),
        path: None,
        bytes: Some(117 << 20),
        load: None,
    };
    let device = |peak: &i64| DeviceSummary { peak_requested: *peak, ..DeviceSummary::default() };
    let file = FileSummary {
        schema: SCHEMA,
        file: name.to_owned(),
        format: "pickle 4 (Python)".to_owned(),
        torch: None,
        warnings: Vec::new(),
        devices: peaks.iter().map(device).collect(),
        settings: Vec::new(),
        pools: Vec::new(),
        recorder: Vec::new(),
    };
    Shared { snapshots: vec![choice], stage: Stage::Ready(Box::new(file)), ..Shared::default() }
}

#[test]
fn recent_files_round_trip_with_size_and_peak() {
    let mut recent = RecentFiles::default();
    recent.add(&open("a b.pickle", &[5 << 30, 6 << 30]), 1000);
    recent.add(&open("c%\n.pickle", &[]), 2000);
    recent.add(&open("a b.pickle", &[1 << 30]), 3000);
    recent.add(&Shared::default(), 4000);
    let read = RecentFiles::parse(&recent.to_text());
    assert_eq!(read, recent);
    assert_eq!(read.describe("a b.pickle"), Some(("117 MiB · peak 1.00 GiB".to_owned(), 3000)));
    assert_eq!(read.describe("c%\n.pickle"), Some(("117 MiB · peak 0 B".to_owned(), 2000)));
    assert_eq!(read.describe("d.pickle"), None);
    assert_eq!(RecentFiles::parse("x y z\n1 2\n1 2 3 a"), RecentFiles::parse("1 2 3 a"));
}
