//! Stack of small values with an inlined push. With optimization for size, `Vec::push` is a function call, and the
//! unpickler pushes a value for nearly every byte that it reads.

use std::ops::{Deref, DerefMut};

/// Stack that dereferences to a slice of its values. Popped values stay in the buffer, so that the next push only
/// overwrites them.
pub(super) struct InlineStack<V> {
    buffer: Vec<V>,
    len: usize,
}

impl<V: Copy> InlineStack<V> {
    pub(super) fn new() -> Self {
        InlineStack { buffer: Vec::new(), len: 0 }
    }

    #[inline(always)]
    pub(super) fn push(&mut self, value: V) {
        match self.buffer.get_mut(self.len) {
            Some(place) => *place = value,
            None => self.grow(value),
        }
        self.len += 1;
    }

    #[cold]
    fn grow(&mut self, value: V) {
        self.buffer.push(value);
    }

    pub(super) fn pop(&mut self) -> Option<V> {
        let last = self.last().copied();
        self.len = self.len.saturating_sub(1);
        last
    }

    /// Keeps the first `len` values.
    #[inline(always)]
    pub(super) fn truncate(&mut self, len: usize) {
        self.len = self.len.min(len);
    }

    /// Removes the values `from..end`. `end` must not exceed the length.
    pub(super) fn remove(&mut self, from: usize, end: usize) {
        let len = self.len;
        self.copy_within(end..len, from);
        self.truncate(len - (end - from));
    }

    pub(super) fn heap_bytes(&self) -> usize {
        self.buffer.capacity() * size_of::<V>()
    }
}

impl<V> Deref for InlineStack<V> {
    type Target = [V];

    #[inline(always)]
    fn deref(&self) -> &[V] {
        self.buffer.get(..self.len).unwrap_or_default()
    }
}

impl<V> DerefMut for InlineStack<V> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [V] {
        self.buffer.get_mut(..self.len).unwrap_or_default()
    }
}

#[cfg(test)]
#[path = "../../../tests/units/history/pickle/inline_stack.rs"]
mod tests;
