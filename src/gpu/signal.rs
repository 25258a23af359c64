//! A value that is set once and can be awaited. wgpu reports results in callbacks, which may run on any thread.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

/// Handle of the value. Clones share the value.
#[derive(Debug)]
pub(crate) struct Signal<T>(Arc<Mutex<Slot<T>>>);

#[derive(Debug)]
struct Slot<T> {
    value: Option<T>,
    waiting: Vec<Waker>,
}

impl<T> Clone for Signal<T> {
    fn clone(&self) -> Self {
        Signal(Arc::clone(&self.0))
    }
}

impl<T: Clone> Signal<T> {
    pub(crate) fn new() -> Self {
        Signal(Arc::new(Mutex::new(Slot { value: None, waiting: Vec::new() })))
    }

    /// Sets the value and wakes all waiting tasks. Later values are dropped, because only the first cause of a failure
    /// is reported.
    pub(crate) fn set(&self, value: T) {
        let wakers = {
            let mut state = self.state();
            state.value.get_or_insert(value);
            std::mem::take(&mut state.waiting)
        };
        wakers.into_iter().for_each(Waker::wake);
    }

    /// Returns the value if it has arrived.
    pub(crate) fn value(&self) -> Option<T> {
        self.state().value.clone()
    }

    fn state(&self) -> MutexGuard<'_, Slot<T>> {
        // No code panics while it holds the lock.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T: Clone> Future for Signal<T> {
    type Output = T;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T> {
        let mut state = self.state();
        match &state.value {
            Some(value) => Poll::Ready(value.clone()),
            None => {
                state.waiting.push(context.waker().clone());
                Poll::Pending
            }
        }
    }
}
