//! Partial results that are sent while a file is being decoded.

use super::decoder::Decoder;
use base::sorted::{signed_key, sorted_by_key, two_part_key};
use history::replay::{Builder, Outline, Partial, RunningTotal};
use history::snapshot::{Action, HOST_DEVICE, Snapshot};
use protocol::{DeviceSummary, FileSummary, PartialDevice, PartialFile, Progress, SCHEMA};

/// Maximum relative change of the estimated event count that is ignored, so that the axis does not jitter.
const ESTIMATE_TOLERANCE: f64 = 1.0 / 32.0;

/// Schedule that limits how often partial results are sent. Times are in milliseconds on the caller's clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct PartialSchedule {
    due_ms: f64,
}

impl PartialSchedule {
    /// Delay before the first partial result. Files that are opened within this time have no partial results.
    const FIRST_DELAY_MS: f64 = 400.0;
    /// Minimum interval between two partial results.
    const MIN_INTERVAL_MS: f64 = 100.0;
    /// Minimum pause after a partial result, as a multiple of the time that it took to produce.
    const PAUSE_FACTOR: f64 = 40.0;

    /// Creates the schedule for a file whose loading starts at `now_ms`.
    pub fn start(now_ms: f64) -> PartialSchedule {
        PartialSchedule { due_ms: now_ms + PartialSchedule::FIRST_DELAY_MS }
    }

    /// Returns whether the next partial result is due.
    pub fn is_due(self, now_ms: f64) -> bool {
        now_ms >= self.due_ms
    }

    /// Schedules the next partial result, after one that took from `from_ms` to `to_ms` to produce.
    pub fn after_update(from_ms: f64, to_ms: f64) -> PartialSchedule {
        PartialSchedule {
            due_ms: to_ms + PartialSchedule::MIN_INTERVAL_MS.max((to_ms - from_ms) * PartialSchedule::PAUSE_FACTOR),
        }
    }
}

/// State of the partial results for the file being loaded.
#[derive(Default)]
pub(super) struct PartialState {
    partial: Partial,
    /// Bytes read and events decoded when the first events were seen. The reading rate is measured from there.
    first_seen: Option<[u64; 2]>,
    /// Index of the trace that is being decoded, and the estimated number of its events.
    expected: (usize, f64),
    /// Number of events in the last partial result.
    sent_events: u64,
    is_complete: bool,
}

impl PartialState {
    /// Adds the events decoded since the last call and returns the new partial results. Returns `None` if there were no
    /// such events.
    pub(super) fn update(&mut self, name: &str, decoder: &Decoder, progress: &Progress) -> Option<PartialFile> {
        decoder.update_partial(&mut self.partial);
        let events: u64 = self.partial.outlines.iter().map(|outline| u64::from(outline.events)).sum();
        let [first_byte, first_event] = *self.first_seen.get_or_insert([progress.bytes, events]);
        if events == 0 {
            self.first_seen = None;
            return None;
        }
        if std::mem::replace(&mut self.sent_events, events) == events {
            return None;
        }
        let last = self.partial.outlines.len() - 1;
        let read = progress.bytes.saturating_sub(first_byte);
        let rest = progress.total_bytes.unwrap_or(0).saturating_sub(progress.bytes);
        let rate = match read {
            0 => events as f64 / progress.bytes.max(1) as f64,
            read => (events - first_event) as f64 / read as f64,
        };
        // The remaining events are split evenly among the devices that have memory but no events yet.
        let others = self.partial.devices.saturating_sub(self.partial.outlines.len()) as f64;
        let decoded = self.partial.outlines.last().map_or(0.0, |outline| f64::from(outline.events));
        let expected = decoded.max((decoded + rate * rest as f64) / (1.0 + others));
        let is_steady = (expected / self.expected.1 - 1.0).abs() < ESTIMATE_TOLERANCE && self.expected.1 >= decoded;
        if self.expected.0 != last || !is_steady {
            self.expected = (last, expected);
        }
        Some(self.build_partial_file(name))
    }

    /// Marks the file as fully decoded. Indexing of the data follows later.
    pub(super) fn finish_decoding(&mut self, builder: &Builder, snapshot: &Snapshot) {
        builder.close_outlines(&mut self.partial, snapshot);
        self.sent_events = 0;
        self.is_complete = true;
    }

    /// Returns the final partial results once the file is fully decoded. Later calls return `None`.
    pub(super) fn take_final(&mut self, name: &str) -> Option<PartialFile> {
        let is_news = self.is_complete && std::mem::replace(&mut self.sent_events, 1) == 0;
        is_news.then(|| self.build_partial_file(name)).filter(|partial| !partial.devices.is_empty())
    }

    fn build_partial_file(&mut self, name: &str) -> PartialFile {
        let (last, expected) = self.expected;
        let outlines = self.partial.outlines.iter().zip(0..).collect();
        let key = |(outline, _): &(&Outline, usize)| {
            two_part_key((outline.device == HOST_DEVICE).into(), signed_key(outline.device))
        };
        let outlines: Vec<(&Outline, usize)> = sorted_by_key(outlines, key);
        let mut summaries = Vec::new();
        for (outline, index) in &outlines {
            let mut summary = summary(outline);
            if *index == last && !self.is_complete {
                summary.events = summary.events.max(expected as u64);
            }
            summaries.push(summary);
        }
        let devices = outlines.iter().map(|(outline, _)| device(outline)).collect();
        let summary = FileSummary {
            schema: SCHEMA,
            file: name.to_owned(),
            format: String::new(),
            torch: None,
            warnings: Vec::new(),
            devices: summaries,
            settings: Vec::new(),
            pools: Vec::new(),
            recorder: Vec::new(),
        };
        PartialFile { summary, devices, is_complete: self.is_complete }
    }
}

fn device(outline: &Outline) -> PartialDevice {
    let bins = |line: &RunningTotal, base: i64| line.bins.iter().map(|&bin| bin.saturating_add(base)).collect();
    PartialDevice {
        events: outline.events.into(),
        bin_bits: outline.bin_bits,
        live: bins(&outline.live, outline.base[0]),
        reserved: bins(&outline.reserved, outline.base[1]),
    }
}

fn summary(outline: &Outline) -> DeviceSummary {
    let [base, reserved_start] = outline.base;
    let peak = base.saturating_add(outline.live.peak.0);
    let actions = if outline.ooms > 0 { vec![(Action::Oom.name().to_owned(), outline.ooms)] } else { Vec::new() };
    DeviceSummary {
        device: outline.device,
        events: outline.events.into(),
        actions,
        allocations: outline.allocations,
        base_requested: base,
        peak_requested: peak,
        peak_event: i64::from(outline.live.peak.1) - 1,
        end_requested: u64::try_from(base.saturating_add(outline.live.current)).unwrap_or(0),
        reserved_start,
        peak_reserved: reserved_start.saturating_add(outline.reserved.peak.0),
        drawn_peak: u64::try_from(peak).unwrap_or(0),
        ..DeviceSummary::default()
    }
}
