//! Steps of a run: requests, frees and releases.

use super::{NONE, Run, State};
use crate::findings::Cause;
use crate::plan::EmptyCache;
use crate::recording::{Place, Recording, Step, What};
use crate::rounding::rounded;
use crate::settings::BlockOrder;

impl Run {
    #[inline]
    pub(crate) fn take(&mut self, recording: &Recording, step: Step) {
        if self.empties_cache {
            self.empty_cache_before(step.event);
            self.complete(recording);
        }
        match step.what {
            What::Alloc(number) => {
                let place = recording.allocations.at(number as usize).place;
                self.allocate(recording, number, place, step.event.into());
                if !self.postponed.is_empty() {
                    self.complete_postponed(recording, step.event);
                }
            }
            What::FreeRequested(number) => {
                self.count_rounded(recording, number, false);
                if self.program.frees_at_once() {
                    self.complete_free(recording, number);
                } else if let Some(&id) = self.blocks.get(number as usize).filter(|id| **id != NONE) {
                    self.allocator.request_free(id);
                }
            }
            What::FreeCompleted(number) => {
                let waited = recording.findings.waited.get(self.next_waited);
                if waited.is_some_and(|&step| step as usize + 1 == self.next) {
                    // It completed because the next request waited for it, which may not wait here.
                    self.next_waited += 1;
                    self.postponed.push(number);
                } else {
                    self.complete_free(recording, number);
                }
            }
            What::Release(run) => self.release(recording, run),
            What::Oom(number) => {
                let Some(oom) = recording.ooms.get(number as usize) else { return };
                let size = recording.findings.requested.get(number as usize).copied().unwrap_or(oom.size);
                let place = self.place(recording, oom.place);
                match self.allocator.allocate(size, place, NONE) {
                    // The program would have continued differently.
                    Some(_) => (self.outcome.avoided_oom, self.is_over) = (Some(step.event), true),
                    None => {
                        self.outcome.oom_event.get_or_insert(step.event.into());
                    }
                }
            }
            What::Grow(_) => {}
        }
    }

    /// Completes the postponed frees after the current request, unless the request has waited for them.
    #[cold]
    fn complete_postponed(&mut self, recording: &Recording, event: u32) {
        self.complete(recording);
        self.note(event);
        for number in std::mem::take(&mut self.postponed) {
            self.complete_free(recording, number);
        }
    }

    /// Calls `empty_cache()` if the plan requires it before this event.
    #[cold]
    fn empty_cache_before(&mut self, event: u32) {
        let mut is_due = false;
        let planned = if let EmptyCache::Before(events) = &self.empty_cache { events.as_slice() } else { &[] };
        for (next, events) in self.next_empty.iter_mut().zip([planned, &self.program.empty_cache_before]) {
            while events.get(*next).is_some_and(|&other| other <= event) {
                (*next, is_due) = (*next + 1, true);
            }
        }
        if is_due {
            self.allocator.release_cached();
        }
    }

    /// Performs a recorded release if the program caused it, as inferred from the recording.
    fn release(&mut self, recording: &Recording, run: u32) {
        let findings = &recording.findings;
        let Some(release) = recording.releases.get(run as usize) else { return };
        self.allocator.retire(release.pool);
        match findings.causes.get(run as usize).copied().unwrap_or_default() {
            Cause::EmptyCache { unused_pools: [first, end] } => {
                let unused = findings.unused_pools.get(first as usize..end as usize).unwrap_or_default();
                unused.iter().for_each(|&pool| self.allocator.retire(pool));
                if self.empty_cache == EmptyCache::AsRecorded {
                    self.allocator.release_cached();
                }
            }
            Cause::PoolDestroyed => {
                self.allocator.complete_frees(Some(release.pool));
                self.allocator.release_private(release.pool);
            }
            Cause::Continued | Cause::Request => {}
        }
    }

    /// Frees the block of an allocation, if it is live.
    #[inline]
    pub(super) fn complete_free(&mut self, recording: &Recording, number: u32) {
        self.count_rounded(recording, number, false);
        let id = self.blocks.get_mut(number as usize).map_or(NONE, |id| std::mem::replace(id, NONE));
        if id != NONE {
            self.live = self.live.saturating_sub(recording.size(number, self.is_planned));
            self.allocator.free(id);
        }
    }

    /// Updates the total of rounded bytes when an allocation becomes live or its free is requested.
    #[inline]
    fn count_rounded(&mut self, recording: &Recording, number: u32, is_new: bool) {
        if !self.counts_rounded || self.block(number).is_none_or(|block| block.state != State::Live) {
            return;
        }
        let size = self.rounded(recording, number);
        if is_new {
            self.live_rounded = self.live_rounded.saturating_add(size);
            self.outcome.peak_rounded = self.outcome.peak_rounded.max(self.live_rounded);
        } else {
            self.live_rounded = self.live_rounded.saturating_sub(size);
        }
    }

    pub(super) fn rounded(&self, recording: &Recording, number: u32) -> u64 {
        rounded(&self.allocator.settings, self.allocator.backend, recording.size(number, self.is_planned))
    }

    /// Returns the stream and pool of a request in this run.
    #[inline]
    fn place(&mut self, recording: &Recording, place: u32) -> Place {
        let place = recording.place(place);
        // A graph is never captured on the default stream. Up to PyTorch 2.11 every private pool counts as a capture.
        self.allocator.retries_private = self.allocator.backend.order != BlockOrder::Address && place.stream == 0;
        if self.program.one_stream { Place { stream: 0, ..place } } else { place }
    }

    pub(super) fn allocate(&mut self, recording: &Recording, number: u32, place: u32, event: i64) {
        let size = recording.size(number, self.is_planned);
        if size == 0 {
            return;
        }
        let place = self.place(recording, place);
        match self.allocator.allocate(size, place, number) {
            Some(id) => {
                if let Some(own) = self.blocks.get_mut(number as usize) {
                    *own = id;
                }
                self.live = self.live.saturating_add(size);
                self.count_rounded(recording, number, true);
            }
            None => (self.outcome.oom_event, self.is_over) = (Some(event), true),
        }
    }
}
