//! Functions that stay small where dozens of them meet in one.

/// Calls it, in a function of its own. A browser optimises a function as a whole once a loop in it has run for a while, and on as many
/// threads as there are: a place where all kinds of work meet, and which has only one caller each, became one function of 97 kB, which took
/// a quarter of a second of all of them while a first file was opened.
#[inline(never)]
pub fn apart<T>(work: impl FnOnce() -> T) -> T {
    work()
}
