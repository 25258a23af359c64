//! A regular expression that is quick where it only lists texts: most patterns of rules do, and names of C++ functions are long.

use crate::expression::{Case, Expression, ExpressionError};

/// A regular expression.
#[derive(Clone, Debug)]
pub(super) enum Pattern {
    Texts(Vec<Text>),
    Expression(Expression),
}

/// A text, and whether it has to begin and to end where what is searched does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Text {
    text: String,
    starts: bool,
    ends: bool,
}

impl Pattern {
    /// Reads a pattern.
    pub(super) fn new(text: &str) -> Result<Pattern, ExpressionError> {
        // Both ways of reading agree on what is no expression.
        let expression = Expression::new(text, Case::Matters)?;
        Ok(texts(text).map_or(Pattern::Expression(expression), Pattern::Texts))
    }

    /// Whether the text holds what this describes.
    pub(super) fn is_in(&self, name: &str) -> bool {
        match self {
            Pattern::Expression(expression) => expression.is_in(name),
            Pattern::Texts(texts) => texts.iter().any(|Text { text, starts, ends }| match (starts, ends) {
                (true, true) => name == text,
                (true, false) => name.starts_with(text.as_str()),
                (false, true) => name.ends_with(text.as_str()),
                (false, false) => name.contains(text.as_str()),
            }),
        }
    }
}

/// The texts that an expression lists, if it does nothing else.
fn texts(expression: &str) -> Option<Vec<Text>> {
    let mut found = vec![Text::default()];
    let mut letters = expression.chars();
    while let Some(letter) = letters.next() {
        let last = found.last_mut()?;
        match letter {
            '|' => {
                found.push(Text::default());
                continue;
            }
            // Nothing comes behind the end.
            _ if last.ends => return None,
            '^' if last.text.is_empty() && !last.starts => last.starts = true,
            '$' => last.ends = true,
            '^' | '.' | '*' | '+' | '?' | '(' | ')' | '[' | ']' | '{' | '}' => return None,
            // `\<` and `\>` are the edges of a word.
            '\\' => last.text.push(letters.next().filter(|it| it.is_ascii_punctuation() && !matches!(it, '<' | '>'))?),
            letter => last.text.push(letter),
        }
    }
    Some(found)
}

#[cfg(test)]
#[path = "../../../tests/units/analysis/category/pattern.rs"]
mod tests;
