//! Copies rows of a list as text for the clipboard, in parts that take about half a millisecond each.

use analysis::frame_line;
use base::slice::{OutOfTime, SliceResult, TimeSlice};
use history::snapshot::{FrameId, Snapshot};
use protocol::{MAX_COPIED, TableText};

/// Target size of a part in bytes. Sender and receiver need about half a millisecond for it.
const PART_BYTES: usize = 128 << 10;
/// Maximum size of the whole text in bytes. Rows may contain long names.
const MAX_TEXT: usize = 64 << 20;
/// Number of rows written between two checks of the clock.
const ROWS_PER_CHECK: u32 = 128;

/// Progress of copying rows as text.
#[derive(Default)]
pub(super) struct CopyProgress {
    /// Index of the current range of selected rows. The first `rows_done` rows of this range are already written.
    range_index: usize,
    rows_done: u32,
    rows: u32,
    bytes: usize,
}

impl CopyProgress {
    /// Continues writing the selected rows (`chosen`) of a list with `count` rows. `write` appends one row as a line,
    /// and `send` receives each part of the text.
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

pub(super) fn number(value: Option<impl ToString>) -> Option<String> {
    value.map(|value| value.to_string())
}

pub(super) fn hexadecimal(value: Option<u64>) -> Option<String> {
    value.map(|value| format!("0x{value:x}"))
}

pub(super) fn pool(value: Option<(u64, u64)>) -> Option<String> {
    value.map(|(first, second)| format!("({first}, {second})"))
}

/// Appends a line: these fields, and the frame of the call site.
pub(super) fn write_fields(
    text: &mut String,
    fields: impl IntoIterator<Item = Option<String>>,
    snapshot: &Snapshot,
    frame: Option<FrameId>,
) {
    for field in fields {
        text.push_str(&field.unwrap_or_default());
        text.push('\t');
    }
    if let Some(frame) = frame {
        let mut line = String::new();
        frame_line::write(&mut line, snapshot, snapshot.frames.frame(frame));
        text.push_str(&as_field(&line));
    }
    text.push('\n');
}

/// Returns text from the file as a field of a line. Control characters become spaces, so that they cannot end the field
/// or the line. A field that starts with `=`, `+`, `-` or `@` gets a leading quote, so that a spreadsheet does not
/// interpret it as a formula.
pub(super) fn as_field(words: &str) -> String {
    let quote = if words.starts_with(['=', '+', '-', '@']) { "'" } else { "" };
    let letters = words.chars().map(|letter| if letter.is_control() { ' ' } else { letter });
    quote.chars().chain(letters).collect()
}

#[cfg(test)]
#[path = "../../tests/units/engine/copying.rs"]
mod tests;
