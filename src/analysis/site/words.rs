//! Words for a call site in a sentence, or for an allocation that has none.

/// Shown in place of the call site of an allocation, a segment or an event without a stack.
pub const NO_STACK: &str = "no stack recorded";
/// Shown in place of the call site of an allocation without a stack that was made before recording.
pub const NO_STACK_BEFORE_RECORDING: &str = "before recording (no stack)";

/// Returns the part of a sentence that names a call site, such as `by train.py:12 step`, or says that it is unknown.
pub fn with_site(preposition: &str, site: &str) -> String {
    match site {
        NO_STACK => "without a recorded stack".to_owned(),
        NO_STACK_BEFORE_RECORDING => "from before recording".to_owned(),
        site => [preposition, " ", site].concat(),
    }
}

/// Returns the sentence about the call site with the most bytes. `detail` is appended in brackets, unless it is empty.
pub fn largest_site(site: &str, detail: &str) -> String {
    let [start, site] = match site {
        NO_STACK => ["Most were recorded without a call stack", ""],
        NO_STACK_BEFORE_RECORDING => ["Most were allocated before recording, without a call stack", ""],
        site => ["Largest call site: ", site],
    };
    let detail = if detail.is_empty() { String::new() } else { [" (", detail, ")"].concat() };
    [start, site, &detail, "."].concat()
}

/// Returns the name of a call site in a list within a sentence.
pub fn listed_site(site: &str) -> &str {
    match site {
        NO_STACK => "allocations without a recorded call stack",
        NO_STACK_BEFORE_RECORDING => "allocations from before recording",
        site => site,
    }
}
