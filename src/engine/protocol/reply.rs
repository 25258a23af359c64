//! What the engine tells.

use super::{Answer, FileSummary, Member, Progress};
use serde::{Deserialize, Serialize};

/// What the engine tells.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Reply {
    /// How far loading is.
    Progress(Progress),
    /// The file holds several snapshots. The one asked for is opened next; the others wait for a [`Request::Open`](super::Request::Open)
    /// of their own.
    Members(Vec<Member>),
    /// The file is open.
    Opened(Box<FileSummary>),
    /// The file can't be opened; the one before it is closed as well.
    Failed {
        /// One sentence with place and cause.
        message: String,
    },
    /// Loading was given up.
    Cancelled,
    /// The answer to a [`Request::Ask`](super::Request::Ask).
    Answer {
        /// The question's.
        serial: u32,
        /// The answer.
        answer: Answer,
    },
}
