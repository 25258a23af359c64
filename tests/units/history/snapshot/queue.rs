//! Unit tests of `src/history/snapshot/queue.rs`.

use super::*;
use crate::snapshot::{Action, LabelsId, StackId};

#[test]
fn events_are_taken_once_and_empty_chunks_dropped() {
    let event =
        |size| Event { address: 0, size, time_us: 0, stack: StackId::NONE, labels: LabelsId(0), action: Action::Alloc };
    let mut queue = EventQueue::default();
    let rows: Vec<u32> = (0..10_000).map(|size| queue.push(event(size)).unwrap()).collect();
    for &row in rows.iter().filter(|&row| row % 2 == 1).chain(rows.iter().filter(|&row| row % 2 == 0)) {
        assert_eq!(queue.take(row).unwrap().size, u64::from(row));
        assert_eq!(queue.take(row), None);
    }
    assert_eq!(queue.chunks.len(), 1);
    let row = queue.push(event(7)).unwrap();
    assert_eq!(queue.take(row).unwrap().size, 7);
}
