//! Cache of finished runs for later questions.

use super::bands::Banded;
use super::run::Plan;

/// Results of finished runs and fits. A later question that needs one of them reads it here.
#[derive(Default)]
pub(super) struct Done {
    pub(super) runs: Vec<(Plan, Banded)>,
    pub(super) fits: Vec<(Plan, Option<u64>)>,
}

/// Maximum number of cached results of each kind. The oldest are dropped first.
const MAX_DONE: usize = 64;

/// Returns the cached result for `plan`.
pub(super) fn kept<T: Clone>(done: &[(Plan, T)], plan: &Plan) -> Option<T> {
    done.iter().find(|(of, _)| of == plan).map(|(_, result)| result.clone())
}

/// Adds a result to the cache.
pub(super) fn keep<T>(done: &mut Vec<(Plan, T)>, plan: &Plan, result: T) {
    if done.len() >= MAX_DONE {
        done.remove(0);
    }
    done.push((plan.clone(), result));
}
