//! Queue of decoded events that are not part of a list yet.
//!
//! Python's pickler adds events to their list in batches of 1000, PyTorch's C++ pickler only at the end, so the queue
//! may contain a whole trace. It grows in chunks and frees each chunk as soon as all its events are taken.

use super::event::Event;
use std::collections::VecDeque;

const CHUNK: usize = 4096;

/// Queue of events. Rows are numbered from 0 over the whole file.
#[derive(Default)]
pub(super) struct EventQueue {
    chunks: VecDeque<Chunk>,
    first_row: u32,
    rows: u32,
}

base::heap_bytes!(EventQueue: [chunks]);

#[derive(Default)]
struct Chunk {
    events: Vec<Option<Event>>,
    taken: usize,
}

base::heap_bytes!(Chunk: events);

impl EventQueue {
    /// Adds an event and returns its row. Returns `None` after 2^32 − 1 events.
    #[inline(always)]
    pub(super) fn push(&mut self, event: Event) -> Option<u32> {
        let row = self.rows;
        self.rows = row.checked_add(1)?;
        match self.chunks.back_mut() {
            Some(chunk) if chunk.events.len() < CHUNK => chunk.events.push(Some(event)),
            _ => self.push_into_new_chunk(event),
        }
        Some(row)
    }

    #[cold]
    fn push_into_new_chunk(&mut self, event: Event) {
        let mut events = Vec::with_capacity(CHUNK);
        events.push(Some(event));
        self.chunks.push_back(Chunk { events, taken: 0 });
    }

    /// Removes and returns the event of `row`. Returns `None` if it was taken before.
    pub(super) fn take(&mut self, row: u32) -> Option<Event> {
        let index = row.checked_sub(self.first_row)? as usize;
        let chunk = self.chunks.get_mut(index / CHUNK)?;
        let event = chunk.events.get_mut(index % CHUNK)?.take()?;
        chunk.taken += 1;
        if chunk.taken == CHUNK {
            // Freed even if an earlier chunk still has events that will never be taken, such as metadata that looks
            // like an event.
            chunk.events = Vec::new();
        }
        while self.chunks.front().is_some_and(|chunk| chunk.taken == CHUNK) {
            self.chunks.pop_front();
            self.first_row += CHUNK as u32;
        }
        Some(event)
    }

    /// Returns the last added event, unless it was taken.
    pub(super) fn newest(&self) -> Option<Event> {
        *self.chunks.back()?.events.last()?
    }

    /// Returns the number of events added so far, including those taken.
    pub(super) fn rows(&self) -> u32 {
        self.rows
    }
}

#[cfg(test)]
#[path = "../../../tests/units/history/snapshot/queue.rs"]
mod tests;
