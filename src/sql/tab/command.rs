//! Commands to the page.

use super::node::Node;

/// A command to the page.
#[derive(Clone, Debug, PartialEq)]
pub enum PageCommand {
    /// Replaces the children of the element with this id.
    Replace(&'static str, Vec<Node>),
    /// Adds children to the element with this id.
    Append(&'static str, Vec<Node>),
    /// Sets the status line. The flag is true for an error.
    Status(String, bool),
    /// Replaces the query and sets the cursor position, which counts UTF-16 units.
    SetQuery(String, usize),
    /// Selects an allocation, or moves the cursor to an event.
    Go {
        device: Option<i64>,
        allocation: Option<u32>,
        event: Option<u32>,
    },
    Copy(String),
    Save(String, Vec<u8>),
    /// Stores the query history.
    History(String),
}
