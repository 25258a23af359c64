//! Positions, paths and expected tokens in errors.

use super::{Expected, Kind, Parser};
use crate::json::error::{ErrorKind, JsonError};
use crate::pickle::Builder;

/// Length of a path in bytes after which deeper levels are omitted. Only malicious files are nested that deeply.
const MAX_PATH: usize = 120;

impl<B: Builder> Parser<B> {
    /// Returns a description of the expected token for an error message.
    pub(super) fn expected_token(&self) -> &'static str {
        match (self.expected, self.innermost()) {
            (Expected::Value, _) => "a value",
            (Expected::ValueOrEnd, _) => "a value or ']'",
            (Expected::Key, _) => "a key in quotes",
            (Expected::KeyOrEnd, _) => "a key in quotes or '}'",
            (Expected::Colon, _) => "':'",
            (Expected::CommaOrEnd, Some(Kind::Dict)) => "',' or '}'",
            (Expected::CommaOrEnd, _) => "',' or ']'",
            (Expected::Nothing, _) => "the end of the file",
        }
    }

    /// Creates an error at the position `left` bytes before the end of the bytes fed so far.
    #[cold]
    pub(super) fn error(&self, kind: ErrorKind<B::Error>, left: usize) -> JsonError<B::Error> {
        JsonError { offset: self.fed.saturating_sub(left as u64), path: self.path(), kind }
    }

    /// Returns the path of the next value in the data.
    fn path(&self) -> String {
        let mut path = String::new();
        for (slot, level) in (0u32..).zip(&self.levels) {
            if path.len() > MAX_PATH {
                path.push('…');
                break;
            }
            match (level.kind, level.key) {
                (Kind::List, _) => path.push_str(&format!("[{}]", self.builder.open_len(slot))),
                (Kind::Dict, None) => {}
                (Kind::Dict, Some(key)) => {
                    let dot = if path.is_empty() { "" } else { "." };
                    path.push_str(&format!("{dot}{}", self.builder.key_text(key).as_deref().unwrap_or("?")));
                }
            }
        }
        path
    }
}
