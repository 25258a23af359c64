//! Incremental reader of columns. It cuts the bytes into sections and decodes them in steps.

use super::error::CompactError;
use super::events::Events;
use super::form::{HEAD, KEPT, MAGIC, MOST_BYTES, SUM, VERSION, sum, what, wide_sum};
use super::numbers::Numbers;
use super::tables::Tables;
use crate::snapshot::{EventSink, Snapshot};

/// Reader of a snapshot in columns. Call [`Machine::feed`], then [`Machine::step`] until it returns `false`, and
/// repeat. Call [`Machine::finish`] at the end.
pub struct Machine<S> {
    sink: S,
    events: Events,
    tables: Tables,
    /// Bytes fed so far and not yet dropped. The first `read` of them are consumed.
    buffer: Vec<u8>,
    read: usize,
    /// Offset of the buffer in the file.
    begins: u64,
    /// True if this is a cache file, read in place of the original.
    is_kept: bool,
    stage: Stage,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// Expecting the magic number and the version.
    Beginning,
    Between,
    /// Inside a section of events. Holds the length of its payload, which follows the header in the buffer.
    Events(usize),
    /// Everything was read. Counts the trailing bytes.
    Over(u64),
    Broken(CompactError),
}

/// Contents of a file of columns, except its events.
pub struct Compact {
    /// Snapshot, as the decoder of the original file produced it.
    pub snapshot: Snapshot,
    /// Number of bytes after the end marker.
    pub bytes_behind: u64,
}

impl<S: EventSink> Machine<S> {
    /// Creates a reader that passes the events to `sink`.
    pub fn new(sink: S) -> Machine<S> {
        let (events, tables, buffer, read, begins, is_kept) = Default::default();
        Machine { sink, events, tables, buffer, read, begins, is_kept, stage: Stage::Beginning }
    }

    /// Returns the sink of the events.
    pub fn sink(&self) -> &S {
        &self.sink
    }

    /// Returns the sink of the events, for changes.
    pub fn sink_mut(&mut self) -> &mut S {
        &mut self.sink
    }

    /// Adds the next bytes of the file. [`Machine::step`] reads them.
    ///
    /// # Errors
    /// An earlier step failed.
    pub fn feed(&mut self, bytes: &[u8]) -> Result<(), CompactError> {
        if let Stage::Broken(error) = self.stage {
            return Err(error);
        }
        self.buffer.drain(..self.read);
        self.begins += self.read as u64;
        self.read = 0;
        match &mut self.stage {
            // A cache file must not have trailing bytes.
            Stage::Over(_) if self.is_kept && !bytes.is_empty() => {
                self.broken(bytes.len());
            }
            Stage::Over(behind) => *behind += bytes.len() as u64,
            _ => self.buffer.extend_from_slice(bytes),
        }
        Ok(())
    }

    /// Decodes part of the bytes fed so far. Returns `false` if it needs more bytes. Errors are returned by the next
    /// [`Machine::feed`] or by [`Machine::finish`].
    pub fn step(&mut self) -> bool {
        let rest = self.buffer.get(self.read..).unwrap_or_default();
        match self.stage {
            Stage::Beginning => {
                let Some((magic, [version, ..])) = rest.split_at_checked(MAGIC.len()) else { return false };
                self.is_kept = *version == VERSION | KEPT;
                if magic != MAGIC || (*version != VERSION && !self.is_kept) {
                    self.stage = Stage::Broken(CompactError::Version(*version));
                    return false;
                }
                self.read += MAGIC.len() + 1;
                self.stage = Stage::Between;
                true
            }
            Stage::Between => {
                let Some((head, body)) = rest.split_first_chunk::<HEAD>() else { return false };
                let &[what, ref length @ ..] = head;
                let length = u32::from_le_bytes(*length) as usize;
                if length > MOST_BYTES {
                    return self.broken(HEAD);
                }
                let Some((payload, rest)) = body.split_at_checked(length) else { return false };
                let Some(&told) = rest.first_chunk::<SUM>() else { return false };
                let whole = HEAD + length;
                let section = self.buffer.get(self.read..self.read + whole).unwrap_or_default();
                let sum = if self.is_kept { wide_sum(section) } else { sum(section) };
                if sum != u32::from_le_bytes(told) {
                    return self.broken(whole + SUM);
                }
                let is_sound = match what {
                    what::EVENTS => self.events.begin(payload),
                    what::IMAGE => self.is_kept && self.sink.image(payload),
                    what::END => {
                        let is_whole = payload.is_empty() && self.tables.is_whole(&self.events);
                        is_whole && self.sink.end(self.tables.rows())
                    }
                    _ => self.tables.read(what, Numbers::new(payload)),
                };
                if !is_sound {
                    return self.broken(whole + SUM);
                }
                if self.events.is_open() {
                    self.stage = Stage::Events(length);
                    return true;
                }
                self.read += whole + SUM;
                if what == what::END && self.is_kept && rest.len() > SUM {
                    return self.broken(rest.len() - SUM);
                }
                if what == what::END {
                    self.stage = Stage::Over((rest.len() - SUM) as u64);
                    self.read = self.buffer.len();
                    return false;
                }
                true
            }
            Stage::Events(length) => {
                let payload = rest.get(HEAD..HEAD + length).unwrap_or_default();
                match self.events.step(payload, &mut self.sink) {
                    Some(true) => {}
                    Some(false) => {
                        self.read += HEAD + length + SUM;
                        self.stage = Stage::Between;
                    }
                    None => return self.broken(HEAD + length + SUM),
                }
                true
            }
            Stage::Over(_) | Stage::Broken(_) => false,
        }
    }

    /// Marks the section that starts here, `bytes` long, as damaged.
    fn broken(&mut self, bytes: usize) -> bool {
        let from = self.begins + self.read as u64;
        self.stage = Stage::Broken(CompactError::Damaged { from, to: from + bytes as u64 });
        false
    }

    /// Formats of the original file, outermost first. Complete once everything was read.
    pub fn format(&self) -> &str {
        &self.tables.format
    }

    /// Description of the format for people. A cache file has that of the original.
    pub fn description(&self) -> String {
        if self.is_kept { self.format().to_owned() } else { ["columns of ", self.format()].concat() }
    }

    /// Returns the snapshot, and the sink with its events, after all bytes were read.
    ///
    /// # Errors
    /// The columns are damaged, truncated, or of another version.
    pub fn finish(self) -> Result<(Compact, S), CompactError> {
        let fed = self.begins + self.buffer.len() as u64;
        match self.stage {
            Stage::Over(bytes_behind) => {
                Ok((Compact { snapshot: self.tables.into_snapshot(), bytes_behind }, self.sink))
            }
            Stage::Broken(error) => Err(error),
            _ => Err(CompactError::Cut(fed)),
        }
    }

    /// Size on the heap in bytes, without tables: the current section and the addresses of its trace.
    pub fn heap_bytes(&self) -> usize {
        self.buffer.capacity() + self.events.heap_bytes()
    }

    /// Size on the heap by table, in bytes.
    pub fn tables_heap_bytes(&self) -> Vec<(&'static str, usize)> {
        self.tables.heap_bytes()
    }
}
