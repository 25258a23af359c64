//! Tests of `src/engine/report/steps/families.rs`, a module of its: they reach what is private there.

use super::stem;

#[test]
fn numbers_are_left_aside() {
    let cases =
        [("step_12", "step_#"), ("ProfilerStep#7", "ProfilerStep#"), ("h.3.mlp", "h.#.mlp"), ("a", "a"), ("", "")];
    for (name, expected) in cases {
        assert_eq!(stem(name), expected);
    }
}
