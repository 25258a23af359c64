//! What of a file is told while it is decoded, to whoever asks for it.

use super::decoder::Decoder;
use super::protocol::{DeviceSummary, FileSummary, PartialDevice, PartialFile, Progress, SCHEMA};
use base::sorted::{ascending, pair, sorted_by_key};
use history::replay::{Builder, Line, Outline, Partial};
use history::snapshot::{Action, HOST, Snapshot};

/// An estimate is kept while the next one differs by less than this part of it, so that the axis does not tremble.
const STEADY: f64 = 1.0 / 32.0;

/// When what is decoded so far is told: by milliseconds of whoever's clock it is.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pace {
    due_ms: f64,
}

impl Pace {
    /// Milliseconds after a file was begun: what is open sooner is not shown before.
    const FIRST_MS: f64 = 400.0;
    /// Milliseconds between two times.
    const EVERY_MS: f64 = 100.0;
    /// How many times as long as telling it took is worked before it is told again.
    const REST: f64 = 40.0;

    /// A file is begun.
    pub fn begun(now_ms: f64) -> Pace {
        Pace { due_ms: now_ms + Pace::FIRST_MS }
    }

    /// Whether it is time to tell.
    pub fn is_due(self, now_ms: f64) -> bool {
        now_ms >= self.due_ms
    }

    /// It was told, which took from then until then.
    pub fn told(from_ms: f64, to_ms: f64) -> Pace {
        Pace { due_ms: to_ms + Pace::EVERY_MS.max((to_ms - from_ms) * Pace::REST) }
    }
}

/// What is told of a file that is loading.
#[derive(Default)]
pub(super) struct Partly {
    partial: Partial,
    /// Bytes read and events decoded when events were met first.
    begun: Option<[u64; 2]>,
    /// The estimate of the trace of this number that was told last.
    expected: (usize, f64),
    /// Events that were told last.
    told: u64,
    is_whole: bool,
}

impl Partly {
    /// Takes in what was decoded since the last look, and tells it; `None` where that is nothing.
    pub(super) fn look(&mut self, name: &str, decoder: &Decoder, progress: &Progress) -> Option<PartialFile> {
        decoder.look(&mut self.partial);
        let events: u64 = self.partial.outlines.iter().map(|outline| u64::from(outline.events)).sum();
        let [first_byte, first_event] = *self.begun.get_or_insert([progress.bytes, events]);
        if events == 0 {
            self.begun = None;
            return None;
        }
        if std::mem::replace(&mut self.told, events) == events {
            return None;
        }
        let last = self.partial.outlines.len() - 1;
        let read = progress.bytes.saturating_sub(first_byte);
        let rest = progress.total_bytes.unwrap_or(0).saturating_sub(progress.bytes);
        let rate = match read {
            0 => events as f64 / progress.bytes.max(1) as f64,
            read => (events - first_event) as f64 / read as f64,
        };
        // What is to come is divided among the devices that have memory and no events yet.
        let others = self.partial.devices.saturating_sub(self.partial.outlines.len()) as f64;
        let of_last = self.partial.outlines.last().map_or(0.0, |outline| f64::from(outline.events));
        let expected = of_last.max((of_last + rate * rest as f64) / (1.0 + others));
        let is_steady = (expected / self.expected.1 - 1.0).abs() < STEADY && self.expected.1 >= of_last;
        if self.expected.0 != last || !is_steady {
            self.expected = (last, expected);
        }
        Some(self.tell(name))
    }

    /// All is decoded, and nothing is built of it yet.
    pub(super) fn close(&mut self, builder: &Builder, snapshot: &Snapshot) {
        builder.close(&mut self.partial, snapshot);
        self.told = 0;
        self.is_whole = true;
    }

    /// The numbers of the whole file, once.
    pub(super) fn whole(&mut self, name: &str) -> Option<PartialFile> {
        let is_news = self.is_whole && std::mem::replace(&mut self.told, 1) == 0;
        is_news.then(|| self.tell(name)).filter(|partial| !partial.devices.is_empty())
    }

    fn tell(&mut self, name: &str) -> PartialFile {
        let (last, expected) = self.expected;
        let outlines = self.partial.outlines.iter().zip(0..).collect();
        let key = |(outline, _): &(&Outline, usize)| pair((outline.device == HOST).into(), ascending(outline.device));
        let outlines: Vec<(&Outline, usize)> = sorted_by_key(outlines, key);
        let mut summaries = Vec::new();
        for (outline, at) in &outlines {
            let mut summary = summary(outline);
            if *at == last && !self.is_whole {
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
        PartialFile { summary, devices, is_whole: self.is_whole }
    }
}

fn device(outline: &Outline) -> PartialDevice {
    let bins = |line: &Line, base: i64| line.bins.iter().map(|&bin| bin.saturating_add(base)).collect();
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
        end_requested: u64::try_from(base.saturating_add(outline.live.now)).unwrap_or(0),
        reserved_start,
        peak_reserved: reserved_start.saturating_add(outline.reserved.peak.0),
        drawn_peak: u64::try_from(peak).unwrap_or(0),
        ..DeviceSummary::default()
    }
}
