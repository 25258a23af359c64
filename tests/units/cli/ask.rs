//! Unit tests of `src/cli/ask.rs`.

use super::*;

#[test]
fn argument_errors_keep_possible_values_and_suggestions() {
    let invalid = "error: invalid value 'x' for '--topic <TOPIC>'\n  [possible values: oom, peak]\n\nFor more information, try '--help'.\n";
    assert_eq!(argument_error(invalid), "invalid value 'x' for '--topic <TOPIC>' [possible values: oom, peak]");
    let unknown = "error: unexpected argument '--tpo' found\n\n  tip: a similar argument exists: '--top'\n\nUsage: memscape live --top <N>\n";
    assert_eq!(argument_error(unknown), "unexpected argument '--tpo' found; tip: a similar argument exists: '--top'");
}
