//! The text field in the last line of the screen.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// Purpose of the text field, which determines its prompt and what Enter does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FieldPurpose {
    Find,
    /// Filters the list of allocations or events.
    Filter,
    Moment,
    Request,
    Capacity,
    Help,
    Palette,
    Open,
    Compare,
    /// Loads only a range of events.
    Events,
}

impl FieldPurpose {
    /// Returns the prompt that is displayed before the text.
    pub(crate) fn prompt(self) -> &'static str {
        match self {
            FieldPurpose::Find => "/",
            FieldPurpose::Filter => "Filter: ",
            FieldPurpose::Moment => "Go to event, time, peak, oom or end: ",
            FieldPurpose::Request => "Size of a request: ",
            FieldPurpose::Capacity => "Device capacity: ",
            FieldPurpose::Help => "Filter the keys: ",
            FieldPurpose::Palette => ":",
            FieldPurpose::Open => "Open file or folder: ",
            FieldPurpose::Compare => "Compare with file: ",
            FieldPurpose::Events => "Load the events (last 1,000, 2,000..3,000 or all): ",
        }
    }
}

/// The text field. `position` is the text cursor's position in characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Field {
    pub(crate) purpose: FieldPurpose,
    pub(crate) text: String,
    pub(crate) position: usize,
}

/// Effect of a key on the text field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FieldResult {
    Changed,
    Moved,
    Done,
    Cancelled,
    /// The key is not handled by the text field.
    NotHandled,
}

impl Field {
    pub(crate) fn new(purpose: FieldPurpose, text: &str) -> Field {
        Field { purpose, text: text.to_owned(), position: text.chars().count() }
    }

    /// Returns the byte offset of the character with the given index.
    fn byte_offset(&self, index: usize) -> usize {
        self.text.char_indices().nth(index).map_or(self.text.len(), |(offset, _)| offset)
    }

    fn remove(&mut self, from: usize, to: usize) -> FieldResult {
        let range = self.byte_offset(from)..self.byte_offset(to);
        if range.is_empty() {
            return FieldResult::Moved;
        }
        self.text.replace_range(range, "");
        self.position = from;
        FieldResult::Changed
    }

    /// Returns the start of the word before the text cursor, as a character index.
    fn word_start(&self) -> usize {
        let before: Vec<char> = self.text.chars().take(self.position).collect();
        let blank = before.iter().rposition(|c| !c.is_whitespace()).map_or(0, |at| at + 1);
        before.get(..blank).and_then(|head| head.iter().rposition(|c| c.is_whitespace())).map_or(0, |at| at + 1)
    }

    /// Inserts text at the text cursor.
    pub(crate) fn insert(&mut self, text: &str) {
        let text: String = text.chars().filter(|c| !c.is_control()).collect();
        self.text.insert_str(self.byte_offset(self.position), &text);
        self.position += text.chars().count();
    }

    /// Handles a key press. Returns its effect.
    pub(crate) fn key(&mut self, key: &KeyEvent) -> FieldResult {
        let length = self.text.chars().count();
        let ctrl = key.modifiers.contains(KeyModifiers::CONTROL);
        let moved = |field: &mut Field, position: usize| {
            field.position = position;
            FieldResult::Moved
        };
        match key.code {
            KeyCode::Enter => FieldResult::Done,
            KeyCode::Esc => FieldResult::Cancelled,
            KeyCode::Backspace if self.text.is_empty() => FieldResult::Cancelled,
            KeyCode::Backspace => self.remove(self.position.saturating_sub(1), self.position),
            KeyCode::Delete => self.remove(self.position, self.position + 1),
            KeyCode::Left => moved(self, self.position.saturating_sub(1)),
            KeyCode::Right => moved(self, (self.position + 1).min(length)),
            KeyCode::Home => moved(self, 0),
            KeyCode::End => moved(self, length),
            KeyCode::Char('a') if ctrl => moved(self, 0),
            KeyCode::Char('e') if ctrl => moved(self, length),
            KeyCode::Char('u') if ctrl => self.remove(0, self.position),
            KeyCode::Char('w') if ctrl => self.remove(self.word_start(), self.position),
            KeyCode::Char(sign) if !ctrl && !key.modifiers.contains(KeyModifiers::ALT) => {
                self.insert(sign.encode_utf8(&mut [0; 4]));
                FieldResult::Changed
            }
            _ => FieldResult::NotHandled,
        }
    }
}

#[cfg(test)]
#[path = "../../tests/units/tui/field.rs"]
mod tests;
