//! Actions of the SQL tab.

use protocol::sql::SqlReply;

/// Action of the SQL tab.
#[derive(Clone, Debug, PartialEq)]
pub enum SqlAction {
    /// The stored history was read.
    HistoryLoaded(String),
    /// The query was edited. Holds its text, and the position of the cursor in UTF-16 units.
    Edited(String, usize),
    /// A key was pressed while suggestions are listed.
    KeyPressed(String),
    /// The query was run. Holds its text.
    Run(String),
    /// An element was clicked: its action, with the index of the element after a colon.
    Clicked(String),
    /// The end of the rows is near.
    MoreWanted,
    Cancelled,
    Replied(Box<SqlReply>),
    /// The worker could not be started, or has crashed.
    Failed(String),
    /// A row of this allocation of the shown device was clicked.
    Allocation(u32),
    /// A row of this event of the shown device was clicked.
    Event(u32),
}
