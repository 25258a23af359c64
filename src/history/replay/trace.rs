//! Recording of a trace. Each event becomes a row, and each allocated or freed address becomes an allocation.
//!
//! ```text
//! event   action          subject
//! 0       alloc           traced allocation 0        allocated at moment 1
//! 1       free_requested  early allocation 0         no alloc in the trace: allocated before recording
//! 2       free_completed  early allocation 0         freed at moment 3
//! 3       segment_alloc   segment operation 0
//! ```

pub use super::events::{Events, Subject};

pub(super) use super::events::{ALLOCATED_LATER, Annotated, EARLY_BIT, NEVER};

use super::loaded_range::OutsideRange;
use crate::snapshot::{Action, Event, NO_TIME};
use base::column::Column;
use base::heap::HeapBytes;
use hashbrown::HashMap;

/// Columns with a row per allocation, for allocations made in the trace or for allocations from before the trace.
#[derive(Clone, Debug, Default)]
pub(super) struct LifetimeColumns {
    pub(super) address: Column<u64>,
    pub(super) size: Column<u64>,
    /// First moment after the first `free_requested`, or [`NEVER`].
    pub(super) free_requested: Column<u32>,
    /// First moment after the `free_completed`, or [`NEVER`].
    pub(super) freed_at: Column<u32>,
}

base::heap_bytes!(LifetimeColumns: address, size, free_requested, freed_at);

impl LifetimeColumns {
    #[inline(always)]
    pub(super) fn push(&mut self, event: &Event) -> u32 {
        self.push_row(event.address, event.size, NEVER, NEVER);
        self.size.len() as u32 - 1
    }

    #[inline(always)]
    pub(super) fn push_row(&mut self, address: u64, size: u64, free_requested: u32, freed_at: u32) {
        self.address.push(address);
        self.size.push(size);
        self.free_requested.push(free_requested);
        self.freed_at.push(freed_at);
    }
}

/// Irregularity in a trace: number of cases, their bytes, and event of the first case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Anomaly {
    pub(super) count: u64,
    pub(super) bytes: u64,
    pub(super) first: u32,
}

impl Anomaly {
    pub(super) fn add(&mut self, event: u32, bytes: u64) {
        if self.count == 0 {
            self.first = event;
        }
        self.count += 1;
        self.bytes = self.bytes.saturating_add(bytes);
    }
}

/// Recorded trace of one device: events, allocations and sums. Grows while the file is being decoded.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    pub(super) events: Events,
    pub(super) traced: LifetimeColumns,
    /// First moment at which each allocation of the trace is live.
    pub(super) allocated_at: Column<u32>,
    pub(super) early: LifetimeColumns,
    /// Address and size in bytes of each segment operation.
    pub(super) segment_operations: Column<(u64, u64)>,
    /// Address and size in bytes of each other event. For `oom`, the address is the number of free bytes.
    pub(super) notes: Column<(u64, u64)>,
    pub(super) note_events: Column<u32>,
    pub(super) annotated: Annotated,
    /// Subject of the allocation that is live at each address.
    pub(super) live: HashMap<u64, u32, foldhash::fast::RandomState>,
    /// Event and size of each free whose size differs from the allocation's, sorted by event.
    pub(super) free_sizes: Vec<(u32, u64)>,
    pub(super) counts: [u64; Action::ALL.len()],
    /// Allocs at an address where a block is still live and its free was not requested.
    pub(super) allocated_twice: Anomaly,
    /// Allocs at an address where a block is still live but its free was requested.
    pub(super) allocated_while_pending: Anomaly,
    pub(super) freed_twice: Anomaly,
    pub(super) time_steps_back: Anomaly,
    /// Sums over the `free_completed` events.
    pub(super) completed: FreeSums,
    /// Sums over the `free_requested` events.
    pub(super) requested: FreeSums,
    /// Requested bytes of all allocs.
    pub(super) allocated: i64,
    pub(super) reserved: i64,
    latest_us: Option<i64>,
    /// Summary of the events that are outside the loaded range.
    pub(super) outside: OutsideRange,
}

/// Sums over the frees of a trace. They add up the sizes in the free events, which may differ from the allocations'
/// sizes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct FreeSums {
    pub(super) bytes: i64,
    pub(super) unmatched: u64,
    pub(super) unmatched_bytes: u64,
}

impl FreeSums {
    pub(super) fn add_free(&mut self, size: u64, is_unmatched: bool) {
        self.bytes = self.bytes.saturating_add(to_signed(size));
        if is_unmatched {
            self.unmatched += 1;
            self.unmatched_bytes = self.unmatched_bytes.saturating_add(size);
        }
    }
}

/// Converts a number of bytes to `i64`. The reader rejects larger sizes, but saturated sums may exceed `i64`.
pub(super) fn to_signed(bytes: u64) -> i64 {
    i64::try_from(bytes).unwrap_or(i64::MAX)
}

impl Trace {
    pub(super) fn event(&mut self, event: &Event) {
        let index = self.events.len();
        if index >= self.outside.next_check && self.is_after_range(event) {
            return;
        }
        let subject = match event.action {
            Action::Alloc => self.alloc(event, index),
            Action::FreeRequested => self.free_requested(event, index),
            Action::FreeCompleted => self.free_completed(event, index),
            Action::SegmentAlloc | Action::SegmentFree | Action::SegmentMap | Action::SegmentUnmap => {
                self.segment_operations.push((event.address, event.size));
                let grows = matches!(event.action, Action::SegmentAlloc | Action::SegmentMap);
                let change = if grows { to_signed(event.size) } else { -to_signed(event.size) };
                self.reserved = self.reserved.saturating_add(change);
                self.segment_operations.len() as u32 - 1
            }
            _ => {
                if event.action == Action::Annotate {
                    match self.live_at(event.address) {
                        Some(subject) => self.annotated.by_subject.insert(subject, event.labels),
                        None => self.annotated.by_address.insert(event.address, event.labels),
                    };
                }
                self.notes.push((event.address, event.size));
                self.note_events.push(index);
                self.notes.len() as u32 - 1
            }
        };
        if event.time_us != NO_TIME {
            if self.latest_us.is_some_and(|latest| event.time_us < latest) {
                self.time_steps_back.add(index, 0);
            }
            self.latest_us = self.latest_us.max(Some(event.time_us));
        }
        self.counts[event.action as usize] += 1;
        self.events.action.push(event.action as u8);
        self.events.subject.push(subject);
        self.events.stack.push(event.stack.0);
        self.events.labels.push(event.labels.0);
        self.events.times.push(event.time_us);
    }

    fn alloc(&mut self, event: &Event, event_index: u32) -> u32 {
        let subject = self.traced.push(event);
        self.allocated_at.push(event_index + 1);
        self.allocated = self.allocated.saturating_add(to_signed(event.size));
        if let Some(before) = self.live.insert(event.address, subject) {
            let (lives, before) = self.lives(before);
            let pending = lives.free_requested.at(before as usize) != NEVER;
            let bytes = lives.size.at(before as usize);
            let anomaly = if pending { &mut self.allocated_while_pending } else { &mut self.allocated_twice };
            anomaly.add(event_index, bytes);
        }
        subject
    }

    fn free_requested(&mut self, event: &Event, event_index: u32) -> u32 {
        let known = self.live.get(&event.address).copied();
        let subject = known.unwrap_or_else(|| {
            let subject = self.early.push(event) | EARLY_BIT;
            self.add_early_facts();
            self.live.insert(event.address, subject);
            self.annotated.assign_early(event.address, subject);
            subject
        });
        self.requested.add_free(event.size, self.is_unmatched(subject));
        self.check_size(subject, event, event_index);
        let (lives, index) = self.lives(subject);
        if lives.free_requested.at(index as usize) == NEVER {
            lives.free_requested.set(index as usize, event_index + 1);
        } else {
            self.freed_twice.add(event_index, event.size);
        }
        subject
    }

    fn free_completed(&mut self, event: &Event, event_index: u32) -> u32 {
        let subject = match self.live.remove(&event.address) {
            Some(subject) => subject,
            None => {
                let subject = self.early.push(event) | EARLY_BIT;
                self.add_early_facts();
                self.annotated.assign_early(event.address, subject);
                subject
            }
        };
        self.completed.add_free(event.size, self.is_unmatched(subject));
        self.check_size(subject, event, event_index);
        let is_carried = subject & EARLY_BIT != 0 && self.is_carried(subject & !EARLY_BIT);
        let (lives, index) = self.lives(subject);
        lives.freed_at.set(index as usize, event_index + 1);
        // For an allocation whose alloc was dropped, this would mean a request before the range.
        if lives.free_requested.at(index as usize) == NEVER && !is_carried {
            lives.free_requested.set(index as usize, event_index + 1);
        }
        subject
    }

    /// Returns whether this subject is an allocation whose alloc is not in the file.
    fn is_unmatched(&self, subject: u32) -> bool {
        subject & EARLY_BIT != 0 && !self.is_carried(subject & !EARLY_BIT)
    }

    #[inline(always)]
    fn check_size(&mut self, subject: u32, event: &Event, event_index: u32) {
        let (lives, index) = self.lives(subject);
        if lives.size.at(index as usize) != event.size {
            self.free_sizes.push((event_index, event.size));
        }
    }

    #[inline(always)]
    fn lives(&mut self, subject: u32) -> (&mut LifetimeColumns, u32) {
        if subject & EARLY_BIT == 0 { (&mut self.traced, subject) } else { (&mut self.early, subject & !EARLY_BIT) }
    }

    /// Returns the subject of the allocation that is live at this address after the last event.
    pub(super) fn live_at(&self, address: u64) -> Option<Subject> {
        self.live.get(&address).map(|&subject| {
            if subject == ALLOCATED_LATER {
                Subject::Note(subject)
            } else if subject & EARLY_BIT == 0 {
                Subject::Traced(subject)
            } else {
                Subject::Early(subject & !EARLY_BIT)
            }
        })
    }

    /// Drops the live set, which is no longer needed, to free its memory.
    pub(super) fn drop_live(&mut self) {
        (self.live, self.outside.states) = Default::default();
    }

    /// Returns the number of events with this action.
    pub(super) fn count(&self, action: Action) -> u64 {
        self.counts[action as usize]
    }

    /// Returns the heap size of each table, in bytes.
    pub(super) fn heap_bytes(&self) -> Vec<(&'static str, usize)> {
        vec![
            (
                "events",
                self.events.heap_bytes()
                    + self.segment_operations.heap_bytes()
                    + self.notes.heap_bytes()
                    + self.note_events.heap_bytes(),
            ),
            ("allocations", self.traced.heap_bytes() + self.allocated_at.heap_bytes() + self.early.heap_bytes()),
            ("live set", self.live.heap_bytes() + self.free_sizes.heap_bytes()),
        ]
    }
}

#[cfg(test)]
#[path = "../../../tests/units/history/replay/trace.rs"]
mod tests;
