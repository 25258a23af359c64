//! Stems: the keys that distinguish allocations in a tree of stacks. A stem is a stack, together with the kind of event
//! that it belongs to: the alloc or the free. Each stem that occurs gets a number, which is shared by all devices.

use crate::device::DeviceData;
use crate::origin::{is_free_stack, stack_of};
use base::column::Column;
use base::slice::{SliceResult, TimeSlice};
use history::replay::AllocationId;
use history::snapshot::StackId;

/// Kind of the event that a stack belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StackOrigin {
    Alloc,
    /// The free, for an allocation made before recording.
    Free,
}

/// Key that distinguishes allocations in a tree of stacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stem {
    /// Bytes that no recorded allocation explains.
    Unexplained,
    /// No stack was recorded.
    NoStack,
    Stack(StackId, StackOrigin),
}

/// Numbers of the stems that occurred so far.
#[derive(Default)]
pub(crate) struct Stems {
    /// 1-based index into `stacks` for each stack of an alloc event. 0 if the stack has not occurred.
    by_alloc_stack: Vec<u32>,
    /// 1-based index into `stacks` for each stack of a free. 0 if the stack has not occurred.
    by_free_stack: Vec<u32>,
    stacks: Column<(StackId, StackOrigin)>,
    /// Device ordinals, with the number of allocations that [`Stems::number_all`] has handled so far.
    numbered: Vec<(i64, usize)>,
}

/// First stem number with a stack. Lower numbers are [`Stem::Unexplained`] and [`Stem::NoStack`].
const FIRST_STACK_NUMBER: u32 = 2;

impl Stems {
    fn stem_of(open: DeviceData<'_>, id: AllocationId) -> Stem {
        if open.history.allocations.is_unexplained(id) {
            return Stem::Unexplained;
        }
        match stack_of(open.snapshot, open.history, id) {
            StackId::NONE | StackId::EMPTY => Stem::NoStack,
            stack if is_free_stack(open.history, id, stack) => Stem::Stack(stack, StackOrigin::Free),
            stack => Stem::Stack(stack, StackOrigin::Alloc),
        }
    }

    /// Returns the stem number of an allocation. `None` if the stem has not occurred.
    pub(crate) fn number_of(&self, open: DeviceData<'_>, id: AllocationId) -> Option<u32> {
        let (known, stack) = match Stems::stem_of(open, id) {
            Stem::Unexplained => return Some(0),
            Stem::NoStack => return Some(1),
            Stem::Stack(stack, StackOrigin::Alloc) => (&self.by_alloc_stack, stack),
            Stem::Stack(stack, StackOrigin::Free) => (&self.by_free_stack, stack),
        };
        let number = known.get(stack.0 as usize).copied().unwrap_or(0);
        number.checked_sub(1).map(|number| number + FIRST_STACK_NUMBER)
    }

    /// Returns the stem number of an allocation. Assigns one if the stem is new.
    pub(super) fn number_or_insert(&mut self, open: DeviceData<'_>, id: AllocationId) -> u32 {
        let (known, stack, origin) = match Stems::stem_of(open, id) {
            Stem::Unexplained => return 0,
            Stem::NoStack => return 1,
            Stem::Stack(stack, origin @ StackOrigin::Alloc) => (&mut self.by_alloc_stack, stack, origin),
            Stem::Stack(stack, origin @ StackOrigin::Free) => (&mut self.by_free_stack, stack, origin),
        };
        if known.is_empty() {
            *known = vec![0; open.snapshot.stacks.len()];
        }
        let Some(number) = known.get_mut(stack.0 as usize) else { return 1 };
        if *number == 0 {
            self.stacks.push((stack, origin));
            *number = self.stacks.len() as u32;
        }
        *number - 1 + FIRST_STACK_NUMBER
    }

    /// Assigns numbers to all stems of a device's allocations.
    pub(super) fn number_all(&mut self, open: DeviceData<'_>, slice: &mut TimeSlice) -> SliceResult {
        let device = open.history.device;
        let index = self.numbered.iter().position(|&(known, _)| known == device);
        let index = index.unwrap_or_else(|| {
            self.numbered.push((device, 0));
            self.numbered.len() - 1
        });
        while let Some((_, next)) = self.numbered.get_mut(index)
            && let Some(part) = slice.next_range(next, open.history.allocations.len(), 1)?
        {
            part.for_each(|id| _ = self.number_or_insert(open, AllocationId(id as u32)));
        }
        Ok(())
    }

    /// Returns the stem with this number.
    pub(super) fn get(&self, number: u32) -> Stem {
        match number.checked_sub(FIRST_STACK_NUMBER) {
            Some(number) => {
                self.stacks.get(number as usize).map_or(Stem::NoStack, |(stack, origin)| Stem::Stack(stack, origin))
            }
            None if number == 0 => Stem::Unexplained,
            None => Stem::NoStack,
        }
    }

    /// Returns the number of stems. All stem numbers are less than this.
    pub(super) fn len(&self) -> usize {
        self.stacks.len() + FIRST_STACK_NUMBER as usize
    }

    pub(super) fn heap_bytes(&self) -> usize {
        (self.by_alloc_stack.capacity() + self.by_free_stack.capacity()) * size_of::<u32>() + self.stacks.heap_bytes()
    }
}
