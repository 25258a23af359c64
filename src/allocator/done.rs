//! Runs that were done, for the next question.

use super::bands::Banded;
use super::run::Plan;

/// What runs came to, and the smallest memories: another question that has some of them does not run them again.
#[derive(Default)]
pub(super) struct Done {
    pub(super) runs: Vec<(Plan, Banded)>,
    pub(super) fits: Vec<(Plan, Option<u64>)>,
}

/// So many of each are kept; the oldest go.
const MOST_DONE: usize = 64;

/// The result that is kept for a plan.
pub(super) fn kept<T: Clone>(done: &[(Plan, T)], plan: &Plan) -> Option<T> {
    done.iter().find(|(of, _)| of == plan).map(|(_, result)| result.clone())
}

/// Keeps it.
pub(super) fn keep<T>(done: &mut Vec<(Plan, T)>, plan: &Plan, result: T) {
    if done.len() >= MOST_DONE {
        done.remove(0);
    }
    done.push((plan.clone(), result));
}
