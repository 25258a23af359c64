//! Errors in rule documents.

use crate::expression::ExpressionError;
use base::units::group_digits;

/// An error in a rule document, with its line number.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {cause}")]
pub struct SetError {
    /// Line number, counted from 1.
    pub line: u32,
    pub cause: SetProblem,
}

/// Cause of an error in a rule document.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SetProblem {
    /// A syntax error.
    #[error("{0}")]
    Syntax(String),
    /// An unknown key.
    #[error("unknown key \"{0}\"")]
    Key(String),
    /// A value of the wrong type. Contains the key and the expected type.
    #[error("\"{0}\" must be {1}")]
    Value(String, String),
    /// A missing key.
    #[error("\"{0}\" is missing")]
    Missing(&'static str),
    /// An invalid regular expression. Contains the key and the error.
    #[error("invalid regular expression: {1}")]
    Pattern(&'static str, ExpressionError),
    /// Too many items. Contains the kind of item and the maximum number.
    #[error("at most {most} {0}", most = group_digits(*.1 as u64))]
    TooMany(&'static str, usize),
    /// Conditions that contradict each other. Contains an explanation.
    #[error("{0}")]
    Conflict(&'static str),
}
