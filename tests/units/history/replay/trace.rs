//! Unit tests of `src/history/replay/trace.rs`.

use super::*;
use crate::snapshot::{LabelsId, StackId};
use proptest::prelude::*;

proptest! {
    /// For any order of events, each has one row, and every subject refers to an existing row.
    #[test]
    fn all_columns_have_equal_length(events in prop::collection::vec((0..Action::ALL.len(), 0..5u64, 0..3u64), 0..60)) {
        let mut trace = Trace::default();
        for &(action, address, size) in &events {
            let (stack, labels) = (StackId::NONE, LabelsId(0));
            trace.event(&Event { address, size, time_us: NO_TIME, stack, labels, action: Action::ALL[action] });
        }
        let Events { action, subject, stack, labels, .. } = &trace.events;
        prop_assert_eq!([action.len(), subject.len(), stack.len(), labels.len()], [events.len(); 4]);
        for LifetimeColumns { address, size, free_requested, freed_at } in [&trace.traced, &trace.early] {
            prop_assert_eq!([address.len(), free_requested.len(), freed_at.len()], [size.len(); 3]);
        }
        prop_assert_eq!(trace.allocated_at.len(), trace.traced.size.len());
        for event in 0..trace.events.len() {
            let (row, rows) = match trace.events.subject(event) {
                Subject::Traced(row) => (row, trace.traced.size.len()),
                Subject::Early(row) => (row, trace.early.size.len()),
                Subject::Segment(row) => (row, trace.segment_operations.len()),
                Subject::Note(row) => (row, trace.notes.len()),
            };
            prop_assert!((row as usize) < rows);
        }
    }
}
