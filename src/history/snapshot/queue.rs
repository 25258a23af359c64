//! Events that were decoded and no list has taken yet, in order of decoding.
//!
//! Python's pickler hands them over in batches of 1000; torch's C++ pickler only at the end of the list, so this may hold a
//! whole trace. It grows by chunks and gives each chunk back as soon as its events are taken.

use super::event::Event;
use std::collections::VecDeque;

const CHUNK: usize = 4096;

/// The queue. Rows are numbered from 0 over the whole file.
#[derive(Default)]
pub(super) struct EventQueue {
    chunks: VecDeque<Chunk>,
    first_row: u32,
    rows: u32,
}

#[derive(Default)]
struct Chunk {
    events: Vec<Option<Event>>,
    taken: usize,
}

impl EventQueue {
    /// Adds an event; its row. `None` when 2^32 − 1 events are held.
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

    /// Takes the event of `row`; `None` when it was taken before.
    pub(super) fn take(&mut self, row: u32) -> Option<Event> {
        let at = row.checked_sub(self.first_row)? as usize;
        let chunk = self.chunks.get_mut(at / CHUNK)?;
        let event = chunk.events.get_mut(at % CHUNK)?.take()?;
        chunk.taken += 1;
        if chunk.taken == CHUNK {
            // Also behind a chunk with an event that nobody ever takes (metadata that looks like one).
            chunk.events = Vec::new();
        }
        while self.chunks.front().is_some_and(|chunk| chunk.taken == CHUNK) {
            self.chunks.pop_front();
            self.first_row += CHUNK as u32;
        }
        Some(event)
    }

    /// The event added last, if it was not taken.
    pub(super) fn newest(&self) -> Option<Event> {
        *self.chunks.back()?.events.last()?
    }

    /// How many events were ever added.
    pub(super) fn rows(&self) -> u32 {
        self.rows
    }

    /// Bytes on the heap.
    pub(super) fn heap_bytes(&self) -> usize {
        self.chunks.iter().map(|chunk| chunk.events.capacity() * size_of::<Option<Event>>()).sum()
    }
}

#[cfg(test)]
#[path = "../../../tests/units/history/snapshot/queue.rs"]
mod tests;
