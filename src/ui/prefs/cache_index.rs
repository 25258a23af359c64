//! Index of the cache of decoded snapshots: keys, sizes, and eviction of the least recently used snapshot.
//!
//! A key consists of the file's fingerprint, which includes its length ([`crate::text::fingerprint`]), and its
//! modification time.

use base::units::{Bytes, pluralize};

/// Minimum size in bytes of a file that is cached. Smaller files decode fast enough without a cache.
pub const MIN_FILE_BYTES: u64 = 8 << 20;
/// Capacity of the cache, in bytes.
pub const CAPACITY_BYTES: u64 = 1 << 30;

/// Prefix of the first line of the stored index. The build id follows.
const FIRST_LINE: &str = "memscape kept 1 ";
/// Maximum length of the stored index, in bytes. Longer text is ignored, since this program cannot have written it.
const MAX_TEXT_BYTES: usize = 1 << 20;

/// An entry of the index: one cached snapshot.
#[derive(Clone, Debug, PartialEq)]
struct Entry {
    key: String,
    bytes: u64,
    /// Time of last use, in milliseconds since 1970.
    used_ms: u64,
}

/// The index of all cached snapshots.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CacheIndex(Vec<Entry>);

/// Returns the cache key for a file with this fingerprint and modification time.
pub fn key(print: &str, changed_ms: u64) -> String {
    [print, "-", &changed_ms.to_string()].concat()
}

impl CacheIndex {
    /// Parses the stored index. Returns an empty index if another build wrote it, since that build may decode files
    /// differently.
    pub fn parse(text: &str, build: &str) -> CacheIndex {
        let mut lines = text.lines();
        if text.len() > MAX_TEXT_BYTES || lines.next().and_then(|line| line.strip_prefix(FIRST_LINE)) != Some(build) {
            return CacheIndex::default();
        }
        let entry = |line: &str| {
            let mut words = line.split(' ');
            let (key, bytes, used_ms) = (words.next()?, words.next()?.parse().ok()?, words.next()?.parse().ok()?);
            let is_key = !key.is_empty() && key.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'-');
            is_key.then(|| Entry { key: key.to_owned(), bytes, used_ms })
        };
        CacheIndex(lines.filter_map(entry).collect())
    }

    /// Formats the index for storage.
    pub fn to_text(&self, build: &str) -> String {
        let mut text = [FIRST_LINE, build].concat();
        for Entry { key, bytes, used_ms } in &self.0 {
            text.extend(["\n", key, " ", &bytes.to_string(), " ", &used_ms.to_string()]);
        }
        text
    }

    /// Returns whether a file of this length and modification time may be cached. If not, computing its fingerprint is
    /// unnecessary.
    pub fn may_have(&self, length: u64, changed_ms: u64) -> bool {
        let (start, end) = ([&length.to_string(), "-"].concat(), ["-", &changed_ms.to_string()].concat());
        self.0.iter().any(|entry| entry.key.starts_with(&start) && entry.key.ends_with(&end))
    }

    /// Marks an entry as used now. Returns false if the key is not in the index.
    pub fn touch(&mut self, key: &str, now_ms: u64) -> bool {
        let entry = self.0.iter_mut().find(|entry| entry.key == key);
        entry.map(|entry| entry.used_ms = now_ms).is_some()
    }

    /// Evicts entries until `bytes` more fit. Returns the evicted keys, least recently used first, or `None` if `bytes`
    /// exceeds the capacity.
    pub fn make_room(&mut self, bytes: u64) -> Option<Vec<String>> {
        if bytes > CAPACITY_BYTES {
            return None;
        }
        let mut evicted = Vec::new();
        while self.bytes() + bytes > CAPACITY_BYTES {
            let oldest = self.0.iter().min_by_key(|entry| entry.used_ms)?.key.clone();
            self.remove(&oldest);
            evicted.push(oldest);
        }
        Some(evicted)
    }

    /// Adds an entry, replacing one with the same key.
    pub fn add(&mut self, key: String, bytes: u64, now_ms: u64) {
        self.remove(&key);
        self.0.push(Entry { key, bytes, used_ms: now_ms });
    }

    pub fn remove(&mut self, key: &str) {
        self.0.retain(|entry| entry.key != key);
    }

    fn bytes(&self) -> u64 {
        self.0.iter().fold(0, |sum, entry| sum.saturating_add(entry.bytes))
    }

    /// Formats a summary: `312 MiB of 3 files are kept.`
    pub fn summary(&self) -> String {
        match self.0.len() as u64 {
            0 => "Nothing is kept.".to_owned(),
            1 => format!("{} of 1 file is kept.", Bytes(self.bytes())),
            count => format!("{} of {} are kept.", Bytes(self.bytes()), pluralize(count, "file")),
        }
    }
}

#[cfg(test)]
#[path = "../../../tests/units/ui/kept.rs"]
mod tests;
