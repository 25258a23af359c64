//! Stacking order of live allocations.

use base::slice::{SliceResult, TimeSlice};
use history::replay::AllocationId;

/// A stacking order other than the allocation order. Allocations of a group are adjacent and ordered by id. A rank is a
/// position in this order, counted from the bottom.
///
/// Takes eight bytes per allocation. The allocation order needs no table, because an allocation's id is its rank.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Order {
    ids: Vec<u32>,
    ranks: Vec<u32>,
}

base::heap_bytes!(Order: ids, ranks);

/// Builder of an [`Order`]. The caller pushes the group of each allocation in order of allocation id, then sorts.
#[derive(Clone, Debug, Default)]
pub struct OrderBuilder {
    groups: Vec<u32>,
    /// Before sorting, entry `group + 1` is the number of allocations in `group`. During sorting, entry `group` is the
    /// next rank in `group`.
    next: Vec<u32>,
    order: Order,
}

impl OrderBuilder {
    /// Creates a builder with capacity for `allocations` allocations.
    pub fn new(allocations: usize) -> OrderBuilder {
        OrderBuilder { groups: Vec::with_capacity(allocations), ..OrderBuilder::default() }
    }

    /// Returns the number of pushed allocations.
    pub fn len(&self) -> usize {
        self.groups.len()
    }

    /// Returns true if no allocation was pushed.
    pub fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    /// Adds the group of the next allocation. Memory usage is proportional to the largest group index.
    pub fn push(&mut self, group: u32) {
        let above = group as usize + 1;
        if self.next.len() <= above {
            self.next.resize(above + 1, 0);
        }
        if let Some(count) = self.next.get_mut(above) {
            *count += 1;
        }
        self.groups.push(group);
    }

    /// Continues sorting until done or the time slice is used up. Returns the order. Nothing may be pushed after the
    /// first call.
    pub fn step(&mut self, slice: &mut TimeSlice) -> SliceResult<Order> {
        let count = self.groups.len();
        if self.order.ids.len() < count {
            let mut sum = 0;
            for start in &mut self.next {
                sum += *start;
                *start = sum;
            }
            self.order = Order { ids: vec![0; count], ranks: Vec::with_capacity(count) };
        }
        let Order { ids, ranks } = &mut self.order;
        let mut next = ranks.len();
        while let Some(chunk) = slice.next_range(&mut next, count, 1)? {
            for (id, &group) in (chunk.start as u32..).zip(self.groups.get(chunk).unwrap_or_default()) {
                let Some(rank) = self.next.get_mut(group as usize) else { continue };
                ranks.push(*rank);
                if let Some(slot) = ids.get_mut(*rank as usize) {
                    *slot = id;
                }
                *rank += 1;
            }
        }
        Ok(std::mem::take(&mut self.order))
    }
}

impl Order {
    /// Creates an order from the group of each allocation. The group with the lowest index is at the bottom.
    pub fn grouped(groups: &[u32]) -> Order {
        let mut builder = OrderBuilder::new(groups.len());
        groups.iter().for_each(|&group| builder.push(group));
        builder.step(&mut TimeSlice::new(&mut || true)).unwrap_or_default()
    }

    /// Returns the allocation at a rank. If the rank is out of range, returns it as the id.
    pub fn id(&self, rank: u32) -> AllocationId {
        AllocationId(self.ids.get(rank as usize).copied().unwrap_or(rank))
    }

    /// Returns the rank of an allocation. If its id is out of range, returns the id as the rank.
    pub fn rank(&self, id: AllocationId) -> u32 {
        self.ranks.get(id.0 as usize).copied().unwrap_or(id.0)
    }
}

#[cfg(test)]
#[path = "../../../tests/units/picture/timeline/order.rs"]
mod tests;
