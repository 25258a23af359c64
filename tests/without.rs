//! The peak without a group, compared with brute force: the group is left out and the curve summed again.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests may panic")]

use crate::opened;

use memscape::analysis::{Changes, GroupEffect, PeakWithout};
use memscape::heap::HeapBytes;
use memscape::pickle::{Limits, Unpickler};
use memscape::replay::{AllocationId, Builder, Curve, DeviceHistory, Recorder};
use memscape::slice::TimeSlice;
use memscape::snapshot::{Reader, Snapshot};
use proptest::prelude::*;

/// Decodes a pickle and returns the history of each device.
pub(crate) fn histories(name: &str, pickle: &[u8]) -> (Snapshot, Vec<DeviceHistory>) {
    let mut machine = Unpickler::new(Reader::new(Recorder::default()), Limits::default());
    assert!(machine.feed(pickle).is_ok(), "{name}");
    let Ok((reader, root)) = machine.finish() else { panic!("{name}: incomplete pickle") };
    let (snapshot, recorder) = reader.finish(root, 0).expect("a complete snapshot");
    let mut builder = Builder::new(&snapshot, recorder);
    builder.step(&snapshot, &mut TimeSlice::new(&mut || true)).unwrap();
    let (histories, _) = builder.finish();
    (snapshot, histories)
}

/// Live bytes after each event, of the allocations that `counts` accepts.
pub(crate) fn curve(history: &DeviceHistory, counts: impl Fn(AllocationId) -> bool) -> Vec<i64> {
    let mut grows = vec![0i64; history.event_count() as usize + 1];
    for (id, (allocated_at, freed_at, size)) in (0..).map(AllocationId).zip(history.allocations.spans()) {
        if counts(id) && freed_at > allocated_at {
            grows[allocated_at as usize] += size as i64;
            if let Some(end) = grows.get_mut(freed_at as usize) {
                *end -= size as i64;
            }
        }
    }
    let live = grows.iter().scan(0, |live, grows| {
        *live += grows;
        Some(*live)
    });
    live.collect()
}

/// First event with the maximum, and the maximum.
pub(crate) fn highest(curve: &[i64]) -> (u32, i64) {
    let most = *curve.iter().max().unwrap();
    (curve.iter().position(|&live| live == most).unwrap() as u32, most)
}

/// The peak without each group, computed with a time slice that is exhausted at every check.
fn peaks_without(history: &DeviceHistory, groups: usize, of: impl Fn(AllocationId) -> u32) -> Vec<GroupEffect> {
    let drawn = |event| history.drawn_change(event);
    let peak = Curve::new(&history.drawn, &drawn).max_in(0..u32::MAX).map_or(0, |(moment, _)| moment.0);
    let mut without = PeakWithout::new(groups, peak);
    let mut changes = Changes::default();
    loop {
        let done = changes.step(history, &mut TimeSlice::new(&mut || false), |change| {
            without.change(of(change.id), change.moment, change.bytes);
            without.add(change.moment, change.bytes);
        });
        if done.is_ok() {
            break;
        }
    }
    without.finish()
}

fn hash(seed: u64, id: u32) -> u64 {
    (seed ^ u64::from(id)).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29).wrapping_mul(0xbf58_476d_1ce4_e5b9)
}

fn check(name: &str, history: &DeviceHistory, groups: usize, of: impl Fn(AllocationId) -> u32) {
    let reported = peaks_without(history, groups, &of);
    let whole = curve(history, |_| true);
    let (at, peak) = highest(&whole);
    assert_eq!(peak, history.numbers.drawn_peak as i64, "{name}: the baseline is included");
    for (group, reported) in (0u32..).zip(&reported) {
        let rest = curve(history, |id| of(id) != group);
        let (moment, peak) = highest(&rest);
        let at_peak = whole[at as usize] - rest[at as usize];
        let expected = GroupEffect { at_peak: at_peak as u64, peak: peak as u64, moment };
        assert_eq!(*reported, expected, "{name}, device {}, group {group} of {groups}", history.device);
    }
}

#[test]
fn peaks_excluding_random_groups_match_brute_force_on_real_files() {
    let Some(files) = opened::real_pickles() else { return };
    for path in files {
        let name = path.display().to_string();
        let (_, histories) = histories(&name, &std::fs::read(&path).unwrap());
        for history in &histories {
            for (seed, groups) in [(1, 1), (2, 3), (3, 16), (4, 40)] {
                // Groups of very different sizes, some of them empty.
                check(&name, history, groups, |id| {
                    let hash = hash(seed, id.0);
                    (hash % (groups as u64 + 1)).min(hash >> 40 & 63) as u32
                });
            }
            // Adjacent allocations share a group, as in call sites and steps.
            check(&name, history, 12, |id| id.0 / 97 % 12);
        }
    }
}

/// A snapshot from steps: an allocation, the free of an earlier one, or nothing.
fn snapshot(steps: &[(bool, u16, u8)], early: &[u16]) -> Vec<u8> {
    use serde_json::json;
    let mut live: Vec<(u64, u64)> = Vec::new();
    let mut events = Vec::new();
    let blocks: Vec<_> = early
        .iter()
        .zip(1u64..)
        .map(|(&size, place)| json!({"address": place << 40, "size": size, "requested_size": size, "state": "active_allocated", "frames": []}))
        .collect();
    for (place, &(frees, size, which)) in (1u64..).zip(steps) {
        if frees && !live.is_empty() {
            let (addr, size) = live.swap_remove(usize::from(which) % live.len());
            for action in ["free_requested", "free_completed"] {
                events.push(json!({"action": action, "addr": addr, "size": size, "stream": 0, "frames": []}));
            }
        } else {
            // Few sizes, so that totals repeat.
            let (addr, size) = (place << 20, u64::from(size % 5) * 512);
            events.push(json!({"action": "alloc", "addr": addr, "size": size, "stream": 0, "frames": []}));
            live.push((addr, size));
        }
    }
    let ends = live.iter().map(|&(addr, size)| json!({"address": addr, "size": size, "requested_size": size, "state": "active_allocated", "frames": []}));
    let blocks: Vec<_> = blocks.into_iter().chain(ends).collect();
    let segment = json!({"device": 0, "address": 0, "total_size": 1u64 << 50, "stream": 0, "segment_type": "large", "blocks": blocks});
    let value = json!({"segments": [segment], "device_traces": [events]});
    serde_pickle::to_vec(&value, serde_pickle::SerOptions::new()).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn peaks_excluding_groups_match_brute_force_on_generated_histories(
        steps in prop::collection::vec((any::<bool>(), any::<u16>(), any::<u8>()), 0..300),
        early in prop::collection::vec(0u16..3000, 0..5),
        groups in 1usize..9,
        seed in any::<u64>(),
    ) {
        let (_, histories) = histories("made", &snapshot(&steps, &early));
        for history in &histories {
            check("made", history, groups, |id| (hash(seed, id.0) % (groups as u64 + 1)) as u32);
        }
    }
}

/// A falling and rising staircase has more maxima than are kept. Only maxima that no group needs are dropped.
#[test]
fn discarded_maxima_do_not_change_result() {
    let steps: u32 = 20_000;
    let groups = 7;
    let mut without = PeakWithout::new(groups, 0);
    let mut now = vec![0i64; groups];
    let mut curves = vec![Vec::new(); groups];
    let mut live = 0i64;
    for moment in 0..steps {
        let group = if moment == 0 { 0 } else { (hash(9, moment / 1000) % groups as u64) as usize };
        let grows = if moment == 0 { 1 << 40 } else { -i64::from(hash(3, moment) as u8) - 1 };
        without.change(group as u32, moment, grows);
        without.add(moment, grows);
        (now[group], live) = (now[group] + grows, live + grows);
        curves.iter_mut().zip(&now).for_each(|(curve, now)| curve.push(live - now));
    }
    assert!(without.heap_bytes() < 300_000, "{} B for {steps} maxima", without.heap_bytes());
    for (reported, curve) in without.finish().iter().zip(&curves) {
        let (moment, peak) = highest(curve);
        assert_eq!((reported.moment, reported.peak), (moment, peak.max(0) as u64));
    }
}
