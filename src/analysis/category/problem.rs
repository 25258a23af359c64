//! What can be wrong with a set of rules, and in which line.

use crate::expression::ExpressionError;
use base::units::grouped;

/// Why a text is no set of rules.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {cause}")]
pub struct SetError {
    /// Which line, from 1.
    pub line: u32,
    pub cause: SetProblem,
}

/// What can be wrong with a set of rules.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SetProblem {
    /// Not a text of this form.
    #[error("{0}")]
    Syntax(String),
    /// A key that means nothing here.
    #[error("unknown key \"{0}\"")]
    Key(String),
    /// A value of another kind than its key has.
    #[error("\"{0}\" must be {1}")]
    Value(String, String),
    /// There is no such thing.
    #[error("\"{0}\" is missing")]
    Missing(&'static str),
    /// A pattern that is none.
    #[error("invalid regular expression: {1}")]
    Pattern(&'static str, ExpressionError),
    /// Too much of something.
    #[error("at most {most} {0}", most = grouped(*.1 as u64))]
    TooMany(&'static str, usize),
    /// What is asked can't be asked together.
    #[error("{0}")]
    Together(&'static str),
}
