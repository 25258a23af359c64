//! Incremental reader of columns, which splits the bytes into sections and decodes them in steps.

use super::error::CompactError;
use super::events::EventDecoder;
use super::format::{
    CACHE_FLAG, CHECKSUM_BYTES, HEADER_BYTES, MAGIC, MAX_BYTES, VERSION, checksum, fast_checksum, section_kind,
};
use super::numbers::NumberReader;
use super::tables::Tables;
use crate::snapshot::{EventSink, Snapshot};
use base::heap::HeapBytes;

/// Reader of a snapshot in compact columns. Call [`ColumnReader::feed`], then [`ColumnReader::step`] until it returns
/// `false`, and repeat. Call [`ColumnReader::finish`] at the end.
pub struct ColumnReader<S> {
    sink: S,
    events: EventDecoder,
    tables: Tables,
    /// Bytes fed so far and not yet dropped. The first `consumed` bytes are already decoded.
    buffer: Vec<u8>,
    consumed: usize,
    /// Offset of the buffer in the file.
    buffer_offset: u64,
    /// True if this is a cache file, which is read in place of the original file.
    is_cache: bool,
    stage: Stage,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// Expecting the magic number and the version.
    Header,
    BetweenSections,
    /// Inside a section of events. Holds the length of the payload, which follows the header in the buffer.
    Events(usize),
    /// The end marker was read. Holds the number of trailing bytes.
    Finished(u64),
    Broken(CompactError),
}

/// Contents of a file of compact columns, except its events.
pub struct CompactContents {
    /// Decoded snapshot. It equals the snapshot in the original file.
    pub snapshot: Snapshot,
    /// Number of bytes after the end marker.
    pub trailing_bytes: u64,
}

impl<S: EventSink> ColumnReader<S> {
    /// Creates a reader that passes the events to `sink`.
    pub fn new(sink: S) -> ColumnReader<S> {
        let (events, tables, buffer, consumed, buffer_offset, is_cache) = Default::default();
        ColumnReader { sink, events, tables, buffer, consumed, buffer_offset, is_cache, stage: Stage::Header }
    }

    pub fn sink(&self) -> &S {
        &self.sink
    }

    pub fn sink_mut(&mut self) -> &mut S {
        &mut self.sink
    }

    /// Adds the next bytes of the file, which [`ColumnReader::step`] decodes.
    ///
    /// # Errors
    /// Returns an error if an earlier step failed.
    pub fn feed(&mut self, bytes: &[u8]) -> Result<(), CompactError> {
        if let Stage::Broken(error) = self.stage {
            return Err(error);
        }
        self.buffer.drain(..self.consumed);
        self.buffer_offset += self.consumed as u64;
        self.consumed = 0;
        match &mut self.stage {
            // A cache file must not have trailing bytes.
            Stage::Finished(_) if self.is_cache && !bytes.is_empty() => {
                self.fail(bytes.len());
            }
            Stage::Finished(behind) => *behind += bytes.len() as u64,
            _ => self.buffer.extend_from_slice(bytes),
        }
        Ok(())
    }

    /// Decodes part of the bytes fed so far. Returns `false` if more bytes are needed. Errors are returned by the next
    /// [`ColumnReader::feed`] or by [`ColumnReader::finish`].
    pub fn step(&mut self) -> bool {
        let rest = self.buffer.get(self.consumed..).unwrap_or_default();
        match self.stage {
            Stage::Header => {
                let Some((magic, [version, ..])) = rest.split_at_checked(MAGIC.len()) else { return false };
                self.is_cache = *version == VERSION | CACHE_FLAG;
                if magic != MAGIC || (*version != VERSION && !self.is_cache) {
                    self.stage = Stage::Broken(CompactError::Version(*version));
                    return false;
                }
                self.consumed += MAGIC.len() + 1;
                self.stage = Stage::BetweenSections;
                true
            }
            Stage::BetweenSections => {
                let Some((head, body)) = rest.split_first_chunk::<HEADER_BYTES>() else { return false };
                let &[what, ref length @ ..] = head;
                let length = u32::from_le_bytes(*length) as usize;
                if length > MAX_BYTES {
                    return self.fail(HEADER_BYTES);
                }
                let Some((payload, rest)) = body.split_at_checked(length) else { return false };
                let Some(&expected) = rest.first_chunk::<CHECKSUM_BYTES>() else { return false };
                let whole = HEADER_BYTES + length;
                let section = self.buffer.get(self.consumed..self.consumed + whole).unwrap_or_default();
                let sum = if self.is_cache { fast_checksum(section) } else { checksum(section) };
                if sum != u32::from_le_bytes(expected) {
                    return self.fail(whole + CHECKSUM_BYTES);
                }
                let is_sound = match what {
                    section_kind::EVENTS => self.events.start_section(payload),
                    section_kind::IMAGE => self.is_cache && self.sink.history_part(payload),
                    section_kind::END => {
                        let is_whole = payload.is_empty() && self.tables.is_complete(&self.events);
                        is_whole && self.sink.end(self.tables.rows())
                    }
                    _ => self.tables.read(what, NumberReader::new(payload)),
                };
                if !is_sound {
                    return self.fail(whole + CHECKSUM_BYTES);
                }
                if self.events.is_open() {
                    self.stage = Stage::Events(length);
                    return true;
                }
                self.consumed += whole + CHECKSUM_BYTES;
                if what == section_kind::END && self.is_cache && rest.len() > CHECKSUM_BYTES {
                    return self.fail(rest.len() - CHECKSUM_BYTES);
                }
                if what == section_kind::END {
                    self.stage = Stage::Finished((rest.len() - CHECKSUM_BYTES) as u64);
                    self.consumed = self.buffer.len();
                    return false;
                }
                true
            }
            Stage::Events(length) => {
                let payload = rest.get(HEADER_BYTES..HEADER_BYTES + length).unwrap_or_default();
                match self.events.step(payload, &mut self.sink) {
                    Some(true) => {}
                    Some(false) => {
                        self.consumed += HEADER_BYTES + length + CHECKSUM_BYTES;
                        self.stage = Stage::BetweenSections;
                    }
                    None => return self.fail(HEADER_BYTES + length + CHECKSUM_BYTES),
                }
                true
            }
            Stage::Finished(_) | Stage::Broken(_) => false,
        }
    }

    /// Stops decoding with an error: the next `bytes` bytes are damaged. Always returns `false`.
    fn fail(&mut self, bytes: usize) -> bool {
        let from = self.buffer_offset + self.consumed as u64;
        self.stage = Stage::Broken(CompactError::Damaged { from, to: from + bytes as u64 });
        false
    }

    /// Returns the format of the original file, with its compression layers, outermost first. Empty until the section
    /// that contains it has been read.
    pub fn format(&self) -> &str {
        &self.tables.format
    }

    /// Returns a human-readable description of the file's format. For a cache file, describes the original file
    /// instead.
    pub fn description(&self) -> String {
        if self.is_cache { self.format().to_owned() } else { ["columns of ", self.format()].concat() }
    }

    /// Returns the snapshot, and the sink with its events, after all bytes were read.
    ///
    /// # Errors
    /// Returns an error if the file is damaged, truncated, or of another version.
    pub fn finish(self) -> Result<(CompactContents, S), CompactError> {
        let fed = self.buffer_offset + self.buffer.len() as u64;
        match self.stage {
            Stage::Finished(trailing_bytes) => {
                Ok((CompactContents { snapshot: self.tables.into_snapshot(), trailing_bytes }, self.sink))
            }
            Stage::Broken(error) => Err(error),
            _ => Err(CompactError::Truncated(fed)),
        }
    }

    /// Returns the heap size in bytes of the buffered bytes and the addresses of the current trace. Does not include
    /// the tables.
    pub fn heap_bytes(&self) -> usize {
        self.buffer.capacity() + self.events.heap_bytes()
    }

    /// Returns the heap size of each table, in bytes.
    pub fn tables_heap_bytes(&self) -> Vec<(&'static str, usize)> {
        self.tables.heap_bytes()
    }
}
