//! What the engine tells.

use super::{Answer, FileSummary, Member, PartialFile, Progress};
use serde::{Deserialize, Serialize};

/// What the engine tells.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Reply {
    Progress(Progress),
    /// What is decoded so far, for whoever asks [`Engine::partial`](super::super::Engine::partial).
    Partial(Box<PartialFile>),
    /// The file holds several snapshots. The one asked for is opened next; the others wait for a [`Request::Open`](super::Request::Open)
    /// of their own.
    Members(Vec<Member>),
    Opened(Box<FileSummary>),
    /// The file can't be opened; the one before it is closed as well.
    Failed {
        message: String,
    },
    Cancelled,
    /// The answer to a [`Request::Ask`](super::Request::Ask).
    Answer {
        serial: u32,
        answer: Answer,
    },
}
