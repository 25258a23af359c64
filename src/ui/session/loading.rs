//! View model of the loading panel: progress, rate and phase.

use crate::state::effect::Origin;
use crate::state::load_dialog::PAGE_MEMORY;
use crate::state::partial::PartialState;
use crate::state::stage::Loading;
use crate::text::url::server;
use base::units::{Bytes, pluralize};
use protocol::Phase;

/// Number of bytes that must have been read before a stopped worker can have run out of memory. Fewer bytes could not
/// fill the memory, even at the maximum compression ratio of gzip.
const MIN_TO_FILL: u64 = 4 << 20;

/// Contents of the panel that shows the progress of reading a file.
#[derive(Clone, Debug, PartialEq)]
pub struct LoadingView {
    pub name: String,
    /// Progress, 0 to 1. `None` if the file's size is unknown.
    pub fraction: Option<f64>,
    /// Progress, such as `Reading and decoding · 1.20 GiB of 4.00 GiB · 310 MB/s`.
    pub text: String,
    /// True if the timeline shows the events decoded so far.
    pub is_drawn: bool,
}

impl Loading {
    /// Creates the state of a load that starts at `now_ms`. `total_bytes` is the file's size, if known.
    pub fn new(origin: Origin, name: String, total_bytes: Option<u64>, now_ms: f64) -> Loading {
        let phase = Phase::Decoding;
        Loading { name, origin, bytes: 0, total_bytes, phase, started_ms: now_ms, latest_ms: now_ms, partial: None }
    }

    /// Builds the contents of the loading panel.
    pub fn view(&self) -> LoadingView {
        // If a server compresses without declaring it, its content length is smaller than the bytes read.
        let total = self.total_bytes.filter(|total| *total > 0 && *total >= self.bytes);
        let fraction = total.map(|total| self.bytes as f64 / total as f64);
        if let Some(unfinished) = &self.partial {
            let text = self.partial_text(unfinished, fraction);
            return LoadingView { name: self.title(), fraction, text, is_drawn: true };
        }
        let mut text = match self.phase {
            Phase::Decoding => "Reading and decoding".to_owned(),
            Phase::Indexing => "Building indexes".to_owned(),
        };
        if self.bytes > 0 || total.is_some() {
            text.push_str(&format!(" · {}", Bytes(self.bytes)));
        }
        if let Some(total) = total {
            text.push_str(&format!(" of {}", Bytes(total)));
        }
        self.push_rate(&mut text);
        LoadingView { name: self.title(), fraction, text, is_drawn: false }
    }

    /// Formats the progress shown beside a partial timeline: `Reading 43 % · 1,234,567 events · 310 MB/s`.
    fn partial_text(&self, unfinished: &PartialState, fraction: Option<f64>) -> String {
        let mut text = match (self.phase, fraction) {
            (Phase::Decoding, Some(part)) => format!("Reading {:.0} %", (100.0 * part).floor()),
            (Phase::Decoding, None) => format!("Reading {}", Bytes(self.bytes)),
            (Phase::Indexing, _) => "Building indexes".to_owned(),
        };
        text.push_str(&format!(" · {}", pluralize(unfinished.events(), "event")));
        self.push_rate(&mut text);
        text
    }

    fn push_rate(&self, text: &mut String) {
        match self.megabytes_per_second() {
            None => {}
            Some(rate) if rate < 1.0 => text.push_str(&format!(" · {:.0} kB/s", 1e3 * rate)),
            Some(rate) => text.push_str(&format!(" · {rate:.0} MB/s")),
        }
    }

    /// Returns the name of the file, and the server if it is fetched from one.
    pub(crate) fn title(&self) -> String {
        match &self.origin {
            Origin::Link(link) => server(link).map(|server| [&self.name, " from ", server].concat()),
            Origin::File(_) => None,
        }
        .unwrap_or_else(|| self.name.clone())
    }

    /// Describes how far a load got before the worker stopped, and estimates the memory that the whole file needs.
    pub(crate) fn stopped_text(&self) -> String {
        let mut text = format!(" after {} of {}", Bytes(self.bytes), self.name);
        if let Some(total) = self.total_bytes.filter(|&total| total > self.bytes && self.bytes >= MIN_TO_FILL) {
            let needed = u128::from(PAGE_MEMORY) * u128::from(total) / u128::from(self.bytes);
            let (total, needed) = (Bytes(total), Bytes(u64::try_from(needed).unwrap_or(u64::MAX)));
            text.push_str(&format!(", of {total}. If memory ran out: the whole file needs about {needed}"));
        }
        text
    }

    /// Returns the average loading rate since the start, in 10^6 bytes per second. `None` during the first 200 ms.
    fn megabytes_per_second(&self) -> Option<f64> {
        let elapsed_ms = self.latest_ms - self.started_ms;
        (elapsed_ms >= 200.0 && self.bytes > 0).then(|| self.bytes as f64 / elapsed_ms / 1e3)
    }
}

#[cfg(test)]
#[path = "../../../tests/units/ui/loading.rs"]
mod tests;
