//! `memscape summary`: prints a summary of each snapshot in each file.

use super::input::Input;
use super::kept_file;
use super::opening::{name_of, open};
use super::output::{print, printable, to_pretty_json};
use super::terminal::wrap_to_terminal;
use base::units::{Bytes, duration_us, group_digits, pluralize};
use clap::Args;
use protocol::{
    CAPACITY, COUNTED_PEAK, DeviceSummary, FileSummary, OTHER_PROCESSES, OUTSIDE_ALLOCATOR, OUTSIDE_OR_OTHERS, PAUSED,
    PEAK_PAUSED, PeakCheck, TENSORS, TENSORS_FOUND,
};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use ui::text::summary::{device_name, loaded_range, peak_check};

/// Arguments of `memscape summary`.
#[derive(Args, Clone, Debug)]
pub(crate) struct Summary {
    /// Snapshots to read, "-" for standard input
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Prints the summaries of all snapshots that can be read.
///
/// # Errors
/// Returns an error message for each snapshot that cannot be read.
pub(crate) fn summary(arguments: &Summary) -> Result<(), Vec<String>> {
    let (mut summaries, mut errors) = (Vec::new(), Vec::new());
    for file in &arguments.files {
        for opened in summarize_file(file) {
            match opened {
                Ok(summary) => summaries.push(summary),
                Err(error) => errors.push(format!("{}: {error}", file.display())),
            }
        }
    }
    let text = if arguments.json {
        to_pretty_json(&summaries.iter().map(as_json).collect::<Vec<_>>())
    } else {
        wrap_to_terminal(&summaries.iter().map(summary_text).collect::<Vec<_>>().join("\n"))
    };
    errors.extend(print(&text).err());
    if errors.is_empty() { Ok(()) } else { Err(errors) }
}

/// Returns the summary of each snapshot in a file, or an error message for each that cannot be read.
fn summarize_file(path: &Path) -> Vec<Result<FileSummary, String>> {
    if let Some(summary) = kept_file::summary(path) {
        return vec![Ok(summary)];
    }
    let mut input = match Input::open(path) {
        Ok(input) => input,
        Err(error) => return vec![Err(error.to_string())],
    };
    let name = name_of(path);
    let mut members = Vec::new();
    let mut summary = |member, members: &mut _| open(&mut input, &name, member, members).map(|(summary, _)| summary);
    let mut all = vec![summary(None, &mut members)];
    for place in 1..u32::try_from(members.len()).unwrap_or(0) {
        all.push(summary(Some(place), &mut Vec::new()));
    }
    all
}

/// Converts a summary to JSON. Adds, for each device, whether its peak equals the peak counted by PyTorch.
fn as_json(summary: &FileSummary) -> Value {
    let mut value = json!(summary);
    let devices = value.get_mut("devices").and_then(Value::as_array_mut).into_iter().flatten();
    for (value, device) in devices.zip(&summary.devices) {
        let check = device.peak_check().map(|check| match check {
            PeakCheck::Equal => "equal",
            PeakCheck::Earlier => "earlier",
            PeakCheck::Reset => "reset",
        });
        let Some(fields) = value.as_object_mut() else { continue };
        fields.insert("peak_check".to_owned(), json!(check));
        fields.remove("loaded");
        if let Some((first, behind)) = device.loaded {
            let total = device.events.saturating_add(behind);
            fields.insert(
                "loaded".to_owned(),
                json!({"first_event": first, "end_event": device.events, "of_events": total}),
            );
        }
    }
    value
}

/// Formats a summary as text.
fn summary_text(summary: &FileSummary) -> String {
    let torch = summary.torch.as_ref().map_or_else(String::new, |torch| format!(", PyTorch {torch}"));
    let mut lines = vec![printable(&format!("{}: {}{torch}", summary.file, summary.format))];
    if summary.devices.is_empty() {
        lines.push("  no device has events or segments".to_owned());
    }
    summary.devices.iter().for_each(|device| describe_device(device, &mut lines));
    for warning in &summary.warnings {
        let times =
            if warning.count > 1 { format!("{} times, first at ", group_digits(warning.count)) } else { String::new() };
        lines.push(printable(&format!("  warning: {} ({times}{})", warning.message, warning.example)));
    }
    lines.join("\n") + "\n"
}

fn describe_device(device: &DeviceSummary, lines: &mut Vec<String>) {
    let name = device_name(device);
    let span = device
        .time_us
        .map_or_else(String::new, |(first, last)| format!(" in {}", duration_us(last.saturating_sub(first))));
    let ooms =
        if device.oom_count() > 0 { ", ".to_owned() + &pluralize(device.oom_count(), "OOM") } else { String::new() };
    lines.push(format!(
        "  {name}: {}{span}{ooms}, {}, {}, {}",
        pluralize(device.events, "event"),
        pluralize(device.allocations, "allocation"),
        pluralize(device.segments, "segment"),
        pluralize(device.annotations, "annotation mark"),
    ));
    lines.extend(loaded_range(device).map(|range| format!("    loaded: {range}")));
    let mut row = |label: &str, bytes: i64, note: String| {
        let sign = if bytes < 0 { "−" } else { "" };
        let bytes = bytes.unsigned_abs();
        let exact = format!("{sign}{}", group_digits(bytes));
        let short = format!("{sign}{}", Bytes(bytes));
        lines.push(format!("    {label:<34}{short:>10}  {exact:>19} B{note}"));
    };
    let signed = |bytes: u64| i64::try_from(bytes).unwrap_or(i64::MAX);
    let before = if device.loaded.is_some() { "baseline (before the range)" } else { "baseline (before recording)" };
    let position = if device.peak_event < 0 {
        "before the first event".to_owned()
    } else {
        format!("event {}", group_digits(device.peak_event.unsigned_abs()))
    };
    row("peak", device.peak_requested, format!(", {position}"));
    row(before, device.base_requested, String::new());
    row("live at the end", signed(device.end_requested), String::new());
    if device.has_rounded() {
        row("  allocated (rounded)", signed(device.end_rounded), String::new());
    }
    row("minimum", device.min_requested, String::new());
    row("mean over events", device.mean_requested.round() as i64, String::new());
    row("median over events", device.median_requested, String::new());
    if let Some(mean) = device.time_weighted_mean_requested {
        row("mean over time", mean.round() as i64, String::new());
    }
    row(
        "freed, allocated before recording",
        signed(device.unmatched_free_bytes),
        format!(", {}", pluralize(device.unmatched_frees, "block")),
    );
    row(
        "never freed, allocated before recording",
        signed(device.static_requested),
        format!(", {}", pluralize(device.static_blocks, "block")),
    );
    if device.unexplained_requested > 0 {
        row("unexplained", signed(device.unexplained_requested), String::new());
    }
    if device.has_reserved() {
        row("peak reserved", device.peak_reserved, String::new());
        row("reserved at the end", signed(device.reserved_end), String::new());
    }
    let known = [
        ("capacity", CAPACITY),
        ("used outside the allocator", OUTSIDE_ALLOCATOR),
        ("used by other processes", OTHER_PROCESSES),
        ("used outside or by other processes", OUTSIDE_OR_OTHERS),
        ("paused (reserved, not on the device)", PAUSED),
        ("paused at most", PEAK_PAUSED),
        ("peak by memory_stats()", COUNTED_PEAK),
    ];
    for (label, key) in known {
        let check = device.peak_check().filter(|_| key == COUNTED_PEAK).map_or("", peak_check);
        device.recorder_value(key).into_iter().for_each(|bytes| row(label, signed(bytes), check.to_owned()));
    }
    if let Some(tensors) = device.recorder_value(TENSORS) {
        let found = group_digits(device.recorder_value(TENSORS_FOUND).unwrap_or(0));
        lines.push(format!("    {}, {found} of them live at the end", pluralize(tensors, "named tensor")));
    }
}
