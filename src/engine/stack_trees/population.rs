//! The allocations in a scope and their weights, which can be visited in several parts.

use base::slice::{SliceResult, TimeSlice};
use base::units::Moment;
use history::replay::{AllocationId, Candidates, DeviceHistory};
use protocol::{Scope, Span};
use std::ops::Range;

/// The allocations in a scope. They are stored as candidates that are filtered when they are visited.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Population {
    scope: Scope,
    candidates: Candidates,
}

impl Population {
    /// Selects the allocations in a scope. Moments after the end of the trace are clamped. A range whose end is before
    /// its start becomes empty.
    pub(crate) fn new(history: &DeviceHistory, scope: Scope) -> Population {
        let scope = clamp_scope(history, scope);
        let allocations = &history.allocations;
        let early = allocations.early_count() as u32;
        let allocated_by = |moment: u32| early + allocations.allocated_by(moment);
        let candidates = match scope {
            Scope::All => Candidates::from_ids(0..allocations.len() as u32),
            Scope::At(moment) => history.live.candidates(allocations, Moment(moment)),
            Scope::Change(span) => history.live.candidates_through(allocations, [span.from, span.to].map(Moment)),
            // An allocation with allocated-at moment `from` was made by the event before the range.
            Scope::Allocated(span) | Scope::StillLive(span) => {
                Candidates::from_ids(allocated_by(span.from)..allocated_by(span.to))
            }
            Scope::Freed(span) | Scope::ByteMoments(span) => Candidates::from_ids(0..allocated_by(span.to)),
        };
        Population { scope, candidates }
    }

    /// Returns the number of candidates, which is an upper bound of the number of allocations.
    pub(crate) fn len(&self) -> usize {
        self.candidates.len()
    }

    /// Calls `each` with the candidates in this range of indices that are in the scope, and their weights, in order of
    /// allocation.
    pub(crate) fn visit_part(
        &self,
        history: &DeviceHistory,
        positions: Range<usize>,
        each: &mut dyn FnMut(AllocationId, u64),
    ) {
        let ids = positions.filter_map(|position| history.live.candidate(&self.candidates, position));
        for id in ids {
            weight(self.scope, history.allocations.span(id)).into_iter().for_each(|weight| each(id, weight));
        }
    }

    /// Calls `each` with the allocations in the scope and their weights, in order of allocation. Starts at the
    /// candidate with index `next`.
    ///
    /// # Errors
    /// Returns an error if the time slice is used up. Another call continues the visit.
    pub(crate) fn visit(
        &self,
        history: &DeviceHistory,
        next: &mut usize,
        slice: &mut TimeSlice,
        each: &mut dyn FnMut(AllocationId, u64),
    ) -> SliceResult {
        while *next < self.len() {
            slice.tick()?;
            let id = history.live.candidate(&self.candidates, *next);
            *next += 1;
            if let Some((id, weight)) = id.and_then(|id| Some((id, weight(self.scope, history.allocations.span(id))?)))
            {
                each(id, weight);
            }
        }
        Ok(())
    }

    /// Returns whether an allocation is in the scope.
    pub(crate) fn contains(&self, history: &DeviceHistory, id: AllocationId) -> bool {
        (id.0 as usize) < history.allocations.len() && weight(self.scope, history.allocations.span(id)).is_some()
    }
}

/// Returns the weight that an allocation with this lifetime and size has in a scope. `None` if it is not in the scope.
#[inline(always)]
fn weight(scope: Scope, (allocated_at, freed_at, size): (u32, u32, u64)) -> Option<u64> {
    match scope {
        Scope::All => Some(size),
        Scope::At(moment) => (allocated_at <= moment && moment < freed_at).then_some(size),
        Scope::Allocated(span) => (span.from < allocated_at && allocated_at <= span.to).then_some(size),
        Scope::Freed(span) => (span.from < freed_at && freed_at <= span.to).then_some(size),
        Scope::StillLive(span) => {
            (span.from < allocated_at && allocated_at <= span.to && span.to < freed_at).then_some(size)
        }
        Scope::ByteMoments(span) => {
            let moments = freed_at.min(span.to).saturating_sub(allocated_at.max(span.from));
            (moments > 0).then(|| size.saturating_mul(u64::from(moments)))
        }
        Scope::Change(span) => {
            let is_live = |moment: u32| allocated_at <= moment && moment < freed_at;
            (is_live(span.from) != is_live(span.to)).then_some(size)
        }
    }
}

/// Clamps the moments of a scope to the trace.
pub(crate) fn clamp_scope(history: &DeviceHistory, scope: Scope) -> Scope {
    let last = history.event_count();
    let span = |span: Span| Span { from: span.from.min(span.to).min(last), to: span.to.min(last) };
    match scope {
        Scope::All => Scope::All,
        Scope::At(moment) => Scope::At(moment.min(last)),
        Scope::Allocated(range) => Scope::Allocated(span(range)),
        Scope::Freed(range) => Scope::Freed(span(range)),
        Scope::StillLive(range) => Scope::StillLive(span(range)),
        Scope::ByteMoments(range) => Scope::ByteMoments(span(range)),
        Scope::Change(range) => Scope::Change(span(range)),
    }
}
