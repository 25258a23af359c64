//! Inference of the relative ages of segments that were allocated before recording. If two free blocks are equally good
//! for a request, the recorded address of the request shows which segment is older (PyTorch 2.12 and later).

use super::blocks::{NONE, State};
use super::check::Check;
use super::chunk::Request;
use super::model::Allocator;
use super::pool::Key;

/// Maximum number of corrections, which bounds their running time.
const MAX_CORRECTIONS: u32 = 4096;

impl Check {
    /// Corrects the order of two segments: if the recording places the request in a segment other than the predicted
    /// one, the recorded segment becomes the older one.
    pub(super) fn learn(&mut self, request: &Request, address: u64) {
        if self.start_numbers.is_empty() || self.corrections >= MAX_CORRECTIONS || self.verdict.departs_at.is_some() {
            return;
        }
        let allocator = &self.allocator;
        let Some(best) = allocator.peek(request.pool, request.size, request.place.stream) else { return };
        if best.address == address {
            return;
        }
        let free = allocator.pools.get(request.pool as usize).into_iter().flat_map(|pool| pool.free.range(best..));
        let mut ties = free.take_while(|key| (key.stream, key.size) == (best.stream, best.size));
        let Some(own) = ties.find(|key| key.address == address).copied() else { return };
        let Some(at) = self.start_numbers.iter().position(|number| *number == own.number) else { return };
        if !self.start_numbers.contains(&best.number) {
            return;
        }
        let below = self.start_numbers.iter().copied().filter(|number| *number < best.number).max().unwrap_or(0);
        let number = below + (best.number - below) / 2;
        if number > below {
            self.corrections += 1;
            self.start_numbers[at] = number;
            self.allocator.renumber_segment(own, number);
        }
    }
}

impl Allocator {
    /// Sets the age number (low = old) of all blocks of a segment.
    fn renumber_segment(&mut self, key: Key, number: u64) {
        let mut id = key.block;
        while self.blocks.at(id).previous != NONE {
            id = self.blocks.at(id).previous;
        }
        while id != NONE {
            let block = *self.blocks.at(id);
            self.blocks.at_mut(id).number = number;
            if block.state == State::Free {
                let pool = &mut self.pools[block.pool as usize];
                pool.free.remove(&Key::of(id, &block));
                pool.free.insert(Key { number, ..Key::of(id, &block) });
            }
            id = block.next;
        }
    }

    /// Returns the initial age numbers of the segments that exist before the first event.
    pub(super) fn start_numbers(&self) -> Vec<u64> {
        (1..=self.start_segments).map(|number| number << super::start::NUMBER_GAP).collect()
    }
}

#[cfg(test)]
#[path = "../../tests/units/allocator/ages.rs"]
mod tests;
