//! What is pending at the end of a trace is what the snapshot's blocks say: `active_pending_free`.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "how a test fails")]

use crate::generate;
use crate::opened;

use memscape::pickle::{Limits, Machine};
use memscape::replay::{Builder, Curve, Recorder};
use memscape::slice::Slice;
use memscape::snapshot::{Action, BlockState, Reader};
use memscape::units::Moment;

/// Compares every device; how many bytes are pending at the ends of all of them, and how many pending states there are.
fn check(name: &str, pickle: &[u8]) -> (u64, usize) {
    let mut machine = Machine::new(Reader::new(Recorder::default()), Limits::default());
    assert!(machine.feed(pickle).is_ok(), "{name}");
    let Ok((reader, root)) = machine.finish() else { panic!("{name}: no whole pickle") };
    let (snapshot, recorder) = reader.finish(root).expect("a whole snapshot");
    let mut builder = Builder::new(&snapshot, recorder);
    builder.step(&snapshot, &mut Slice::new(&mut || true)).unwrap();
    let (histories, _) = builder.finish();
    let (mut bytes, mut states) = (0, 0);
    for history in &histories {
        let of_device = snapshot.segments.iter().filter(|segment| segment.device == history.device);
        let blocks =
            of_device.flat_map(|segment| segment.blocks.clone()).filter_map(|row| snapshot.blocks.get(row as usize));
        let expected: u64 =
            blocks.filter(|block| block.state == BlockState::Pending).map(|block| block.requested).sum();
        let change = |event| history.pending_change(event);
        let curve = Curve::new(&history.pending, &change);
        let ends_by_request = history.action_counts[Action::FreeCompleted as usize] == 0;
        if !ends_by_request {
            assert_eq!(history.pending.last(), expected as i64, "{name}, device {}", history.device);
        }
        assert_eq!(curve.at(Moment(history.event_count())), history.pending.last(), "{name}: by steps and by events");
        let of_states = (0..=history.event_count()).step_by(101).map(|moment| curve.at(Moment(moment)));
        for (moment, pending) in of_states.enumerate() {
            assert!(pending >= 0, "{name}, device {}: {pending} B pending at {}", history.device, moment * 101);
            states += usize::from(pending > 0);
        }
        bytes += expected;
    }
    (bytes, states)
}

#[test]
fn generated_files_end_with_what_their_blocks_say() {
    let mut seen = (0, 0);
    for words in [
        "--events 9000 --pending",
        "--events 20003 --pending --ring 5000",
        "--events 7777 --pending --ring 401 --devices 2",
    ] {
        let (options, _) = generate::Options::parse(words.split(' ').map(str::to_owned)).expect("known options");
        let (bytes, _) = generate::generate(&options, Vec::new()).expect("memory is patient");
        let (pending, states) = check(words, &bytes);
        seen = (seen.0 + pending, seen.1 + states);
    }
    assert!(seen.0 > 0 && seen.1 > 10, "nothing was ever pending: {seen:?}");
}

#[test]
fn real_files_end_with_what_their_blocks_say() {
    let Some(files) = opened::real_pickles() else { return };
    for path in files {
        check(&path.display().to_string(), &std::fs::read(&path).unwrap());
    }
}
