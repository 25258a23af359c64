//! Generated snapshots end to end: decoder and replay compared with the generator's own records.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may fail")]

use crate::generate;

use generate::Options;
use generate::expected::{Expected, ExpectedDevice};
use memscape::pickle::{Limits, Unpickler};
use memscape::replay::{AllocationId, Builder, DeviceHistory, Recorder};
use memscape::slice::TimeSlice;
use memscape::snapshot::{Action, Reader, Snapshot, StackId};
use memscape::units::{EventIdx, Moment};
use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;

/// Generates a snapshot from command-line options. Returns its bytes and expected values.
fn generated(words: &str) -> (Vec<u8>, Expected) {
    let (options, others) = Options::parse(words.split_whitespace().map(str::to_owned)).unwrap();
    assert_eq!(others, Vec::<String>::new());
    generate::generate(&options, Vec::new()).unwrap()
}

fn decoded(bytes: &[u8]) -> (Snapshot, Vec<DeviceHistory>, usize) {
    let mut machine = Unpickler::new(Reader::new(Recorder::default()), Limits::default());
    for chunk in bytes.chunks(4096) {
        machine.feed(chunk).unwrap();
    }
    let (reader, root) = machine.finish().unwrap();
    let (snapshot, recorder) = reader.finish(root, 0).unwrap();
    let mut builder = Builder::new(&snapshot, recorder);
    builder.step(&snapshot, &mut TimeSlice::new(&mut || true)).unwrap();
    let (histories, warnings) = builder.finish();
    let oddities = snapshot.warnings.iter().chain(warnings.iter()).count();
    (snapshot, histories, oddities)
}

/// Returns what the replay found as a [`ExpectedDevice`]. Values that only the generator knows are copied from `truth`.
fn truth_from_replay(history: &DeviceHistory, truth: &ExpectedDevice) -> ExpectedDevice {
    let numbers = &history.numbers;
    let bytes = |value: i64| u64::try_from(value).expect("sums are not negative");
    ExpectedDevice {
        device: history.device,
        events: u64::from(history.event_count()),
        allocations: numbers.allocations,
        base_requested: bytes(numbers.baseline),
        peak_requested: bytes(numbers.peak),
        peak_event: numbers.peak_event,
        end_requested: numbers.end,
        end_rounded: numbers.end_rounded,
        unmatched_frees: numbers.unmatched_frees,
        unmatched_free_bytes: numbers.unmatched_free_bytes,
        static_blocks: numbers.static_blocks,
        static_requested: numbers.static_bytes,
        reserved_start: bytes(numbers.reserved_start),
        peak_reserved: bytes(numbers.peak_reserved),
        reserved_end: numbers.reserved_end,
        segments: numbers.segments,
        annotations: numbers.annotations,
        actions: Action::ALL
            .iter()
            .zip(history.action_counts)
            .filter(|&(_, count)| count > 0)
            .map(|(action, count)| (action.name(), count))
            .collect(),
        ..truth.clone()
    }
}

#[test]
fn replay_matches_generator() {
    for words in [
        "--events 4000",
        "--events 3000 --protocol 2 --frames 40",
        "--events 3000 --protocol 3 --seed 2",
        "--events 3000 --protocol 5 --devices 3",
        "--events 3000 --style cpp --devices 2",
        "--events 6000 --ring 2000 --pending",
        "--events 6000 --ring 2000 --pending --style cpp",
        "--events 2500 --oom --leak --expandable",
        "--events 2500 --no-time --no-annotations --compile-contexts",
        "--events 2500 --compile-contexts --style cpp",
        "--steps 2 --layers 6 --hidden 512 --record-from-start",
        "--steps 12 --layers 2 --hidden 256 --prerecord-mib 64",
        "--steps 21 --layers 3 --prerecord-mib 64 --expandable",
        "--steps 21 --layers 3 --prerecord-mib 64 --expandable --private-pools --pending --ring 5000 --style cpp",
        "--events 6000 --layers 4 --private-pools --metadata --snapshots --layer-annotations",
        "--events 6000 --layers 4 --private-pools --metadata --snapshots --style cpp --compile-contexts",
        "--steps 9 --layers 2 --hidden 256 --host --devices 2",
        "--steps 9 --layers 2 --hidden 256 --host --ring 20 --style cpp",
        "--example",
    ] {
        let (bytes, truth) = generated(words);
        let (_, histories, oddities) = decoded(&bytes);
        assert_eq!(histories.len(), truth.devices.len(), "{words}");
        for (history, truth) in histories.iter().zip(&truth.devices) {
            assert_eq!(&truth_from_replay(history, truth), truth, "{words}");
            assert_eq!(history.numbers.remainder, 0, "{words}");
        }
        assert_eq!(oddities, 0, "{words}: a whole file gives no warning");
    }
}

/// Module and step values are found in the file's frames and annotations.
#[test]
fn modules_and_steps_match_generator() {
    for words in [
        "--steps 3 --layers 3 --hidden 512",
        "--events 9000 --ring 4000 --layers 6 --pending --private-pools",
        "--steps 7 --layers 2 --hidden 256 --expandable --style cpp",
    ] {
        let (bytes, truth) = generated(words);
        let (snapshot, histories, _) = decoded(&bytes);
        for (history, truth) in histories.iter().zip(&truth.devices) {
            assert!(truth.layers.len() > 10 && !truth.whole_steps.is_empty(), "{words}");
            let mut seen = BTreeMap::new();
            for event in (0..history.event_count()).map(EventIdx) {
                for (file, calls) in modules_of(&snapshot, history.events.stack(event.0)) {
                    let after = Moment::after(event);
                    let (live, reserved) = (history.drawn_at(after) as u64, history.reserved_at(after) as u64);
                    let (events, peak_live, peak_reserved, waste) = seen.entry((file, calls)).or_insert((0, 0, 0, 0.0));
                    (*events, *peak_live, *peak_reserved) =
                        (*events + 1, live.max(*peak_live), reserved.max(*peak_reserved));
                    *waste += 1.0 - live as f64 / reserved as f64;
                }
            }
            assert_eq!(seen.len(), truth.layers.len(), "{words}");
            for layer in &truth.layers {
                let key = (layer.file.to_owned(), layer.called_at.clone());
                let &(events, live, reserved, waste) = seen.get(&key).unwrap_or_else(|| panic!("{words}: no {key:?}"));
                let found = (events, live, reserved, waste / events as f64);
                let is = (layer.events, layer.peak_requested, layer.peak_reserved, layer.mean_fragmentation);
                assert_eq!(found, is, "{words}: {}", layer.layer);
            }
            for step in &truth.whole_steps {
                let name = format!("step_{}", step.step);
                let named = |id| snapshot.strings.text(id) == name;
                let range = history.annotations.iter().find(|range| named(range.name)).unwrap();
                let in_step = |event: &u32| history.events.times.at(*event).is_some_and(|time| range.covers(time));
                let events: Vec<u32> = (0..history.event_count()).filter(in_step).collect();
                assert_eq!([events[0], events[events.len() - 1]].map(u64::from), [step.first_event, step.last_event]);
                let live = |event: u32| history.drawn_at(Moment(event)) as u64;
                let peak = (step.first_event as u32..=step.last_event as u32 + 1).map(live).max();
                assert_eq!(
                    (live(events[0]), peak),
                    (step.start_requested, Some(step.peak_requested)),
                    "{words}: {name}"
                );
                assert_eq!(
                    step.start_requested + step.allocated_bytes - step.freed_bytes,
                    step.end_requested,
                    "{words}: {name}"
                );
            }
        }
    }
}

/// Returns the modules of a stack, identified by the file of their `forward` and the `file:line` of the calls that lead
/// to it.
fn modules_of(snapshot: &Snapshot, stack: StackId) -> Vec<(String, Vec<String>)> {
    let text = |id| snapshot.strings.text(id).into_owned();
    let frames: Vec<(String, String, i128)> = snapshot
        .stacks
        .frames(stack)
        .map(|id| snapshot.frames.frame(id))
        .map(|frame| (text(frame.name), text(frame.filename), frame.line))
        .collect();
    let mut calls = Vec::new();
    let mut modules = Vec::new();
    for (at, (name, file, _)) in frames.iter().enumerate().rev() {
        if name == "forward" && frames.get(at + 1).is_some_and(|outer| outer.0 == "_call_impl") {
            calls.push(format!("{}:{}", frames[at + 3].1, frames[at + 3].2));
            modules.push((file.clone(), calls.clone()));
        }
    }
    modules
}

/// After each event the live allocations add up to the running total, none of them overlap, and the maximum is the
/// peak.
#[test]
fn live_allocations_add_up_without_overlap() {
    for words in
        ["--events 3000 --devices 2", "--events 4000 --ring 1500 --pending", "--events 2500 --leak --expandable"]
    {
        let (bytes, _) = generated(words);
        for history in decoded(&bytes).1 {
            let allocations = &history.allocations;
            let place = |id: AllocationId| (allocations.address(id), allocations.size(id));
            let mut live: BTreeMap<u64, u64> = (0..allocations.early_count() as u32)
                .map(AllocationId)
                .filter(|&id| allocations.freed_at(id) != Some(Moment::START))
                .map(place)
                .collect();
            let mut total = live.values().sum::<u64>();
            let mut peak = total;
            assert_eq!(history.drawn_at(Moment::START) as u64, total, "{words}");
            for event in (0..history.event_count()).map(EventIdx) {
                match history.lifetime_change(event) {
                    Some((id, true)) => {
                        let (address, size) = place(id);
                        let below = live.range(..=address).next_back().is_none_or(|(&at, &size)| at + size <= address);
                        let above = live.range(address..).next().is_none_or(|(&at, _)| address + size <= at);
                        assert!(below && above, "{words}: event {event:?} overlaps");
                        live.insert(address, size);
                        total += size;
                    }
                    Some((id, false)) => total -= live.remove(&place(id).0).expect("the freed allocation is live"),
                    None => {}
                }
                assert_eq!(history.drawn_at(Moment::after(event)) as u64, total, "{words}: event {event:?}");
                peak = peak.max(total);
            }
            assert_eq!((history.numbers.peak as u64, history.numbers.drawn_peak), (peak, peak), "{words}");
            assert_eq!(history.numbers.end, total, "{words}");
        }
    }
}

/// Options have their effect on the generated events.
#[test]
fn options_change_generated_events() {
    let device = |words: &str, at: usize| generated(words).1.devices.swap_remove(at);
    let count = |device: &ExpectedDevice, action| device.actions.get(action).copied().unwrap_or(0);
    let expandable = device("--steps 21 --layers 3 --prerecord-mib 64 --expandable --snapshots", 0);
    assert!(count(&expandable, "segment_map") > 10 && count(&expandable, "segment_unmap") > 3);
    assert_eq!((count(&expandable, "segment_alloc"), count(&expandable, "snapshot")), (0, expandable.steps));
    let pending = device("--events 9000 --layers 4 --pending", 0);
    assert!(pending.longest_wait > 100 && pending.pending_blocks > 0 && pending.pending_requested > 0);
    assert_eq!(device("--events 3000", 0).longest_wait, 1);
    let host = device("--steps 9 --layers 2 --hidden 256 --host", 1);
    assert_eq!((host.device, host.end_rounded.is_power_of_two()), (-1, false));
    assert!(host.allocations == 22 && host.end_rounded > host.end_requested);
    let cut = device("--events 9000 --ring 4000 --layers 6", 0);
    assert!(cut.unmatched_frees > 0 && cut.whole_steps[0].step > 0 && (cut.whole_steps.len() as u64) < cut.steps);
}

/// Unmapped addresses are reused, so the address range stays close to the reserved bytes in long runs.
#[test]
fn expandable_segments_reuse_addresses() {
    let (bytes, truth) = generated("--steps 60 --layers 3 --prerecord-mib 64 --expandable --private-pools --pending");
    let (_, histories, oddities) = decoded(&bytes);
    let history = &histories[0];
    let mut ranges: BTreeMap<u64, [u64; 2]> = BTreeMap::new();
    for event in (0..history.event_count()).filter(|&event| history.events.action(event) == Action::SegmentMap) {
        let (address, size) = history.address_and_size(EventIdx(event));
        let [from, to] = ranges.entry(address >> 40).or_insert([address, address]);
        (*from, *to) = ((*from).min(address), (*to).max(address + size));
    }
    assert!(ranges.len() >= 3 && oddities == 0, "pools have their own addresses: {ranges:x?}");
    for [from, to] in ranges.values() {
        assert!(to - from < 3 * truth.devices[0].peak_reserved, "{from:x} to {to:x}");
    }
}

/// Both pickle writers write the same content.
#[test]
fn pickle_style_does_not_change_content() {
    let (python, truth) = generated("--events 3000 --pending --leak");
    let (cpp, same_truth) = generated("--events 3000 --pending --leak --style cpp");
    assert_ne!(python, cpp);
    assert_eq!(truth, same_truth);
    let ((one, ..), (other, ..)) = (decoded(&python), decoded(&cpp));
    assert_eq!((one.frames.len(), one.stacks.len()), (other.frames.len(), other.stacks.len()));
}

#[test]
fn same_seed_gives_same_bytes() {
    assert_eq!(generated("--events 500").0, generated("--events 500").0);
    assert_ne!(generated("--events 500").0, generated("--events 500 --seed 2").0);
}

/// The samples shipped with the page are up to date, small, and contain what they demonstrate.
#[test]
fn samples_are_up_to_date_and_complete() {
    let mut all = 0;
    for name in ["out-of-memory", "leak", "training", "cuda-graphs"] {
        let (bytes, truth) = generated(&format!("--sample {name}"));
        let packed = std::fs::read(format!("www/{name}.pickle.gz")).unwrap();
        all += packed.len();
        let mut shipped = Vec::new();
        flate2::read::GzDecoder::new(packed.as_slice()).read_to_end(&mut shipped).unwrap();
        assert!(shipped == bytes, "{name} is out of date: run ./run samples");
        let [device] = truth.devices.as_slice() else { panic!("one device") };
        assert!(device.events < 5000, "{name}: {} events", device.events);
        let (snapshot, histories, _) = decoded(&bytes);
        let ooms = histories[0].note_events().filter(|&event| histories[0].events.action(event) == Action::Oom).count();
        let pools: BTreeSet<_> = snapshot.segments.iter().filter_map(|segment| segment.pool).collect();
        match name {
            "out-of-memory" => assert_eq!(ooms, 1),
            "leak" => assert_eq!((device.steps, device.leaked_blocks, ooms), (8, 8, 0)),
            "training" => assert!(device.steps == 3 && device.leaked_blocks == 0 && device.annotations > 20),
            _ => assert!(pools.len() > 6, "{pools:?}"),
        }
    }
    assert!(all < 300_000, "{all} bytes");
}

#[test]
fn samples_of_tutorials_are_up_to_date() {
    let unpacked = |packed: &[u8]| {
        let mut bytes = Vec::new();
        flate2::read::GzDecoder::new(packed).read_to_end(&mut bytes).unwrap();
        bytes
    };
    for name in ["before", "after"] {
        let shipped = std::fs::read(format!("www/docs/samples/{name}.pickle.gz")).unwrap();
        assert!(
            unpacked(&shipped) == generated(&format!("--sample {name}")).0,
            "{name} is out of date: run ./run samples"
        );
    }
    let archive = std::fs::read("www/docs/samples/ranks.tar").unwrap();
    assert!(archive.len() < 150_000, "{} bytes", archive.len());
    let mut ranks = 0;
    let mut rest = archive.as_slice();
    while let Some((header, after)) = rest.split_at_checked(512).filter(|(header, _)| header[0] != 0) {
        let octal = std::str::from_utf8(&header[124..135]).unwrap();
        let size = usize::from_str_radix(octal, 8).unwrap();
        if size > 0 {
            let options = if ranks == 3 { "--sample rank --extra-leak 96 --oom" } else { "--sample rank" };
            assert!(unpacked(&after[..size]) == generated(options).0, "rank {ranks} is out of date: run ./run samples");
            ranks += 1;
        }
        rest = &after[size.next_multiple_of(512)..];
    }
    assert_eq!(ranks, 4);
}
