//! Open snapshots as SQLite tables. Nothing is copied: rows are read from the history when a query needs them.
//!
//! ```text
//! Source   files and their devices
//! tables   allocation, event, stack, …: how a row is read           → sqlite::Table
//! Queries  a database with these tables and functions               → rows
//! tab      state of the page's SQL tab                              → commands for the page
//! ```
//!
//! Start with `source.rs`, `rows.rs` (the interface of tables) and `queries.rs`.

mod cache;
mod catalog;
mod completion;
mod examples;
mod functions;
mod node;
mod queries;
mod rows;
mod save;
mod schema;
mod shared;
mod source;
pub mod tab;
mod tables;
mod when;

pub use catalog::Catalog;
pub use completion::{Completion, Token, TokenClass, completions, tokens};
pub use examples::{EXAMPLE_QUERIES, ExampleQuery};
pub use queries::Queries;
pub use schema::{TABLES, TableDescription, schema_text};
pub use source::{FileLabel, SideProvider, Source};
pub use sqlite::{Cancel, Cell, Error, Limits, Value, save_rows};
