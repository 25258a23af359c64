//! Memory outside the allocator over time, from the recorder's samples.

use crate::recorder_facts::{outside_of_sample, paused_over_time, recorder_facts};
use crate::report::writer::{ReportWriter, bytes_text, is_notable};
use protocol::{CAPACITY, Tone};

/// Writes a statement if the memory outside the allocator grew during the recording.
pub(super) fn write(writer: &mut ReportWriter<'_>) {
    let (snapshot, device) = (writer.side.snapshot(), writer.side.history.device);
    let recorder = &snapshot.recorder;
    if recorder.observed.samples.is_empty() {
        return;
    }
    let facts = recorder_facts(snapshot, writer.side.history);
    let Some(&(_, capacity)) = facts.iter().find(|(key, _)| key == CAPACITY) else { return };
    let paused = paused_over_time(snapshot, device);
    let samples = recorder.observed.samples.iter().filter(|sample| sample.device == device);
    let mut outside = samples.filter_map(|it| Some((it.time_us, outside_of_sample(it, capacity, &paused)?)));
    let Some(first) = outside.next() else { return };
    // The largest rise between two samples, with the times of both.
    let (mut last, mut rise) = (first, (0, [0, 0]));
    for sample in outside {
        let bytes = sample.1.saturating_sub(last.1);
        if bytes > rise.0 {
            rise = (bytes, [last.0, sample.0]);
        }
        last = sample;
    }
    let growth = last.1.saturating_sub(first.1);
    if !is_notable(growth, capacity) {
        return;
    }
    let (bytes, [from, to]) = rise;
    let event = recorder.sample_event(from, to).map_or_else(String::new, |event| format!(" ({event})"));
    let text = format!(
        "Memory outside the allocator grew by {} to {}. Largest rise between two samples: {}{event}.",
        bytes_text(growth),
        bytes_text(last.1),
        bytes_text(bytes)
    );
    writer.add_statement(Tone::Alarm, text, None);
}
