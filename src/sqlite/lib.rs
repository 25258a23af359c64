//! SQLite on top of tables implemented in Rust. A [`Table`] describes its columns and provides its rows. A [`Database`]
//! runs queries.
//!
//! Queries are untrusted and can only read. Statements that write, attach files, change settings or load code are
//! rejected. Time and memory are limited.
//!
//! Start with `table.rs` (the trait to implement), `database.rs` and `guard.rs` (permissions and limits).

mod adapter;
mod cell;
mod database;
mod error;
mod guard;
#[cfg(target_arch = "wasm32")]
mod omitted;
mod save;
mod statement;
mod table;

pub use cell::{Cell, Value};
pub use database::Database;
pub use error::Error;
pub use guard::{Cancel, Limits};
pub use save::save_rows;
pub use table::{Bound, Column, Cursor, Filter, Kind, SeekColumn, Table};
