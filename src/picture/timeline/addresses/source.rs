//! Input of a picture of addresses.

use crate::timeline::source::Source;
use history::replay::{AllocationId, Allocations};

/// History of one device, borrowed, and the positions of its allocations and reserved ranges on the address axis.
#[derive(Clone, Copy)]
pub struct AddressSource<'a> {
    /// Lifetimes, totals and colours. The stacking order is ignored.
    pub source: Source<'a>,
    /// Predicate that selects the allocations of this picture. `None` selects all allocations with a position on the
    /// axis.
    pub includes: Option<&'a dyn Fn(AllocationId) -> bool>,
    /// Returns the position of an allocation on the axis: its first byte, and one past its last. `None` if it is not in
    /// this picture.
    pub place: &'a dyn Fn(AllocationId) -> Option<[u64; 2]>,
    /// Lifetimes of the reserved address ranges.
    pub ranges: &'a Allocations,
    /// Returns the position of a reserved range on the axis: its first byte, and one past its last. `None` if it is not
    /// in this picture.
    pub range_place: &'a dyn Fn(AllocationId) -> Option<[u64; 2]>,
}
