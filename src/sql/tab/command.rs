//! Commands from the SQL worker to the page.

use super::node::Node;

/// Command from the SQL worker to the page.
#[derive(Clone, Debug, PartialEq)]
pub enum PageCommand {
    /// Replaces the children of the element with this id by these nodes.
    Replace(&'static str, Vec<Node>),
    /// Appends these nodes to the element with this id.
    Append(&'static str, Vec<Node>),
    /// Sets the text of the status line. The flag is true if the text is an error.
    Status(String, bool),
    /// Replaces the text of the query and sets the cursor position in UTF-16 units.
    SetQuery(String, usize),
    /// Selects an allocation, or moves the cursor to an event.
    Go {
        device: Option<i64>,
        allocation: Option<u32>,
        event: Option<u32>,
    },
    Copy(String),
    Save(String, Vec<u8>),
    /// Stores the query history, given as text.
    History(String),
}
