//! Reserved ranges over time: random histories compared with a model of every page, and malformed files.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests may panic")]

use cpu_time::ThreadTime;
use memscape::pickle::{Limits, Unpickler};
use memscape::replay::{AllocationId, Builder, Curve, DeviceHistory, Recorder, SegmentLifetimes};
use memscape::slice::TimeSlice;
use memscape::snapshot::{Reader, Snapshot};
use memscape::units::Moment;
use proptest::prelude::*;
use serde_json::{Value, json};

/// Bytes of a page of the model.
const PAGE: u64 = 2 << 20;
/// Pages of each half of the model. The first half is expandable, the second has segments of fixed size.
const PAGES: usize = 26;

fn event(action: &str, addr: u64, size: u64) -> Value {
    json!({"action": action, "addr": addr, "size": size, "stream": 7})
}

fn segment(address: u64, size: u64, expandable: bool) -> Value {
    json!({"device": 0, "address": address, "total_size": size, "stream": 7, "segment_type": "large",
           "is_expandable": expandable, "blocks": [{"address": address, "size": size, "requested_size": 0, "state": "inactive"}]})
}

fn decoded(segments: &[Value], trace: &[Value]) -> Option<(Snapshot, DeviceHistory)> {
    let value = json!({"segments": segments, "device_traces": [trace]});
    let bytes = serde_pickle::to_vec(&value, serde_pickle::SerOptions::new()).unwrap();
    let mut machine = Unpickler::new(Reader::new(Recorder::default()), Limits::default());
    machine.feed(&bytes).unwrap();
    let (reader, root) = machine.finish().unwrap();
    let (snapshot, recorder) = reader.finish(root, 0).unwrap();
    let mut builder = Builder::new(&snapshot, recorder);
    builder.step(&snapshot, &mut TimeSlice::new(&mut || true)).unwrap();
    let history = builder.finish().0.pop()?;
    Some((snapshot, history))
}

/// Bytes mapped after an event.
fn mapped_at(lives: &SegmentLifetimes, history: &DeviceHistory, moment: Moment) -> i64 {
    Curve::new(&lives.mapped, &|event| lives.change(history, event)).at(moment)
}

/// Computes the segment history in slices that are exhausted at every check.
fn lives(snapshot: &Snapshot, history: &DeviceHistory) -> SegmentLifetimes {
    let mut lives = SegmentLifetimes::default();
    while lives.step(snapshot, history, &mut TimeSlice::new(&mut || false)).is_err() {}
    lives
}

/// Mapped ranges after an event, sorted by address.
fn ranges(lives: &SegmentLifetimes, moment: u32) -> Vec<AllocationId> {
    let mut ids: Vec<AllocationId> = lives.live.live_at(&lives.ranges, Moment(moment)).collect();
    ids.sort_by_key(|&id| lives.ranges.address(id));
    ids
}

/// First address and bytes of each segment after an event.
fn segments(lives: &SegmentLifetimes, moment: u32) -> Vec<(u64, u64)> {
    let mut found: Vec<(u64, u64)> = Vec::new();
    let mut before = None;
    for id in ranges(lives, moment) {
        let (address, size) = (lives.ranges.address(id), lives.ranges.size(id));
        match found.last_mut() {
            Some(last) if before.is_some_and(|before| lives.is_same_segment(before, id)) => last.1 += size,
            _ => found.push((address, size)),
        }
        before = Some(id);
    }
    found
}

/// Segment number of every page in both halves: `None` if unmapped, 0 if expandable.
#[derive(Clone, Default)]
struct Model {
    pages: [Vec<Option<u32>>; 2],
    next: u32,
}

fn address(half: usize, page: usize) -> u64 {
    (1 << 40) + ((half as u64) << 36) + page as u64 * PAGE
}

impl Model {
    /// Applies an action and returns its event, or `None` if the pages do not allow it.
    fn apply(&mut self, (what, at, len): (usize, usize, usize)) -> Option<Value> {
        let [action, half] =
            [["segment_map", "segment_unmap", "segment_alloc", "segment_free"][what].into(), Value::from(what / 2)];
        let (action, half) = (action.as_str().unwrap(), half.as_u64().unwrap() as usize);
        let pages = &mut self.pages[half];
        pages.resize(PAGES, None);
        let end = match what {
            3 => at + pages[at..].iter().take_while(|&&page| page.is_some() && page == pages[at]).count(),
            _ => (at + len).min(PAGES),
        };
        let grows = what % 2 == 0;
        let is_begin = what != 3 || at == 0 || pages[at - 1] != pages[at];
        let fits = end > at && is_begin && pages[at..end].iter().all(|page| page.is_none() == grows);
        if !fits {
            return None;
        }
        self.next += 1;
        pages[at..end].fill(grows.then_some(if what == 0 { 0 } else { self.next }));
        Some(event(action, address(half, at), (end - at) as u64 * PAGE))
    }

    /// First address and bytes of each segment.
    fn segments(&self) -> Vec<(u64, u64)> {
        let mut found: Vec<(u64, u64)> = Vec::new();
        for (half, pages) in self.pages.iter().enumerate() {
            let mut before = None;
            for (page, &of) in pages.iter().enumerate() {
                match found.last_mut() {
                    Some(last) if of.is_some() && before == of => last.1 += PAGE,
                    _ => found.extend(of.map(|_| (address(half, page), PAGE))),
                }
                before = of;
            }
        }
        found
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// After every event the segments equal the model's, also if the trace starts in the middle.
    #[test]
    fn segments_match_page_model(
        actions in prop::collection::vec((0usize..4, 0usize..PAGES, 1usize..13), 1..120),
        skipped in 0usize..30,
    ) {
        let mut model = Model::default();
        let (mut states, mut trace) = (vec![model.clone()], Vec::new());
        for action in actions {
            if let Some(event) = model.apply(action) {
                trace.push(event);
                states.push(model.clone());
            }
        }
        let skipped = skipped.min(trace.len());
        let at_end = model.segments();
        let at_end: Vec<Value> = at_end.iter().map(|&(at, size)| segment(at, size, at < address(1, 0))).collect();
        let Some((snapshot, history)) = decoded(&at_end, &trace[skipped..]) else { return Ok(()) };
        let lives = lives(&snapshot, &history);
        prop_assert_eq!(lives.missing_bytes, 0);
        for (moment, model) in (0..).zip(&states[skipped..]) {
            let expected = model.segments();
            prop_assert_eq!(&segments(&lives, moment), &expected, "moment {}", moment);
            let bytes: u64 = expected.iter().map(|segment| segment.1).sum();
            let reported = [mapped_at(&lives, &history, Moment(moment)), history.reserved_at(Moment(moment))];
            prop_assert_eq!(reported, [bytes as i64; 2]);
        }
    }

    /// Any file is handled without a panic or an overlapping mapping, and the mapped bytes equal the sum of the ranges.
    #[test]
    fn segments_of_any_file_do_not_overlap(
        events in prop::collection::vec((0usize..5, 0u64..9, prop_oneof![0u64..6, Just(1 << 40), Just(u64::MAX >> 3)]), 0..50),
        listed in prop::collection::vec((0u64..9, 0u64..6, any::<bool>()), 0..6),
    ) {
        let place = |at: u64| if at == 8 { u64::MAX - 700 } else { at * 512 };
        let bytes = |size: u64| if size < 6 { size * 512 } else { size };
        let actions = ["segment_map", "segment_unmap", "segment_alloc", "segment_free", "alloc"];
        let trace: Vec<Value> =
            events.iter().map(|&(action, at, size)| event(actions[action], place(at), bytes(size))).collect();
        let listed: Vec<Value> =
            listed.iter().map(|&(at, size, expandable)| segment(place(at), bytes(size), expandable)).collect();
        let Some((snapshot, history)) = decoded(&listed, &trace) else { return Ok(()) };
        let lives = lives(&snapshot, &history);
        for moment in 0..=history.event_count() {
            let ids = ranges(&lives, moment);
            let mut until = 0;
            let mut sum = 0i64;
            for &id in &ids {
                prop_assert!(lives.ranges.address(id) >= until, "mapped twice at {}", moment);
                until = lives.ranges.address(id).saturating_add(lives.ranges.size(id));
                sum = sum.saturating_add_unsigned(lives.ranges.size(id));
            }
            if sum < i64::MAX / 4 {
                prop_assert_eq!(mapped_at(&lives, &history, Moment(moment)), sum, "moment {}", moment);
            }
        }
    }
}

/// Thousands of pages unmapped one by one, then all at once, repeatedly: the work stays bounded.
#[test]
fn repeated_unmapping_is_not_quadratic() {
    let page = |at: u64| event("segment_unmap", (1 << 40) + 2 * at * PAGE, PAGE);
    let all = event("segment_free", 1 << 40, 1 << 38);
    let mut trace: Vec<Value> = std::iter::repeat_n(all, 20_000).collect();
    trace.extend((0..20_000).map(page));
    let (snapshot, history) = decoded(&[], &trace).unwrap();
    let started = ThreadTime::now();
    let mut lives = SegmentLifetimes::default();
    lives.step(&snapshot, &history, &mut TimeSlice::new(&mut || true)).unwrap();
    assert!(lives.ranges.len() >= 20_000);
    // Quadratic work would be 4 × 10^8 ranges, about a minute. The limit is 5 × 10^6.
    assert!(started.elapsed().as_secs() < 10, "{:?}", started.elapsed());
}
