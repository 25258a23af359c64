//! Errors of search queries.

use crate::expression::ExpressionError;

/// Reason why a search query or filter is invalid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum QueryError {
    /// The query is empty.
    #[error("The search is empty.")]
    Empty,
    /// The query has more than [`MAX_LENGTH`](super::MAX_LENGTH) characters.
    #[error("A search is limited to 500 characters.")]
    TooLong,
    /// `#` is not followed by a number.
    #[error("Expected an allocation number after #, such as #123.")]
    Number,
    /// `0x` is not followed by an address.
    #[error("Expected 1–16 hexadecimal digits after 0x.")]
    Address,
    /// A comparison or `..` without a valid size.
    #[error("Invalid size. Examples: 512, 2MiB, 1.5GiB.")]
    Size,
    /// The unit is ambiguous, such as MB, which may be decimal or binary. Contains its first letter.
    #[error("{0}B is ambiguous: write {0}iB.")]
    Unit(char),
    /// `=` is followed by a size that is not a whole number of bytes.
    #[error("Not a whole number of bytes: omit the =.")]
    Fraction,
    /// `age` or `life` is not followed by a number of events.
    #[error("Age and life are numbers of events. Examples: age>1000, life 10..500.")]
    Events,
    /// `stream:` is not followed by a number.
    #[error("Invalid stream. Examples: stream:0, stream:0x55d0.")]
    Stream,
    /// `pool:` is not followed by two numbers.
    #[error("Invalid pool. Example: pool:0,1.")]
    Pool,
    /// The filter has too many terms.
    #[error("A filter is limited to 16 terms.")]
    TooManyTerms,
    /// The range of sizes is empty, because its start is greater than its end.
    #[error("The size range is empty.")]
    EmptyRange,
    /// An invalid regular expression.
    #[error("Invalid regular expression: {0}.")]
    Expression(ExpressionError),
}
