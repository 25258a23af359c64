//! Every allocation of one device, in birth order: the id of an allocation is its rank.
//!
//! ```text
//! id   0           the unexplained bytes, when the identity of DESIGN §2 lacks some (else absent)
//!      ..          static blocks: live at the end, never in the trace
//!      ..          born before the trace, freed in it
//!      early()..   born in the trace, by alloc event
//! ```

use crate::column::Column;
use crate::units::Moment;
use std::ops::Range;

/// An allocation of one device; also its rank in birth order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AllocationId(pub u32);

/// The columns. All bytes are *requested* bytes.
#[derive(Clone, Debug, Default)]
pub struct Allocations {
    /// Requested bytes, early ones (alive at [`Moment::START`]) first.
    pub(crate) size: [Column<u64>; 2],
    /// First moment at which it is live: only of those born in the trace.
    pub(crate) born: Column<u32>,
    /// First moment at which it is no longer live (its free has completed); `u32::MAX` when it never was freed.
    pub(crate) died: [Column<u32>; 2],
}

impl Allocations {
    /// A history of lifetimes alone, for tests and benches: `(born, died, size)` as [`Allocations::spans`] gives them. Those
    /// born at moment 0 get the first ids.
    pub fn from_spans(spans: impl IntoIterator<Item = (u32, u32, u64)>) -> Allocations {
        let mut allocations = Allocations::default();
        for (born, died, size) in spans {
            let part = usize::from(born > 0);
            if born > 0 {
                allocations.born.push(born);
            }
            allocations.died[part].push(died);
            allocations.size[part].push(size);
        }
        allocations
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.size[0].len() + self.size[1].len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many were alive before the first event; their ids come first.
    pub fn early(&self) -> usize {
        self.size[0].len()
    }

    /// Requested bytes.
    pub fn size(&self, id: AllocationId) -> u64 {
        let at = id.0 as usize;
        if at < self.early() { self.size[0].at(at) } else { self.size[1].at(at - self.early()) }
    }

    /// The first moment at which it is live.
    pub fn born(&self, id: AllocationId) -> Moment {
        let at = id.0 as usize;
        if at < self.early() { Moment::START } else { Moment(self.born.at(at - self.early())) }
    }

    /// The first moment at which it is no longer live; `None` when it is live at the end.
    pub fn died(&self, id: AllocationId) -> Option<Moment> {
        let at = id.0 as usize;
        let died = if at < self.early() { self.died[0].at(at) } else { self.died[1].at(at - self.early()) };
        (died != u32::MAX).then_some(Moment(died))
    }

    /// `(born, died, size)` of all in id order, as moments; `died` is `u32::MAX` for those live at the end. For linear passes.
    pub fn spans(&self) -> impl Iterator<Item = (u32, u32, u64)> + '_ {
        let early = self.died[0].iter().zip(self.size[0].iter()).map(|(died, size)| (0, died, size));
        let traced = self.born.iter().zip(self.died[1].iter()).zip(self.size[1].iter());
        early.chain(traced.map(|((born, died), size)| (born, died, size)))
    }

    /// The part of [`Allocations::spans`] whose ids are in `ids`, for passes that are cut into slices.
    pub fn spans_in(&self, ids: Range<usize>) -> impl Iterator<Item = (u32, u32, u64)> + '_ {
        let border = self.early();
        let early = ids.start.min(border)..ids.end.min(border);
        let traced = ids.start.saturating_sub(border)..ids.end.saturating_sub(border);
        let early = self.died[0].range(early.clone()).zip(self.size[0].range(early));
        let lives = self.born.range(traced.clone()).zip(self.died[1].range(traced.clone()));
        let traced = lives.zip(self.size[1].range(traced));
        early.map(|(died, size)| (0, died, size)).chain(traced.map(|((born, died), size)| (born, died, size)))
    }
}
