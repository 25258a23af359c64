//! Rows of a list as text, in parts that are half a millisecond of work each: what the page copies.

use super::protocol::{MOST_COPIED, TableText};
use base::slice::{Slice, Sliced, Spent};

/// Bytes of a part of the text: half a millisecond of work on both sides.
const PART: usize = 128 << 10;
/// Bytes of all parts: names may be long, and no clipboard wants more.
const MOST_TEXT: usize = 64 << 20;
/// Rows made text between two looks at the clock.
const ROWS: u32 = 128;

/// How far rows were made text.
#[derive(Default)]
pub(super) struct Copying {
    /// Which of the chosen ranges comes next, and how many of its rows are done.
    range: usize,
    done: u32,
    rows: u32,
    bytes: usize,
}

impl Copying {
    /// Makes more of the `chosen` rows of a list of `count` text. `write` appends the line of a
    /// row.
    pub(super) fn step(
        &mut self,
        head: &str,
        (chosen, count): (&[[u32; 2]], u32),
        write: &mut dyn FnMut(&mut String, u32),
        send: &mut dyn FnMut(TableText),
        slice: &mut Slice,
    ) -> Sliced {
        let mut text = String::new();
        if self.bytes == 0 {
            text.push_str(head);
        }
        loop {
            let mut last = true;
            if let Some(&[from, to]) = chosen.get(self.range)
                && self.rows < MOST_COPIED
                && self.bytes + text.len() < MOST_TEXT
            {
                last = false;
                let from = from.saturating_add(self.done);
                let left = to.min(count).saturating_sub(from);
                let some = left.min(ROWS).min(MOST_COPIED - self.rows);
                (from..from + some).for_each(|row| write(&mut text, row));
                self.rows += some;
                self.done += some;
                if some == left {
                    (self.range, self.done) = (self.range + 1, 0);
                }
            }
            let is_late = slice.check().is_err();
            if last || is_late || text.len() >= PART {
                self.bytes += text.len();
                send(TableText { text: std::mem::take(&mut text), rows: self.rows, last });
            }
            if last || is_late {
                return if last { Ok(()) } else { Err(Spent) };
            }
        }
    }
}

/// Appends words of the file as the field of a line: nothing in it ends the field or the line, and no spreadsheet takes it for a formula.
pub(super) fn write_words(text: &mut String, words: &str) {
    if words.starts_with(['=', '+', '-', '@']) {
        text.push('\'');
    }
    text.extend(words.chars().map(|letter| if letter.is_control() { ' ' } else { letter }));
}

#[cfg(test)]
#[path = "../../tests/units/engine/copying.rs"]
mod tests;
