//! Open containers, which may still change, and the stack positions and memo slots that refer to them.

use super::error::ErrorKind;
use super::limits::Limits;

/// Type of an open container: list or dict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    List,
    Dict,
}

/// List or dict that is still being built, with its positions on the stack and in the memo.
pub(super) struct OpenContainer {
    pub(super) kind: Kind,
    /// Position of the container on the stack.
    pub(super) position: usize,
    /// Other positions on the stack, if the container was fetched from the memo again. (Fetching a container inside
    /// itself is an error.)
    pub(super) copies: Vec<usize>,
    /// Memo slots that contain the container.
    pub(super) slots: Vec<u32>,
    pub(super) changed: bool,
    /// Pickle bytes that contain all items of the list. Empty unless the fast path read the list and passed its items
    /// to the builder.
    pub(super) slice: Vec<u8>,
    /// Entry in the slice cache with an equal list, if the items were not passed to the builder.
    pub(super) known: Option<u32>,
    /// True if the container's slot is in [`OpenContainers::fast_path_slots`].
    is_listed: bool,
}

base::heap_bytes!(OpenContainer: copies, slots, slice);

/// Open containers by slot. The builder identifies containers by the same slots.
///
/// Slots are reused, and their vectors keep their capacity, so that opening a container usually needs no heap
/// allocation.
pub(super) struct OpenContainers {
    containers: Vec<OpenContainer>,
    unused: Vec<u32>,
    /// Slots of containers that used the list fast path since the slice cache was last cleared, without duplicates. A
    /// slot may have been reused for another container since.
    fast_path_slots: Vec<u32>,
}

base::heap_bytes!(OpenContainers: containers, [containers]);

impl OpenContainers {
    pub(super) fn new() -> Self {
        OpenContainers { containers: Vec::new(), unused: Vec::new(), fast_path_slots: Vec::new() }
    }

    pub(super) fn open<E>(&mut self, kind: Kind, position: usize, limits: &Limits) -> Result<u32, ErrorKind<E>> {
        if let Some(slot) = self.unused.pop() {
            if let Some(open) = self.get_mut(slot) {
                (open.kind, open.position, open.changed) = (kind, position, false);
                open.copies.clear();
                open.slots.clear();
                open.slice.clear();
                open.known = None;
            }
            return Ok(slot);
        }
        let full = ErrorKind::Limit { what: "open containers", max: limits.open_containers };
        match u32::try_from(self.containers.len()) {
            Ok(slot) if self.containers.len() < limits.open_containers => {
                self.containers.push(OpenContainer {
                    kind,
                    position,
                    copies: Vec::new(),
                    slots: Vec::new(),
                    changed: false,
                    slice: Vec::new(),
                    known: None,
                    is_listed: false,
                });
                Ok(slot)
            }
            _ => Err(full),
        }
    }

    /// Marks the list in `slot` as read by the fast path, and returns the list.
    #[inline(always)]
    pub(super) fn mark_fast_path(&mut self, slot: u32) -> Option<&mut OpenContainer> {
        let list = self.containers.get_mut(slot as usize)?;
        list.changed = true;
        if !std::mem::replace(&mut list.is_listed, true) {
            self.fast_path_slots.push(slot);
        }
        Some(list)
    }

    /// Removes and returns a slot from the list of slots that used the fast path.
    pub(super) fn pop_fast_path(&mut self) -> Option<u32> {
        let slot = self.fast_path_slots.pop()?;
        if let Some(open) = self.get_mut(slot) {
            open.is_listed = false;
        }
        Some(slot)
    }

    /// Returns whether `count` more containers can be started.
    #[inline(always)]
    pub(super) fn has_room(&self, count: usize, limits: &Limits) -> bool {
        self.unused.len() >= count || self.containers.len() + count <= limits.open_containers
    }

    #[inline(always)]
    pub(super) fn get(&self, slot: u32) -> Option<&OpenContainer> {
        self.containers.get(slot as usize)
    }

    #[inline(always)]
    pub(super) fn get_mut(&mut self, slot: u32) -> Option<&mut OpenContainer> {
        self.containers.get_mut(slot as usize)
    }

    /// Releases the slot of a finished container. The next [`OpenContainers::open`] may reuse it.
    pub(super) fn release(&mut self, slot: u32) {
        if let Some(open) = self.get_mut(slot) {
            open.known = None;
        }
        self.unused.push(slot);
    }
}
