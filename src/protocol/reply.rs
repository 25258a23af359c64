//! Messages from the engine to its driver.

use super::{Answer, FileSummary, Member, PartialFile, Progress};
use serde::{Deserialize, Serialize};

/// Message from the engine to its driver.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Reply {
    Progress(Progress),
    /// Partial results for the file being loaded. Only sent by callers of
    /// `Engine::partial`.
    Partial(Box<PartialFile>),
    /// The file has several snapshots. The requested one is opened next. To open another one, send
    /// [`Request::Open`](super::Request::Open) again.
    Members(Vec<Member>),
    Opened(Box<FileSummary>),
    /// The file could not be opened. The previous file was closed as well.
    Failed {
        message: String,
    },
    Cancelled,
    /// Result of a [`Request::Ask`](super::Request::Ask).
    Answer {
        serial: u32,
        answer: Answer,
    },
}
