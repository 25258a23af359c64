//! What of a file is told while it is decoded, to whom asks for it.

use super::decoder::Decoder;
use super::protocol::{PartialDevice, PartialFile, Progress};
use history::replay::{Builder, Line, Outline, Partial};
use history::snapshot::{HOST, Snapshot};
use base::sorted::{ascending, pair, sorted_by_key};

/// An estimate is kept while the next one differs by less than this part of it, so that the axis does not tremble.
const STEADY: f64 = 1.0 / 32.0;

/// What is told of a file that is loading.
#[derive(Default)]
pub(super) struct Partly {
    partial: Partial,
    /// Bytes read and events decoded when events were met first.
    begun: Option<[u64; 2]>,
    /// The estimate of the trace of this number that was told last.
    expected: (usize, f64),
    /// What was told last of each outline: events, and bytes before the first.
    told: Vec<(u32, [i64; 2])>,
    is_whole: bool,
}

impl Partly {
    /// Takes in what was decoded since the last look, and tells it; `None` where that is nothing.
    pub(super) fn look(&mut self, decoder: &Decoder, progress: &Progress) -> Option<PartialFile> {
        decoder.look(&mut self.partial);
        let events: u64 = self.partial.outlines.iter().map(|outline| u64::from(outline.events)).sum();
        let [first_byte, first_event] = *self.begun.get_or_insert([progress.bytes, events]);
        if events == 0 {
            self.begun = None;
            return None;
        }
        if self.told.iter().map(|&(events, _)| u64::from(events)).sum::<u64>() == events {
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
        Some(self.tell())
    }

    /// All is decoded, and nothing is built of it yet.
    pub(super) fn close(&mut self, builder: &Builder, snapshot: &Snapshot) {
        builder.close(&mut self.partial, snapshot);
        self.told.clear();
        self.is_whole = true;
    }

    /// The numbers of the whole file, once.
    pub(super) fn whole(&mut self) -> Option<PartialFile> {
        (self.is_whole && self.told.is_empty() && !self.partial.outlines.is_empty()).then(|| self.tell())
    }

    fn tell(&mut self) -> PartialFile {
        let (last, expected) = self.expected;
        let mut devices = Vec::new();
        for (at, outline) in self.partial.outlines.iter().enumerate() {
            let mut device = device(outline);
            if at == last && !self.is_whole {
                device.expected_events = device.events.max(expected as u64);
            }
            let now = (outline.events, outline.base);
            if self.told.get(at) != Some(&now) {
                let bins = |line: &Line, base: i64| line.bins.iter().map(|&bin| bin.saturating_add(base)).collect();
                device.heights = [bins(&outline.live, outline.base[0]), bins(&outline.reserved, outline.base[1])];
                self.told.resize(self.told.len().max(at + 1), (0, [0; 2]));
                self.told[at] = now;
            }
            devices.push(device);
        }
        let key = |device: &PartialDevice| pair((device.device == HOST).into(), ascending(device.device));
        PartialFile { devices: sorted_by_key(devices, key), is_whole: self.is_whole }
    }
}

fn device(outline: &Outline) -> PartialDevice {
    let [base, reserved_start] = outline.base;
    let events = u64::from(outline.events);
    PartialDevice {
        device: outline.device,
        events,
        expected_events: events,
        allocations: outline.allocations,
        base_requested: base,
        live: base.saturating_add(outline.live.now),
        peak_requested: base.saturating_add(outline.live.peak.0),
        peak_event: i64::from(outline.live.peak.1) - 1,
        reserved_start,
        peak_reserved: reserved_start.saturating_add(outline.reserved.peak.0),
        ooms: outline.ooms,
        bin_bits: outline.bin_bits,
        heights: Default::default(),
    }
}
