//! When each element of SnapViewer's begins and ends, by its number, in whatever order they come.

use base::units::grouped;

/// Allocations of a drawing. SnapViewer holds all its points in memory, so its files are far smaller.
pub(super) const MOST_ALLOCATIONS: u32 = 1 << 24;

/// Elements in a chunk: what a lone one costs is 64 KiB, and there are at most 4096 chunks.
const CHUNK: usize = 4096;

/// Why a drawing can't be joined with its elements.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum JoinError {
    /// The number of allocations, and that of elements.
    #[error("allocations.json has {0} allocations, but elements.json has {1} events")]
    Lengths(u32, u64),
    /// An `elem`, and how many there can be.
    #[error("allocations.json: elem {0} is out of range, as there are {1} allocations")]
    NoSuchElement(u32, u32),
    /// An allocation that is no dict with `elem`, `timesteps` and `size`; its place.
    #[error("allocations.json: [{0}] is not a SnapViewer allocation")]
    NotAnAllocation(usize),
    /// Two allocations of one element.
    #[error("allocations.json: elem {0} occurs twice")]
    Twice(u32),
    /// More than we read.
    #[error("allocations.json has more than {} allocations", grouped(MOST_ALLOCATIONS.into()))]
    TooMany,
}

/// When an element begins and ends, in SnapViewer's timesteps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) first: i64,
    pub(super) last: i64,
}

/// No element has this: it would end before it begins.
const NONE: Span = Span { first: 1, last: 0 };

impl Span {
    /// `None` where it would end before it begins.
    pub(super) fn new(first: i64, last: i64) -> Option<Span> {
        (first <= last).then_some(Span { first, last })
    }
}

/// The spans. Nothing is ever copied to grow, sorted or looked through: each takes its place as it comes.
#[derive(Default)]
pub(super) struct Spans {
    chunks: Vec<Option<Box<[Span; CHUNK]>>>,
    count: u32,
    highest: u32,
    end: i64,
}

impl Spans {
    /// The span of an element.
    ///
    /// # Errors
    /// It has one already, or its number is one of too many.
    pub(super) fn put(&mut self, elem: u32, span: Span) -> Result<(), JoinError> {
        if elem >= MOST_ALLOCATIONS {
            return Err(JoinError::TooMany);
        }
        let (chunk, place) = (elem as usize / CHUNK, elem as usize % CHUNK);
        if self.chunks.len() <= chunk {
            self.chunks.resize_with(chunk + 1, || None);
        }
        let spans = self.chunks.get_mut(chunk).map(|chunk| chunk.get_or_insert_with(|| Box::new([NONE; CHUNK])));
        match spans.and_then(|spans| spans.get_mut(place)) {
            Some(slot) if *slot == NONE => *slot = span,
            _ => return Err(JoinError::Twice(elem)),
        }
        self.end = if self.count == 0 { span.last } else { self.end.max(span.last) };
        self.count += 1;
        self.highest = self.highest.max(elem);
        Ok(())
    }

    /// Whether the elements are numbered from 0 without a gap.
    ///
    /// # Errors
    /// They are not.
    pub(super) fn check(&self) -> Result<(), JoinError> {
        // None is there twice, so the highest number tells.
        if self.count == 0 || self.highest < self.count {
            return Ok(());
        }
        Err(JoinError::NoSuchElement(self.highest, self.count))
    }

    /// The span of an element, if it has one.
    pub(super) fn get(&self, elem: u64) -> Option<Span> {
        let elem = usize::try_from(elem).ok()?;
        let span = self.chunks.get(elem / CHUNK)?.as_ref()?.get(elem % CHUNK)?;
        Some(*span).filter(|span| *span != NONE)
    }

    /// How many elements have one.
    pub(super) fn count(&self) -> u32 {
        self.count
    }

    /// The last timestep of all; 0 where there is none.
    pub(super) fn end(&self) -> i64 {
        self.end
    }

    /// Bytes on the heap.
    pub(super) fn heap_bytes(&self) -> usize {
        let held = self.chunks.iter().flatten().count();
        held * CHUNK * size_of::<Span>() + self.chunks.capacity() * size_of::<Option<Box<[Span; CHUNK]>>>()
    }
}

#[cfg(test)]
#[path = "../../tests/units/engine/spans.rs"]
mod tests;
