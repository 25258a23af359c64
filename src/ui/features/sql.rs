//! The SQL tab: a query editor with completion, and the result of the last query. A worker runs the queries and keeps
//! their rows.

mod action;
mod data;
mod feature;
mod lists;
mod node;
mod rows;
mod subject;
mod utf16;

pub use action::SqlAction;
pub use data::{Sql, SqlPart};
pub(crate) use feature::FEATURE;
pub use node::Node;
