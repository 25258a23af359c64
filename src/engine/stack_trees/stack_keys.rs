//! Stack keys, which assign allocations to nodes of a tree. A stack key is a stack and its origin: the alloc event or
//! the free. Each stack key that occurs gets an index, which is the same for all devices.

use crate::device::DeviceData;
use crate::origin::{is_free_stack, stack_of};
use base::column::Column;
use base::slice::{SliceResult, TimeSlice};
use history::replay::AllocationId;
use history::snapshot::StackId;

/// Kind of event at which a stack was recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StackOrigin {
    Alloc,
    /// The free. Used for allocations made before recording.
    Free,
}

/// Key that assigns an allocation to a node of a tree of stacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StackKey {
    /// Bytes that belong to no recorded allocation.
    Unexplained,
    /// An allocation without a recorded stack.
    NoStack,
    Stack(StackId, StackOrigin),
}

/// The stack keys (stack and origin) that have occurred so far, and their indices.
#[derive(Default)]
pub(crate) struct StackKeys {
    /// Maps the stack of an alloc event to a 1-based index into `stacks`. 0 if the stack has not occurred.
    by_alloc_stack: Vec<u32>,
    /// Maps the stack of a free to a 1-based index into `stacks`. 0 if the stack has not occurred.
    by_free_stack: Vec<u32>,
    stacks: Column<(StackId, StackOrigin)>,
    /// Ordinal of each device, and the number of its allocations that [`StackKeys::number_all`] has processed so far.
    numbered: Vec<(i64, usize)>,
}

base::heap_bytes!(StackKeys: by_alloc_stack, by_free_stack, stacks);

/// Index of the first stack key that has a stack. [`StackKey::Unexplained`] and [`StackKey::NoStack`] have lower
/// indices.
const FIRST_STACK_NUMBER: u32 = 2;

impl StackKeys {
    fn stack_key_of(data: DeviceData<'_>, id: AllocationId) -> StackKey {
        if data.history.allocations.is_unexplained(id) {
            return StackKey::Unexplained;
        }
        match stack_of(data.snapshot, data.history, id) {
            StackId::NONE | StackId::EMPTY => StackKey::NoStack,
            stack if is_free_stack(data.history, id, stack) => StackKey::Stack(stack, StackOrigin::Free),
            stack => StackKey::Stack(stack, StackOrigin::Alloc),
        }
    }

    /// Returns the index of an allocation's stack key (stack and origin). `None` if the stack key has not occurred yet.
    pub(crate) fn number_of(&self, data: DeviceData<'_>, id: AllocationId) -> Option<u32> {
        let (known, stack) = match StackKeys::stack_key_of(data, id) {
            StackKey::Unexplained => return Some(0),
            StackKey::NoStack => return Some(1),
            StackKey::Stack(stack, StackOrigin::Alloc) => (&self.by_alloc_stack, stack),
            StackKey::Stack(stack, StackOrigin::Free) => (&self.by_free_stack, stack),
        };
        let number = known.get(stack.0 as usize).copied().unwrap_or(0);
        number.checked_sub(1).map(|number| number + FIRST_STACK_NUMBER)
    }

    /// Returns the index of an allocation's stack key (stack and origin). Assigns an index if the stack key is new.
    pub(super) fn number_or_insert(&mut self, data: DeviceData<'_>, id: AllocationId) -> u32 {
        let (known, stack, origin) = match StackKeys::stack_key_of(data, id) {
            StackKey::Unexplained => return 0,
            StackKey::NoStack => return 1,
            StackKey::Stack(stack, origin @ StackOrigin::Alloc) => (&mut self.by_alloc_stack, stack, origin),
            StackKey::Stack(stack, origin @ StackOrigin::Free) => (&mut self.by_free_stack, stack, origin),
        };
        if known.is_empty() {
            *known = vec![0; data.snapshot.stacks.len()];
        }
        let Some(number) = known.get_mut(stack.0 as usize) else { return 1 };
        if *number == 0 {
            self.stacks.push((stack, origin));
            *number = self.stacks.len() as u32;
        }
        *number - 1 + FIRST_STACK_NUMBER
    }

    /// Continues assigning indices to the stack keys (stack and origin) of all allocations of a device.
    pub(super) fn number_all(&mut self, data: DeviceData<'_>, slice: &mut TimeSlice) -> SliceResult {
        let device = data.history.device;
        let index = self.numbered.iter().position(|&(known, _)| known == device);
        let index = index.unwrap_or_else(|| {
            self.numbered.push((device, 0));
            self.numbered.len() - 1
        });
        while let Some((_, next)) = self.numbered.get_mut(index)
            && let Some(part) = slice.next_range(next, data.history.allocations.len(), 1)?
        {
            part.for_each(|id| _ = self.number_or_insert(data, AllocationId(id as u32)));
        }
        Ok(())
    }

    /// Returns the stack key with this index.
    pub(super) fn get(&self, number: u32) -> StackKey {
        match number.checked_sub(FIRST_STACK_NUMBER) {
            Some(number) => self
                .stacks
                .get(number as usize)
                .map_or(StackKey::NoStack, |(stack, origin)| StackKey::Stack(stack, origin)),
            None if number == 0 => StackKey::Unexplained,
            None => StackKey::NoStack,
        }
    }

    /// Returns the number of stack keys, which is the upper bound (exclusive) of stack key indices.
    pub(super) fn len(&self) -> usize {
        self.stacks.len() + FIRST_STACK_NUMBER as usize
    }
}
