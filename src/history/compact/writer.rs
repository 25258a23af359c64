//! Writer of compact columns: first the events, as they arrive, then the tables.

use super::error::WriteError;
use super::format::{
    CACHE_FLAG, FLUSH_BYTES, LONG_TIME, MAGIC, MAX_BYTES, MAX_EVENTS, NEW_ADDRESS, SAME_ADDRESS, SAME_SIZE, SAME_STACK,
    VERSION, checksum, column, fast_checksum, section_kind,
};
use super::numbers::{put_difference, put_signed, put_varint};
use super::trace::is_free;
use crate::snapshot::{Event, NO_TIME};
use hashbrown::HashMap;
use std::io::Write;

/// Writer of a snapshot as compact columns. For each trace, call [`Writer::begin_trace`] and then [`Writer::event`] for
/// each event. Call [`Writer::finish`] at the end.
pub struct Writer<W> {
    out: W,
    traces: u32,
    trace: Trace,
    columns: [Vec<u8>; column::COUNT],
    sum: fn(&[u8]) -> u32,
}

/// State for encoding a trace's events relative to the previous ones. Counterpart of the decoder's `Trace`.
struct Trace {
    addresses: HashMap<u64, u32, foldhash::fast::RandomState>,
    /// For each address: the last size, and the index of the address's last mention.
    addresses_seen: Vec<(u64, u64)>,
    mentions: u64,
    address: Option<u32>,
    stack: u32,
    labels: u32,
    time_us: i64,
    size: u64,
    last_new: u64,
}

impl Default for Trace {
    fn default() -> Trace {
        let (addresses, addresses_seen, mentions, address, stack, labels, size, last_new) = Default::default();
        Trace { addresses, addresses_seen, mentions, address, stack, labels, time_us: NO_TIME, size, last_new }
    }
}

impl<W: Write> Writer<W> {
    /// Creates a writer and writes the header.
    ///
    /// # Errors
    /// Returns an error if the output cannot be written.
    pub fn new(out: W) -> Result<Writer<W>, WriteError> {
        Writer::start(out, VERSION, checksum)
    }

    /// Creates a writer of a cache file, which is read in place of the original file, and writes the header.
    ///
    /// # Errors
    /// Returns an error if the output cannot be written.
    pub fn new_cache(out: W) -> Result<Writer<W>, WriteError> {
        Writer::start(out, VERSION | CACHE_FLAG, fast_checksum)
    }

    fn start(mut out: W, version: u8, sum: fn(&[u8]) -> u32) -> Result<Writer<W>, WriteError> {
        out.write_all(MAGIC)?;
        out.write_all(&[version])?;
        Ok(Writer { out, traces: 0, trace: Trace::default(), columns: Default::default(), sum })
    }

    /// Starts the next trace. Traces are numbered from 0.
    ///
    /// # Errors
    /// Returns an error if the output cannot be written.
    pub fn begin_trace(&mut self) -> Result<(), WriteError> {
        self.end_trace()?;
        self.traces += 1;
        self.trace = Trace::default();
        Ok(())
    }

    /// Writes a part of a serialized history, which replaces the events in a cache file.
    ///
    /// # Errors
    /// Returns an error if the output cannot be written.
    pub fn history_part(&mut self, part: &[u8]) -> Result<(), WriteError> {
        self.section(section_kind::IMAGE, part)
    }

    /// Writes the buffered events of the trace. A trace without events becomes one section without rows.
    pub(super) fn end_trace(&mut self) -> Result<(), WriteError> {
        let is_unwritten = self.traces > 0 && self.trace.addresses_seen.is_empty();
        if is_unwritten || !self.columns[column::KINDS].is_empty() { self.flush() } else { Ok(()) }
    }

    /// Writes the next event of the current trace.
    ///
    /// # Errors
    /// Returns an error if the output cannot be written or the trace has too many addresses.
    pub fn event(&mut self, event: &Event) -> Result<(), WriteError> {
        let Writer { trace, columns, .. } = self;
        let [kinds, new_addresses, addresses, ages, sizes, times, long_times, stacks, labels] = columns;
        let mut kind = event.action as u8;
        let is_free = is_free(event.action);

        let next =
            u32::try_from(trace.addresses_seen.len()).map_err(|_| WriteError::Unsupported("too many addresses"))?;
        let address = *trace.addresses.entry(event.address).or_insert(next);
        let is_new = address == next;
        if is_new {
            kind |= NEW_ADDRESS;
            put_difference(new_addresses, event.address, trace.last_new);
            trace.last_new = event.address;
            trace.addresses_seen.push((0, 0));
        }
        let Some((size, mention)) = trace.addresses_seen.get_mut(address as usize) else { return Ok(()) };
        if !is_new && trace.address == Some(address) {
            kind |= SAME_ADDRESS;
        } else if !is_new && is_free {
            put_varint(ages, u128::from(trace.mentions - *mention));
        } else if !is_new {
            put_varint(addresses, u128::from(address));
        }
        if is_new || !is_free {
            *mention = trace.mentions;
            trace.mentions += 1;
        }
        if event.size == if is_free { *size } else { trace.size } {
            kind |= SAME_SIZE;
        } else {
            put_varint(sizes, u128::from(event.size));
        }
        *size = event.size;
        if !is_free {
            trace.size = event.size;
        }
        trace.address = Some(address);

        let stack = event.stack.0.wrapping_add(1);
        if stack == trace.stack {
            kind |= SAME_STACK;
        } else {
            put_signed(stacks, i128::from(stack.wrapping_sub(trace.stack) as i32));
        }
        trace.stack = stack;
        let changed = event.labels.0 != trace.labels;
        put_varint(labels, if changed { u128::from(event.labels.0) + 1 } else { 0 });
        trace.labels = event.labels.0;
        match event.time_us.wrapping_sub(trace.time_us) {
            passed @ 0..255 => times.push(passed as u8),
            passed => {
                times.push(LONG_TIME);
                put_signed(long_times, i128::from(passed));
            }
        }
        trace.time_us = event.time_us;
        kinds.push(kind);

        let buffered: usize = self.columns.iter().map(Vec::len).sum();
        if self.columns[column::KINDS].len() == MAX_EVENTS || buffered >= FLUSH_BYTES { self.flush() } else { Ok(()) }
    }

    /// Writes the buffered events as a section.
    fn flush(&mut self) -> Result<(), WriteError> {
        let mut payload = Vec::new();
        put_varint(&mut payload, u128::from(self.traces) - 1);
        put_varint(&mut payload, self.columns[column::KINDS].len() as u128);
        put_columns(&mut payload, &self.columns);
        self.columns.iter_mut().for_each(Vec::clear);
        self.section(section_kind::EVENTS, &payload)
    }

    /// Writes a section of kind `what` with its header and checksum.
    pub(super) fn section(&mut self, what: u8, payload: &[u8]) -> Result<(), WriteError> {
        if payload.len() > MAX_BYTES {
            return Err(WriteError::Unsupported("a row is too long for columns"));
        }
        let mut section = vec![what];
        section.extend_from_slice(&(payload.len() as u32).to_le_bytes());
        section.extend_from_slice(payload);
        self.out.write_all(&section)?;
        Ok(self.out.write_all(&(self.sum)(&section).to_le_bytes())?)
    }

    /// Writes the end marker and returns the output.
    pub(super) fn into_out(mut self) -> Result<W, WriteError> {
        self.section(section_kind::END, &[])?;
        self.out.flush()?;
        Ok(self.out)
    }
}

/// Appends the lengths of all columns, then the columns.
pub(super) fn put_columns(payload: &mut Vec<u8>, columns: &[Vec<u8>]) {
    columns.iter().for_each(|column| put_varint(payload, column.len() as u128));
    columns.iter().for_each(|column| payload.extend_from_slice(column));
}
