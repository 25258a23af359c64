//! Messages from the engine to its driver.

use super::{Answer, FileSummary, Member, PartialFile, Progress};
use serde::{Deserialize, Serialize};

/// Message from the engine to its driver.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Reply {
    Progress(Progress),
    /// Partial results of the load in progress, for callers of [`Engine::partial`](super::super::Engine::partial).
    Partial(Box<PartialFile>),
    /// The file holds several snapshots. The requested one is opened next. Others need another
    /// [`Request::Open`](super::Request::Open).
    Members(Vec<Member>),
    Opened(Box<FileSummary>),
    /// The file could not be opened. The previous file is closed as well.
    Failed {
        message: String,
    },
    Cancelled,
    /// Answer to a [`Request::Ask`](super::Request::Ask).
    Answer {
        serial: u32,
        answer: Answer,
    },
}
