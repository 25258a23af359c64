//! Open containers, which may still change, and the places that refer to them.

use super::error::ErrorKind;
use super::limits::Limits;

/// Type of an open container.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    List,
    Dict,
}

/// Open container.
pub(super) struct OpenContainer {
    pub(super) kind: Kind,
    /// Position on the stack where it was started and still is.
    pub(super) position: usize,
    /// Other positions on the stack, if it was fetched from the memo next to itself. (Fetching it inside itself is an
    /// error.)
    pub(super) copies: Vec<usize>,
    pub(super) slots: Vec<u32>,
    pub(super) changed: bool,
    /// Slice with all items of the list, if the builder has received them. Otherwise empty.
    pub(super) slice: Vec<u8>,
    /// Known slice with all items of the list, if the builder has not received them.
    pub(super) known: Option<u32>,
    /// True if its number is in [`OpenContainers::fast_path_slots`].
    is_listed: bool,
}

/// Open containers by slot, the number that the builder knows them by.
///
/// Slots are reused, and their vectors keep their capacity, so that no container needs an allocation.
pub(super) struct OpenContainers {
    containers: Vec<OpenContainer>,
    unused: Vec<u32>,
    /// Slots that used the list fast path since the slices were last cleared, each once. Some may hold other containers
    /// by now.
    fast_path_slots: Vec<u32>,
}

impl OpenContainers {
    pub(super) fn new() -> Self {
        OpenContainers { containers: Vec::new(), unused: Vec::new(), fast_path_slots: Vec::new() }
    }

    pub(super) fn open<E>(&mut self, kind: Kind, position: usize, limits: &Limits) -> Result<u32, ErrorKind<E>> {
        if let Some(number) = self.unused.pop() {
            if let Some(open) = self.get_mut(number) {
                (open.kind, open.position, open.changed) = (kind, position, false);
                open.copies.clear();
                open.slots.clear();
                open.slice.clear();
                open.known = None;
            }
            return Ok(number);
        }
        let full = ErrorKind::Limit { what: "open containers", max: limits.open_containers };
        match u32::try_from(self.containers.len()) {
            Ok(number) if self.containers.len() < limits.open_containers => {
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
                Ok(number)
            }
            _ => Err(full),
        }
    }

    /// Marks a list as filled by the fast path and returns it.
    #[inline(always)]
    pub(super) fn mark_fast_path(&mut self, number: u32) -> Option<&mut OpenContainer> {
        let list = self.containers.get_mut(number as usize)?;
        list.changed = true;
        if !std::mem::replace(&mut list.is_listed, true) {
            self.fast_path_slots.push(number);
        }
        Some(list)
    }

    /// Removes and returns a slot from the list of slots that used the fast path.
    pub(super) fn pop_fast_path(&mut self) -> Option<u32> {
        let number = self.fast_path_slots.pop()?;
        if let Some(open) = self.get_mut(number) {
            open.is_listed = false;
        }
        Some(number)
    }

    pub(super) fn heap_bytes(&self) -> usize {
        let lists = |open: &OpenContainer| {
            open.copies.capacity() * size_of::<usize>() + open.slots.capacity() * 4 + open.slice.capacity()
        };
        self.containers.iter().map(lists).sum::<usize>() + self.containers.capacity() * size_of::<OpenContainer>()
    }

    /// Returns whether `count` more containers can be started.
    #[inline(always)]
    pub(super) fn has_room(&self, count: usize, limits: &Limits) -> bool {
        self.unused.len() >= count || self.containers.len() + count <= limits.open_containers
    }

    #[inline(always)]
    pub(super) fn get(&self, number: u32) -> Option<&OpenContainer> {
        self.containers.get(number as usize)
    }

    #[inline(always)]
    pub(super) fn get_mut(&mut self, number: u32) -> Option<&mut OpenContainer> {
        self.containers.get_mut(number as usize)
    }

    /// Releases the slot of a finished container. The next [`OpenContainers::begin`] may reuse it.
    pub(super) fn release(&mut self, number: u32) {
        if let Some(open) = self.get_mut(number) {
            open.known = None;
        }
        self.unused.push(number);
    }
}
