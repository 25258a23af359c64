//! Validation of loaded histories. All references must be in range, and no moment may be after the last one.

use crate::replay::device_history::{DeviceHistory, MOMENTS_PER_COUNT};
use crate::replay::trace::{EARLY_BIT, LifetimeColumns, NEVER};
use crate::snapshot::{Action, Rows, StackId};
use base::column::Column;

/// Label id of events without labels, such as the frees in SnapViewer files.
const NO_LABELS: u32 = u32::MAX;

pub(super) fn is_valid(history: &DeviceHistory, rows: Rows) -> bool {
    let events = history.event_count();
    events_are_valid(history, rows)
        && allocations_are_valid(history)
        && history.live_counts.len() == (events / MOMENTS_PER_COUNT) as usize + 1
        && history.note_events.iter().all(|event| event < events)
        && history.note_events.iter().is_sorted()
        && history
            .end_blocks
            .iter()
            .all(|(&id, &row)| (id as usize) < history.allocations.len() && (row as usize) < rows.blocks)
}

fn events_are_valid(history: &DeviceHistory, rows: Rows) -> bool {
    let (events, count) = (&history.events, history.event_count() as usize);
    let is_stack = |stack: u32| stack == StackId::NONE.0 || (stack as usize) < rows.stacks;
    let is_label = |labels: u32| labels == NO_LABELS || (labels as usize) < rows.labels;
    let annotated = history.annotated.by_subject.values().chain(history.annotated.by_address.values());
    let columns = [events.subject.len(), events.stack.len(), events.labels.len(), events.times.len() as usize];
    columns == [count; 4]
        && all(&events.stack, is_stack)
        && all(&events.labels, is_label)
        && annotated.into_iter().all(|labels| is_label(labels.0))
        && subjects_are_valid(history)
}

/// Returns whether the subjects of all events exist.
fn subjects_are_valid(history: &DeviceHistory) -> bool {
    let DeviceHistory { events, allocations, segment_operations, notes, .. } = history;
    let [before, traced] = &allocations.parts;
    let named = u64::from(allocations.unexplained_count) + u64::from(allocations.static_count);
    let Some(early) = (before.size.len() as u64).checked_sub(named) else { return false };
    // For each action: the number of its subjects in the trace, and from before it.
    let subject_counts = Action::ALL.map(|action| match action {
        Action::Alloc | Action::FreeRequested | Action::FreeCompleted => (traced.size.len() as u64, early),
        action if action.is_segment_action() => (segment_operations.len() as u64, 0),
        _ => (notes.len() as u64, 0),
    });
    let exists = |(&action, &subject): (&u8, &u32)| {
        subject_counts.get(usize::from(action)).is_some_and(|&(count, early)| {
            if subject & EARLY_BIT == 0 { u64::from(subject) < count } else { u64::from(subject & !EARLY_BIT) < early }
        })
    };
    let mut chunks = events.action.chunks().zip(events.subject.chunks());
    chunks.all(|(actions, subjects)| actions.iter().zip(subjects).all(exists))
}

fn allocations_are_valid(history: &DeviceHistory) -> bool {
    let (allocations, last) = (&history.allocations, history.event_count());
    let is_moment = |moment: u32| moment <= last || moment == NEVER;
    let is_sound = |lifetimes: &LifetimeColumns| {
        let count = lifetimes.size.len();
        [lifetimes.address.len(), lifetimes.free_requested.len(), lifetimes.freed_at.len()] == [count; 3]
            && all(&lifetimes.free_requested, is_moment)
            && all(&lifetimes.freed_at, is_moment)
            && all(&lifetimes.size, |size| size <= i64::MAX as u64)
    };
    allocations.parts.iter().all(is_sound)
        && u32::try_from(allocations.len()).is_ok()
        && allocations.allocated_at.len() == allocations.parts[1].size.len()
        && all(&allocations.allocated_at, |allocated_at| (1..=last).contains(&allocated_at))
        && allocations.allocated_at.iter().is_sorted_by(|first, second| first < second)
}

/// Returns whether all values satisfy `predicate`. Does not stop at the first failure, so that the loop can be
/// vectorized.
fn all<T: Copy>(column: &Column<T>, predicate: impl Fn(T) -> bool) -> bool {
    column.chunks().all(|chunk| chunk.iter().fold(true, |all, &value| all & predicate(value)))
}
