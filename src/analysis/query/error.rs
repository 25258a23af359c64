//! Errors of search queries.

use crate::expression::ExpressionError;

/// A parse error of a query.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum QueryError {
    /// The query is empty.
    #[error("The search is empty.")]
    Empty,
    /// The query has more than [`MAX_LENGTH`](super::MAX_LENGTH) characters.
    #[error("A search is limited to 500 characters.")]
    TooLong,
    /// No number after `#`.
    #[error("Expected an allocation number after #, such as #123.")]
    Number,
    /// No address after `0x`.
    #[error("Expected 1–16 hexadecimal digits after 0x.")]
    Address,
    /// No size after a comparison or around `..`.
    #[error("Invalid size. Examples: 512, 2MiB, 1.5GiB.")]
    Size,
    /// An ambiguous unit such as MB, which may be decimal or binary.
    #[error("{0}B is ambiguous: write {0}iB.")]
    Unit(char),
    /// `=` with a size that is not a whole number of bytes.
    #[error("Not a whole number of bytes: omit the =.")]
    Fraction,
    /// No number of events after `age` or `life`.
    #[error("Age and life are numbers of events. Examples: age>1000, life 10..500.")]
    Events,
    /// No number after `stream:`.
    #[error("Invalid stream. Examples: stream:0, stream:0x55d0.")]
    Stream,
    /// No two numbers after `pool:`.
    #[error("Invalid pool. Example: pool:0,1.")]
    Pool,
    /// Too many terms in a filter.
    #[error("A filter is limited to 16 terms.")]
    TooManyTerms,
    /// The range of sizes is empty.
    #[error("The size range is empty.")]
    EmptyRange,
    /// An invalid regular expression.
    #[error("Invalid regular expression: {0}.")]
    Expression(ExpressionError),
}
