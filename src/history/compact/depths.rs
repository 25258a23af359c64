//! Limit on the total depth of all stacks. A file of columns stores stacks as a tree, so a small malicious file can
//! contain many very deep stacks, and several views visit every frame of every stack.

use base::column::Column;

/// Total number of frames allowed in a file, in addition to [`FRAMES_PER_STACK`] for each stack. Visiting them all
/// takes a second.
const FREE_FRAMES: u64 = 1 << 26;
/// Number of frames allowed for each stack: Python's default recursion limit.
const FRAMES_PER_STACK: u64 = 1000;

/// Depth of each node of a stack tree, and the sum of all depths.
pub(super) struct Depths {
    depths: Column<u32>,
    sum: u64,
}

base::heap_bytes!(Depths: depths);

impl Default for Depths {
    fn default() -> Depths {
        // The root has depth 0.
        Depths { depths: [0].into_iter().collect(), sum: 0 }
    }
}

impl Depths {
    /// Adds the next node, whose parent is the node `caller`. Returns `false` if the total depth exceeds the limit.
    pub(super) fn add(&mut self, caller: u32) -> bool {
        let depth = self.depths.get(caller as usize).unwrap_or(0).saturating_add(1);
        self.depths.push(depth);
        self.sum += u64::from(depth);
        self.sum <= FREE_FRAMES + FRAMES_PER_STACK * self.depths.len() as u64
    }
}
