//! Input of a picture of addresses.

use crate::timeline::source::Source;
use history::replay::{AllocationId, Allocations};

/// History of one device, borrowed, and the position of everything on the address axis.
#[derive(Clone, Copy)]
pub struct AddressSource<'a> {
    /// Lifetimes, totals and colours. The stacking order is ignored.
    pub source: Source<'a>,
    /// Predicate of the allocations in this picture. `None` includes all that have a place.
    pub includes: Option<&'a dyn Fn(AllocationId) -> bool>,
    /// First byte of an allocation on the axis, and one past its last. `None` if it is not in this picture.
    pub place: &'a dyn Fn(AllocationId) -> Option<[u64; 2]>,
    /// Lifetimes of the reserved address ranges.
    pub ranges: &'a Allocations,
    /// First byte of a reserved range on the axis, and one past its last. `None` if it is not in this picture.
    pub range_place: &'a dyn Fn(AllocationId) -> Option<[u64; 2]>,
}
