//! Table column that grows in chunks. The column never reallocates, so that loading needs no more memory than the final
//! table. Wasm memory cannot shrink, and an abandoned smaller copy would leave a hole.

use crate::heap::{self, HeapBytes};

const CHUNK_BITS: usize = 14;
const CHUNK_LEN: usize = 1 << CHUNK_BITS;

/// Column of `Copy` values, indexed from 0.
#[derive(Clone, Debug)]
pub struct Column<T> {
    /// Chunks whose unused capacity is initialized, so that a push only overwrites a value. In builds optimized for
    /// size, `Vec::push` is not inlined.
    chunks: Vec<Vec<T>>,
    len: usize,
}

impl<T> Default for Column<T> {
    fn default() -> Self {
        Column { chunks: Vec::new(), len: 0 }
    }
}

impl<T: Copy> Column<T> {
    /// Creates an empty column.
    pub fn new() -> Self {
        Self::default()
    }

    pub fn len(&self) -> usize {
        self.len
    }

    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    #[inline(always)]
    pub fn push(&mut self, value: T) {
        match self.slot(self.len) {
            Some(place) => *place = value,
            None => self.push_growing(value),
        }
        self.len += 1;
    }

    #[cold]
    #[inline(never)]
    fn push_growing(&mut self, value: T) {
        // The first chunk grows like a `Vec`, so that a short column stays small. All later chunks have full size,
        // until `shrink`.
        match self.chunks.last_mut() {
            Some(last) if last.len() < CHUNK_LEN => last.resize(CHUNK_LEN.min(2 * last.len()), value),
            _ => {
                let mut chunk = Vec::new();
                chunk.resize(if self.chunks.is_empty() { 4 } else { CHUNK_LEN }, value);
                self.chunks.push(chunk);
            }
        }
    }

    /// Frees the unused capacity of the last chunk, for a column that is complete.
    pub fn shrink(&mut self) {
        let full = self.len.saturating_sub(1) >> CHUNK_BITS << CHUNK_BITS;
        if let Some(last) = self.chunks.last_mut() {
            last.truncate(self.len - full);
            last.shrink_to_fit();
        }
    }

    /// Appends up to 16384 values at once. Returns `false`, without appending, if there are more values, or if the last
    /// chunk is not full. Only the last chunk may be shorter than 16384.
    pub fn push_chunk(&mut self, mut values: Vec<T>) -> bool {
        if !self.len.is_multiple_of(CHUNK_LEN) || values.len() > CHUNK_LEN {
            return false;
        }
        if let Some(&last) = values.last() {
            self.len += values.len();
            let capacity = if self.chunks.is_empty() { values.len().next_power_of_two().max(4) } else { CHUNK_LEN };
            values.resize(capacity, last);
            self.chunks.push(values);
        }
        true
    }

    /// Returns the value at `index` for writing, or `None` if its chunk is not allocated.
    #[inline(always)]
    fn slot(&mut self, index: usize) -> Option<&mut T> {
        self.chunks.get_mut(index >> CHUNK_BITS)?.get_mut(index & (CHUNK_LEN - 1))
    }

    /// Returns the value at `index`, or `None` if it is out of range.
    #[inline(always)]
    pub fn get(&self, index: usize) -> Option<T> {
        if index >= self.len {
            return None;
        }
        self.chunks.get(index >> CHUNK_BITS)?.get(index & (CHUNK_LEN - 1)).copied()
    }

    /// Returns the value at `index`, which must come from this table.
    ///
    /// # Panics
    /// Panics if `index` is far beyond [`Column::len`], which means that it belongs to another table.
    #[inline(always)]
    pub fn at(&self, index: usize) -> T {
        // Slices, because indexing a `Vec` is a call when built for size.
        self.chunks.as_slice()[index >> CHUNK_BITS].as_slice()[index & (CHUNK_LEN - 1)]
    }

    /// Replaces the value at `index`. Does nothing if it is out of range.
    #[inline]
    pub fn set(&mut self, index: usize, value: T) {
        if index < self.len
            && let Some(place) = self.slot(index)
        {
            *place = value;
        }
    }

    /// Returns an iterator over all values, in order.
    pub fn iter(&self) -> impl Iterator<Item = T> + '_ {
        self.chunks().flat_map(|chunk| chunk.iter().copied())
    }

    /// Returns an iterator over the values in `range`, clipped to the length of the column.
    pub fn range(&self, range: std::ops::Range<usize>) -> impl Iterator<Item = T> + '_ {
        (range.start..range.end.min(self.len)).map(|index| self.at(index))
    }

    /// Returns an iterator over the chunks as slices, for fast loops.
    pub fn chunks(&self) -> impl Iterator<Item = &[T]> {
        (0..self.chunks.len()).filter_map(|number| self.chunk(number))
    }

    /// Returns the chunk with this index. All chunks except the last have the same length.
    pub fn chunk(&self, number: usize) -> Option<&[T]> {
        let chunk = self.chunks.get(number)?;
        chunk.get(..chunk.len().min(self.len - number * CHUNK_LEN))
    }

    /// Shortens the column to `len` values. Does nothing if the column is already shorter.
    pub fn truncate(&mut self, len: usize) {
        if len < self.len {
            self.chunks.truncate(len.div_ceil(CHUNK_LEN));
            self.len = len;
        }
    }
}

impl<T> HeapBytes for Column<T> {
    fn heap_bytes(&self) -> usize {
        self.chunks.heap_bytes() + heap::sum(&self.chunks)
    }
}

impl<T: Copy> FromIterator<T> for Column<T> {
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> Self {
        let mut column = Column::new();
        values.into_iter().for_each(|value| column.push(value));
        column
    }
}

#[cfg(test)]
#[path = "../../tests/units/base/column.rs"]
mod tests;
