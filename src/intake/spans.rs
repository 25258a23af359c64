//! Start and end timestep of each SnapViewer element, by element index. Elements may be added in any order.

use base::heap::HeapBytes;
use base::units::group_digits;

/// Maximum number of allocations in a file. SnapViewer needs memory for every point, so its own files are far smaller.
pub(super) const MAX_ALLOCATIONS: u32 = 1 << 24;

/// Number of elements per chunk. A chunk takes 64 KiB, so there are at most 4096 chunks.
const CHUNK: usize = 4096;

/// Reason why SnapViewer's `allocations.json` cannot be merged with its `elements.json`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum JoinError {
    /// The number of allocations (first field) differs from the number of elements (second field).
    #[error("allocations.json has {0} allocations, but elements.json has {1} events")]
    Lengths(u32, u64),
    /// The value of an `elem` key (first field) is not less than the number of allocations (second field).
    #[error("allocations.json: elem {0} is out of range, as there are {1} allocations")]
    NoSuchElement(u32, u32),
    /// The item at this index is not a dict with the keys `elem`, `timesteps` and `size`.
    #[error("allocations.json: [{0}] is not a SnapViewer allocation")]
    NotAnAllocation(usize),
    /// Two allocations have this value of `elem`.
    #[error("allocations.json: elem {0} occurs twice")]
    Twice(u32),
    /// The file has more than [`MAX_ALLOCATIONS`] allocations.
    #[error("allocations.json has more than {} allocations", group_digits(MAX_ALLOCATIONS.into()))]
    TooMany,
}

/// First and last SnapViewer timestep of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) first: i64,
    pub(super) last: i64,
}

/// Sentinel: the element has no span. A valid span cannot have this value, because the end is before the start.
const NO_SPAN: Span = Span { first: 1, last: 0 };

impl Span {
    /// Creates a span of timesteps. Returns `None` if the end is before the start.
    pub(super) fn new(first: i64, last: i64) -> Option<Span> {
        (first <= last).then_some(Span { first, last })
    }
}

/// The span of each element, by element index. The spans are stored in chunks, so that adding one never copies the
/// others.
#[derive(Default)]
pub(super) struct Spans {
    chunks: Vec<Option<Box<[Span; CHUNK]>>>,
    count: u32,
    highest: u32,
    end: i64,
}

impl Spans {
    /// Sets the span of an element.
    ///
    /// # Errors
    /// Returns an error if the element already has a span, or if its index is too large.
    pub(super) fn insert(&mut self, elem: u32, span: Span) -> Result<(), JoinError> {
        if elem >= MAX_ALLOCATIONS {
            return Err(JoinError::TooMany);
        }
        let (chunk, index) = (elem as usize / CHUNK, elem as usize % CHUNK);
        if self.chunks.len() <= chunk {
            self.chunks.resize_with(chunk + 1, || None);
        }
        let spans = self.chunks.get_mut(chunk).map(|chunk| chunk.get_or_insert_with(|| Box::new([NO_SPAN; CHUNK])));
        match spans.and_then(|spans| spans.get_mut(index)) {
            Some(slot) if *slot == NO_SPAN => *slot = span,
            _ => return Err(JoinError::Twice(elem)),
        }
        self.end = if self.count == 0 { span.last } else { self.end.max(span.last) };
        self.count += 1;
        self.highest = self.highest.max(elem);
        Ok(())
    }

    /// Checks that the elements are numbered from 0 without gaps.
    ///
    /// # Errors
    /// Returns an error if an element is missing.
    pub(super) fn check(&self) -> Result<(), JoinError> {
        // No element occurs twice, so there is a gap only if the highest number is too large.
        if self.count == 0 || self.highest < self.count {
            return Ok(());
        }
        Err(JoinError::NoSuchElement(self.highest, self.count))
    }

    pub(super) fn get(&self, elem: u64) -> Option<Span> {
        let elem = usize::try_from(elem).ok()?;
        let span = self.chunks.get(elem / CHUNK)?.as_ref()?.get(elem % CHUNK)?;
        Some(*span).filter(|span| *span != NO_SPAN)
    }

    /// Returns the number of elements that have a span.
    pub(super) fn count(&self) -> u32 {
        self.count
    }

    /// Returns the last timestep among all elements, or 0 if there are none.
    pub(super) fn end(&self) -> i64 {
        self.end
    }
}

impl HeapBytes for Spans {
    fn heap_bytes(&self) -> usize {
        self.chunks.heap_bytes() + self.chunks.iter().flatten().count() * CHUNK * size_of::<Span>()
    }
}

#[cfg(test)]
#[path = "../../tests/units/intake/spans.rs"]
mod tests;
