//! What is remembered of a trace from one event to the next, on the reader's side.

use super::form::{ACTION, LONG, NEW_ADDRESS, SAME_ADDRESS, SAME_SIZE, SAME_STACK, column};
use super::numbers::Numbers;
use crate::snapshot::{Action, Event, LabelsId, NO_TIME, StackId};
use base::column::Column;

/// A trace on its way in.
pub(super) struct Trace {
    /// Every address that was named, in the order in which they were new; and the size last seen there.
    addresses: Column<u64>,
    sizes: Column<u64>,
    mentions: Column<u32>,
    /// Of the event before; the address as a row of `addresses`.
    address: u32,
    stack: u32,
    labels: u32,
    time_us: i64,
    /// The size of the last event that was no free.
    size: u64,
    last_new: u64,
}

impl Default for Trace {
    fn default() -> Trace {
        let (addresses, sizes, mentions) = Default::default();
        let (address, stack, labels, size, last_new) = Default::default();
        Trace { addresses, sizes, mentions, address, stack, labels, time_us: NO_TIME, size, last_new }
    }
}

/// Whether it ends the life of a block: then it was mentioned before.
pub(super) fn is_free(action: Action) -> bool {
    matches!(action, Action::FreeRequested | Action::FreeCompleted)
}

impl Trace {
    /// The next event. What makes no sense is told by the columns.
    pub(super) fn event(&mut self, columns: &mut [Numbers<'_>; column::COUNT]) -> Event {
        let [kinds, new_addresses, addresses, ages, sizes, times, long_times, stacks, labels] = columns;
        let kind = kinds.byte();
        let action = Action::ALL.get(usize::from(kind & ACTION)).copied();
        kinds.expect(action.is_some());
        let action = action.unwrap_or(Action::Unknown);
        let is_free = is_free(action);

        let is_new = kind & NEW_ADDRESS != 0;
        if is_new {
            self.last_new = new_addresses.difference(self.last_new);
            self.address = self.addresses.len() as u32;
            self.addresses.push(self.last_new);
            self.sizes.push(0);
        } else if kind & SAME_ADDRESS == 0 && is_free {
            let mention = usize::try_from(ages.number()).ok().and_then(|age| self.mentions.len().checked_sub(age));
            let address = mention.and_then(|mention| self.mentions.get(mention));
            ages.expect(address.is_some());
            self.address = address.unwrap_or(0);
        } else if kind & SAME_ADDRESS == 0 {
            self.address = addresses.word();
        }
        let address = self.addresses.get(self.address as usize);
        kinds.expect(address.is_some());
        if is_new || !is_free {
            self.mentions.push(self.address);
        }

        let at = self.address as usize;
        let size = match (kind & SAME_SIZE != 0, is_free) {
            (false, _) => sizes.size(),
            (true, true) => self.sizes.get(at).unwrap_or(0),
            (true, false) => self.size,
        };
        if address.is_some() {
            self.sizes.set(at, size);
        }
        if !is_free {
            self.size = size;
        }

        if kind & SAME_STACK == 0 {
            self.stack = self.stack.wrapping_add(stacks.signed() as u32);
        }
        let changed = labels.number();
        if changed > 0 {
            self.labels = (changed - 1) as u32;
        }
        let passed = match times.byte() {
            LONG => long_times.signed(),
            passed => i64::from(passed),
        };
        self.time_us = self.time_us.wrapping_add(passed);
        Event {
            address: address.unwrap_or(0),
            size,
            time_us: self.time_us,
            // None is below all.
            stack: StackId(self.stack.wrapping_sub(1)),
            labels: LabelsId(self.labels),
            action,
        }
    }

    /// Bytes on the heap.
    pub(super) fn heap_bytes(&self) -> usize {
        self.addresses.heap_bytes() + self.sizes.heap_bytes() + self.mentions.heap_bytes()
    }
}
