//! Incremental JSON parser. It feeds the same [`Builder`](crate::pickle::Builder) as the pickle parser.
//!
//! JSON has no tuples (they arrive as lists), no shared values (they are repeated in full) and only strings as keys.
//! Extensions of Python's `json` module are accepted: `NaN`, `Infinity`, lone surrogates and integers of any length.
//! Trailing commas, comments and control characters inside strings are rejected, because no writer produces them.

pub mod error;
pub mod limits;
mod number;
pub mod parser;
mod scan;
mod text;

pub use error::{ErrorKind, JsonError};
pub use limits::Limits;
pub use parser::Parser;
