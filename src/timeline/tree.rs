//! What is live now, in a tree over the allocations that a window shows: bytes, count and the largest of every group.
//!
//! ```text
//! level 2                        one node                      the root
//! level 1      | 8 leaves | 8 leaves | .. 8 nodes a parent
//! leaves       | 8 allocations in order of rank; live bytes or 0
//! ```
//!
//! Eight children a node: their sums are neighbours in memory, and a million leaves are seven levels.

/// Children of a node, as a power of two.
const FAN_BITS: u32 = 3;
const FAN: usize = 1 << FAN_BITS;

/// The live allocations under one node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Live {
    /// Their bytes.
    pub(super) bytes: u64,
    /// Bytes of the largest.
    pub(super) largest: u64,
    /// Its leaf; of equals the first.
    pub(super) largest_leaf: u32,
    /// How many.
    pub(super) count: u32,
}

impl Live {
    /// Both together. Sums wrap: the sizes of a hostile file may exceed 64 bits, and taking them out again must bring back
    /// what was there.
    pub(super) fn and(self, other: Live) -> Live {
        let other_leads = other.count > 0
            && (self.count == 0 || (other.largest, self.largest_leaf) > (self.largest, other.largest_leaf));
        let (largest, largest_leaf) =
            if other_leads { (other.largest, other.largest_leaf) } else { (self.largest, self.largest_leaf) };
        let bytes = self.bytes.wrapping_add(other.bytes);
        Live { bytes, largest, largest_leaf, count: self.count + other.count }
    }
}

/// A place in the tree: `index` counts the nodes of a level from the left; level 0 are the leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) level: u32,
    pub(super) index: u32,
}

impl Place {
    /// The place of a leaf.
    pub(super) fn leaf(leaf: u32) -> Place {
        Place { level: 0, index: leaf }
    }

    /// The first leaf under it.
    pub(super) fn first_leaf(self) -> u32 {
        (u64::from(self.index) << (self.level * FAN_BITS)) as u32
    }
}

/// The tree. Leaves are numbered in order of rank.
#[derive(Clone, Debug, Default)]
pub(super) struct LiveTree {
    leaves: Vec<u64>,
    /// `levels[k]` is level k + 1; the last has one node.
    levels: Vec<Vec<Live>>,
}

impl LiveTree {
    /// A tree of `leaves` leaves, none of them live.
    pub(super) fn new(leaves: usize) -> LiveTree {
        let mut levels = Vec::new();
        let mut width = leaves;
        while levels.is_empty() || width > 1 {
            width = width.div_ceil(FAN).max(1);
            levels.push(vec![Live::default(); width]);
        }
        LiveTree { leaves: vec![0; leaves], levels }
    }

    /// The place above all leaves.
    pub(super) fn root(&self) -> Place {
        Place { level: self.levels.len() as u32, index: 0 }
    }

    /// What is live at a place.
    #[inline]
    pub(super) fn live(&self, place: Place) -> Live {
        match place.level.checked_sub(1) {
            Some(level) => self.levels.get(level as usize).and_then(|nodes| nodes.get(place.index as usize)).copied(),
            None => self.leaves.get(place.index as usize).map(|&bytes| live_leaf(place.index, bytes)),
        }
        .unwrap_or_default()
    }

    /// The children of a place that is not a leaf, from the left.
    #[inline]
    pub(super) fn children(&self, place: Place) -> impl DoubleEndedIterator<Item = (Place, Live)> + '_ {
        let level = place.level.saturating_sub(1);
        let first = (place.index as usize) << FAN_BITS;
        let width = match level.checked_sub(1) {
            Some(nodes) => self.levels.get(nodes as usize).map_or(0, Vec::len),
            None => self.leaves.len(),
        };
        (first..(first + FAN).min(width)).map(move |index| {
            let place = Place { level, index: index as u32 };
            (place, self.live(place))
        })
    }

    /// `leaf` becomes live, or dead with 0 bytes.
    pub(super) fn set(&mut self, leaf: u32, bytes: u64) {
        let Some(slot) = self.leaves.get_mut(leaf as usize) else { return };
        let before = std::mem::replace(slot, bytes);
        let (added, removed) = (live_leaf(leaf, bytes), live_leaf(leaf, before));
        for level in 0..self.levels.len() {
            let place =
                Place { level: level as u32 + 1, index: (u64::from(leaf) >> ((level as u32 + 1) * FAN_BITS)) as u32 };
            let mut node = self.live(place);
            if removed.count > 0 && node.largest_leaf == leaf {
                node = self.children(place).fold(Live::default(), |sum, (_, child)| sum.and(child));
            } else {
                node.bytes = node.bytes.wrapping_sub(removed.bytes);
                node.count -= removed.count;
                node = node.and(added);
            }
            if let Some(slot) = self.levels.get_mut(level).and_then(|nodes| nodes.get_mut(place.index as usize)) {
                *slot = node;
            }
        }
    }

    /// The first live leaf under a place that has one.
    pub(super) fn first_live(&self, place: Place) -> u32 {
        self.descend(place, |tree, place| tree.children(place).find(|(_, live)| live.count > 0))
    }

    /// The last live leaf under a place that has one.
    pub(super) fn last_live(&self, place: Place) -> u32 {
        self.descend(place, |tree, place| tree.children(place).rev().find(|(_, live)| live.count > 0))
    }

    fn descend(&self, mut place: Place, choose: impl Fn(&LiveTree, Place) -> Option<(Place, Live)>) -> u32 {
        while place.level > 0 {
            match choose(self, place) {
                Some((child, _)) => place = child,
                None => break,
            }
        }
        place.first_leaf()
    }
}

fn live_leaf(leaf: u32, bytes: u64) -> Live {
    Live { bytes, largest: bytes, largest_leaf: leaf, count: u32::from(bytes > 0) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_node_sums_up_its_leaves(
            leaves in 1usize..700,
            changes in prop::collection::vec((any::<prop::sample::Index>(), 0u64..6), 0..300),
        ) {
            let mut tree = LiveTree::new(leaves);
            let mut plain = vec![0u64; leaves];
            for (leaf, bytes) in changes {
                let leaf = leaf.index(leaves);
                plain[leaf] = bytes;
                tree.set(leaf as u32, bytes);
            }
            let mut places = vec![tree.root()];
            while let Some(place) = places.pop() {
                let end = (place.index as usize + 1) << (place.level * FAN_BITS);
                let range = place.first_leaf() as usize..end.min(leaves);
                let live: Vec<(usize, u64)> = range.map(|at| (at, plain[at])).filter(|leaf| leaf.1 > 0).collect();
                let found = tree.live(place);
                prop_assert_eq!(found.count as usize, live.len());
                prop_assert_eq!(found.bytes, live.iter().map(|leaf| leaf.1).sum::<u64>());
                if let (Some(first), Some(last)) = (live.first(), live.last()) {
                    let largest = live.iter().rev().max_by_key(|leaf| leaf.1).unwrap();
                    prop_assert_eq!((found.largest_leaf as usize, found.largest), *largest);
                    prop_assert_eq!((tree.first_live(place) as usize, tree.last_live(place) as usize), (first.0, last.0));
                }
                if place.level > 0 {
                    places.extend(tree.children(place).map(|(child, _)| child));
                }
            }
        }
    }
}
