//! A table column that grows by chunks: no reallocation, so the peak of loading is the final size, and a wasm memory that can
//! never shrink is not left with the hole of an old copy.

const CHUNK_BITS: usize = 14;
const CHUNK: usize = 1 << CHUNK_BITS;

/// A column of `Copy` values, indexed from 0.
#[derive(Clone, Debug)]
pub struct Column<T> {
    /// All room is filled, so that a push only overwrites: a `Vec`'s own is a call where it is built for size.
    chunks: Vec<Vec<T>>,
    len: usize,
}

impl<T> Default for Column<T> {
    fn default() -> Self {
        Column { chunks: Vec::new(), len: 0 }
    }
}

impl<T: Copy> Column<T> {
    /// An empty column.
    pub fn new() -> Self {
        Self::default()
    }

    /// How many values it holds.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether it holds none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Appends a value.
    #[inline(always)]
    pub fn push(&mut self, value: T) {
        match self.place(self.len) {
            Some(place) => *place = value,
            None => self.push_into_new_room(value),
        }
        self.len += 1;
    }

    #[cold]
    #[inline(never)]
    fn push_into_new_room(&mut self, value: T) {
        // A short column should stay small: the first chunk grows as a Vec does, all later ones are whole.
        match self.chunks.as_mut_slice() {
            [first] if first.len() < CHUNK => first.resize(2 * first.len(), value),
            chunks => {
                let mut chunk = Vec::new();
                chunk.resize(if chunks.is_empty() { 4 } else { CHUNK }, value);
                self.chunks.push(chunk);
            }
        }
    }

    /// Appends a chunk at once: 16384 values, or fewer at the end of the column; `false` where the column does not end with a whole chunk, or
    /// these are too many.
    pub fn push_chunk(&mut self, mut values: Vec<T>) -> bool {
        if !self.len.is_multiple_of(CHUNK) || values.len() > CHUNK {
            return false;
        }
        if let Some(&last) = values.last() {
            self.len += values.len();
            let room = if self.chunks.is_empty() { values.len().next_power_of_two().max(4) } else { CHUNK };
            values.resize(room, last);
            self.chunks.push(values);
        }
        true
    }

    /// Where the value at `index` stands or will, if there is room.
    #[inline(always)]
    fn place(&mut self, index: usize) -> Option<&mut T> {
        self.chunks.get_mut(index >> CHUNK_BITS)?.get_mut(index & (CHUNK - 1))
    }

    /// The value at `index`, if there is one.
    #[inline(always)]
    pub fn get(&self, index: usize) -> Option<T> {
        if index >= self.len {
            return None;
        }
        self.chunks.get(index >> CHUNK_BITS)?.get(index & (CHUNK - 1)).copied()
    }

    /// The value at `index`, which must come from this table.
    ///
    /// # Panics
    /// When `index` is far from below [`Column::len`]: an id of another table was used.
    #[inline(always)]
    pub fn at(&self, index: usize) -> T {
        // As slices: an index into a `Vec` is a call where it is built for size.
        self.chunks.as_slice()[index >> CHUNK_BITS].as_slice()[index & (CHUNK - 1)]
    }

    /// Replaces the value at `index`; does nothing when there is none.
    #[inline]
    pub fn set(&mut self, index: usize, value: T) {
        if index < self.len
            && let Some(place) = self.place(index)
        {
            *place = value;
        }
    }

    /// All values in order.
    pub fn iter(&self) -> impl Iterator<Item = T> + '_ {
        self.chunks().flat_map(|chunk| chunk.iter().copied())
    }

    /// The values of `range` in order; the part of the range beyond the end is left out.
    pub fn range(&self, range: std::ops::Range<usize>) -> impl Iterator<Item = T> + '_ {
        (range.start..range.end.min(self.len)).map(|index| self.at(index))
    }

    /// The chunks in order, for loops that want slices.
    pub fn chunks(&self) -> impl Iterator<Item = &[T]> {
        (0..self.chunks.len()).filter_map(|number| self.chunk(number))
    }

    /// The chunk of this number, if there is one; all but the last are equally long.
    pub fn chunk(&self, number: usize) -> Option<&[T]> {
        let chunk = self.chunks.get(number)?;
        chunk.get(..chunk.len().min(self.len - number * CHUNK))
    }

    /// Shortens the column to `len` values.
    pub fn truncate(&mut self, len: usize) {
        if len < self.len {
            self.chunks.truncate(len.div_ceil(CHUNK));
            self.len = len;
        }
    }

    /// Bytes on the heap.
    pub fn heap_bytes(&self) -> usize {
        self.chunks.iter().map(|chunk| chunk.capacity() * size_of::<T>()).sum::<usize>()
            + self.chunks.capacity() * size_of::<Vec<T>>()
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
