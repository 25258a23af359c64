//! Prevents inlining of functions that have only one caller.

/// Calls `work` from a function that is never inlined.
///
/// A browser optimizes a hot function as a whole. The handlers of large questions have only one caller, and inlined
/// into that caller they formed a function of 97 kB, which took 250 ms to optimize on both cores that were opening the
/// first file. `--one-caller-inline-max-function-size` in src/pack/page.sh keeps wasm-opt from inlining them again. Use
/// this only where a measurement shows a gain.
#[inline(never)]
pub fn out_of_line<T>(work: impl FnOnce() -> T) -> T {
    work()
}
