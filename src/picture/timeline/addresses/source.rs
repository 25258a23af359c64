//! What a picture of addresses is drawn from.

use crate::timeline::source::Source;
use history::replay::{AllocationId, Allocations};

/// What is drawn: the history of one device, borrowed, and where on the axis of addresses everything lies.
#[derive(Clone, Copy)]
pub struct AddressSource<'a> {
    /// Lifetimes, totals, colours. In what order they are stacked does not matter.
    pub source: Source<'a>,
    /// Whether an allocation is in this picture; `None`: all are that have a place.
    pub has: Option<&'a dyn Fn(AllocationId) -> bool>,
    /// Where an allocation lies: its first byte on the axis, and the first above it. `None`: it is not in this picture.
    pub place: &'a dyn Fn(AllocationId) -> Option<[u64; 2]>,
    /// What was held from the driver when.
    pub ranges: &'a Allocations,
    /// Where such a range lies; `None`: it is not in this picture.
    pub range_place: &'a dyn Fn(AllocationId) -> Option<[u64; 2]>,
}
