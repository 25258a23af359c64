//! Inputs for drawing one column of a picture of addresses.

use super::blocks::AddressBlocks;
use crate::timeline::Source;
use crate::timeline::scene::PENDING;
use crate::timeline::tree::LiveSums;

/// Inputs for drawing one column, with its left edge and the right edge of the window.
pub(super) struct ColumnContext<'a> {
    pub(super) source: &'a Source<'a>,
    pub(super) blocks: &'a AddressBlocks,
    pub(super) column: usize,
    pub(super) x: [i16; 2],
}

impl ColumnContext<'_> {
    pub(super) fn size(&self, leaf: u32) -> u64 {
        self.source.allocations.size(self.blocks.visible.id(leaf))
    }

    pub(super) fn pending(&self, live: LiveSums) -> u32 {
        let is_pending = live.count == 1 && self.blocks.visible.is_pending(live.largest_leaf, self.column);
        if is_pending { PENDING } else { 0 }
    }
}
