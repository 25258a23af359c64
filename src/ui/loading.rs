//! The loading panel as text: bytes of total, rate, phase.

use super::effect::Origin;
use super::stage::Loading;
use super::url::server;
use base::units::Bytes;
use engine::protocol::Phase;

/// What a worker can have: all that 32-bit addresses reach.
const WORKER_MEMORY: u64 = 4 << 30;
/// A worker that dies before so many bytes were read did not die of too large a file: even gzip's best would not fill its memory.
const LEAST_TO_FILL_IT: u64 = 4 << 20;

/// What the loading panel shows.
#[derive(Clone, Debug, PartialEq)]
pub struct LoadingView {
    /// The file's name.
    pub name: String,
    /// The part that is done, 0..=1; `None` where the total is not known.
    pub fraction: Option<f64>,
    /// `Decoding · 1.20 GiB of 4.00 GiB · 310 MB/s`.
    pub text: String,
}

impl Loading {
    /// A load that begins at `now_ms`.
    pub fn new(origin: Origin, name: String, total_bytes: Option<u64>, now_ms: f64) -> Loading {
        let phase = Phase::Decoding;
        Loading { name, origin, bytes: 0, total_bytes, phase, started_ms: now_ms, latest_ms: now_ms }
    }

    /// The loading panel.
    pub fn view(&self) -> LoadingView {
        // A server that does not show that it compresses on the way says a length that is none of what is read.
        let total = self.total_bytes.filter(|total| *total > 0 && *total >= self.bytes);
        let mut text = match self.phase {
            Phase::Decoding => "Reading and decoding".to_owned(),
            Phase::Indexing => "Building the indices".to_owned(),
        };
        if self.bytes > 0 || total.is_some() {
            text.push_str(&format!(" · {}", Bytes(self.bytes)));
        }
        if let Some(total) = total {
            text.push_str(&format!(" of {}", Bytes(total)));
        }
        match self.megabytes_per_second() {
            None => {}
            Some(rate) if rate < 1.0 => text.push_str(&format!(" · {:.0} kB/s", 1e3 * rate)),
            Some(rate) => text.push_str(&format!(" · {rate:.0} MB/s")),
        }
        let fraction = total.map(|total| self.bytes as f64 / total as f64);
        LoadingView { name: self.title(), fraction, text }
    }

    /// Its name, and the server that is asked for it.
    pub(super) fn title(&self) -> String {
        match &self.origin {
            Origin::Link(link) => server(link).map(|server| [&self.name, " from ", server].concat()),
            Origin::File(_) => None,
        }
        .unwrap_or_else(|| self.name.clone())
    }

    /// For the sentence about a worker that died while it loaded this: how far it was, and what the file would need if that was why.
    pub(super) fn when_it_died(&self) -> String {
        let mut text = format!(" after {} of {}", Bytes(self.bytes), self.name);
        if let Some(total) = self.total_bytes.filter(|&total| total > self.bytes && self.bytes >= LEAST_TO_FILL_IT) {
            let needed = u128::from(WORKER_MEMORY) * u128::from(total) / u128::from(self.bytes);
            let (total, needed) = (Bytes(total), Bytes(u64::try_from(needed).unwrap_or(u64::MAX)));
            text.push_str(&format!(", which has {total}: if it was memory, all of it would need about {needed}"));
        }
        text
    }

    /// The mean rate since the beginning, in 10^6 bytes a second; `None` before it means anything.
    fn megabytes_per_second(&self) -> Option<f64> {
        let elapsed_ms = self.latest_ms - self.started_ms;
        (elapsed_ms >= 200.0 && self.bytes > 0).then(|| self.bytes as f64 / elapsed_ms / 1e3)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn loading(bytes: u64, total_bytes: Option<u64>, latest_ms: f64) -> LoadingView {
        Loading { bytes, latest_ms, ..Loading::new(Origin::File(0), "a.pickle".into(), total_bytes, 0.0) }.view()
    }

    #[test]
    fn bytes_total_and_rate_are_said_when_known() {
        let gib = 1 << 30;
        assert_eq!(loading(gib, Some(4 * gib), 4000.0).text, "Reading and decoding · 1.00 GiB of 4.00 GiB · 268 MB/s");
        assert_eq!(loading(gib, Some(4 * gib), 100.0).text, "Reading and decoding · 1.00 GiB of 4.00 GiB");
        assert_eq!(loading(2048, None, 1000.0).text, "Reading and decoding · 2.00 KiB · 2 kB/s");
        assert_eq!(loading(gib, None, 100.0).text, "Reading and decoding · 1.00 GiB");
        assert_eq!(loading(0, None, 0.0).text, "Reading and decoding");
    }

    #[test]
    fn where_a_link_leads_is_said() {
        let of = |link: &str| Loading::new(Origin::Link(link.into()), "a.pickle".into(), None, 0.0).view().name;
        assert_eq!(of("https://files.example/x/a.pickle"), "a.pickle from files.example");
        assert_eq!(of("example.pickle.gz"), "a.pickle");
    }

    #[test]
    fn a_death_tells_how_far_it_was_and_what_the_file_would_need() {
        let died = |bytes, total_bytes| {
            let new = Loading::new(Origin::File(0), "a.pickle".into(), total_bytes, 0.0);
            Loading { bytes, ..new }.when_it_died()
        };
        assert_eq!(
            died(2 << 30, Some(5 << 30)),
            " after 2.00 GiB of a.pickle, which has 5.00 GiB: if it was memory, all of it would need about 10.0 GiB"
        );
        assert_eq!(died(1 << 20, Some(5 << 30)), " after 1.00 MiB of a.pickle");
        assert_eq!(died(2 << 30, None), " after 2.00 GiB of a.pickle");
    }

    #[test]
    fn the_fraction_stays_in_range() {
        assert_eq!(loading(5, Some(10), 0.0).fraction, Some(0.5));
        assert_eq!(loading(50, Some(10), 0.0).fraction, None, "what travels was counted, not what is read");
        assert_eq!(loading(5, None, 0.0).fraction, None);
        assert_eq!(loading(5, Some(0), 0.0).fraction, None, "an empty file has no fraction");
    }
}
