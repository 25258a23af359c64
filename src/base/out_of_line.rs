//! Prevents inlining of functions that have only one caller.

/// Calls `work` from a function that is never inlined.
///
/// A browser optimizes a hot function as a whole. Each handler of a kind of query has only one caller. Inlined into
/// that caller, the handlers formed a function of 97 kB, and optimizing it took 250 ms on both cores that were opening
/// the first file. `--one-caller-inline-max-function-size` in index.html keeps wasm-opt from inlining them again.
#[inline(never)]
pub fn out_of_line<T>(work: impl FnOnce() -> T) -> T {
    work()
}
