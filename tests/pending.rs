//! What is pending at the end of a trace is what the snapshot's blocks say: `active_pending_free`.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "how a test fails")]

use crate::generate;
use crate::opened;

use memscape::pickle::{Limits, Machine};
use memscape::replay::{Builder, Curve, DeviceHistory, Recorder};
use memscape::slice::Slice;
use memscape::snapshot::{Action, BlockState, Reader};
use memscape::units::{EventIdx, Moment};

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
        (0..history.event_count()).for_each(|event| check_turn(name, history, EventIdx(event)));
    }
    (bytes, states)
}

/// What an event does to its allocation is what the columns of that say.
fn check_turn(name: &str, history: &DeviceHistory, event: EventIdx) {
    let turn = history.turn(event);
    assert_eq!(turn.map(|turn| turn.id), history.allocation_of(event), "{name}, {event:?}");
    assert_eq!(turn.and_then(|turn| Some((turn.id, turn.is_born?))), history.change(event), "{name}, {event:?}");
    let Some(turn) = turn else { return };
    let (allocations, moment) = (&history.allocations, Moment::after(event));
    assert_eq!((turn.moment, turn.size), (moment.0, allocations.size(turn.id)), "{name}, {event:?}");
    // What awaited its free before the trace is not allocated in it.
    let freed = [allocations.free_requested(turn.id), allocations.died(turn.id)].into_iter().flatten().min();
    let is_allocated = allocations.pending_from(turn.id) > 0;
    assert_eq!(turn.ends, is_allocated && freed == Some(moment), "{name}, {event:?}");
    let [born, dies] = [true, false].map(|is_born| turn.is_born == Some(is_born));
    assert_eq!(
        [born, dies],
        [allocations.born(turn.id), allocations.died(turn.id).unwrap_or(Moment::START)].map(|it| it == moment)
    );
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
