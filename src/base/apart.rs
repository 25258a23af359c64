//! Functions that stay small where many others meet in one.

/// Runs `work` in a function of its own, which is not inlined.
///
/// A browser optimises a hot function as a whole. What answers each kind of question has only one caller; inlined into it, all of them made one
/// function of 97 kB, and optimising that took 250 ms of the two cores that were opening the first file.
/// `--one-caller-inline-max-function-size` in index.html keeps wasm-opt from inlining them again.
#[inline(never)]
pub fn apart<T>(work: impl FnOnce() -> T) -> T {
    work()
}
