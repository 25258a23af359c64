//! Errors of a rule document.

use crate::expression::ExpressionError;
use base::units::group_digits;

/// An error with its line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {cause}")]
pub struct SetError {
    /// Line number, from 1.
    pub line: u32,
    pub cause: SetProblem,
}

/// Cause of an error.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SetProblem {
    /// A syntax error.
    #[error("{0}")]
    Syntax(String),
    /// An unknown key.
    #[error("unknown key \"{0}\"")]
    Key(String),
    /// A value of the wrong type. Key and expected type.
    #[error("\"{0}\" must be {1}")]
    Value(String, String),
    /// A missing key.
    #[error("\"{0}\" is missing")]
    Missing(&'static str),
    /// An invalid regular expression. Key and error.
    #[error("invalid regular expression: {1}")]
    Pattern(&'static str, ExpressionError),
    /// A limit was exceeded. Kind and maximum.
    #[error("at most {most} {0}", most = group_digits(*.1 as u64))]
    TooMany(&'static str, usize),
    /// Conditions that cannot be combined.
    #[error("{0}")]
    Conflict(&'static str),
}
