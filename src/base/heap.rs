//! Heap usage of tables.

use hashbrown::{HashMap, HashTable};
use std::collections::{BinaryHeap, VecDeque};
use std::hash::{BuildHasher, Hash};

/// A value that knows its heap usage.
pub trait HeapBytes {
    /// Returns the heap usage in bytes. A collection counts its own memory, and not that of its elements, so that this
    /// takes constant time. A pair of a key and a value counts the value.
    fn heap_bytes(&self) -> usize;
}

/// Returns the sum of the heap usage of some values, in bytes.
pub fn sum<'a, T: HeapBytes + 'a>(values: impl IntoIterator<Item = &'a T>) -> usize {
    values.into_iter().map(T::heap_bytes).sum()
}

/// Implements [`HeapBytes`](crate::heap::HeapBytes) for a type as the sum of some of its fields. Of a field in
/// brackets, the elements are counted instead of the collection; in double brackets, the elements of its elements.
#[macro_export]
macro_rules! heap_bytes {
    (@ $self:ident [[$field:tt]]) => { $crate::heap::sum($self.$field.iter().flatten()) };
    (@ $self:ident [$field:tt]) => { $crate::heap::sum(&$self.$field) };
    (@ $self:ident $field:tt) => { $crate::heap::HeapBytes::heap_bytes(&$self.$field) };
    ($Type:ty: $($field:tt),+) => {
        impl $crate::heap::HeapBytes for $Type {
            fn heap_bytes(&self) -> usize {
                0 $(+ $crate::heap_bytes!(@ self $field))+
            }
        }
    };
}

impl<T> HeapBytes for Vec<T> {
    fn heap_bytes(&self) -> usize {
        self.capacity() * size_of::<T>()
    }
}

impl<T> HeapBytes for VecDeque<T> {
    fn heap_bytes(&self) -> usize {
        self.capacity() * size_of::<T>()
    }
}

impl<T> HeapBytes for BinaryHeap<T> {
    fn heap_bytes(&self) -> usize {
        self.capacity() * size_of::<T>()
    }
}

impl<K: Eq + Hash, V, S: BuildHasher> HeapBytes for HashMap<K, V, S> {
    fn heap_bytes(&self) -> usize {
        self.allocation_size()
    }
}

impl<T> HeapBytes for HashTable<T> {
    fn heap_bytes(&self) -> usize {
        self.allocation_size()
    }
}

impl<T: HeapBytes> HeapBytes for Option<T> {
    fn heap_bytes(&self) -> usize {
        sum(self)
    }
}

impl<T: HeapBytes + ?Sized> HeapBytes for Box<T> {
    fn heap_bytes(&self) -> usize {
        (**self).heap_bytes()
    }
}

impl<K, V: HeapBytes> HeapBytes for (K, V) {
    fn heap_bytes(&self) -> usize {
        self.1.heap_bytes()
    }
}
