//! What is kept of snapshots that were decoded: which there are, how large they are, and which have to go for another one.
//!
//! A file is told from others, and from what it was before, by its length, its fingerprint ([`super::fingerprint`]) and when it was changed.

use base::units::{Bytes, counted};

/// Files of so many bytes and more are kept: smaller ones are decoded as fast.
pub const LEAST: u64 = 8 << 20;
/// Bytes that are kept in all.
pub const MOST: u64 = 1 << 30;

/// What the stored text begins with; the build that wrote it follows.
const FIRST_LINE: &str = "memscape kept 1 ";
/// A stored text that is longer is not ours.
const LONGEST: usize = 1 << 20;

/// One that is kept.
#[derive(Clone, Debug, PartialEq)]
struct Entry {
    key: String,
    bytes: u64,
    /// When it was used last, in milliseconds.
    used_ms: u64,
}

/// All that are kept.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Kept(Vec<Entry>);

/// The key of a file by its fingerprint, changed at this time.
pub fn key(print: &str, changed_ms: u64) -> String {
    [print, "-", &changed_ms.to_string()].concat()
}

impl Kept {
    /// Reads what was stored by a build; what another one has written is not read, for it may have decoded in another way.
    pub fn parse(text: &str, build: &str) -> Kept {
        let mut lines = text.lines();
        if text.len() > LONGEST || lines.next().and_then(|line| line.strip_prefix(FIRST_LINE)) != Some(build) {
            return Kept::default();
        }
        let entry = |line: &str| {
            let mut words = line.split(' ');
            let (key, bytes, used_ms) = (words.next()?, words.next()?.parse().ok()?, words.next()?.parse().ok()?);
            let is_key = !key.is_empty() && key.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'-');
            is_key.then(|| Entry { key: key.to_owned(), bytes, used_ms })
        };
        Kept(lines.filter_map(entry).collect())
    }

    /// As it is stored.
    pub fn stored(&self, build: &str) -> String {
        let mut text = [FIRST_LINE, build].concat();
        for Entry { key, bytes, used_ms } in &self.0 {
            text.extend(["\n", key, " ", &bytes.to_string(), " ", &used_ms.to_string()]);
        }
        text
    }

    /// Whether one of a file of this length, changed at this time, is kept: its fingerprint is worth reading.
    pub fn may_have(&self, length: u64, changed_ms: u64) -> bool {
        let (start, end) = ([&length.to_string(), "-"].concat(), ["-", &changed_ms.to_string()].concat());
        self.0.iter().any(|entry| entry.key.starts_with(&start) && entry.key.ends_with(&end))
    }

    /// Uses the one of this key now; whether there is one.
    pub fn take(&mut self, key: &str, now_ms: u64) -> bool {
        let entry = self.0.iter_mut().find(|entry| entry.key == key);
        entry.map(|entry| entry.used_ms = now_ms).is_some()
    }

    /// Makes room for so many bytes: the keys of those that go, which were used longest ago. `None` where there is never room for so much.
    pub fn make_room(&mut self, bytes: u64) -> Option<Vec<String>> {
        if bytes > MOST {
            return None;
        }
        let mut gone = Vec::new();
        while self.bytes() + bytes > MOST {
            let oldest = self.0.iter().min_by_key(|entry| entry.used_ms)?.key.clone();
            self.remove(&oldest);
            gone.push(oldest);
        }
        Some(gone)
    }

    /// One more is kept.
    pub fn add(&mut self, key: String, bytes: u64, now_ms: u64) {
        self.remove(&key);
        self.0.push(Entry { key, bytes, used_ms: now_ms });
    }

    /// One is kept no longer.
    pub fn remove(&mut self, key: &str) {
        self.0.retain(|entry| entry.key != key);
    }

    fn bytes(&self) -> u64 {
        self.0.iter().fold(0, |sum, entry| sum.saturating_add(entry.bytes))
    }

    /// `312 MiB of 3 files are kept.`
    pub fn said(&self) -> String {
        match self.0.len() as u64 {
            0 => "Nothing is kept.".to_owned(),
            1 => format!("{} of 1 file is kept.", Bytes(self.bytes())),
            count => format!("{} of {} are kept.", Bytes(self.bytes()), counted(count, "file")),
        }
    }
}

#[cfg(test)]
#[path = "../../tests/units/ui/kept.rs"]
mod tests;
