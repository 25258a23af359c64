//! Limit on the total depth of all stacks. A pickle stores every frame of a stack, but columns can add a frame to a
//! stack with two bytes, and several views walk every stack in full.

use base::column::Column;

/// Maximum number of frames in all stacks together, apart from those granted per stack. Walking them takes a second.
const FREE_FRAMES: u64 = 1 << 26;
/// Number of frames granted per stack in addition: Python's default recursion limit.
const FRAMES_PER_STACK: u64 = 1000;

/// Depth of each node of a stack tree, and the sum of all depths.
pub(super) struct Depths {
    depths: Column<u32>,
    sum: u64,
}

impl Default for Depths {
    fn default() -> Depths {
        // The root has depth 0.
        Depths { depths: [0].into_iter().collect(), sum: 0 }
    }
}

impl Depths {
    /// Adds the next node, a callee of node `caller`. Returns `false` if the stacks are too deep in total.
    pub(super) fn add(&mut self, caller: u32) -> bool {
        let depth = self.depths.get(caller as usize).unwrap_or(0).saturating_add(1);
        self.depths.push(depth);
        self.sum += u64::from(depth);
        self.sum <= FREE_FRAMES + FRAMES_PER_STACK * self.depths.len() as u64
    }

    pub(super) fn heap_bytes(&self) -> usize {
        self.depths.heap_bytes()
    }
}
