//! Regular expressions, with limits: a hostile one is refused, since it comes from links and files of rules as well.

use regex_lite::{Regex, RegexBuilder};
use std::mem;

pub use regex_lite::Error as ExpressionError;

/// Bytes of an expression.
const LONGEST: usize = 4096;
/// Steps of a compiled expression: searching a text takes at most the product of both.
const MOST_STEPS: usize = 1000;

/// A regular expression with the syntax of the crate `regex`; case and classes are those of ASCII.
#[derive(Clone, Debug)]
pub struct Expression(Regex);

/// How case is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Case {
    Matters,
    /// Small and capital ASCII letters are the same.
    Folds,
}

impl Expression {
    /// Compiles an expression.
    ///
    /// # Errors
    /// It is invalid, or larger than the limits allow.
    pub fn new(text: &str, case: Case) -> Result<Expression, ExpressionError> {
        // Only the crate makes its errors: no expression at all fits into no steps.
        let (text, steps) = if text.len() > LONGEST { ("", 0) } else { (text, MOST_STEPS) };
        let built = RegexBuilder::new(text)
            .case_insensitive(case == Case::Folds)
            // A step is a vector and a word.
            .size_limit(steps * mem::size_of::<[usize; 4]>())
            .build();
        built.map(Expression)
    }

    /// Whether the text contains a match.
    pub fn is_in(&self, text: &str) -> bool {
        self.0.is_match(text)
    }
}

#[cfg(test)]
#[path = "../../tests/units/analysis/expression.rs"]
mod tests;
