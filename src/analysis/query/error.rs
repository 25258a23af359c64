//! Why a text is no query.

use crate::expression::ExpressionError;

/// Why a text is no query.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum QueryError {
    /// There is nothing to look for.
    #[error("Nothing to look for.")]
    Empty,
    /// It has more than [`LONGEST`](super::LONGEST) characters.
    #[error("A search has at most 500 characters.")]
    TooLong,
    /// No number stands behind `#`.
    #[error("After # comes the number of an allocation: #123.")]
    Number,
    /// No address stands behind `0x`.
    #[error("After 0x come 1 to 16 hexadecimal digits.")]
    Address,
    /// No size stands behind a comparison or around `..`.
    #[error("A size reads 512, 2MiB or 1.5GiB.")]
    Size,
    /// MB and its like mean one thing here and another there.
    #[error("{0}B is ambiguous: write {0}iB.")]
    Unit(char),
    /// `=` and a size that is no whole number of bytes.
    #[error("That is no whole number of bytes: leave out the =.")]
    Fraction,
    /// No number of events stands behind `age` or `life`.
    #[error("An age or a life is a number of events: age>1000, life 10..500.")]
    Events,
    /// No number stands behind `stream:`.
    #[error("A stream is a number: stream:0 or stream:0x55d0.")]
    Stream,
    /// No two numbers stand behind `pool:`.
    #[error("A pool is two numbers: pool:0,1.")]
    Pool,
    /// More terms than anybody types.
    #[error("A filter has at most 16 terms.")]
    TooManyTerms,
    /// No size lies between these.
    #[error("No size is in this range.")]
    NoSuchSize,
    /// Not a regular expression: why.
    #[error("Not a regular expression: {0}.")]
    Expression(ExpressionError),
}
