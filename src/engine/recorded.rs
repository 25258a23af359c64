//! What a recorder says of a device, held against what the trace says.

use super::protocol::{CAPACITY, COUNTED_PEAK, DEVICE_FREE, OTHER_PROCESSES, OUTSIDE, PROCESS, TENSORS, TENSORS_FOUND};
use history::replay::DeviceHistory;
use history::snapshot::Snapshot;

/// What our keys are called by the recorder; those of the whole trace come last.
const RECORDED: [(&str, &str); 6] = [
    (CAPACITY, "capacity_bytes"),
    (DEVICE_FREE, "free_bytes"),
    (PROCESS, "process_bytes"),
    (OTHER_PROCESSES, "other_processes_bytes"),
    (OUTSIDE, "process_bytes"),
    (COUNTED_PEAK, "stats.requested_bytes.all.peak"),
];
/// How many of them hold of a part of a trace as well.
const OF_PARTS: usize = 4;

/// The facts about a device, by their keys; none where no recorder says any.
pub(super) fn facts(snapshot: &Snapshot, history: &DeviceHistory) -> Vec<(String, u64)> {
    let recorder = &snapshot.recorder;
    let (device, allocations) = (history.device, &history.allocations);
    let mut facts: Vec<(String, u64)> = Vec::new();
    if recorder.tree.bytes().is_empty() {
        return facts;
    }
    // A part of a trace has another end and another peak.
    let of = if recorder.is_crop { &RECORDED[..OF_PARTS] } else { &RECORDED[..] };
    for (key, theirs) in of {
        let Some(number) = recorder.of_device(device, theirs).and_then(|text| text.parse::<u64>().ok()) else {
            continue;
        };
        // What is used outside of the allocator is what the process uses beyond what is reserved.
        let number = if *key == OUTSIDE { number.saturating_sub(history.numbers.reserved_end) } else { number };
        facts.push(((*key).to_owned(), number));
    }
    let named = recorder.tensors.iter().filter(|tensor| tensor.device == device).count() as u64;
    if named > 0 {
        let mut found = 0;
        for id in history.end_allocations() {
            if !allocations.is_unexplained(id) {
                found += recorder.tensors_at(device, allocations.address(id), allocations.size(id)).len() as u64;
            }
        }
        facts.push((TENSORS_FOUND.to_owned(), found));
        facts.push((TENSORS.to_owned(), named));
    }
    facts
}
