//! Facts about a device that a recorder stored in the snapshot, such as its capacity.

use base::sorted::sorted_by_key;
use history::recorder::{PausedBytes, Sample};
use history::replay::DeviceHistory;
use history::snapshot::{Action, Snapshot};
use protocol::{
    CAPACITY, COUNTED_PEAK, DEVICE_FREE, OTHER_PROCESSES, OUTSIDE_ALLOCATOR, OUTSIDE_OR_OTHERS, PAUSED, PEAK_PAUSED,
    PROCESS, SAMPLED_PEAKS, TENSORS, TENSORS_FOUND,
};

/// Summary key of each fact, and the key under which the recorder stores it. Facts that only apply to a whole trace
/// come last.
const RECORDER_KEYS: [(&str, &str); 6] = [
    (CAPACITY, "capacity_bytes"),
    (DEVICE_FREE, "free_bytes"),
    (PROCESS, "process_bytes"),
    (OTHER_PROCESSES, "other_processes_bytes"),
    (OUTSIDE_ALLOCATOR, "process_bytes"),
    (COUNTED_PEAK, "stats.requested_bytes.all.peak"),
];
/// Number of entries at the start of [`RECORDER_KEYS`] that also apply to a cropped trace.
const CROP_KEY_COUNT: usize = 4;

/// Returns the GPU memory that the allocator can reserve, as in
/// [`DeviceSummary::available_bytes`](protocol::DeviceSummary::available_bytes). `None` if no recorder stored it, or if
/// the trace has an OOM, which shows the limit more exactly.
pub(super) fn available_without_oom(snapshot: &Snapshot, history: &DeviceHistory) -> Option<u64> {
    if history.action_counts[Action::Oom as usize] > 0 {
        return None;
    }
    let facts = recorder_facts(snapshot, history);
    let fact = |key: &str| facts.iter().find(|(known, _)| known == key).map(|(_, bytes)| *bytes);
    let outside = [OUTSIDE_ALLOCATOR, OTHER_PROCESSES, OUTSIDE_OR_OTHERS]
        .into_iter()
        .filter_map(fact)
        .fold(0, u64::saturating_add);
    Some(fact(CAPACITY)?.saturating_sub(outside))
}

/// Returns the bytes of a device over time that are reserved but paused, and so not on the GPU.
pub(crate) fn paused_over_time(snapshot: &Snapshot, device: i64) -> PausedBytes {
    if snapshot.recorder.observed.paused.is_empty() {
        return PausedBytes::default();
    }
    let mut ranges = Vec::new();
    for segment in &snapshot.segments {
        ranges.extend(segment.address.map(|address| (address, segment.total_size, segment.device)));
    }
    let ranges = sorted_by_key(ranges, |&(address, ..)| address.into());
    snapshot.recorder.paused_over_time(device, |address| {
        let place = ranges.partition_point(|&(from, ..)| from <= address).checked_sub(1)?;
        ranges.get(place).filter(|(from, size, _)| address - from < *size).map(|&(.., device)| device)
    })
}

/// Returns the device memory outside the allocator at a sample, of this process or of others: what is neither free nor
/// reserved. Paused memory is reserved, but not on the device.
pub fn outside_of_sample(sample: &Sample, capacity: u64, paused: &PausedBytes) -> Option<u64> {
    let on_gpu = sample.reserved?.saturating_sub(paused.at(sample.time_us));
    Some(capacity.saturating_sub(sample.free?).saturating_sub(on_gpu))
}

/// Returns what a sample says about device memory outside the allocator, and about resident and pinned memory of the
/// process. `capacity` is that of the device.
pub(crate) fn sampled(sample: &Sample, capacity: Option<u64>, paused: &PausedBytes) -> [Option<u64>; 3] {
    [capacity.and_then(|capacity| outside_of_sample(sample, capacity, paused)), sample.resident, sample.pinned]
}

/// Returns the maxima of the samples in the trace, in the order of [`SAMPLED_PEAKS`]. The last sample before the trace
/// counts, because it holds until the next one.
fn sampled_peaks(snapshot: &Snapshot, history: &DeviceHistory) -> [Option<u64>; 3] {
    let mut peaks = [None; 3];
    let Some(clock) = history.events.times.time_axis() else { return peaks };
    let (capacity, paused) = (recorded_capacity(snapshot, history), paused_over_time(snapshot, history.device));
    for sample in snapshot.recorder.observed.samples.iter().filter(|sample| sample.device == history.device) {
        let is_before = sample.time_us < clock.first_us();
        for (peak, bytes) in peaks.iter_mut().zip(sampled(sample, capacity, &paused)) {
            *peak = if is_before { bytes.or(*peak) } else { bytes.max(*peak) };
        }
    }
    peaks
}

/// Returns the memory of the device, if a recorder stored it.
pub(super) fn recorded_capacity(snapshot: &Snapshot, history: &DeviceHistory) -> Option<u64> {
    snapshot.recorder.device_fact(history.device, "capacity_bytes")?.parse().ok()
}

/// Returns the recorder's facts about a device as key-value pairs. Empty if the snapshot has no recorder data.
pub(super) fn recorder_facts(snapshot: &Snapshot, history: &DeviceHistory) -> Vec<(String, u64)> {
    let recorder = &snapshot.recorder;
    let (device, allocations) = (history.device, &history.allocations);
    let mut facts: Vec<(String, u64)> = Vec::new();
    if recorder.tree.bytes().is_empty() {
        return facts;
    }
    // A cropped trace has a different end and a different peak.
    let over_time = if recorder.is_crop { PausedBytes::default() } else { paused_over_time(snapshot, device) };
    let paused = over_time.at_end();
    // Paused memory counts as reserved, but is not on the GPU.
    let on_gpu = history.numbers.reserved_end.saturating_sub(paused);
    let keys = if recorder.is_crop { &RECORDER_KEYS[..CROP_KEY_COUNT] } else { &RECORDER_KEYS[..] };
    for (key, recorder_key) in keys {
        let Some(number) = recorder.device_fact(device, recorder_key).and_then(|text| text.parse::<u64>().ok()) else {
            continue;
        };
        // Memory used outside the allocator is the process's usage minus the reserved bytes.
        let number = if *key == OUTSIDE_ALLOCATOR { number.saturating_sub(on_gpu) } else { number };
        facts.push(((*key).to_owned(), number));
    }
    let fact = |wanted: &str| facts.iter().find(|(known, _)| known == wanted).map(|(_, bytes)| *bytes);
    // Without NVML, it is unknown which process uses the rest.
    let rest = match (fact(CAPACITY), fact(DEVICE_FREE), fact(PROCESS)) {
        (Some(capacity), Some(free), None) if history.numbers.peak_reserved > 0 && !recorder.is_crop => {
            Some(capacity.saturating_sub(free).saturating_sub(on_gpu))
        }
        _ => None,
    };
    facts.extend(rest.map(|bytes| (OUTSIDE_OR_OTHERS.to_owned(), bytes)));
    if paused > 0 {
        facts.push((PAUSED.to_owned(), paused));
    }
    if over_time.peak() > 0 {
        facts.push((PEAK_PAUSED.to_owned(), over_time.peak()));
    }
    let sampled = SAMPLED_PEAKS.into_iter().zip(sampled_peaks(snapshot, history));
    facts.extend(sampled.filter_map(|(key, bytes)| Some((key.to_owned(), bytes?))));
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
