//! Formats the summary of a file: the key figures of a device, and all other facts in groups.

use base::units::{Bytes, duration_us, group_digits, pluralize};
use protocol::{
    Backend, CAPACITY, COUNTED_PEAK, DEVICE_FREE, DeviceSummary, FileSummary, OTHER_PROCESSES, OUTSIDE_ALLOCATOR,
    OUTSIDE_OR_OTHERS, PAUSED, PEAK_PAUSED, PROCESS, PeakCheck, TENSORS, TENSORS_FOUND, split_ordinal,
};

/// A key figure of a device, such as its peak.
#[derive(Clone, Debug, PartialEq)]
pub struct Headline {
    /// Position that a click on the figure moves the cursor to, in the syntax of [`super::position_text`].
    pub position: &'static str,
    pub label: &'static str,
    /// The value, as displayed.
    pub value: String,
    /// Tooltip with the exact figure and its position.
    pub note: String,
}

/// A label and its value.
#[derive(Clone, Debug, PartialEq)]
pub struct Fact {
    pub label: String,
    pub value: String,
}

/// A table of facts with a heading.
#[derive(Clone, Debug, PartialEq)]
pub struct Facts {
    pub title: &'static str,
    pub lines: Vec<Fact>,
}

/// Heading of the allocator's settings.
pub const SETTINGS_TITLE: &str = "Allocator settings";

/// Returns the file's name, with a note if the file is the result of a simulation.
pub fn file_title(file: &FileSummary) -> String {
    const MARK: &str = " (simulated)";
    let is_simulated = file.warnings.iter().any(|warning| warning.kind == "simulated");
    let mark = if is_simulated && !file.file.ends_with(MARK) { MARK } else { "" };
    [&file.file, mark].concat()
}

/// Formats the loaded range of events: `events 1,000–1,999 of 27,358`. `None` if all events are loaded.
pub fn loaded_range(device: &DeviceSummary) -> Option<String> {
    let (first, dropped) = device.loaded?;
    let total = group_digits(device.events.saturating_add(dropped));
    let last = device.events.checked_sub(1).filter(|&last| last >= u64::from(first));
    Some(match last {
        Some(last) => ["events ", &group_digits(first.into()), "–", &group_digits(last), " of ", &total].concat(),
        None => ["none of ", &total, if total == "1" { " event" } else { " events" }].concat(),
    })
}

/// Returns the name of a device, as shown in the device picker.
pub fn device_name(device: &DeviceSummary) -> String {
    ordinal_name(device.backend, device.device)
}

/// Returns the name of the device of this kind with this ordinal.
pub(crate) fn ordinal_name(backend: Backend, device: i64) -> String {
    let (ordinal, is_second) = split_ordinal(device);
    let name = backend.name_of(ordinal);
    if is_second { name + " of the second file" } else { name }
}

/// Formats a device for the device picker.
pub fn device_line(device: &DeviceSummary) -> String {
    let ran_out = if device.oom_count() > 0 { " · OOM" } else { "" };
    [&device_name(device), " · ", &bytes(device.peak_requested), ran_out].concat()
}

fn bytes(value: i64) -> String {
    let sign = if value < 0 { "−" } else { "" };
    format!("{sign}{}", Bytes(value.unsigned_abs()))
}

fn exact(value: i64) -> String {
    let sign = if value < 0 { "−" } else { "" };
    format!("{sign}{} B", group_digits(value.unsigned_abs()))
}

/// Text that is shown for a value that the file does not contain.
const UNKNOWN: &str = "unknown";

/// Returns the key figures in the order of the page header, which shows each as a button that goes to the figure's
/// position. The OOM comes first, because figures without room are hidden. `failed` is the size in bytes of the last
/// failed request, if known.
pub fn headlines(device: &DeviceSummary, failed: Option<u64>) -> Vec<Headline> {
    let at = match device.peak_event {
        ..0 => "before the first event".to_owned(),
        event => format!("at event {}", group_digits(event.unsigned_abs())),
    };
    let end = i64::try_from(device.end_requested).unwrap_or(i64::MAX);
    let mut all = Vec::new();
    let ooms = device.oom_count();
    if ooms > 0 {
        all.push(Headline {
            position: "oom",
            label: "OOM",
            value: match (failed, ooms) {
                (Some(bytes), 1) => Bytes(bytes).to_string(),
                (Some(bytes), _) => format!("{} ×{}", Bytes(bytes), group_digits(ooms)),
                (None, _) => format!("×{}", group_digits(ooms)),
            },
            note: match failed {
                Some(bytes) => {
                    format!("Out of memory: {}; the last request: {} B", pluralize(ooms, "event"), group_digits(bytes))
                }
                None => format!("Out of memory: {}", pluralize(ooms, "event")),
            },
        });
    }
    all.extend([
        Headline {
            position: "peak",
            label: "Peak",
            value: bytes(device.peak_requested),
            note: format!("Peak live bytes (requested): {} {at}", exact(device.peak_requested)),
        },
        Headline {
            position: "reserved-peak",
            label: "Peak reserved",
            value: if device.has_reserved() { bytes(device.peak_reserved) } else { "–".to_owned() },
            note: match device.has_reserved() {
                true => format!("Peak reserved bytes: {}", exact(device.peak_reserved)),
                false => "Reserved bytes: unknown, the snapshot has no segments".to_owned(),
            },
        },
        Headline {
            position: "end",
            label: "End",
            value: bytes(end),
            note: match device.has_rounded() {
                true => {
                    format!(
                        "Live at the end (requested): {}; allocated (rounded): {}",
                        exact(end),
                        exact(rounded(device))
                    )
                }
                false => format!("Live at the end (requested): {}", exact(end)),
            },
        },
    ]);
    all
}

fn rounded(device: &DeviceSummary) -> i64 {
    i64::try_from(device.end_rounded).unwrap_or(i64::MAX)
}

/// Returns all facts of the file and the device other than the key figures, in groups.
pub fn facts(file: &FileSummary, device: &DeviceSummary) -> Vec<Facts> {
    let fact = |label: &str, value: String| Fact { label: label.to_owned(), value };
    let signed = |value: i64| {
        if value.unsigned_abs() < 1024 { bytes(value) } else { format!("{} · {}", bytes(value), exact(value)) }
    };
    let unsigned = |value: u64| signed(i64::try_from(value).unwrap_or(i64::MAX));

    let mut requested = vec![
        fact("Peak", signed(device.peak_requested)),
        fact("Minimum", signed(device.min_requested)),
        fact("Mean over events", bytes(device.mean_requested.round() as i64)),
    ];
    if let Some(mean) = device.time_weighted_mean_requested {
        requested.push(fact("Mean over time", bytes(mean.round() as i64)));
    }
    requested
        .extend([fact("Median", signed(device.median_requested)), fact("At the end", unsigned(device.end_requested))]);
    if device.has_rounded() {
        requested.push(fact("At the end, allocated (rounded)", unsigned(device.end_rounded)));
    }

    let mut before = vec![
        fact("Baseline", signed(device.base_requested)),
        fact(
            "Freed in the trace",
            format!("{} in {}", Bytes(device.unmatched_free_bytes), pluralize(device.unmatched_frees, "allocation")),
        ),
        fact(
            "Never freed",
            format!("{} in {}", Bytes(device.static_requested), pluralize(device.static_blocks, "allocation")),
        ),
    ];
    if device.unexplained_requested > 0 {
        before.push(fact("Unexplained", unsigned(device.unexplained_requested)));
    }

    let reserved = match device.has_reserved() {
        false => vec![fact("Peak", format!("{UNKNOWN}: no segments in the snapshot"))],
        true => vec![
            fact("Before recording", signed(device.reserved_start)),
            fact("Peak", signed(device.peak_reserved)),
            fact("At the end", unsigned(device.reserved_end)),
            fact("Segments at the end", group_digits(device.segments)),
        ],
    };

    let mut trace = vec![fact("Events", group_digits(device.events))];
    if let Some((first, last)) = device.time_us {
        trace.push(fact("Duration", duration_us(last.saturating_sub(first))));
    }
    trace.extend(device.actions.iter().map(|(action, count)| fact(action, group_digits(*count))));
    if device.annotations > 0 {
        trace.push(fact("Annotations", group_digits(device.annotations)));
    }

    let mut origin = vec![fact("File", file.file.clone()), fact("Format", file.format.clone())];
    if let Some(torch) = &file.torch {
        origin.push(fact("PyTorch (inferred)", torch.clone()));
    }

    let mut groups = vec![
        Facts { title: "Live bytes (requested)", lines: requested },
        Facts { title: "Allocated before recording", lines: before },
        Facts { title: "Reserved", lines: reserved },
        Facts { title: "Trace", lines: trace },
        Facts { title: "File", lines: origin },
    ];
    if let Some(lines) = Some(device_facts(device)).filter(|lines| !lines.is_empty()) {
        groups.push(Facts { title: "Recorded on the device", lines });
    }
    if !file.recorder.is_empty() {
        groups.push(Facts { title: "Recorder", lines: recorder_facts(&file.recorder) });
    }
    if !file.settings.is_empty() {
        let lines = file.settings.iter().map(|(key, value)| fact(key, value.clone())).collect();
        groups.push(Facts { title: SETTINGS_TITLE, lines });
    }
    groups
}

/// Returns the recorder's facts about the run, a list as one line. Skips those that describe the file format or are
/// shown elsewhere.
fn recorder_facts(facts: &[(String, String)]) -> Vec<Fact> {
    let mut lines: Vec<Fact> = Vec::new();
    for (key, value) in facts {
        // The entries of a list have the keys `left_out.0`, `left_out.1`.
        let list = key.rsplit_once('.').filter(|(_, index)| index.bytes().all(|byte| byte.is_ascii_digit()));
        let label = label_of(list.map_or(&**key, |(list, _)| list));
        match lines.last_mut().filter(|last| list.is_some() && last.label == label) {
            Some(last) => last.value.push_str(&[", ", value].concat()),
            None if matches!(&**key, "schema" | "time_us" | "total_memory") => {}
            None => lines.push(Fact { label, value: value.clone() }),
        }
    }
    lines
}

/// Returns the label of a fact: `Settings entries` for `settings.entries`.
fn label_of(key: &str) -> String {
    let mut label = key.replace(['_', '.'], " ");
    let upper = if matches!(key, "cuda" | "hip") { label.len() } else { 1 };
    label.get_mut(..upper).into_iter().for_each(str::make_ascii_uppercase);
    label
}

/// Returns the recorded facts about the device.
fn device_facts(device: &DeviceSummary) -> Vec<Fact> {
    let labels = [
        ("Capacity", CAPACITY),
        ("Free on the device", DEVICE_FREE),
        ("This process (NVML)", PROCESS),
        ("Outside the allocator", OUTSIDE_ALLOCATOR),
        ("Other processes (NVML)", OTHER_PROCESSES),
        ("Outside the allocator or other processes", OUTSIDE_OR_OTHERS),
        ("Paused (reserved, not on the device)", PAUSED),
        ("Paused at most", PEAK_PAUSED),
        ("Peak by memory_stats()", COUNTED_PEAK),
        ("Tensors", TENSORS),
        ("Tensors live at the end", TENSORS_FOUND),
    ];
    let known = labels.iter().filter_map(|&(label, key)| Some((label, key, device.recorder_value(key)?)));
    known
        .map(|(label, key, number)| {
            let value = match key {
                TENSORS | TENSORS_FOUND => group_digits(number),
                _ => [&Bytes(number).to_string(), " · ", &group_digits(number), " B"].concat(),
            };
            let check = device.peak_check().filter(|_| key == COUNTED_PEAK).map_or("", peak_check);
            Fact { label: label.to_owned(), value: [&value, check].concat() }
        })
        .collect()
}

/// Returns the end of a sentence that compares the peak counted by PyTorch with the peak in the trace.
pub fn peak_check(check: PeakCheck) -> &'static str {
    match check {
        PeakCheck::Equal => ", equal to the peak above",
        PeakCheck::Earlier => ", higher: reached before the first recorded event",
        PeakCheck::Reset => ", lower: reset_peak_memory_stats() was called",
    }
}

#[cfg(test)]
#[path = "../../../tests/units/ui/summary.rs"]
mod tests;
