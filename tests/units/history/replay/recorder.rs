//! Unit tests of `src/history/replay/recorder.rs`.

use super::*;
use crate::snapshot::{Action, LabelsId, NO_TIME, StackId};

#[test]
fn events_beyond_limit_are_counted() {
    let mut recorder = Recorder { max_events: 3, ..Recorder::default() };
    let (stack, labels) = (StackId::NONE, LabelsId(0));
    for trace in [0, 1, 1, 1, 1, 0, 1] {
        let event = Event { address: 0, size: 1, time_us: NO_TIME, stack, labels, action: Action::Alloc };
        recorder.event_at(trace, &event);
    }
    assert_eq!((recorder.events(), recorder.dropped_events()), (5, 2));
}
