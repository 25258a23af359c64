//! The open containers: those that may still change, and everywhere they are named meanwhile.

use super::error::ErrorKind;
use super::limits::Limits;

/// What an open container is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    List,
    Dict,
}

/// One open container.
pub(super) struct Open {
    pub(super) kind: Kind,
    /// Where on the stack it was begun and still stands.
    pub(super) home: usize,
    /// Where else on the stack it stands: it was fetched from the memo beside itself (not inside: that is refused).
    pub(super) copies: Vec<usize>,
    pub(super) slots: Vec<u32>,
    pub(super) changed: bool,
    /// The slice that is all it was given, while the builder has its items; else empty (see `slices`).
    pub(super) slice: Vec<u8>,
    /// The known slice that is all it was given, while the builder has nothing.
    pub(super) known: Option<u32>,
    /// Whether its number is among [`OpenContainers::short_cuts`].
    is_listed: bool,
}

/// The open containers by the number the builder knows them under.
///
/// A number is reused after its container is finished, and its lists keep their capacity: nothing is allocated a container.
pub(super) struct OpenContainers {
    containers: Vec<Open>,
    unused: Vec<u32>,
    /// The numbers that took the short cut since all slices were forgotten, each once: some are other containers' by now.
    short_cuts: Vec<u32>,
}

impl OpenContainers {
    pub(super) fn new() -> Self {
        OpenContainers { containers: Vec::new(), unused: Vec::new(), short_cuts: Vec::new() }
    }

    pub(super) fn begin<E>(&mut self, kind: Kind, home: usize, limits: &Limits) -> Result<u32, ErrorKind<E>> {
        if let Some(number) = self.unused.pop() {
            if let Some(open) = self.get_mut(number) {
                (open.kind, open.home, open.changed) = (kind, home, false);
                open.copies.clear();
                open.slots.clear();
                open.slice.clear();
                open.known = None;
            }
            return Ok(number);
        }
        let full = ErrorKind::Limit { what: "open containers", most: limits.open_containers };
        match u32::try_from(self.containers.len()) {
            Ok(number) if self.containers.len() < limits.open_containers => {
                self.containers.push(Open {
                    kind,
                    home,
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

    /// A list that is given its only batch by the short cut.
    #[inline(always)]
    pub(super) fn take_short_cut(&mut self, number: u32) -> Option<&mut Open> {
        let list = self.containers.get_mut(number as usize)?;
        list.changed = true;
        if !std::mem::replace(&mut list.is_listed, true) {
            self.short_cuts.push(number);
        }
        Some(list)
    }

    /// The number of a container that may stand on a slice, until all were named.
    pub(super) fn pop_short_cut(&mut self) -> Option<u32> {
        let number = self.short_cuts.pop()?;
        if let Some(open) = self.get_mut(number) {
            open.is_listed = false;
        }
        Some(number)
    }

    /// Bytes on the heap.
    pub(super) fn heap_bytes(&self) -> usize {
        let lists = |open: &Open| {
            open.copies.capacity() * size_of::<usize>() + open.slots.capacity() * 4 + open.slice.capacity()
        };
        self.containers.iter().map(lists).sum::<usize>() + self.containers.capacity() * size_of::<Open>()
    }

    /// Whether so many more can be begun.
    #[inline(always)]
    pub(super) fn has_room(&self, count: usize, limits: &Limits) -> bool {
        self.unused.len() >= count || self.containers.len() + count <= limits.open_containers
    }

    #[inline(always)]
    pub(super) fn get(&self, number: u32) -> Option<&Open> {
        self.containers.get(number as usize)
    }

    #[inline(always)]
    pub(super) fn get_mut(&mut self, number: u32) -> Option<&mut Open> {
        self.containers.get_mut(number as usize)
    }

    /// The container is finished: its number may be used again from the next [`OpenContainers::begin`] on.
    pub(super) fn end(&mut self, number: u32) {
        if let Some(open) = self.get_mut(number) {
            open.known = None;
        }
        self.unused.push(number);
    }
}
