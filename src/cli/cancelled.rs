//! Cancellation of the work of a thread: a client of `memscape mcp` may no longer want the answer.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A request to stop, shared by the thread that makes it and those that work.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cancelled(Arc<AtomicBool>);

thread_local! {
    static CURRENT: RefCell<Cancelled> = RefCell::default();
}

impl Cancelled {
    /// Requests that the work stops.
    pub(crate) fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether the work should stop.
    pub(crate) fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// The flag of this thread. Threads that it starts take it along by [`Cancelled::during`].
    pub(crate) fn current() -> Cancelled {
        CURRENT.with_borrow(Clone::clone)
    }

    /// Runs `work`, which stops early once the flag is set.
    pub(crate) fn during<R>(&self, work: impl FnOnce() -> R) -> R {
        let before = CURRENT.replace(self.clone());
        let result = work();
        CURRENT.set(before);
        result
    }
}

/// Whether the work of this thread goes on: the time check of engine steps, which return early where it does not.
pub(crate) fn goes_on() -> bool {
    CURRENT.with_borrow(|current| !current.is_set())
}

/// Fails once the work of this thread is cancelled.
///
/// # Errors
/// It is cancelled.
pub(crate) fn check() -> Result<(), String> {
    if goes_on() { Ok(()) } else { Err("cancelled".to_owned()) }
}

#[cfg(test)]
#[path = "../../tests/units/cli/cancelled.rs"]
mod tests;
