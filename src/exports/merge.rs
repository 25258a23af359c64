//! Adds memory events to a torch.profiler trace. The trace is copied in one pass, with the memory events inserted
//! before its own events.

use crate::trace;
use base::units::duration_us;
use engine::Side;
use protocol::ExportQuestion;
use std::io::{self, Read, Write};

/// Maximum length in bytes of the keys and numbers that the scanner recognizes.
const LONGEST: usize = 40;

/// Reason why the memory events cannot be added to a trace.
#[derive(Debug)]
pub enum MergeError {
    /// The snapshot has no recorded times.
    NoTimes,
    /// The file is not a trace, because it has no list of events.
    NoEvents,
    /// The trace and the snapshot do not overlap in time. Contains the time between them in µs.
    NoOverlap(i64),
    Io(io::Error),
}

impl std::fmt::Display for MergeError {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            MergeError::NoTimes => out.write_str(
                "the snapshot has no timestamps (PyTorch 2.2 and later record them), so it cannot be aligned with a trace",
            ),
            MergeError::NoEvents => out.write_str("not a trace: it has no complete list \"traceEvents\""),
            MergeError::NoOverlap(us) => {
                write!(out, "the trace and the snapshot do not overlap: {} lie between them", duration_us(*us))
            }
            MergeError::Io(error) => error.fmt(out),
        }
    }
}

/// Writes a torch.profiler trace with the memory of a device added. `open` opens the trace and is called twice, because
/// a first pass finds the position of the events.
///
/// # Errors
/// Returns an error if the files do not belong together, or if reading or writing fails.
pub fn merge_into_trace(
    open: &mut dyn FnMut() -> io::Result<Box<dyn Read>>,
    side: Side<'_>,
    question: &ExportQuestion,
    out: &mut dyn Write,
) -> Result<(), MergeError> {
    let (first, last) = side.history.numbers.time_us.ok_or(MergeError::NoTimes)?;
    let kineto = TraceLayout::read(&mut *open()?)?;
    if let Some((begin, end)) = kineto.time_us() {
        let apart = if end < first as f64 { first as f64 - end } else { begin - last as f64 };
        if apart > 0.0 {
            return Err(MergeError::NoOverlap(apart as i64));
        }
    }
    Ok(kineto.write(&mut *open()?, side, question, out)?)
}

impl From<io::Error> for MergeError {
    fn from(error: io::Error) -> MergeError {
        MergeError::Io(error)
    }
}

/// Layout of a trace, found by the first pass: position of its events, and time base.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TraceLayout {
    /// Number of bytes before the first event.
    begin: u64,
    /// True if the trace has any events.
    has_events: bool,
    /// Value of `baseTimeNanoseconds`, or 0 if times are since 1970, as in older versions.
    base_ns: i64,
    /// Times of the first and of the last event, in µs since `base_ns`.
    times: Option<(f64, f64)>,
}

impl TraceLayout {
    /// Scans a trace in one pass, without loading it into memory.
    ///
    /// # Errors
    /// Returns an error if the trace has no list of events, or if reading fails.
    pub fn read(from: &mut dyn Read) -> Result<TraceLayout, MergeError> {
        let (mut scan, mut buffer) = (Scan::default(), vec![0; 1 << 16]);
        loop {
            match from.read(&mut buffer)? {
                0 => return scan.layout().ok_or(MergeError::NoEvents),
                read => buffer.iter().take(read).for_each(|&byte| scan.byte(byte)),
            }
        }
    }

    /// Returns the times of the first and of the last event, in µs since 1970.
    pub fn time_us(&self) -> Option<(f64, f64)> {
        let base_us = self.base_ns as f64 / 1000.0;
        self.times.map(|(first, last)| (base_us + first, base_us + last))
    }

    /// Copies the trace, and inserts the events of a device before its own events.
    ///
    /// # Errors
    /// Returns the errors of the reader and the writer.
    pub fn write(
        &self,
        from: &mut dyn Read,
        side: Side<'_>,
        question: &ExportQuestion,
        mut out: &mut dyn Write,
    ) -> io::Result<()> {
        let head = io::copy(&mut from.take(self.begin), &mut out)?;
        if head < self.begin {
            return Err(io::Error::other("the trace became shorter while it was read"));
        }
        trace::events(side, question, self.base_ns, out)?;
        out.write_all(if self.has_events { b"," } else { b"\n" })?;
        io::copy(from, &mut out).map(drop)
    }
}

/// JSON scanner that processes single bytes. Extracts only top-level keys and the times of events.
#[derive(Default)]
struct Scan {
    read: u64,
    depth: u32,
    in_string: bool,
    is_escaped: bool,
    /// Text of the current string or number.
    word: Vec<u8>,
    key: Vec<u8>,
    /// Nesting depth of the list of events while the scanner is inside the list.
    events: Option<u32>,
    begin: Option<u64>,
    has_events: bool,
    base_ns: i64,
    times: Option<(f64, f64)>,
}

impl Scan {
    fn byte(&mut self, byte: u8) {
        self.read += 1;
        if self.in_string {
            match byte {
                _ if self.is_escaped => self.is_escaped = false,
                b'\\' => self.is_escaped = true,
                b'"' => self.in_string = false,
                byte if self.word.len() < LONGEST => self.word.push(byte),
                _ => {}
            }
            return;
        }
        match byte {
            b' ' | b'\t' | b'\r' | b'\n' => return,
            b']' if self.events == Some(self.depth) => {}
            _ if self.events == Some(self.depth) => self.has_events = true,
            _ => {}
        }
        match byte {
            b'"' => {
                self.in_string = true;
                self.word.clear();
            }
            b':' => {
                std::mem::swap(&mut self.key, &mut self.word);
                self.word.clear();
            }
            b'{' | b'[' => {
                self.depth += 1;
                let is_list = byte == b'[' && self.begin.is_none();
                // Chrome's own format is only the list.
                if is_list && (self.depth == 1 || (self.depth == 2 && self.key == b"traceEvents")) {
                    self.events = Some(self.depth);
                    self.begin = Some(self.read);
                }
                self.key.clear();
                self.word.clear();
            }
            b',' => self.value(),
            b'}' | b']' => {
                self.value();
                if byte == b']' && self.events == Some(self.depth) {
                    self.events = None;
                }
                self.depth = self.depth.saturating_sub(1);
            }
            byte if self.word.len() < LONGEST => self.word.push(byte),
            _ => {}
        }
    }

    /// Handles the end of a value: stores the value of a known key, and clears the key and the value.
    fn value(&mut self) {
        let in_event = self.events.is_some_and(|events| self.depth == events + 1);
        let word = || str::from_utf8(&self.word).ok();
        if in_event && self.key == b"ts" {
            if let Some(ts) = word().and_then(|word| word.parse::<f64>().ok()).filter(|ts| ts.is_finite()) {
                let (first, last) = self.times.unwrap_or((ts, ts));
                self.times = Some((first.min(ts), last.max(ts)));
            }
        } else if self.depth == 1 && self.key == b"baseTimeNanoseconds" {
            self.base_ns = word().and_then(|word| word.parse().ok()).unwrap_or(0);
        }
        self.word.clear();
        self.key.clear();
    }

    fn layout(&self) -> Option<TraceLayout> {
        let begin = self.begin.filter(|_| self.depth == 0 && !self.in_string)?;
        Some(TraceLayout { begin, has_events: self.has_events, base_ns: self.base_ns, times: self.times })
    }
}

#[cfg(test)]
#[path = "../../tests/units/exports/onto.rs"]
mod tests;
