//! Events of a trace in columns, what each event refers to, and the labels of annotated allocations.

use super::times::Times;
use crate::snapshot::{Action, LabelsId, StackId};
use base::column::Column;
use hashbrown::HashMap;

/// Flag in an event's subject: the allocation is from before recording.
pub(super) const EARLY_BIT: u32 = 1 << 31;
/// Subject of events whose allocation is made after the loaded range.
pub(super) const ALLOCATED_LATER: u32 = EARLY_BIT - 1;
/// Value in a column of moments that means "never".
pub(super) const NEVER: u32 = u32::MAX;

/// Allocation or segment operation that an event refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Subject {
    /// Index of an allocation with an alloc in the trace.
    Traced(u32),
    /// Index of an allocation that was live before the trace and is freed in it.
    Early(u32),
    /// Index of a segment operation.
    Segment(u32),
    /// Index of any other event: `oom`, `snapshot`, `annotate`.
    Note(u32),
}

/// Events of a trace, in columns.
#[derive(Clone, Debug, Default)]
pub struct Events {
    /// Number of dropped events before the first row.
    pub(super) skipped: u32,
    pub(super) action: Column<u8>,
    pub(super) subject: Column<u32>,
    pub(super) stack: Column<u32>,
    pub(super) labels: Column<u32>,
    /// Times of the events.
    pub times: Times,
}

base::heap_bytes!(Events: action, subject, stack, labels, times);

impl Events {
    /// Frees the unused capacity of the columns, once the trace is complete.
    pub(super) fn shrink(&mut self) {
        self.action.shrink();
        [&mut self.subject, &mut self.stack, &mut self.labels].into_iter().for_each(Column::shrink);
        self.times.offset.shrink();
    }

    /// Returns the number of events, including dropped ones.
    pub fn len(&self) -> u32 {
        self.skipped + self.action.len() as u32
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the index of the first loaded event. Earlier events have no effect and no subject.
    pub fn first(&self) -> u32 {
        self.skipped
    }

    /// Returns the row of an event in the columns. For a dropped event, the row does not exist.
    #[inline(always)]
    fn row(&self, event: u32) -> usize {
        event.wrapping_sub(self.skipped) as usize
    }

    /// Drops the events before `first`. `moved` maps the action and subject of each remaining event to its new subject.
    pub(super) fn drop_before(&mut self, first: u32, moved: impl Fn(Action, u32) -> u32) {
        let rows = self.row(first)..usize::MAX;
        let times = self.times.since_event(first);
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

    #[inline(always)]
    pub fn action(&self, event: u32) -> Action {
        let number = self.action.get(self.row(event)).unwrap_or(Action::Unknown as u8);
        Action::ALL.get(usize::from(number)).copied().unwrap_or(Action::Unknown)
    }

    #[inline(always)]
    pub fn subject(&self, event: u32) -> Subject {
        self.subject_of(event, self.action(event))
    }

    /// Returns the subject of an event that is known to have this action.
    #[inline(always)]
    pub(super) fn subject_of(&self, event: u32, action: Action) -> Subject {
        let subject = self.subject.get(self.row(event)).unwrap_or(NEVER);
        match action {
            Action::Alloc | Action::FreeRequested | Action::FreeCompleted if subject & EARLY_BIT != 0 => {
                Subject::Early(subject & !EARLY_BIT)
            }
            Action::Alloc | Action::FreeRequested | Action::FreeCompleted => Subject::Traced(subject),
            Action::SegmentAlloc | Action::SegmentFree | Action::SegmentMap | Action::SegmentUnmap => {
                Subject::Segment(subject)
            }
            _ => Subject::Note(subject),
        }
    }

    /// Returns the stack of an event, or [`StackId::NONE`].
    pub fn stack(&self, event: u32) -> StackId {
        self.stack.get(self.row(event)).map_or(StackId::NONE, StackId)
    }

    /// Returns the labels of an event: stream, pool, metadata.
    pub fn labels(&self, event: u32) -> LabelsId {
        self.labels.get(self.row(event)).map_or(LabelsId(u32::MAX), LabelsId)
    }
}

/// Labels of the most recent `annotate` event of each annotated allocation.
#[derive(Clone, Debug, Default)]
pub(super) struct Annotated {
    pub(super) by_subject: HashMap<Subject, LabelsId, foldhash::fast::RandomState>,
    /// Labels of allocations from before recording, until an event refers to them.
    pub(super) by_address: HashMap<u64, LabelsId, foldhash::fast::RandomState>,
}

impl Annotated {
    /// Moves the labels at an address to an allocation from before recording. Called when the first event refers to
    /// this allocation.
    pub(super) fn assign_early(&mut self, address: u64, subject: u32) {
        if let Some(labels) = self.by_address.remove(&address) {
            self.by_subject.insert(Subject::Early(subject & !EARLY_BIT), labels);
        }
    }
}
