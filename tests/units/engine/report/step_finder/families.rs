//! Unit tests of `src/engine/report/steps/families.rs`.

use super::name_pattern;

#[test]
fn numbers_in_names_become_placeholders() {
    let cases =
        [("step_12", "step_#"), ("ProfilerStep#7", "ProfilerStep#"), ("h.3.mlp", "h.#.mlp"), ("a", "a"), ("", "")];
    for (name, expected) in cases {
        assert_eq!(name_pattern(name), expected);
    }
}
