//! Bytes awaiting free at the end of a trace compared with the snapshot's `active_pending_free` blocks.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

use crate::generate;
use crate::opened;

use memscape::pickle::{Limits, Unpickler};
use memscape::replay::{Builder, Curve, DeviceHistory, Recorder};
use memscape::slice::TimeSlice;
use memscape::snapshot::{Action, BlockState, Reader};
use memscape::units::{EventIdx, Moment};

/// Checks every device. Returns the bytes awaiting free at the end, summed over devices, and the number of sampled
/// events with bytes awaiting free.
fn check(name: &str, pickle: &[u8]) -> (u64, usize) {
    let mut machine = Unpickler::new(Reader::new(Recorder::default()), Limits::default());
    assert!(machine.feed(pickle).is_ok(), "{name}");
    let Ok((reader, root)) = machine.finish() else { panic!("{name}: incomplete pickle") };
    let (snapshot, recorder) = reader.finish(root, 0).expect("a complete snapshot");
    let mut builder = Builder::new(&snapshot, recorder);
    builder.step(&snapshot, &mut TimeSlice::new(&mut || true)).unwrap();
    let (histories, _) = builder.finish();
    let (mut bytes, mut states) = (0, 0);
    for history in &histories {
        let of_device = snapshot.segments.iter().filter(|segment| segment.device == history.device);
        let blocks =
            of_device.flat_map(|segment| segment.blocks.clone()).filter_map(|row| snapshot.blocks.get(row as usize));
        let expected: u64 =
            blocks.filter(|block| block.state == BlockState::AwaitingFree).map(|block| block.requested).sum();
        let change = |event| history.awaiting_free_change(event);
        let curve = Curve::new(&history.awaiting_free, &change);
        let ends_by_request = history.action_counts[Action::FreeCompleted as usize] == 0;
        if !ends_by_request {
            assert_eq!(history.awaiting_free.last(), expected as i64, "{name}, device {}", history.device);
        }
        assert_eq!(
            curve.at(Moment(history.event_count())),
            history.awaiting_free.last(),
            "{name}: curve and running total differ"
        );
        let of_states = (0..=history.event_count()).step_by(101).map(|moment| curve.at(Moment(moment)));
        for (moment, pending) in of_states.enumerate() {
            assert!(pending >= 0, "{name}, device {}: {pending} B awaiting free at {}", history.device, moment * 101);
            states += usize::from(pending > 0);
        }
        bytes += expected;
        (0..history.event_count()).for_each(|event| check_turn(name, history, EventIdx(event)));
    }
    (bytes, states)
}

/// Compares the effect of an event on its allocation with the allocation's columns.
fn check_turn(name: &str, history: &DeviceHistory, event: EventIdx) {
    let turn = history.allocation_change(event);
    assert_eq!(turn.map(|turn| turn.id), history.allocation_of(event), "{name}, {event:?}");
    assert_eq!(
        turn.and_then(|turn| Some((turn.id, turn.starts_lifetime?))),
        history.lifetime_change(event),
        "{name}, {event:?}"
    );
    let Some(turn) = turn else { return };
    let (allocations, moment) = (&history.allocations, Moment::after(event));
    assert_eq!((turn.moment, turn.size), (moment.0, allocations.size(turn.id)), "{name}, {event:?}");
    // Allocations that awaited their free before the trace are not allocated in it.
    let freed = [allocations.free_requested(turn.id), allocations.freed_at(turn.id)].into_iter().flatten().min();
    let is_allocated = allocations.awaiting_free_from(turn.id) > 0;
    assert_eq!(turn.is_program_free, is_allocated && freed == Some(moment), "{name}, {event:?}");
    let [allocated_at, freed] = [true, false].map(|starts_lifetime| turn.starts_lifetime == Some(starts_lifetime));
    assert_eq!(
        [allocated_at, freed],
        [allocations.allocated_at(turn.id), allocations.freed_at(turn.id).unwrap_or(Moment::START)]
            .map(|it| it == moment)
    );
}

#[test]
fn bytes_awaiting_free_match_blocks_of_generated_files() {
    let mut seen = (0, 0);
    for words in [
        "--events 9000 --pending",
        "--events 20003 --pending --ring 5000",
        "--events 7777 --pending --ring 401 --devices 2",
    ] {
        let (options, _) = generate::Options::parse(words.split(' ').map(str::to_owned)).expect("known options");
        let (bytes, _) = generate::generate(&options, Vec::new()).expect("writing to memory succeeds");
        let (pending, states) = check(words, &bytes);
        seen = (seen.0 + pending, seen.1 + states);
    }
    assert!(seen.0 > 0 && seen.1 > 10, "no block awaited its free: {seen:?}");
}

#[test]
fn bytes_awaiting_free_match_blocks_of_real_files() {
    let Some(files) = opened::real_pickles() else { return };
    for path in files {
        check(&path.display().to_string(), &std::fs::read(&path).unwrap());
    }
}
