//! How deep stacks may be. A file that lists its stacks pays for every frame of each; columns name a deeper one with two bytes, and whoever
//! asks where stacks come from walks every one.

use base::column::Column;

/// Frames that the stacks of every node may have together, whatever their number: walked in a second.
const FREE: u64 = 1 << 26;
/// And so many for each: as deep as Python goes, unless told otherwise.
const FOR_EACH: u64 = 1000;

/// The depths of a tree's nodes.
pub(super) struct Depths {
    of: Column<u32>,
    sum: u64,
}

impl Default for Depths {
    fn default() -> Depths {
        // The root.
        Depths { of: [0].into_iter().collect(), sum: 0 }
    }
}

impl Depths {
    /// Adds the next node, called by the stack of `caller`; `false` when stacks are too deep by now.
    pub(super) fn add(&mut self, caller: u32) -> bool {
        let depth = self.of.get(caller as usize).unwrap_or(0).saturating_add(1);
        self.of.push(depth);
        self.sum += u64::from(depth);
        self.sum <= FREE + FOR_EACH * self.of.len() as u64
    }

    /// Bytes on the heap.
    pub(super) fn heap_bytes(&self) -> usize {
        self.of.heap_bytes()
    }
}
