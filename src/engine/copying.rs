//! Copying of rows of a list as text for the clipboard, in parts of half a millisecond of work each.

use super::protocol::{MAX_COPIED, TableText};
use base::slice::{OutOfTime, SliceResult, TimeSlice};

/// Target size of a part in bytes: half a millisecond of work for sender and receiver.
const PART_BYTES: usize = 128 << 10;
/// Maximum size of the whole text in bytes. Names may be long.
const MAX_TEXT: usize = 64 << 20;
/// Number of rows written between two checks of the clock.
const ROWS_PER_CHECK: u32 = 128;

/// Progress of writing rows as text.
#[derive(Default)]
pub(super) struct CopyProgress {
    /// Index of the current range of chosen rows. The first `rows_done` rows of the range are written.
    range_index: usize,
    rows_done: u32,
    rows: u32,
    bytes: usize,
}

impl CopyProgress {
    /// Writes more of the `chosen` rows of a list with `count` rows. `write` appends the line of a row, and `send`
    /// takes each part.
    pub(super) fn step(
        &mut self,
        head: &str,
        (chosen, count): (&[[u32; 2]], u32),
        write: &mut dyn FnMut(&mut String, u32),
        send: &mut dyn FnMut(TableText),
        slice: &mut TimeSlice,
    ) -> SliceResult {
        let mut text = String::new();
        if self.bytes == 0 {
            text.push_str(head);
        }
        loop {
            let mut last = true;
            if let Some(&[from, to]) = chosen.get(self.range_index)
                && self.rows < MAX_COPIED
                && self.bytes + text.len() < MAX_TEXT
            {
                last = false;
                let from = from.saturating_add(self.rows_done);
                let left = to.min(count).saturating_sub(from);
                let batch = left.min(ROWS_PER_CHECK).min(MAX_COPIED - self.rows);
                (from..from + batch).for_each(|row| write(&mut text, row));
                self.rows += batch;
                self.rows_done += batch;
                if batch == left {
                    (self.range_index, self.rows_done) = (self.range_index + 1, 0);
                }
            }
            let is_late = slice.check().is_err();
            if last || is_late || text.len() >= PART_BYTES {
                self.bytes += text.len();
                send(TableText { text: std::mem::take(&mut text), rows: self.rows, last });
            }
            if last || is_late {
                return if last { Ok(()) } else { Err(OutOfTime) };
            }
        }
    }
}

/// Appends text from the file as a field of a line. Control characters become spaces, so that they cannot end the field
/// or the line. A quote is put before `=`, `+`, `-` and `@`, so that a spreadsheet does not read a formula.
pub(super) fn write_field(text: &mut String, words: &str) {
    if words.starts_with(['=', '+', '-', '@']) {
        text.push('\'');
    }
    text.extend(words.chars().map(|letter| if letter.is_control() { ' ' } else { letter }));
}

#[cfg(test)]
#[path = "../../tests/units/engine/copying.rs"]
mod tests;
