//! The order in which the live allocations stand on each other.

use base::slice::{Slice, Sliced};
use history::replay::AllocationId;

/// An order other than that of birth: allocations of one group side by side, inside a group by birth.
///
/// Eight bytes an allocation. Birth order needs none of it: there an allocation's id is its rank.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Order {
    ids: Vec<u32>,
    ranks: Vec<u32>,
}

/// An order in the making: allocations are given in order of id, and sorted when all are.
#[derive(Clone, Debug, Default)]
pub struct Piling {
    groups: Vec<u32>,
    /// How many are in each group, one place further up; then where the next of each group goes.
    next: Vec<u32>,
    order: Order,
}

impl Piling {
    /// With room for so many allocations.
    pub fn new(allocations: usize) -> Piling {
        Piling { groups: Vec::with_capacity(allocations), ..Piling::default() }
    }

    /// How many were given.
    pub fn len(&self) -> usize {
        self.groups.len()
    }

    /// Whether none was given.
    pub fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    /// The group of the next allocation. Groups should be few and small numbers: it takes memory for each up to the largest.
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

    /// Sorts more of them: the order once all are. None may be given after the first call.
    pub fn step(&mut self, slice: &mut Slice) -> Sliced<Order> {
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
        while let Some(chunk) = slice.part(&mut next, count, 1)? {
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
    /// Allocations by their group, given in order of id; the lowest group stands at the bottom.
    pub fn grouped(groups: &[u32]) -> Order {
        let mut piling = Piling::new(groups.len());
        groups.iter().for_each(|&group| piling.push(group));
        piling.step(&mut Slice::new(&mut || true)).unwrap_or_default()
    }

    /// The allocation of a rank; the rank itself where there is none.
    pub fn id(&self, rank: u32) -> AllocationId {
        AllocationId(self.ids.get(rank as usize).copied().unwrap_or(rank))
    }

    /// The rank of an allocation; its id where there is none.
    pub fn rank(&self, id: AllocationId) -> u32 {
        self.ranks.get(id.0 as usize).copied().unwrap_or(id.0)
    }

    /// Bytes on the heap.
    pub fn heap_bytes(&self) -> usize {
        (self.ids.capacity() + self.ranks.capacity()) * size_of::<u32>()
    }
}

#[cfg(test)]
#[path = "../../../tests/units/picture/timeline/order.rs"]
mod tests;
