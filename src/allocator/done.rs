//! Cache of the results of simulated runs, for later questions.

use super::bands::{Banded, Doubts};
use super::plan::Plan;

/// Results of finished runs and capacity searches, reused by later questions.
#[derive(Default)]
pub(super) struct Done {
    pub(super) runs: Vec<((Plan, Doubts), Banded)>,
    pub(super) fits: Vec<(Plan, Option<u64>)>,
}

/// Maximum number of cached results of each kind. The oldest results are dropped first.
const MAX_DONE: usize = 64;

/// Returns the cached result for `key`, if any.
pub(super) fn kept<K: PartialEq, T: Clone>(done: &[(K, T)], key: &K) -> Option<T> {
    done.iter().find(|(of, _)| of == key).map(|(_, result)| result.clone())
}

/// Caches a result under `key`.
pub(super) fn keep<K: Clone, T>(done: &mut Vec<(K, T)>, key: &K, result: T) {
    if done.len() >= MAX_DONE {
        done.remove(0);
    }
    done.push((key.clone(), result));
}
