//! The text field in the last line of the screen.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// The purpose of the text field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Of {
    Find,
    /// Filter of the allocations, or of the events.
    Filter,
    Moment,
    Request,
    Capacity,
    Help,
    Palette,
    Open,
    Compare,
    /// Range of events to load.
    Events,
}

impl Of {
    /// Returns the prompt in front of the text.
    pub(crate) fn prompt(self) -> &'static str {
        match self {
            Of::Find => "/",
            Of::Filter => "Filter: ",
            Of::Moment => "Go to event, time, peak, oom or end: ",
            Of::Request => "Size of a request: ",
            Of::Capacity => "GPU capacity: ",
            Of::Help => "Filter the keys: ",
            Of::Palette => ":",
            Of::Open => "Open file or folder: ",
            Of::Compare => "Compare with file: ",
            Of::Events => "Load the events (last 1,000, 2,000..3,000 or all): ",
        }
    }
}

/// The text field. `at` is the position of the text cursor in characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Field {
    pub(crate) of: Of,
    pub(crate) text: String,
    pub(crate) at: usize,
}

/// Effect of a key on the text field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Typed {
    Changed,
    Moved,
    Done,
    GivenUp,
    /// The key is not handled by the text field.
    Other,
}

impl Field {
    pub(crate) fn new(of: Of, text: &str) -> Field {
        Field { of, text: text.to_owned(), at: text.chars().count() }
    }

    /// Returns the byte offset of a character.
    fn byte(&self, letter: usize) -> usize {
        self.text.char_indices().nth(letter).map_or(self.text.len(), |(at, _)| at)
    }

    fn remove(&mut self, from: usize, to: usize) -> Typed {
        let range = self.byte(from)..self.byte(to);
        if range.is_empty() {
            return Typed::Moved;
        }
        self.text.replace_range(range, "");
        self.at = from;
        Typed::Changed
    }

    /// Returns the start of the word before the text cursor.
    fn word(&self) -> usize {
        let before: Vec<char> = self.text.chars().take(self.at).collect();
        let blank = before.iter().rposition(|sign| !sign.is_whitespace()).map_or(0, |at| at + 1);
        before.get(..blank).and_then(|head| head.iter().rposition(|sign| sign.is_whitespace())).map_or(0, |at| at + 1)
    }

    /// Inserts a text at the text cursor.
    pub(crate) fn insert(&mut self, text: &str) {
        let text: String = text.chars().filter(|sign| !sign.is_control()).collect();
        self.text.insert_str(self.byte(self.at), &text);
        self.at += text.chars().count();
    }

    /// Handles a key.
    pub(crate) fn key(&mut self, key: &KeyEvent) -> Typed {
        let length = self.text.chars().count();
        let ctrl = key.modifiers.contains(KeyModifiers::CONTROL);
        let moved = |field: &mut Field, at: usize| {
            field.at = at;
            Typed::Moved
        };
        match key.code {
            KeyCode::Enter => Typed::Done,
            KeyCode::Esc => Typed::GivenUp,
            KeyCode::Backspace if self.text.is_empty() => Typed::GivenUp,
            KeyCode::Backspace => self.remove(self.at.saturating_sub(1), self.at),
            KeyCode::Delete => self.remove(self.at, self.at + 1),
            KeyCode::Left => moved(self, self.at.saturating_sub(1)),
            KeyCode::Right => moved(self, (self.at + 1).min(length)),
            KeyCode::Home => moved(self, 0),
            KeyCode::End => moved(self, length),
            KeyCode::Char('a') if ctrl => moved(self, 0),
            KeyCode::Char('e') if ctrl => moved(self, length),
            KeyCode::Char('u') if ctrl => self.remove(0, self.at),
            KeyCode::Char('w') if ctrl => self.remove(self.word(), self.at),
            KeyCode::Char(sign) if !ctrl && !key.modifiers.contains(KeyModifiers::ALT) => {
                self.insert(sign.encode_utf8(&mut [0; 4]));
                Typed::Changed
            }
            _ => Typed::Other,
        }
    }
}

#[cfg(test)]
#[path = "../../tests/units/tui/field.rs"]
mod tests;
