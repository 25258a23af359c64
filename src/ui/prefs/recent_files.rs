//! Details of recently opened files, for the start page: size, peak, and time of opening.

use crate::state::shared::Shared;
use crate::text::url::{percent_decoded, percent_encoded};
use base::units::Bytes;

/// Maximum number of files in the list. The shell stores fewer file handles.
const MAX_FILES: usize = 20;
/// Maximum length of the stored text, in bytes. Longer text is ignored, since this program cannot have written it.
const MAX_STORED: usize = 1 << 16;

/// List of recently opened files with their details, latest first.
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
    /// Parses the stored text, which has one file per line. The file's name comes last in its line.
    pub fn parse(text: &str) -> RecentFiles {
        let number = |word: Option<&str>| word?.parse().ok();
        let file = |line: &str| {
            let mut words = line.split(' ');
            let [bytes, peak, opened_ms] = [number(words.next())?, number(words.next())?, number(words.next())?];
            Some(File { name: percent_decoded(words.next()?), bytes, peak, opened_ms })
        };
        RecentFiles(if text.len() > MAX_STORED {
            Vec::new()
        } else {
            text.lines().filter_map(file).take(MAX_FILES).collect()
        })
    }

    /// Formats the list for storage.
    pub fn to_text(&self) -> String {
        let line = |File { name, bytes, peak, opened_ms }: &File| {
            [&bytes.to_string(), " ", &peak.to_string(), " ", &opened_ms.to_string(), " ", &percent_encoded(name)]
                .concat()
        };
        self.0.iter().map(line).collect::<Vec<_>>().join("\n")
    }

    /// Adds the open file at the start of the list.
    pub fn add(&mut self, state: &Shared, opened_ms: u64) {
        let Some((choice, file)) = state.snapshots.get(state.snapshot_index).zip(state.file()) else { return };
        let peak = file
            .devices
            .iter()
            .filter_map(|device| u64::try_from(device.peak_requested).ok())
            .max()
            .unwrap_or_default();
        self.0.retain(|known| known.name != choice.file);
        self.0.insert(0, File { name: choice.file.clone(), bytes: choice.bytes.unwrap_or_default(), peak, opened_ms });
        self.0.truncate(MAX_FILES);
    }

    /// Returns a description of the file with this name, such as `117 MiB · peak 4.27 GiB`, and the time at which it
    /// was opened, in milliseconds since 1970. `None` if the list does not contain the file.
    pub fn describe(&self, name: &str) -> Option<(String, u64)> {
        let file = self.0.iter().find(|file| file.name == name)?;
        Some((format!("{} · peak {}", Bytes(file.bytes), Bytes(file.peak)), file.opened_ms))
    }
}

#[cfg(test)]
#[path = "../../../tests/units/ui/recent_files.rs"]
mod tests;
