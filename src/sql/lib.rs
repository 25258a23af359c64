//! Open snapshots as SQLite tables. Nothing is copied: rows are read from the history when a query needs them.
//!
//! ```text
//! Source   files and their devices
//! tables   allocation, event, stack, …: how a row is read           → sqlite::Table
//! Queries  a database with these tables and functions               → rows
//! Session  the last result, for the page's SQL tab                  → replies
//! ```
//!
//! Start with `source.rs`, `rows.rs` (the interface of tables) and `queries.rs`.

mod cache;
mod catalog;
mod completion;
mod examples;
mod functions;
mod mindstudio;
mod node;
mod queries;
mod result;
mod rows;
mod save;
mod schema;
mod series;
mod session;
mod shared;
mod source;
mod tables;
mod when;

pub use catalog::Catalog;
pub use completion::{completions, tokens};
pub use examples::{EXAMPLE_QUERIES, ExampleQuery};
pub use protocol::sql::{Completion, Token, TokenClass};
pub use queries::Queries;
pub use schema::{TABLES, TableDescription, schema_text};
pub use session::Session;
pub use source::{FileLabel, SideProvider, Source};
pub use sqlite::{Cancel, Cell, Error, Limits, Value, save_rows};
