//! The SQL tab: a query editor with completion, and the result of the last query. A worker runs the queries and keeps
//! their rows.

mod data;
mod feature;

pub use data::{Sql, SqlAction};
pub(crate) use feature::FEATURE;
