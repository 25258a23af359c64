//! Whether a history that was read is whole: nothing in it refers to what is not there, or lies beyond its last moment.

use crate::replay::device_history::{DeviceHistory, MOMENTS_PER_COUNT};
use crate::replay::trace::{Lives, NEVER, Subject};
use crate::snapshot::{Action, Rows, StackId};

/// Labels that are no row of the table: SnapViewer's frees have none.
const NO_LABELS: u32 = u32::MAX;

pub(super) fn is_whole(history: &DeviceHistory, rows: Rows) -> bool {
    let events = history.event_count();
    has_events(history, rows)
        && has_allocations(history)
        && history.live_counts.len() == (events / MOMENTS_PER_COUNT) as usize + 1
        && history.note_events.iter().all(|event| event < events)
        && history.note_events.iter().is_sorted()
        && history
            .end_blocks
            .iter()
            .all(|(&id, &row)| (id as usize) < history.allocations.len() && (row as usize) < rows.blocks)
}

fn has_events(history: &DeviceHistory, rows: Rows) -> bool {
    let (events, count) = (&history.events, history.event_count() as usize);
    let is_stack = |stack: u32| stack == StackId::NONE.0 || (stack as usize) < rows.stacks;
    let is_label = |labels: u32| labels == NO_LABELS || (labels as usize) < rows.labels;
    let annotated = history.annotated.by_subject.values().chain(history.annotated.by_address.values());
    let [before, traced] = &history.allocations.parts;
    let named = u64::from(history.allocations.unexplained) + u64::from(history.allocations.statics);
    let Some(early) = (before.size.len() as u64).checked_sub(named) else { return false };
    let is_subject = |subject: Subject| match subject {
        Subject::Traced(index) => (index as usize) < traced.size.len(),
        Subject::Early(index) => u64::from(index) < early,
        Subject::Segment(index) => (index as usize) < history.segment_operations.len(),
        Subject::Note(index) => (index as usize) < history.notes.len(),
    };
    let columns = [events.subject.len(), events.stack.len(), events.labels.len(), events.times.len() as usize];
    columns == [count; 4]
        && events.action.iter().all(|action| usize::from(action) < Action::ALL.len())
        && events.stack.iter().all(is_stack)
        && events.labels.iter().all(is_label)
        && annotated.into_iter().all(|labels| is_label(labels.0))
        && (0..history.event_count()).all(|event| is_subject(events.subject(event)))
}

fn has_allocations(history: &DeviceHistory) -> bool {
    let (allocations, last) = (&history.allocations, history.event_count());
    let is_moment = |moment: u32| moment <= last || moment == NEVER;
    let is_sound = |lives: &Lives| {
        let count = lives.size.len();
        [lives.address.len(), lives.free_requested.len(), lives.died.len()] == [count; 3]
            && lives.free_requested.iter().all(is_moment)
            && lives.died.iter().all(is_moment)
            && lives.size.iter().all(|size| size <= i64::MAX as u64)
    };
    allocations.parts.iter().all(is_sound)
        && u32::try_from(allocations.len()).is_ok()
        && allocations.born.len() == allocations.parts[1].size.len()
        && allocations.born.iter().all(|born| (1..=last).contains(&born))
        && allocations.born.iter().is_sorted_by(|one, other| one < other)
}
