//! Open snapshots as SQLite tables. Nothing is copied: rows are read from the history when a query needs them.
//!
//! ```text
//! Source   files and their devices
//! tables   allocation, event, stack, …: how a row is read           → sqlite::Table
//! Queries  a database with these tables and functions               → rows
//! desk     state of the page's SQL tab                              → commands for the page
//! ```
//!
//! Start with `source.rs`, `rows.rs` (the interface of tables) and `queries.rs`.

mod canned;
mod catalog;
pub mod desk;
mod facts;
mod functions;
mod moment;
mod node;
mod queries;
mod rows;
mod saved;
mod schema;
mod shared;
mod source;
mod tables;
mod typing;

pub use canned::{CANNED, Canned};
pub use catalog::Catalog;
pub use queries::Queries;
pub use schema::{Described, TABLES, schema_text};
pub use source::{Holds, Labelled, Source};
pub use sqlite::{Cancel, Cell, Error, Limits, Value, save_rows};
pub use typing::{Class, Completion, Token, completions, tokens};
