//! Cursor, range, search and selection.

pub mod cursor;
pub mod details;
pub mod find;
pub mod range;
pub(crate) mod selecting;
