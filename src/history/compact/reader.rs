//! The machine that columns are fed to: sections are cut out of the bytes as they come, and read in steps.

use super::error::CompactError;
use super::events::Events;
use super::form::{HEAD, KEPT, MAGIC, MOST_BYTES, SUM, VERSION, sum, what, wide_sum};
use super::numbers::Numbers;
use super::tables::Tables;
use crate::snapshot::{EventSink, Snapshot};

/// Reads a snapshot from columns: [`Machine::feed`] it, [`Machine::step`] until that says no, and so on; then [`Machine::finish`].
pub struct Machine<S> {
    sink: S,
    events: Events,
    tables: Tables,
    /// Bytes that were fed and not read, behind those that were.
    buffer: Vec<u8>,
    read: usize,
    /// Where in the file the buffer begins.
    begins: u64,
    /// Whether they are read in place of the file that they were written of.
    is_kept: bool,
    stage: Stage,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// The magic number and the version come.
    Beginning,
    Between,
    /// A section of so many bytes of events is being read; its payload stands after its head.
    Events(usize),
    /// All was read, and so many bytes came behind it.
    Over(u64),
    Broken(CompactError),
}

/// What columns hold besides their events.
pub struct Compact {
    /// As the reader of the original file left it.
    pub snapshot: Snapshot,
    /// How many bytes follow.
    pub bytes_behind: u64,
}

impl<S: EventSink> Machine<S> {
    /// A machine that hands the events to `sink`.
    pub fn new(sink: S) -> Machine<S> {
        let (events, tables, buffer, read, begins, is_kept) = Default::default();
        Machine { sink, events, tables, buffer, read, begins, is_kept, stage: Stage::Beginning }
    }

    /// Where the events go.
    pub fn sink(&self) -> &S {
        &self.sink
    }

    /// The same, to be told something.
    pub fn sink_mut(&mut self) -> &mut S {
        &mut self.sink
    }

    /// Takes the next bytes, to be read in steps.
    ///
    /// # Errors
    /// That of a step before.
    pub fn feed(&mut self, bytes: &[u8]) -> Result<(), CompactError> {
        if let Stage::Broken(error) = self.stage {
            return Err(error);
        }
        self.buffer.drain(..self.read);
        self.begins += self.read as u64;
        self.read = 0;
        match &mut self.stage {
            // What is kept ends where it was ended.
            Stage::Over(_) if self.is_kept && !bytes.is_empty() => {
                self.broken(bytes.len());
            }
            Stage::Over(behind) => *behind += bytes.len() as u64,
            _ => self.buffer.extend_from_slice(bytes),
        }
        Ok(())
    }

    /// Reads some of what was fed: `false` when nothing is left that can be read yet. An error comes with the next bytes, or at the end.
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

    /// The section that begins here and has so many bytes makes no sense.
    fn broken(&mut self, bytes: usize) -> bool {
        let from = self.begins + self.read as u64;
        self.stage = Stage::Broken(CompactError::Damaged { from, to: from + bytes as u64 });
        false
    }

    /// How the original file was written, outermost first; known at the end.
    pub fn format(&self) -> &str {
        &self.tables.format
    }

    /// How what is read is written: as columns, or where they are read in its place, as the original file was.
    pub fn description(&self) -> String {
        if self.is_kept { self.format().to_owned() } else { ["columns of ", self.format()].concat() }
    }

    /// The snapshot, and the sink with its events, once all was fed and read.
    ///
    /// # Errors
    /// The columns are damaged, of another version, or have no end.
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

    /// Bytes on the heap, but for those of tables: the section that is read, and the addresses of its trace.
    pub fn heap_bytes(&self) -> usize {
        self.buffer.capacity() + self.events.heap_bytes()
    }

    /// Bytes on the heap, by table.
    pub fn tables_heap_bytes(&self) -> Vec<(&'static str, usize)> {
        self.tables.heap_bytes()
    }
}
