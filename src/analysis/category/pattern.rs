//! A regular expression with a fast path for alternatives of plain text, such as `foo|bar`. Most rules have this form,
//! and names of C++ functions are long.

use crate::expression::{CaseMode, Expression, ExpressionError};

/// A compiled pattern: a list of plain texts, or a regular expression.
#[derive(Clone, Debug)]
pub(super) enum Pattern {
    Texts(Vec<Text>),
    Expression(Expression),
}

/// A plain text to search for. `starts` and `ends` anchor the text at the start and at the end of the searched string.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Text {
    text: String,
    starts: bool,
    ends: bool,
}

impl Pattern {
    /// Compiles a regular expression.
    pub(super) fn new(text: &str) -> Result<Pattern, ExpressionError> {
        // Both forms must reject the same invalid expressions.
        let expression = Expression::new(text, CaseMode::Sensitive)?;
        Ok(texts(text).map_or(Pattern::Expression(expression), Pattern::Texts))
    }

    /// Returns true if `name` contains a match.
    pub(super) fn matches(&self, name: &str) -> bool {
        match self {
            Pattern::Expression(expression) => expression.matches(name),
            Pattern::Texts(texts) => texts.iter().any(|Text { text, starts, ends }| match (starts, ends) {
                (true, true) => name == text,
                (true, false) => name.starts_with(text.as_str()),
                (false, true) => name.ends_with(text.as_str()),
                (false, false) => name.contains(text.as_str()),
            }),
        }
    }
}

/// Returns the alternatives of an expression such as `^foo|bar$`, or `None` if it needs a regular expression engine.
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
            // Nothing may follow the end anchor.
            _ if last.ends => return None,
            '^' if last.text.is_empty() && !last.starts => last.starts = true,
            '$' => last.ends = true,
            '^' | '.' | '*' | '+' | '?' | '(' | ')' | '[' | ']' | '{' | '}' => return None,
            // `\<` and `\>` are word boundaries.
            '\\' => last.text.push(letters.next().filter(|it| it.is_ascii_punctuation() && !matches!(it, '<' | '>'))?),
            letter => last.text.push(letter),
        }
    }
    Some(found)
}

#[cfg(test)]
#[path = "../../../tests/units/analysis/category/pattern.rs"]
mod tests;
