//! Tests of `src/history/replay/dropping.rs`, a module of its: traces are dropped a few events at a time here.

use crate::json::{Limits, Parser};
use crate::replay::{Builder, DeviceHistory, KeepRange, Recorder};
use crate::snapshot::{Action, Reader, Snapshot};
use base::slice::TimeSlice;
use base::units::{EventIdx, Moment};
use proptest::prelude::*;

/// Number of addresses in the model.
const PLACES: usize = 6;

/// State of an address in the model.
#[derive(Clone, Copy, Default, PartialEq)]
enum Place {
    #[default]
    Free,
    Live(u64),
    Pending(u64),
}

/// Kinds of events missing from a trace.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Skips {
    Nothing,
    /// Some `free_requested` events.
    Requests,
    Completions,
}

/// Returns a snapshot as JSON. `before` is the initial state of each address, `turns` are the operations.
fn file(before: &[(u8, u64)], turns: &[(usize, u64, bool)], skips: Skips) -> String {
    let mut places = [Place::Free; PLACES];
    let mut reserved = [false; 3];
    for (place, &(kind, size)) in places.iter_mut().zip(before) {
        *place = match kind {
            0 => Place::Free,
            1 if skips == Skips::Nothing => Place::Pending(size),
            _ => Place::Live(size),
        };
    }
    reserved[0] = true;
    let mut events = Vec::new();
    let mut event = |action: &str, address: usize, size: u64| {
        let time = 1000 + events.len() * 10;
        events.push(format!(r#"{{"action":"{action}","addr":{address},"size":{size},"stream":0,"time_us":{time},"frames":[{{"filename":"f","line":{address},"name":"g"}}]}}"#));
    };
    for &(at, size, extra) in turns {
        let Some(place) = places.get_mut(at) else {
            let segment = at % 3;
            event(if reserved[segment] { "segment_free" } else { "segment_alloc" }, 1000 + segment * 1000, 512);
            reserved[segment] = !reserved[segment];
            continue;
        };
        *place = match (*place, skips) {
            (Place::Free, _) => {
                event("alloc", at, size);
                Place::Live(size)
            }
            (Place::Live(size), Skips::Completions) => {
                event("free_requested", at, size);
                Place::Free
            }
            (Place::Live(size), Skips::Requests) if extra => {
                event("free_completed", at, size);
                Place::Free
            }
            (Place::Live(size), _) => {
                event("free_requested", at, size);
                Place::Pending(size)
            }
            (Place::Pending(size), _) => {
                event("free_completed", at, size);
                Place::Free
            }
        };
    }
    let block = |(at, place): (usize, &Place)| match *place {
        Place::Free => None,
        Place::Live(size) => Some((at, size, "active_allocated")),
        Place::Pending(size) => Some((at, size, "active_pending_free")),
    };
    let blocks = places.iter().enumerate().filter_map(block).map(|(at, size, state)| {
        format!(
            r#"{{"device":0,"address":{at},"total_size":{size},"stream":0,"segment_type":"large","blocks":[{{"address":{at},"size":{size},"requested_size":{size},"state":"{state}","frames":[]}}]}}"#
        )
    });
    let segments = (0..3).filter(|&segment| reserved[segment]).map(|segment| {
        let address = 1000 + segment * 1000;
        format!(r#"{{"device":0,"address":{address},"total_size":512,"stream":0,"segment_type":"large","blocks":[]}}"#)
    });
    let segments = blocks.chain(segments).collect::<Vec<_>>().join(",");
    format!(r#"{{"segments":[{segments}],"device_traces":[[{}]]}}"#, events.join(","))
}

fn opened(text: &str, keep: KeepRange) -> (Snapshot, DeviceHistory) {
    let mut machine = Parser::new(Reader::new(Recorder::with_range(keep)), Limits::default());
    assert!(machine.feed(text.as_bytes()).is_ok());
    let Ok((reader, root)) = machine.finish() else { panic!("incomplete JSON") };
    let Ok((snapshot, recorder)) = reader.finish(root, 0) else { panic!("invalid snapshot") };
    let mut builder = Builder::new(&snapshot, recorder);
    while builder.step(&snapshot, &mut TimeSlice::new(&mut || true)).is_err() {}
    let history = builder.finish().0.into_iter().next().expect("a device");
    (snapshot, history)
}

/// Returns address, bytes and whether the origin is known of each allocation that is live at a moment.
fn live(snapshot: &Snapshot, history: &DeviceHistory, moment: Moment) -> Vec<(u64, u64, bool)> {
    let mut live = history.live.clone();
    while live.step(&history.allocations, history.event_count() + 1, &mut TimeSlice::new(&mut || true)).is_err() {}
    let known = |id| {
        let origin = history
            .origin(id)
            .is_some_and(|origin| !origin.is_of_free && snapshot.stacks.len() > origin.stack.0 as usize);
        origin || history.allocations.allocated_at(id) > Moment::START
    };
    let ids = live.live_at(&history.allocations, moment);
    let mut found: Vec<_> =
        ids.map(|id| (history.allocations.address(id), history.allocations.size(id), known(id))).collect();
    found.sort_unstable();
    found
}

fn awaiting_free_at(history: &DeviceHistory, moment: Moment) -> i64 {
    crate::replay::Curve::new(&history.awaiting_free, &|event| history.awaiting_free_change(event)).at(moment)
}

proptest! {
    /// Every value at a moment in a loaded range equals the value in the whole file.
    #[test]
    fn loaded_range_matches_whole_file(
        before in prop::collection::vec((0u8..4, 1..9u64), PLACES),
        turns in prop::collection::vec((0..PLACES + 3, 1..9u64, any::<bool>()), 1..60),
        skips in prop::sample::select(vec![Skips::Nothing, Skips::Requests, Skips::Completions]),
        (from, to, last) in (0..70u32, 0..70u32, prop::option::of(1..40u32)),
    ) {
        let text = file(&before, &turns, skips);
        let (of_whole, whole) = opened(&text, KeepRange::ALL);
        let keep = KeepRange { from, to: if to > 60 { u32::MAX } else { to }, last: last.unwrap_or(u32::MAX) };
        let (of_range, range) = opened(&text, keep);
        let count = whole.event_count();
        let end = keep.to.max(from).min(count);
        let first = from.min(count).max(end.saturating_sub(keep.last));
        prop_assert_eq!((range.events.first(), range.event_count()), (first, end), "{:?}", keep);
        let behind = range.loaded().map_or(0, |loaded| loaded.later_events);
        prop_assert_eq!(behind, u64::from(count - end));
        for moment in (first..=end).map(Moment) {
            let place = format!("{skips:?} {keep:?}, moment {} of {text}", moment.0);
            prop_assert_eq!(range.drawn_at(moment), whole.drawn_at(moment), "live bytes: {}", place);
            prop_assert_eq!(range.reserved_at(moment), whole.reserved_at(moment), "reserved bytes: {}", place);
            prop_assert_eq!(awaiting_free_at(&range, moment), awaiting_free_at(&whole, moment), "awaiting free: {}", place);
            prop_assert_eq!(range.live_count_at(moment), whole.live_count_at(moment), "allocations: {}", place);
            prop_assert_eq!(live(&of_range, &range, moment), live(&of_whole, &whole, moment), "live allocations: {}", place);
        }
        for event in first..end {
            prop_assert_eq!(range.events.action(event), whole.events.action(event));
            prop_assert_eq!(range.events.times.at(event), whole.events.times.at(event));
            let event = EventIdx(event);
            prop_assert_eq!(range.address_and_size(event), whole.address_and_size(event));
        }
        let numbers = &range.numbers;
        prop_assert_eq!(numbers.baseline, whole.drawn_at(Moment(first)), "baseline: {:?} {:?} {}", skips, keep, text);
        prop_assert_eq!(numbers.remainder, 0);
        prop_assert_eq!(numbers.reserved_start, whole.reserved_at(Moment(first)));
        prop_assert_eq!(i64::try_from(numbers.end), Ok(whole.drawn_at(Moment(end))));
        let most = (first..=end).map(|moment| whole.drawn_at(Moment(moment))).max();
        prop_assert_eq!(Some(numbers.peak), most);
        let count = |action: Action| (first..end).filter(|&event| whole.events.action(event) == action).count() as u64;
        prop_assert_eq!(range.action_counts[Action::Alloc as usize], count(Action::Alloc));
        prop_assert_eq!(range.action_counts[Action::SegmentFree as usize], count(Action::SegmentFree));
    }
}
