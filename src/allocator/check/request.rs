//! Comparison of a single request with the recording.

use super::{Check, NONE};
use crate::chunk::{Chunk, Decision, Request};
use crate::implied::Attempts;
use crate::recording::{Step, What};
use crate::rounding::rounded;
use crate::settings::{BlockOrder, SMALL};

impl Check {
    /// Makes the model allocate or fail as recorded. `chunk` contains the steps since the previous request.
    pub(super) fn request(&mut self, step: Step, chunk: Chunk<'_>) {
        let recording = chunk.recording;
        let (requested, place, address) = match step.what {
            What::Alloc(number) => {
                let allocation = recording.allocations.at(number as usize);
                (allocation.size, recording.place(allocation.place), Some(allocation.address))
            }
            What::Oom(number) => {
                let Some(oom) = recording.ooms.get(number as usize) else { return };
                (oom.size, recording.place(oom.place), None)
            }
            _ => return,
        };
        let size = rounded(&self.allocator.settings, self.allocator.backend, requested);
        let pool = self.allocator.pool(place.pool, size <= SMALL);
        let is_alone = chunk.releases().next().is_none();
        let request = Request { size, place, pool, succeeds: address.is_some() };
        let Decision { done, misses } = self.decide_cause(&request, chunk);
        self.has_waited = false;
        chunk.part(done..chunk.steps.len()).load(&mut self.script);
        self.give_script(request.succeeds);
        // As in a run, unless the recording shows more.
        let retries = self.allocator.backend.order != BlockOrder::Address && place.stream == 0;
        self.allocator.retries_private = retries || request.succeeds || !is_alone;
        self.allocator.driver.attempts().into_iter().for_each(Attempts::begin);
        match (step.what, address) {
            (What::Alloc(number), Some(address)) => {
                if !misses {
                    self.learn(&request, address);
                }
                if let Some(last) = self.requested(size) {
                    *last = requested;
                }
                self.verdict.addresses += 1;
                let block = self.allocator.request(requested, place, number, misses);
                let is_placed = block.is_some_and(|id| self.allocator.blocks.at(id).address == address);
                self.verdict.addresses_equal += u64::from(is_placed);
                self.blocks.get_mut(number as usize).into_iter().for_each(|own| *own = block.unwrap_or(NONE));
                if !is_placed {
                    self.depart(step.event);
                }
            }
            (What::Oom(number), _) => {
                self.verdict.oom_event.get_or_insert(step.event);
                let known = self.requested(size).copied();
                let own = self.findings.requested.get_mut(number as usize);
                own.zip(known).into_iter().for_each(|(own, known)| *own = known);
                if let Some(id) = self.allocator.request(requested, place, NONE, misses) {
                    self.allocator.free(id);
                    self.depart(step.event);
                } else {
                    let device_free = recording.ooms.get(number as usize).map_or(0, |oom| oom.device_free);
                    self.allocator.driver.attempts().into_iter().for_each(|attempts| attempts.fail(device_free));
                }
            }
            _ => {}
        }
        // Frees that the request would have waited for.
        self.allocator.wait();
        if !self.script.is_empty() || self.has_log() {
            self.compare(step);
        }
    }

    /// Returns the requested size of the latest request that is rounded to `size`, if some request of that size fails.
    fn requested(&mut self, size: u64) -> Option<&mut u64> {
        let at = self.requested.partition_point(|(rounded, _)| *rounded < size);
        self.requested.get_mut(at).filter(|(rounded, _)| *rounded == size).map(|(_, requested)| requested)
    }
}
