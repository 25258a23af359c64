//! One trace as it is decoded: each event becomes a row, each address that is alloc'd or freed becomes an allocation.
//!
//! ```text
//! event   action          subject
//! 0       alloc           traced allocation 0        born at moment 1
//! 1       free_requested  early allocation 0         never alloc'd here: allocated before recording
//! 2       free_completed  early allocation 0         dies at moment 3
//! 3       segment_alloc   segment operation 0
//! ```

use super::kept::Outside;
use super::times::Times;
use crate::snapshot::{Action, Event, LabelsId, NO_TIME, StackId};
use base::column::Column;
use hashbrown::HashMap;

/// Set in the subject of an event when it is about an allocation from before recording.
pub(super) const EARLY: u32 = 1 << 31;
/// The subject of what is allocated behind the range that is kept.
pub(super) const ALLOCATED_BEHIND: u32 = EARLY - 1;
/// In a column of moments: never.
pub(super) const NEVER: u32 = u32::MAX;

/// What an event is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Subject {
    /// An allocation whose alloc is in the trace, counted from 0.
    Traced(u32),
    /// An allocation that was live before the trace and is freed in it, counted from 0.
    Early(u32),
    Segment(u32),
    /// Anything else: `oom`, `snapshot`, `annotate`.
    Note(u32),
}

/// The columns of allocations born in the trace, or of those born before it.
#[derive(Clone, Debug, Default)]
pub(super) struct Lives {
    pub(super) address: Column<u64>,
    pub(super) size: Column<u64>,
    /// Moment of the (first) `free_requested`.
    pub(super) free_requested: Column<u32>,
    /// Moment of the `free_completed`.
    pub(super) died: Column<u32>,
}

impl Lives {
    #[inline(always)]
    pub(super) fn push(&mut self, event: &Event) -> u32 {
        self.push_row(event.address, event.size, NEVER, NEVER);
        self.size.len() as u32 - 1
    }

    #[inline(always)]
    pub(super) fn push_row(&mut self, address: u64, size: u64, free_requested: u32, died: u32) {
        self.address.push(address);
        self.size.push(size);
        self.free_requested.push(free_requested);
        self.died.push(died);
    }

    pub(super) fn heap_bytes(&self) -> usize {
        self.address.heap_bytes() + self.size.heap_bytes() + self.free_requested.heap_bytes() + self.died.heap_bytes()
    }
}

/// The events of a trace, in columns.
#[derive(Clone, Debug, Default)]
pub struct Events {
    /// Events before the first row: those that were dropped.
    pub(super) skipped: u32,
    pub(super) action: Column<u8>,
    pub(super) subject: Column<u32>,
    pub(super) stack: Column<u32>,
    pub(super) labels: Column<u32>,
    /// When they happened.
    pub times: Times,
}

impl Events {
    /// How many there are.
    pub fn len(&self) -> u32 {
        self.skipped + self.action.len() as u32
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The first that is there. Of those before it nothing is known: they do nothing, to nothing.
    pub fn first(&self) -> u32 {
        self.skipped
    }

    /// Where an event stands in the columns; far beyond their end where it was dropped.
    #[inline(always)]
    fn row(&self, event: u32) -> usize {
        event.wrapping_sub(self.skipped) as usize
    }

    /// Drops those before `first`; the subjects of the others are `moved`.
    pub(super) fn drop_before(&mut self, first: u32, moved: impl Fn(Action, u32) -> u32) {
        let rows = self.row(first)..usize::MAX;
        let times = self.times.after(first);
        let subjects = (first..self.len()).map(|event| {
            let subject = self.subject.get(self.row(event)).unwrap_or(NEVER);
            moved(self.action(event), subject)
        });
        *self = Events {
            skipped: first,
            subject: subjects.collect(),
            action: self.action.range(rows.clone()).collect(),
            stack: self.stack.range(rows.clone()).collect(),
            labels: self.labels.range(rows).collect(),
            times,
        };
    }

    /// What happened.
    #[inline(always)]
    pub fn action(&self, event: u32) -> Action {
        let number = self.action.get(self.row(event)).unwrap_or(Action::Unknown as u8);
        Action::ALL.get(usize::from(number)).copied().unwrap_or(Action::Unknown)
    }

    /// What it is about.
    #[inline(always)]
    pub fn subject(&self, event: u32) -> Subject {
        self.subject_of(event, self.action(event))
    }

    /// What an event of this action is about.
    #[inline(always)]
    pub(super) fn subject_of(&self, event: u32, action: Action) -> Subject {
        let subject = self.subject.get(self.row(event)).unwrap_or(NEVER);
        match action {
            Action::Alloc | Action::FreeRequested | Action::FreeCompleted if subject & EARLY != 0 => {
                Subject::Early(subject & !EARLY)
            }
            Action::Alloc | Action::FreeRequested | Action::FreeCompleted => Subject::Traced(subject),
            Action::SegmentAlloc | Action::SegmentFree | Action::SegmentMap | Action::SegmentUnmap => {
                Subject::Segment(subject)
            }
            _ => Subject::Note(subject),
        }
    }

    /// Its stack, or [`StackId::NONE`].
    pub fn stack(&self, event: u32) -> StackId {
        self.stack.get(self.row(event)).map_or(StackId::NONE, StackId)
    }

    /// Stream, pool, metadata.
    pub fn labels(&self, event: u32) -> LabelsId {
        self.labels.get(self.row(event)).map_or(LabelsId(u32::MAX), LabelsId)
    }

    /// Bytes on the heap.
    pub fn heap_bytes(&self) -> usize {
        self.action.heap_bytes()
            + self.subject.heap_bytes()
            + self.stack.heap_bytes()
            + self.labels.heap_bytes()
            + self.times.heap_bytes()
    }
}

/// The newest `annotate` event on each allocation that has one: its labels.
#[derive(Clone, Debug, Default)]
pub(super) struct Annotated {
    pub(super) by_subject: HashMap<Subject, LabelsId, foldhash::fast::RandomState>,
    /// Of what was allocated before recording, until an event names it; of what none names, to the end.
    pub(super) by_address: HashMap<u64, LabelsId, foldhash::fast::RandomState>,
}

impl Annotated {
    /// An event names what is at an address for the first time: it was allocated before recording.
    pub(super) fn found(&mut self, address: u64, early: u32) {
        if let Some(labels) = self.by_address.remove(&address) {
            self.by_subject.insert(Subject::Early(early & !EARLY), labels);
        }
    }
}

/// Something odd, how often, the bytes it concerns, and the event of the first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Oddity {
    pub(super) count: u64,
    pub(super) bytes: u64,
    pub(super) first: u32,
}

impl Oddity {
    pub(super) fn add(&mut self, event: u32, bytes: u64) {
        if self.count == 0 {
            self.first = event;
        }
        self.count += 1;
        self.bytes = self.bytes.saturating_add(bytes);
    }
}

/// A trace while it is recorded, and after.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    pub(super) events: Events,
    pub(super) traced: Lives,
    /// Moment of birth of each traced allocation.
    pub(super) born: Column<u32>,
    pub(super) early: Lives,
    /// Address and bytes of each segment operation.
    pub(super) segment_operations: Column<(u64, u64)>,
    /// Address (for `oom` the free bytes) and size of each other event.
    pub(super) notes: Column<(u64, u64)>,
    pub(super) note_events: Column<u32>,
    pub(super) annotated: Annotated,
    /// Allocations live now, by address; as a subject.
    pub(super) live: HashMap<u64, u32, foldhash::fast::RandomState>,
    /// Frees whose size is not their allocation's, in the order of events.
    pub(super) free_sizes: Vec<(u32, u64)>,
    pub(super) counts: [u64; Action::ALL.len()],
    /// An alloc where a block is live, and where its free was requested but not completed.
    pub(super) allocated_twice: Oddity,
    pub(super) allocated_while_pending: Oddity,
    pub(super) freed_twice: Oddity,
    pub(super) time_steps_back: Oddity,
    /// What the frees add up to when a block ends with its `free_completed`, and when with its `free_requested`.
    pub(super) completed: Frees,
    pub(super) requested: Frees,
    /// Bytes of all allocs.
    pub(super) allocated: i64,
    pub(super) reserved: i64,
    latest_us: Option<i64>,
    /// What is known of the events that are not kept.
    pub(super) outside: Outside,
}

/// Sums over the frees of a trace, in requested bytes as the frees themselves say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Frees {
    pub(super) bytes: i64,
    pub(super) unmatched: u64,
    pub(super) unmatched_bytes: u64,
}

impl Frees {
    pub(super) fn count(&mut self, size: u64, is_unmatched: bool) {
        self.bytes = self.bytes.saturating_add(signed(size));
        if is_unmatched {
            self.unmatched += 1;
            self.unmatched_bytes = self.unmatched_bytes.saturating_add(size);
        }
    }
}

/// Bytes as a signed number. The reader refuses larger ones; a sum stays at the limit.
pub(super) fn signed(bytes: u64) -> i64 {
    i64::try_from(bytes).unwrap_or(i64::MAX)
}

impl Trace {
    pub(super) fn event(&mut self, event: &Event) {
        let at = self.events.len();
        if at >= self.outside.look_at && self.is_behind(event) {
            return;
        }
        let subject = match event.action {
            Action::Alloc => self.alloc(event, at),
            Action::FreeRequested => self.free_requested(event, at),
            Action::FreeCompleted => self.free_completed(event, at),
            Action::SegmentAlloc | Action::SegmentFree | Action::SegmentMap | Action::SegmentUnmap => {
                self.segment_operations.push((event.address, event.size));
                let grows = matches!(event.action, Action::SegmentAlloc | Action::SegmentMap);
                let change = if grows { signed(event.size) } else { -signed(event.size) };
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
                self.note_events.push(at);
                self.notes.len() as u32 - 1
            }
        };
        if event.time_us != NO_TIME {
            if self.latest_us.is_some_and(|latest| event.time_us < latest) {
                self.time_steps_back.add(at, 0);
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

    fn alloc(&mut self, event: &Event, at: u32) -> u32 {
        let subject = self.traced.push(event);
        self.born.push(at + 1);
        self.allocated = self.allocated.saturating_add(signed(event.size));
        if let Some(before) = self.live.insert(event.address, subject) {
            let (lives, before) = self.lives(before);
            let pending = lives.free_requested.at(before as usize) != NEVER;
            let bytes = lives.size.at(before as usize);
            let oddity = if pending { &mut self.allocated_while_pending } else { &mut self.allocated_twice };
            oddity.add(at, bytes);
        }
        subject
    }

    fn free_requested(&mut self, event: &Event, at: u32) -> u32 {
        let known = self.live.get(&event.address).copied();
        let subject = known.unwrap_or_else(|| {
            let subject = self.early.push(event) | EARLY;
            self.early_found();
            self.live.insert(event.address, subject);
            self.annotated.found(event.address, subject);
            subject
        });
        self.requested.count(event.size, self.is_unmatched(subject));
        self.check_size(subject, event, at);
        let (lives, index) = self.lives(subject);
        if lives.free_requested.at(index as usize) == NEVER {
            lives.free_requested.set(index as usize, at + 1);
        } else {
            self.freed_twice.add(at, event.size);
        }
        subject
    }

    fn free_completed(&mut self, event: &Event, at: u32) -> u32 {
        let subject = match self.live.remove(&event.address) {
            Some(subject) => subject,
            None => {
                let subject = self.early.push(event) | EARLY;
                self.early_found();
                self.annotated.found(event.address, subject);
                subject
            }
        };
        self.completed.count(event.size, self.is_unmatched(subject));
        self.check_size(subject, event, at);
        let is_carried = subject & EARLY != 0 && self.is_carried(subject & !EARLY);
        let (lives, index) = self.lives(subject);
        lives.died.set(index as usize, at + 1);
        // Of what an event allocated that was dropped, it would say that its free was requested before the range.
        if lives.free_requested.at(index as usize) == NEVER && !is_carried {
            lives.free_requested.set(index as usize, at + 1);
        }
        subject
    }

    /// Whether a free of this subject is of something that no event of the file allocated.
    fn is_unmatched(&self, subject: u32) -> bool {
        subject & EARLY != 0 && !self.is_carried(subject & !EARLY)
    }

    #[inline(always)]
    fn check_size(&mut self, subject: u32, event: &Event, at: u32) {
        let (lives, index) = self.lives(subject);
        if lives.size.at(index as usize) != event.size {
            self.free_sizes.push((at, event.size));
        }
    }

    #[inline(always)]
    fn lives(&mut self, subject: u32) -> (&mut Lives, u32) {
        if subject & EARLY == 0 { (&mut self.traced, subject) } else { (&mut self.early, subject & !EARLY) }
    }

    /// The allocation that is live at this address after the last event.
    pub(super) fn live_at(&self, address: u64) -> Option<Subject> {
        self.live.get(&address).map(|&subject| {
            if subject == ALLOCATED_BEHIND {
                Subject::Note(subject)
            } else if subject & EARLY == 0 {
                Subject::Traced(subject)
            } else {
                Subject::Early(subject & !EARLY)
            }
        })
    }

    /// The live set is needed no more.
    pub(super) fn close(&mut self) {
        self.live = HashMap::default();
    }

    /// How many events of this action there are.
    pub(super) fn count(&self, action: Action) -> u64 {
        self.counts[action as usize]
    }

    /// Bytes on the heap, by table.
    pub(super) fn heap_bytes(&self) -> Vec<(&'static str, usize)> {
        vec![
            (
                "events",
                self.events.heap_bytes()
                    + self.segment_operations.heap_bytes()
                    + self.notes.heap_bytes()
                    + self.note_events.heap_bytes(),
            ),
            ("allocations", self.traced.heap_bytes() + self.born.heap_bytes() + self.early.heap_bytes()),
            ("live set", self.live.allocation_size() + self.free_sizes.capacity() * size_of::<(u32, u64)>()),
        ]
    }
}

#[cfg(test)]
#[path = "../../../tests/units/history/replay/trace.rs"]
mod tests;
