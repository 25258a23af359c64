//! Entries of code that the page fetches after it has started.

/// Calls `work`. Functions that are reached only through gates are in a wasm of their own in the optimized page.
///
/// `src/pack/split.rs` moves them there. The page's worker loads that wasm soon after its start, and holds back the
/// questions that need it (`src/page/worker/later.rs`). A gate that is called earlier traps.
#[inline(never)]
pub fn gate<T>(work: impl FnOnce() -> T) -> T {
    work()
}
