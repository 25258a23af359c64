//! Ids of chains of texts. A chain consists of the id of its callers, which are a chain too, and its innermost text.

use base::heap::HeapBytes;
use hashbrown::HashMap;

/// Key id of allocations without a stack or group.
pub(crate) const NO_KEY: u32 = 0;
/// Key id of unexplained bytes.
pub(crate) const UNEXPLAINED: u32 = 1;
/// Flag of a key id: the stack is the stack that freed the allocation, because the allocating stack is unknown.
pub(crate) const OF_FREE: u32 = 1 << 31;

/// Ids of chains. Equal chains have equal ids.
#[derive(Default)]
pub(crate) struct Chains {
    ids: HashMap<(u32, u32), u32, foldhash::fast::RandomState>,
    /// Id of the callers and id of the innermost text of each chain.
    parts: Vec<(u32, u32)>,
}

impl Chains {
    /// Returns the id of the chain that appends `text` to the chain `callers`.
    pub(crate) fn intern(&mut self, callers: u32, text: u32) -> u32 {
        let next = self.ids.len() as u32 + UNEXPLAINED + 1;
        // Half of all numbers are for stacks of frees. A file has far fewer stacks.
        let number = *self.ids.entry((callers, text)).or_insert(next.min(OF_FREE - 1));
        if number == next {
            self.parts.push((callers, text));
        }
        number
    }

    /// Returns the id of the callers and the id of the innermost text of a chain, or `None` if the id is not a chain.
    pub(crate) fn parts(&self, number: u32) -> Option<(u32, u32)> {
        self.parts.get(number.checked_sub(UNEXPLAINED + 1)? as usize).copied()
    }

    /// Returns the exclusive upper bound of all ids.
    pub(crate) fn count(&self) -> usize {
        self.ids.len() + UNEXPLAINED as usize + 1
    }
}

impl HeapBytes for Chains {
    fn heap_bytes(&self) -> usize {
        self.ids.heap_bytes() + self.parts.heap_bytes()
    }
}
