//! What the start page says of recent files beside their names: how large each is, its peak, and when it was opened.

use super::shared::Shared;
use super::url::{percent_decoded, percent_encoded};
use base::units::Bytes;

/// Files of which something is known: as many as the shell keeps, and some more whose handles it has no longer.
const MOST: usize = 20;
/// A stored text that is longer is not ours.
const LONGEST: usize = 1 << 16;

/// What is known of recent files, the latest first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RecentFiles(Vec<File>);

#[derive(Clone, Debug, PartialEq)]
struct File {
    name: String,
    bytes: u64,
    peak: u64,
    opened_ms: u64,
}

impl RecentFiles {
    /// Reads what was stored: a file a line, the name last.
    pub fn parse(text: &str) -> RecentFiles {
        let number = |word: Option<&str>| word?.parse().ok();
        let file = |line: &str| {
            let mut words = line.split(' ');
            let [bytes, peak, opened_ms] = [number(words.next())?, number(words.next())?, number(words.next())?];
            Some(File { name: percent_decoded(words.next()?), bytes, peak, opened_ms })
        };
        RecentFiles(if text.len() > LONGEST { Vec::new() } else { text.lines().filter_map(file).take(MOST).collect() })
    }

    /// As it is stored.
    pub fn stored(&self) -> String {
        let line = |File { name, bytes, peak, opened_ms }: &File| {
            [&bytes.to_string(), " ", &peak.to_string(), " ", &opened_ms.to_string(), " ", &percent_encoded(name)]
                .concat()
        };
        self.0.iter().map(line).collect::<Vec<_>>().join("\n")
    }

    /// The open file is the latest.
    pub fn add(&mut self, state: &Shared, opened_ms: u64) {
        let Some((choice, file)) = state.snapshots.get(state.chosen).zip(state.file()) else { return };
        let peak = file
            .devices
            .iter()
            .filter_map(|device| u64::try_from(device.peak_requested).ok())
            .max()
            .unwrap_or_default();
        self.0.retain(|known| known.name != choice.file);
        self.0.insert(0, File { name: choice.file.clone(), bytes: choice.bytes.unwrap_or_default(), peak, opened_ms });
        self.0.truncate(MOST);
    }

    /// `117 MiB · peak 4.27 GiB`, and when the file of this name was opened.
    pub fn facts(&self, name: &str) -> Option<(String, u64)> {
        let file = self.0.iter().find(|file| file.name == name)?;
        Some((format!("{} · peak {}", Bytes(file.bytes), Bytes(file.peak)), file.opened_ms))
    }
}

#[cfg(test)]
#[path = "../../tests/units/ui/recent_files.rs"]
mod tests;
