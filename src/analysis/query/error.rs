//! Why a text is no query.

use crate::expression::ExpressionError;

/// Why a text is no query.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum QueryError {
    /// There is nothing to look for.
    #[error("The search is empty.")]
    Empty,
    /// It has more than [`LONGEST`](super::LONGEST) characters.
    #[error("A search is limited to 500 characters.")]
    TooLong,
    /// No number stands behind `#`.
    #[error("Expected an allocation number after #, such as #123.")]
    Number,
    /// No address stands behind `0x`.
    #[error("Expected 1–16 hexadecimal digits after 0x.")]
    Address,
    /// No size stands behind a comparison or around `..`.
    #[error("Invalid size. Examples: 512, 2MiB, 1.5GiB.")]
    Size,
    /// MB and its like mean one thing here and another there.
    #[error("{0}B is ambiguous: write {0}iB.")]
    Unit(char),
    /// `=` and a size that is no whole number of bytes.
    #[error("Not a whole number of bytes: omit the =.")]
    Fraction,
    /// No number of events stands behind `age` or `life`.
    #[error("Age and life are numbers of events. Examples: age>1000, life 10..500.")]
    Events,
    /// No number stands behind `stream:`.
    #[error("Invalid stream. Examples: stream:0, stream:0x55d0.")]
    Stream,
    /// No two numbers stand behind `pool:`.
    #[error("Invalid pool. Example: pool:0,1.")]
    Pool,
    /// More terms than anybody types.
    #[error("A filter is limited to 16 terms.")]
    TooManyTerms,
    /// No size lies between these.
    #[error("The size range is empty.")]
    NoSuchSize,
    /// Not a regular expression: why.
    #[error("Invalid regular expression: {0}.")]
    Expression(ExpressionError),
}
