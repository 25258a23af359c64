//! Regular expressions with size limits. Expressions may come from links and rule files, so expensive ones are
//! rejected.

use regex_lite::{Regex, RegexBuilder};
use std::mem;

pub use regex_lite::Error as ExpressionError;

/// Maximum length of an expression in bytes.
const LONGEST: usize = 4096;
/// Maximum number of steps of a compiled expression. The time of a search is bounded by this number times the length of
/// the searched text.
const MAX_STEPS: usize = 1000;

/// A regular expression in the syntax of the `regex` crate. Case folding and character classes such as `\w` are ASCII
/// only.
#[derive(Clone, Debug)]
pub struct Expression(Regex);

/// Case sensitivity of an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CaseMode {
    Sensitive,
    /// Ignores the case of ASCII letters.
    Insensitive,
}

impl Expression {
    /// Compiles a regular expression.
    ///
    /// # Errors
    /// Returns an error if it is invalid or exceeds the limits.
    pub fn new(text: &str, case: CaseMode) -> Result<Expression, ExpressionError> {
        // Only the crate can construct its errors: any expression exceeds a limit of 0 steps.
        let (text, steps) = if text.len() > LONGEST { ("", 0) } else { (text, MAX_STEPS) };
        let built = RegexBuilder::new(text)
            .case_insensitive(case == CaseMode::Insensitive)
            // A step takes a vector and a word.
            .size_limit(steps * mem::size_of::<[usize; 4]>())
            .build();
        built.map(Expression)
    }

    /// Returns true if the text contains a match.
    pub fn matches(&self, text: &str) -> bool {
        self.0.is_match(text)
    }
}

#[cfg(test)]
#[path = "../../tests/units/analysis/expression.rs"]
mod tests;
