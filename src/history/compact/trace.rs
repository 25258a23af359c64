//! Decoder of a trace's events.

use super::format::{ACTION, LONG_TIME, NEW_ADDRESS, SAME_ADDRESS, SAME_SIZE, SAME_STACK, column};
use super::numbers::NumberReader;
use crate::snapshot::{Action, Event, LabelsId, NO_TIME, StackId};
use base::column::Column;

/// Decoder of one trace's events. Each event is stored relative to the previous events.
pub(super) struct Trace {
    /// All addresses in order of first occurrence.
    addresses: Column<u64>,
    /// Last size seen at each address.
    sizes: Column<u64>,
    /// Indices into `addresses` in order of mention, see [`super::format`].
    mentions: Column<u32>,
    /// Index into `addresses` of the previous event's address.
    address: u32,
    stack: u32,
    labels: u32,
    time_us: i64,
    /// Size of the last event that was not a free.
    size: u64,
    last_new: u64,
}

base::heap_bytes!(Trace: addresses, sizes, mentions);

impl Default for Trace {
    fn default() -> Trace {
        let (addresses, sizes, mentions) = Default::default();
        let (address, stack, labels, size, last_new) = Default::default();
        Trace { addresses, sizes, mentions, address, stack, labels, time_us: NO_TIME, size, last_new }
    }
}

/// Returns whether the action frees a block. The block's address has then usually occurred before.
pub(super) fn is_free(action: Action) -> bool {
    matches!(action, Action::FreeRequested | Action::FreeCompleted)
}

impl Trace {
    /// Decodes the next event. Invalid values mark their column as invalid.
    pub(super) fn event(&mut self, columns: &mut [NumberReader<'_>; column::COUNT]) -> Event {
        let [kinds, new_addresses, addresses, ages, sizes, times, long_times, stacks, labels] = columns;
        let kind = kinds.byte();
        let action = Action::ALL.get(usize::from(kind & ACTION)).copied();
        kinds.require(action.is_some());
        let action = action.unwrap_or(Action::Unknown);
        let is_free = is_free(action);

        let is_new = kind & NEW_ADDRESS != 0;
        if is_new {
            self.last_new = new_addresses.difference(self.last_new);
            self.address = self.addresses.len() as u32;
            self.addresses.push(self.last_new);
            self.sizes.push(0);
        } else if kind & SAME_ADDRESS == 0 && is_free {
            let mention = usize::try_from(ages.unsigned()).ok().and_then(|age| self.mentions.len().checked_sub(age));
            let address = mention.and_then(|mention| self.mentions.get(mention));
            ages.require(address.is_some());
            self.address = address.unwrap_or(0);
        } else if kind & SAME_ADDRESS == 0 {
            self.address = addresses.unsigned_32();
        }
        let address = self.addresses.get(self.address as usize);
        kinds.require(address.is_some());
        if is_new || !is_free {
            self.mentions.push(self.address);
        }

        let index = self.address as usize;
        let size = match (kind & SAME_SIZE != 0, is_free) {
            (false, _) => sizes.size(),
            (true, true) => self.sizes.get(index).unwrap_or(0),
            (true, false) => self.size,
        };
        if address.is_some() {
            self.sizes.set(index, size);
        }
        if !is_free {
            self.size = size;
        }

        if kind & SAME_STACK == 0 {
            self.stack = self.stack.wrapping_add(stacks.signed() as u32);
        }
        let changed = labels.unsigned();
        if changed > 0 {
            self.labels = (changed - 1) as u32;
        }
        let passed = match times.byte() {
            LONG_TIME => long_times.signed(),
            passed => i64::from(passed),
        };
        self.time_us = self.time_us.wrapping_add(passed);
        Event {
            address: address.unwrap_or(0),
            size,
            time_us: self.time_us,
            // `StackId::NONE` is stored as 0.
            stack: StackId(self.stack.wrapping_sub(1)),
            labels: LabelsId(self.labels),
            action,
        }
    }
}
