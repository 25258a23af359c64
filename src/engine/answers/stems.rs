//! Stems: the keys that distinguish allocations in a tree of stacks. A stem is a stack, together with whether it made
//! the allocation or freed it. Each stem that occurs gets a number, shared by all devices.

use crate::device::Open;
use crate::origin::{is_of_free, stack_of};
use base::column::Column;
use base::slice::{Slice, Sliced};
use history::replay::AllocationId;
use history::snapshot::StackId;

/// The event that a stack belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StackOf {
    Alloc,
    /// The free, for allocations made before recording.
    Free,
}

/// Key that distinguishes allocations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stem {
    /// Bytes that no recorded allocation explains.
    Unexplained,
    /// No stack was recorded.
    NoStack,
    Of(StackId, StackOf),
}

/// Numbers of the stems that occur.
#[derive(Default)]
pub(crate) struct Stems {
    /// By stack of an allocation: 1-based index into `stacks`, 0 if it has not occurred.
    /// The same by stack of a free.
    makers: Vec<u32>,
    freers: Vec<u32>,
    stacks: Column<(StackId, StackOf)>,
    /// Number of allocations handled so far by [`Stems::learn_all`], by device.
    learnt: Vec<(i64, usize)>,
}

/// First stem number with a stack. Those below are [`Stem::Unexplained`] and [`Stem::NoStack`].
const BEFORE_STACKS: u32 = 2;

impl Stems {
    fn stem(open: Open<'_>, id: AllocationId) -> Stem {
        if open.history.allocations.is_unexplained(id) {
            return Stem::Unexplained;
        }
        match stack_of(open.snapshot, open.history, id) {
            StackId::NONE | StackId::EMPTY => Stem::NoStack,
            stack if is_of_free(open.history, id, stack) => Stem::Of(stack, StackOf::Free),
            stack => Stem::Of(stack, StackOf::Alloc),
        }
    }

    /// Returns the stem number of an allocation. `None` if the stem has not occurred.
    pub(crate) fn of(&self, open: Open<'_>, id: AllocationId) -> Option<u32> {
        let (known, stack) = match Stems::stem(open, id) {
            Stem::Unexplained => return Some(0),
            Stem::NoStack => return Some(1),
            Stem::Of(stack, StackOf::Alloc) => (&self.makers, stack),
            Stem::Of(stack, StackOf::Free) => (&self.freers, stack),
        };
        let number = known.get(stack.0 as usize).copied().unwrap_or(0);
        number.checked_sub(1).map(|number| number + BEFORE_STACKS)
    }

    /// Returns the stem number of an allocation. Assigns one if the stem is new.
    pub(super) fn number(&mut self, open: Open<'_>, id: AllocationId) -> u32 {
        let (known, stack, whose) = match Stems::stem(open, id) {
            Stem::Unexplained => return 0,
            Stem::NoStack => return 1,
            Stem::Of(stack, whose @ StackOf::Alloc) => (&mut self.makers, stack, whose),
            Stem::Of(stack, whose @ StackOf::Free) => (&mut self.freers, stack, whose),
        };
        if known.is_empty() {
            *known = vec![0; open.snapshot.stacks.len()];
        }
        let Some(number) = known.get_mut(stack.0 as usize) else { return 1 };
        if *number == 0 {
            self.stacks.push((stack, whose));
            *number = self.stacks.len() as u32;
        }
        *number - 1 + BEFORE_STACKS
    }

    /// Assigns numbers to all stems of a device's allocations.
    pub(super) fn learn_all(&mut self, open: Open<'_>, slice: &mut Slice) -> Sliced {
        let device = open.history.device;
        let place = self.learnt.iter().position(|&(known, _)| known == device);
        let place = place.unwrap_or_else(|| {
            self.learnt.push((device, 0));
            self.learnt.len() - 1
        });
        while let Some((_, next)) = self.learnt.get_mut(place)
            && let Some(part) = slice.part(next, open.history.allocations.len(), 1)?
        {
            part.for_each(|id| _ = self.number(open, AllocationId(id as u32)));
        }
        Ok(())
    }

    /// Returns the stem with this number.
    pub(super) fn at(&self, number: u32) -> Stem {
        match number.checked_sub(BEFORE_STACKS) {
            Some(number) => {
                self.stacks.get(number as usize).map_or(Stem::NoStack, |(stack, whose)| Stem::Of(stack, whose))
            }
            None if number == 0 => Stem::Unexplained,
            None => Stem::NoStack,
        }
    }

    /// Returns the number of stems. Stem numbers are below it.
    pub(super) fn len(&self) -> usize {
        self.stacks.len() + BEFORE_STACKS as usize
    }

    pub(super) fn heap_bytes(&self) -> usize {
        (self.makers.capacity() + self.freers.capacity()) * size_of::<u32>() + self.stacks.heap_bytes()
    }
}
