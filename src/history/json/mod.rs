//! JSON → values, as the bytes arrive: the same [`Builder`](crate::pickle::Builder) receives them as from a pickle.
//!
//! JSON has no tuples (they come as lists), no shared values (they come again, in full) and no keys but strings. What Python's
//! `json` writes beyond the standard is read as well: `NaN`, `Infinity`, lone surrogates, integers of any length. What no writer
//! writes is refused: a comma before a bracket, comments, a bare control character in a string.

pub mod error;
pub mod limits;
pub mod machine;
mod number;
mod scan;
mod text;

pub use error::{ErrorKind, JsonError};
pub use limits::Limits;
pub use machine::Machine;
