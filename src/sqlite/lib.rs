//! SQLite over tables that stay where they are: a [`Table`] says which columns it has and how it is read, [`Database`] asks.
//!
//! A database takes queries of anybody. It reads, and that is all: statements that write, attach files, change settings or load code are
//! refused; time and memory have limits.

mod adapter;
mod cell;
mod database;
mod error;
mod guard;
#[cfg(target_arch = "wasm32")]
mod omitted;
mod saved;
mod statement;
mod table;

pub use cell::{Cell, Value};
pub use database::Database;
pub use error::Error;
pub use guard::{Cancel, Limits};
pub use saved::save_rows;
pub use table::{Bound, Column, Cursor, Filter, Kind, Seek, Table};
