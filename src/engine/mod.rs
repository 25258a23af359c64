//! The app without a face: [`Request`] in, [`Reply`] out, in slices.
//!
//! A driver (worker, command line, test) hands over requests and bytes, calls [`Engine::step`] while there is work, and takes
//! the replies. `step` returns when its budget is spent, so that a driver with a message queue can let a cancel or a newer
//! window overtake what runs.

pub mod protocol;

pub use protocol::{Reply, Request};

use std::collections::VecDeque;

/// Whether [`Engine::step`] has anything left to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// Call again.
    More,
    /// Nothing to do until the next request or chunk.
    Idle,
}

/// The app without a face.
#[derive(Default)]
pub struct Engine {
    replies: VecDeque<Reply>,
}

impl Engine {
    /// An engine with no file open.
    pub fn new() -> Engine {
        Engine::default()
    }

    /// Takes a request; the work is done in [`Engine::step`].
    pub fn request(&mut self, request: Request) {
        let _ = request;
    }

    /// Takes the next bytes of the file being loaded; without one they are dropped. Call it when [`Engine::wants_bytes`].
    pub fn feed(&mut self, chunk: Vec<u8>) {
        let _ = chunk;
    }

    /// Whether a file is loading and the last chunk is used up. `false` after an error or a cancel: stop reading then.
    pub fn wants_bytes(&self) -> bool {
        false
    }

    /// Works until there is nothing to do or `has_time` (asked about every tenth of a millisecond) says no.
    pub fn step(&mut self, has_time: &mut dyn FnMut() -> bool) -> Work {
        let _ = has_time;
        Work::Idle
    }

    /// The next reply, oldest first.
    pub fn next_reply(&mut self) -> Option<Reply> {
        self.replies.pop_front()
    }
}
