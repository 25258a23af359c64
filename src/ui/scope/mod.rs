//! What the views are about: cursor, range, search, selection and comparison.

pub mod cursor;
pub mod details;
pub mod find;
pub mod range;
pub(crate) mod selecting;
