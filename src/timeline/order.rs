//! The order in which the live allocations stand on each other.

use crate::replay::AllocationId;

/// An order other than that of birth: allocations of one group side by side, inside a group by birth.
///
/// Eight bytes an allocation. Birth order needs none of it: there an allocation's id is its rank.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Order {
    ids: Vec<u32>,
    ranks: Vec<u32>,
}

impl Order {
    /// Allocations by their group, given in order of id; the lowest group stands at the bottom. Groups should be few and small
    /// numbers: it takes memory for each up to the largest.
    pub fn grouped(groups: &[u32]) -> Order {
        let largest = groups.iter().copied().max().unwrap_or(0) as usize;
        let mut next = vec![0u32; largest + 2];
        for &group in groups {
            if let Some(count) = next.get_mut(group as usize + 1) {
                *count += 1;
            }
        }
        let mut sum = 0;
        for start in &mut next {
            sum += *start;
            *start = sum;
        }
        let mut order = Order { ids: vec![0; groups.len()], ranks: Vec::with_capacity(groups.len()) };
        for (id, &group) in (0u32..).zip(groups) {
            let Some(rank) = next.get_mut(group as usize) else { continue };
            order.ranks.push(*rank);
            if let Some(slot) = order.ids.get_mut(*rank as usize) {
                *slot = id;
            }
            *rank += 1;
        }
        order
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
mod tests {
    use super::*;

    #[test]
    fn groups_stand_together_and_keep_their_order_of_birth() {
        let order = Order::grouped(&[2, 0, 2, 5, 0]);
        assert_eq!((0..5).map(|rank| order.id(rank).0).collect::<Vec<_>>(), [1, 4, 0, 2, 3]);
        for id in 0..5 {
            assert_eq!(order.id(order.rank(AllocationId(id))), AllocationId(id));
        }
        assert_eq!(Order::grouped(&[]), Order::default());
    }
}
