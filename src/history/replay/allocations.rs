//! Every allocation of one device, in birth order: the id of an allocation is its rank.
//!
//! ```text
//! id   0           the unexplained bytes, when the identity of DESIGN §2 lacks some (else absent)
//!      ..          static blocks: live at the end, never in the trace
//!      ..          allocated before recording, freed in the trace
//!      early()..   born in the trace, by alloc event
//! ```

use super::trace::{Lives, NEVER, Subject};
use base::column::Column;
use base::units::{EventIdx, Moment};
use std::ops::Range;

/// An allocation of one device; also its rank in birth order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AllocationId(pub u32);

/// Why an allocation is in the picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Provenance {
    /// Bytes live before the trace that nothing explains.
    Unexplained,
    /// Live at the end, never in the trace.
    Static,
    /// Born before the trace; this event of its free is the first that names it.
    FreedBy(EventIdx),
    AllocatedBy(EventIdx),
}

/// The columns. All bytes are *requested* bytes.
#[derive(Clone, Debug, Default)]
pub struct Allocations {
    /// Those alive at [`Moment::START`], and those born in the trace.
    pub(super) parts: [Lives; 2],
    /// First moment at which it is live: only of those born in the trace.
    pub(super) born: Column<u32>,
    pub(super) unexplained: u32,
    pub(super) statics: u32,
    /// Whether early ones whose first event is the completion of their free were pending before the trace: it has requests of frees
    /// (`skip_actions` can leave them out), and completions end lives.
    pub(super) may_start_pending: bool,
}

impl Allocations {
    /// A history of lifetimes alone, for tests and benches: `(born, died, size)` as [`Allocations::spans`] gives them, in
    /// order of birth.
    pub fn from_spans(spans: impl IntoIterator<Item = (u32, u32, u64)>) -> Allocations {
        let mut allocations = Allocations::default();
        for (born, died, size) in spans {
            if born > 0 {
                allocations.born.push(born);
            }
            allocations.parts[usize::from(born > 0)].push_row(0, size, died, died);
        }
        debug_assert!(allocations.born.iter().is_sorted(), "ids are in order of birth");
        allocations.statics = allocations.early() as u32;
        allocations
    }

    /// Lets the free of one be requested at `moment`: for tests, as [`Allocations::from_spans`].
    pub fn request_free(&mut self, id: AllocationId, moment: Moment) {
        let at = id.0 as usize;
        let (part, at) = at.checked_sub(self.early()).map_or((0, at), |at| (1, at));
        if let Some(lives) = self.parts.get_mut(part) {
            lives.free_requested.set(at, moment.0);
        }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.parts[0].size.len() + self.parts[1].size.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many were alive before the first event; their ids come first.
    pub fn early(&self) -> usize {
        self.parts[0].size.len()
    }

    #[inline(always)]
    pub(super) fn part(&self, id: AllocationId) -> (&Lives, usize) {
        let at = id.0 as usize;
        match at.checked_sub(self.early()) {
            None => (&self.parts[0], at),
            Some(at) => (&self.parts[1], at),
        }
    }

    /// Requested bytes.
    pub fn size(&self, id: AllocationId) -> u64 {
        let (lives, at) = self.part(id);
        lives.size.at(at)
    }

    /// Its address; 0 for the unexplained bytes.
    pub fn address(&self, id: AllocationId) -> u64 {
        let (lives, at) = self.part(id);
        lives.address.at(at)
    }

    /// The first moment at which it is live.
    pub fn born(&self, id: AllocationId) -> Moment {
        let at = id.0 as usize;
        if at < self.early() { Moment::START } else { Moment(self.born.at(at - self.early())) }
    }

    /// The first moment at which it is no longer live (its free has completed); `None` when it is live at the end.
    pub fn died(&self, id: AllocationId) -> Option<Moment> {
        let (lives, at) = self.part(id);
        Some(lives.died.at(at)).filter(|&moment| moment != NEVER).map(Moment)
    }

    /// The first moment after its free was requested, if it was.
    pub fn free_requested(&self, id: AllocationId) -> Option<Moment> {
        let (lives, at) = self.part(id);
        Some(lives.free_requested.at(at)).filter(|&moment| moment != NEVER).map(Moment)
    }

    /// Whether it is the unexplained bytes.
    pub fn is_unexplained(&self, id: AllocationId) -> bool {
        id.0 < self.unexplained
    }

    /// Why it is in the picture.
    pub fn provenance(&self, id: AllocationId) -> Provenance {
        if self.is_unexplained(id) {
            return Provenance::Unexplained;
        }
        if id.0 < self.unexplained + self.statics {
            return Provenance::Static;
        }
        if (id.0 as usize) < self.early() {
            let requested = self.free_requested(id).filter(|&moment| moment > Moment::START);
            let event = requested.or(self.died(id)).and_then(Moment::event);
            return event.map_or(Provenance::Static, Provenance::FreedBy);
        }
        self.born(id).event().map_or(Provenance::Static, Provenance::AllocatedBy)
    }

    /// The columns an event's allocation stands in, and its row there.
    #[inline(always)]
    pub(super) fn row(&self, subject: Subject) -> Option<(&Lives, usize)> {
        match subject {
            Subject::Traced(index) => Some((&self.parts[1], index as usize)),
            Subject::Early(index) => Some((&self.parts[0], self.freed(index).0 as usize)),
            Subject::Segment(_) | Subject::Note(_) => None,
        }
    }

    /// The allocation an event is about, if it is about one.
    #[inline(always)]
    pub(super) fn id(&self, subject: Subject) -> Option<AllocationId> {
        match subject {
            Subject::Traced(index) => Some(self.traced(index)),
            Subject::Early(index) => Some(self.freed(index)),
            Subject::Segment(_) | Subject::Note(_) => None,
        }
    }

    /// The id of the `index`-th allocation born in the trace.
    pub(super) fn traced(&self, index: u32) -> AllocationId {
        AllocationId(self.early() as u32 + index)
    }

    /// The id of the `index`-th allocation from before recording that is freed in the trace.
    pub(super) fn freed(&self, index: u32) -> AllocationId {
        AllocationId(self.unexplained + self.statics + index)
    }

    /// `(born, died, size)` of all in id order, as moments; `died` is `u32::MAX` for those live at the end. For linear passes.
    pub fn spans(&self) -> impl Iterator<Item = (u32, u32, u64)> + '_ {
        self.spans_in(0..self.len())
    }

    /// Whether it is not dead at `moment` (and so live, where it was born by then).
    pub fn outlives(&self, id: AllocationId, moment: Moment) -> bool {
        let (lives, at) = self.part(id);
        moment.0 < lives.died.at(at)
    }

    /// How many were born in the trace by `moment`: those have the first ids after the early ones.
    pub fn born_by(&self, moment: u32) -> u32 {
        let (mut from, mut to) = (0, self.born.len());
        while from < to {
            let middle = usize::midpoint(from, to);
            if self.born.at(middle) <= moment { from = middle + 1 } else { to = middle }
        }
        from as u32
    }

    /// `(born, died, size)` of one, as [`Allocations::spans`] gives it.
    #[inline(always)]
    pub fn span(&self, id: AllocationId) -> (u32, u32, u64) {
        let (lives, at) = self.part(id);
        (self.born(id).0, lives.died.at(at), lives.size.at(at))
    }

    /// The part of [`Allocations::spans`] whose ids are in `ids`, for passes that are cut into slices.
    pub fn spans_in(&self, ids: Range<usize>) -> impl Iterator<Item = (u32, u32, u64)> + '_ {
        (ids.start..ids.end.min(self.len())).map(|id| self.span(AllocationId(id as u32)))
    }

    /// Bytes on the heap.
    pub fn heap_bytes(&self) -> usize {
        self.parts.iter().map(Lives::heap_bytes).sum::<usize>() + self.born.heap_bytes()
    }
}
