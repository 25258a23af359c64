//! Rendering of the page in several passes.

use super::RenderPasses;
use proptest::prelude::*;

/// Parts of a page, with the state that each showed last.
struct Parts {
    shown: Vec<u32>,
    passes: RenderPasses,
    state: u32,
}

impl Parts {
    fn new(count: usize) -> Parts {
        Parts { shown: vec![0; count], passes: RenderPasses::default(), state: 0 }
    }

    /// Renders a frame with time for `time` parts. Returns whether another frame is needed.
    fn frame(&mut self, changed: bool, mut time: u32) -> bool {
        self.state += u32::from(changed);
        let Parts { shown, passes, state } = self;
        let mut has_time = || {
            let has = time > 0;
            time = time.saturating_sub(1);
            has
        };
        passes.run_frame(shown.len(), changed, &mut has_time, &mut |at| shown[at] = *state)
    }
}

proptest! {
    /// After enough frames all parts show the newest state. No part is ahead of an earlier one.
    #[test]
    fn picture_parts_reach_newest_state_in_order(count in 1..9_usize, frames in prop::collection::vec((any::<bool>(), 0..9_u32), 0..30)) {
        let mut parts = Parts::new(count);
        parts.frame(true, 0);
        let mut is_asked_for = true;
        for (changed, time) in frames {
            if changed || is_asked_for {
                is_asked_for = parts.frame(changed, time);
                prop_assert!(parts.shown.is_sorted_by(|first, second| first >= second), "{:?}", parts.shown);
            }
        }
        for _ in 0..count {
            if is_asked_for {
                is_asked_for = parts.frame(false, 0);
            }
        }
        prop_assert!(!is_asked_for);
        prop_assert_eq!(parts.shown, vec![parts.state; count]);
    }
}

#[test]
fn last_part_is_shown_despite_constant_changes() {
    let mut parts = Parts::new(40);
    for _ in 0..40 {
        parts.frame(true, 0);
    }
    assert_eq!(parts.shown, vec![40; 40]);
}

/// A frame that starts without time left still shows one part and requests the next frame.
#[test]
fn frame_without_time_shows_one_part() {
    let mut parts = Parts::new(3);
    assert!(parts.frame(true, 9) || parts.shown == [1, 1, 1]);
    assert!(parts.frame(true, 0));
    assert_eq!(parts.shown, [2, 1, 1]);
    assert!(parts.frame(false, 0));
    assert!(!parts.frame(false, 0));
    assert_eq!(parts.shown, [2, 2, 2]);
}
