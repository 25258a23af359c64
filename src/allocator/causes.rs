//! Inference of who released memory: a call of `empty_cache()`, the destruction of a `MemPool`, or a request that found
//! no memory. This must be known before the model processes the request.

use super::check::Check;
use super::chunk::{Chunk, Decision, Request};
use super::findings::Cause;
use super::operation::{Kind, Operation};
use super::recording::{Caller, Release, Step, What};
use super::release::segments;
use super::rounding::segment;
use super::verdict::common;

impl Check {
    /// Processes frees and releases that no request follows. The program must have caused them, since only a request
    /// makes the allocator release memory.
    pub(super) fn without_request(&mut self, chunk: Chunk<'_>) {
        self.complete_all(chunk);
        let grown = chunk.iter().find(|(_, step)| matches!(step.what, What::Grow(_)));
        grown.into_iter().for_each(|(_, step)| self.depart(step.event));
        self.released_by_program(chunk);
    }

    pub(super) fn complete_all(&mut self, chunk: Chunk<'_>) {
        for (_, step) in chunk.iter() {
            if let What::FreeCompleted(number) = step.what {
                self.complete(number);
            }
        }
    }

    /// Releases memory as the program did: all cached memory, or the memory of a destroyed `MemPool`.
    fn released_by_program(&mut self, chunk: Chunk<'_>) {
        let releases: Vec<(u32, Release)> = chunk.releases().collect();
        let step = chunk.iter().find(|(_, step)| matches!(step.what, What::Release(_)));
        let mut rest = releases.as_slice();
        while let ([(first, release), ..], Some((_, step))) = (rest, step) {
            let first_pool = self.findings.unused_pools.len() as u32;
            let mut part = rest;
            if release.pool > 0 {
                let count = rest.iter().take_while(|(_, other)| other.pool == release.pool).count();
                part = rest.get(..count).unwrap_or_default();
            }
            for (_, other) in rest.iter().filter(|(_, other)| other.pool > 0) {
                self.allocator.retire(other.pool);
                if release.pool == 0 {
                    self.findings.unused_pools.push(other.pool);
                }
            }
            let unused_pools = [first_pool, self.findings.unused_pools.len() as u32];
            self.set_cause(
                *first,
                if release.pool > 0 { Cause::PoolDestroyed } else { Cause::EmptyCache { unused_pools } },
            );
            self.script.extend(part.iter().flat_map(|(_, release)| chunk.operations_of(*release)));
            self.give_script(true);
            if release.pool > 0 {
                self.allocator.release_private(release.pool);
            } else {
                self.verdict.empty_caches += 1;
                self.allocator.exercised.completed += u64::from(std::mem::take(&mut self.has_waited));
                self.allocator.release_cached();
            }
            self.compare(step);
            rest = rest.get(part.len()..).unwrap_or_default();
        }
    }

    fn set_cause(&mut self, release: u32, cause: Cause) {
        self.findings.causes.get_mut(release as usize).into_iter().for_each(|own| *own = cause);
    }

    /// Determines whether the program or the request itself caused the releases before a request. Performs those of the
    /// program, and records the frees that the request waited for.
    pub(super) fn decide_cause(&mut self, request: &Request, chunk: Chunk<'_>) -> Decision {
        let is_release = |(_, step): &(u32, Step)| matches!(step.what, What::Release(_));
        let is_growth = |(_, step): &(u32, Step)| matches!(step.what, What::Grow(_));
        let (Some(first), Some((run, release))) =
            (chunk.iter().position(|it| is_release(&it)), chunk.releases().next())
        else {
            self.complete_all(chunk);
            return Decision::default();
        };
        chunk.releases().for_each(|(_, release)| self.allocator.retire(release.pool));
        if request.place.pool > 0 {
            self.allocator.use_again(request.place.pool);
        }
        self.complete_all(chunk.part(0..first));
        let growth = chunk.iter().position(|it| is_growth(&it));
        let is_partial = self.begins_partially(request, chunk);
        let needs_memory = growth.is_some() || !request.succeeds;
        let waits =
            chunk.part(first..chunk.steps.len()).iter().any(|(_, step)| matches!(step.what, What::FreeCompleted(_)));
        let is_of_request = needs_memory
            && match release.caller {
                Caller::EmptyCache => false,
                Caller::Request => true,
                Caller::Unknown => {
                    waits || is_partial || self.exceeds_peak(request, release, chunk.part(first..chunk.steps.len()))
                }
            };
        let mut done = first;
        if !is_of_request {
            let own = chunk.part(0..growth.unwrap_or(chunk.steps.len()));
            let last = own.iter().zip(1..).filter(|(it, _)| is_release(it)).map(|(_, end)| end).last();
            done = last.unwrap_or(first);
            self.complete_all(chunk.part(first..done));
            self.released_by_program(chunk.part(0..done));
        }
        let size = request.size;
        let finds = || self.allocator.peek(request.pool, size, request.place.stream).is_some();
        let misses = needs_memory && !is_partial && finds();
        let rest = chunk.part(done..chunk.steps.len());
        if is_of_request || misses {
            self.set_cause(run, Cause::Request);
            // A wait completes all frees that await it, also those before the first release.
            if misses || !is_partial && self.allocator.awaiting == 0 {
                self.note_waited(chunk.part(0..first), true);
            }
            self.note_waited(chunk.part(first..chunk.steps.len()), false);
        } else if !rest.iter().any(|(_, step)| !matches!(step.what, What::FreeCompleted(_))) {
            self.complete_all(rest);
        }
        let waited = rest.iter().filter_map(|(_, step)| match step.what {
            What::FreeCompleted(number) => self.take_block(number),
            _ => None,
        });
        let waited = waited.collect();
        self.allocator.waited = Some(waited);
        Decision { done, misses }
    }

    /// Records that the frees in this chunk completed only because the next request waited for them.
    fn note_waited(&mut self, chunk: Chunk<'_>, only_deferred: bool) {
        for (at, step) in chunk.iter() {
            if let What::FreeCompleted(number) = step.what
                && (!only_deferred || self.is_deferred(chunk.recording, at, number))
            {
                self.findings.waited.push(at);
            }
        }
    }

    /// Returns true if the chunk's releases begin with partial ones, which a request tries before it releases all
    /// cached memory: garbage collection, or oversize segments under `max_split_size`.
    fn begins_partially(&mut self, request: &Request, chunk: Chunk<'_>) -> bool {
        let begins = |keys: &[super::pool::Key]| {
            let mut recorded = chunk.released();
            let is_next = |(address, size)| recorded.next() == Some(Operation { kind: Kind::Free, address, size });
            !keys.is_empty() && segments(keys).all(is_next)
        };
        let (available, _) = self.allocator.available(request.pool, request.size, request.place.stream);
        if begins(&available) {
            let all = self.allocator.cached_operations();
            let recorded: Vec<Operation> = chunk.released().collect();
            if all.len() != recorded.len() || common(&all, &recorded, true) < all.len() as u64 {
                return true;
            }
        }
        if !self.allocator.collects() {
            return false;
        }
        // The search that misses counts.
        let searches = u64::from(self.allocator.pool(0, false) == request.pool);
        let garbage = self.allocator.garbage(searches);
        begins(&garbage)
    }

    /// Returns true if reserved memory would have reached a new maximum if the request had been granted without the
    /// releases.
    fn exceeds_peak(&self, request: &Request, release: Release, chunk: Chunk<'_>) -> bool {
        let mut operations = Vec::new();
        chunk.load(&mut operations);
        let undo = |reserved: u64, operation: &Operation| match operation.kind.grows() {
            true => reserved.saturating_sub(operation.size),
            false => reserved.saturating_add(operation.size),
        };
        let before = operations.iter().rev().fold(self.reserved, undo);
        let bytes = segment(&self.allocator.settings, request.size);
        release.pool == 0 && before.saturating_add(bytes) > self.max_reserved
    }
}

#[cfg(test)]
#[path = "../../tests/units/allocator/causes.rs"]
mod tests;
