//! What the page is to do.

use super::node::Node;

/// What the page is to do.
#[derive(Clone, Debug, PartialEq)]
pub enum Told {
    /// The element with this id has these children, and no others.
    Show(&'static str, Vec<Node>),
    /// It has these as well.
    Add(&'static str, Vec<Node>),
    /// What the status line says, and whether it is an error.
    Status(String, bool),
    /// The query is this, and the cursor stands there, in letters as JavaScript counts them.
    Typed(String, usize),
    /// An allocation is selected, or else the cursor goes to an event.
    Go {
        device: Option<i64>,
        allocation: Option<u32>,
        event: Option<u32>,
    },
    Copy(String),
    Save(String, Vec<u8>),
    /// What is kept until the page is opened again.
    History(String),
}
