//! Cancellation of a thread's work, for example when a client of `memscape mcp` cancels a request.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A cancellation flag, shared by the thread that sets it and the threads that do the work.
#[derive(Clone, Debug, Default)]
pub(crate) struct CancelFlag(Arc<AtomicBool>);

thread_local! {
    static CURRENT: RefCell<CancelFlag> = RefCell::default();
}

impl CancelFlag {
    /// Requests cancellation.
    pub(crate) fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Returns true if the work should stop.
    pub(crate) fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Returns the flag of the current thread. Pass it to worker threads, which call [`CancelFlag::run_with`].
    pub(crate) fn current() -> CancelFlag {
        CURRENT.with_borrow(Clone::clone)
    }

    /// Runs `work` with this flag as the flag of the current thread.
    pub(crate) fn run_with<R>(&self, work: impl FnOnce() -> R) -> R {
        let before = CURRENT.replace(self.clone());
        let result = work();
        CURRENT.set(before);
        result
    }
}

/// Returns false once the work of this thread is cancelled. Passed to engine steps as their time check, so that they
/// return early.
pub(crate) fn should_continue() -> bool {
    CURRENT.with_borrow(|current| !current.is_set())
}

/// Fails if the work of this thread is cancelled.
///
/// # Errors
/// Returns the message "cancelled" once the flag is set.
pub(crate) fn check() -> Result<(), String> {
    if should_continue() { Ok(()) } else { Err("cancelled".to_owned()) }
}

#[cfg(test)]
#[path = "../../tests/units/cli/cancelled.rs"]
mod tests;
