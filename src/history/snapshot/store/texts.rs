//! Values as text for display, and as data of a recorder.

use super::Store;
use crate::recorder::{Token, ValueTree};
use crate::snapshot::strings::StringId;
use crate::snapshot::value::{Kind, Value};

/// Maximum nesting depth of recorder data.
const MAX_DEPTH: u32 = 8;

/// Approximate maximum length of a value's text for display, in bytes.
const MAX_TEXT: usize = 2_000;

impl Store {
    /// Formats a value for display, similar to JSON. The text is cut after about 2,000 bytes and below six levels of
    /// nesting.
    pub(in crate::snapshot) fn describe(&self, value: Value) -> String {
        let mut text = String::new();
        self.write_text(value, 0, &mut text);
        text
    }

    /// Formats a dict as JSON. Values other than integers become strings. The text is cut as in [`Store::describe`].
    pub(in crate::snapshot) fn json(&self, dict: Value) -> String {
        let mut text = String::from("{");
        for pair in self.pairs(dict).chunks_exact(2) {
            if text.len() > MAX_TEXT {
                break;
            }
            if text.len() > 1 {
                text.push_str(", ");
            }
            quote(&mut text, &self.describe(pair[0]));
            text.push_str(": ");
            match pair[1].kind() {
                Kind::Int | Kind::WideInt => text.push_str(&self.describe(pair[1])),
                _ => quote(&mut text, &self.describe(pair[1])),
            }
        }
        text.push('}');
        text
    }

    fn write_text(&self, value: Value, depth: u32, text: &mut String) {
        if depth > 6 || text.len() > MAX_TEXT {
            text.push('…');
            return;
        }
        match value.kind() {
            Kind::String => text.push_str(&clipped(self.strings.bytes(StringId(value.index())))),
            Kind::Int | Kind::WideInt => text.push_str(&self.as_integer(value).unwrap_or_default().to_string()),
            Kind::Float => text.push_str(&self.floats.get(value.index() as usize).copied().unwrap_or(0.0).to_string()),
            Kind::Constant => text.push_str(match value {
                Value::TRUE => "True",
                Value::FALSE => "False",
                _ => "None",
            }),
            kind @ (Kind::List | Kind::Tuple | Kind::Dict) => {
                text.push_str(if kind == Kind::Dict { "{" } else { "[" });
                for (index, item) in self.values(value).enumerate() {
                    if text.len() > MAX_TEXT {
                        break;
                    }
                    match (index, kind) {
                        (0, _) => {}
                        (_, Kind::Dict) if index % 2 == 1 => text.push_str(": "),
                        _ => text.push_str(", "),
                    }
                    self.write_text(item, depth + 1, text);
                }
                text.push_str(if kind == Kind::Dict { "}" } else { "]" });
            }
            kind => text.push_str(kind.noun()),
        }
    }

    /// Appends a value to `tree`. Large or deeply nested values are cut, because shared containers can expand without
    /// limit.
    pub(in crate::snapshot) fn encode(&self, value: Value, depth: u32, tree: &mut ValueTree) {
        let is_dict = value.kind() == Kind::Dict;
        tree.put(match value.kind() {
            Kind::Constant if value == Value::NONE => Token::None,
            Kind::Constant => Token::Bool(value == Value::TRUE),
            Kind::Int => Token::Int(value.small_int()),
            Kind::WideInt => {
                self.as_integer(value).and_then(|integer| i64::try_from(integer).ok()).map_or(Token::None, Token::Int)
            }
            Kind::Float => Token::Float(self.floats.get(value.index() as usize).copied().unwrap_or(0.0)),
            Kind::String => Token::Text(self.strings.bytes(StringId(value.index()))),
            Kind::List | Kind::Tuple if depth < MAX_DEPTH => Token::List,
            Kind::Dict if depth < MAX_DEPTH => Token::Dict,
            _ => return tree.put(Token::None),
        });
        if !matches!(value.kind(), Kind::List | Kind::Tuple | Kind::Dict) {
            return;
        }
        let mut is_key = is_dict;
        let mut is_skipped = false;
        for item in self.values(value) {
            // A key that is not a string is skipped together with its value.
            is_skipped = if is_key { item.kind() != Kind::String || !tree.has_room() } else { is_skipped };
            let is_wanted = if is_dict { !is_skipped } else { tree.has_room() };
            if is_wanted {
                self.encode(item, depth + 1, tree);
            } else if !is_dict {
                break;
            }
            is_key = is_dict && !is_key;
        }
        tree.put(Token::End);
    }
}

/// Appends a string in JSON quotes. `text` must not contain control characters.
fn quote(json: &mut String, text: &str) {
    json.push('"');
    for letter in text.chars() {
        if matches!(letter, '"' | '\\') {
            json.push('\\');
        }
        json.push(letter);
    }
    json.push('"');
}

/// Returns the start of a string for display. Control characters are escaped, because a terminal could interpret them.
pub(in crate::snapshot) fn clipped(bytes: &[u8]) -> String {
    let (beginning, more) = bytes.get(..MAX_TEXT).map_or((bytes, ""), |beginning| (beginning, "…"));
    let mut text = String::with_capacity(beginning.len());
    for letter in String::from_utf8_lossy(beginning).chars() {
        match letter.is_control() {
            true => text.extend(letter.escape_default()),
            false => text.push(letter),
        }
    }
    text + more
}
