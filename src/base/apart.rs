//! Functions that stay small where dozens of them meet in one.

/// Calls it, in a function of its own.
///
/// A browser optimises a function as a whole once a loop in it has run for a while. What answers each kind of question has only one caller, so
/// that all of them became one function, of 97 kB: to optimise it took a quarter of a second, of the two cores that were opening the first
/// file. (That wasm-opt does not put them together again is an option in index.html.)
#[inline(never)]
pub fn apart<T>(work: impl FnOnce() -> T) -> T {
    work()
}
