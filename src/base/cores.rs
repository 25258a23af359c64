//! Work on all cores, for native programs. In WebAssembly a module has one thread.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// Calls `work` with every item, on one thread per core. Returns the results in the order of the items.
pub fn map_on_all_cores<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let take = || {
        let index = next.fetch_add(1, Ordering::Relaxed);
        items.get(index).map(|item| (index, work(item)))
    };
    let cores = thread::available_parallelism().map_or(1, usize::from).min(items.len());
    let mut done: Vec<(usize, R)> = thread::scope(|scope| {
        let others: Vec<_> = (1..cores).map(|_| scope.spawn(|| std::iter::from_fn(take).collect::<Vec<_>>())).collect();
        let own: Vec<_> = std::iter::from_fn(take).collect();
        let join = |thread: thread::ScopedJoinHandle<'_, _>| match thread.join() {
            Ok(results) => results,
            Err(panic) => std::panic::resume_unwind(panic),
        };
        own.into_iter().chain(others.into_iter().flat_map(join)).collect()
    });
    done.sort_unstable_by_key(|&(index, _)| index);
    done.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
#[path = "../../tests/units/base/cores.rs"]
mod tests;
