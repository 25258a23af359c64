//! Joining of the passes of gradient accumulation up to each optimizer step.

use super::*;

/// Passes of ten events each. `x` marks those with an optimizer step. Returns the first and the last pass of each step.
fn joined(passes: &str) -> (u32, Vec<[u32; 2]>) {
    let flags: Vec<bool> = passes.chars().map(|pass| pass == 'x').collect();
    let mut spans: Vec<Span> =
        (0..flags.len() as u32).map(|pass| Span { from: 10 * pass, to: 10 * pass + 10 }).collect();
    let usual = join_passes(&mut spans, &flags);
    (usual, spans.iter().map(|span| [span.from / 10, span.to / 10 - 1]).collect())
}

#[test]
fn passes_are_joined_up_to_the_optimizer_step() {
    assert_eq!(joined("-x-x"), (2, vec![[0, 1], [2, 3]]));
    assert_eq!(joined("---x---x"), (4, vec![[0, 3], [4, 7]]));
    // The trace starts and ends within a step, and an epoch ends early.
    assert_eq!(joined("x--x--x--x--x--x-"), (3, vec![[0, 0], [1, 3], [4, 6], [7, 9], [10, 12], [13, 15]]));
    assert_eq!(joined("--x--x-x--x--x"), (3, vec![[0, 2], [3, 5], [6, 7], [8, 10], [11, 13]]));
}

#[test]
fn other_steps_stay_as_they_are() {
    for passes in ["xxxx", "xxx-", "x---", "----", "x-----x---", "-x----------", "x-x---x-----x-x", ""] {
        let (usual, spans) = joined(passes);
        assert_eq!((usual, spans.len()), (1, passes.len()), "{passes}");
    }
}
