//! Plans and path prefixes in queries, and ordinals in replies.

use engine::{Ask, Question, Reply, Request};
use protocol::{FileSummary, PlanGroup, PlanQuestion, second_file_ordinal};

/// Returns the plan that a query contains, or `None`.
pub(super) fn plan_of(what: &mut Question) -> Option<&mut PlanQuestion> {
    match what {
        Question::Plan(plan) | Question::PlanCurve(plan, _) | Question::PlannedSizes(plan) => Some(plan),
        _ => None,
    }
}

pub(super) fn has_measured(plan: &PlanQuestion) -> bool {
    plan.groups.iter().any(|(group, _)| matches!(group, PlanGroup::Measured(_)))
}

/// Returns true if a query contains a plan with the group "measured".
pub(super) fn is_measured(ask: &Ask) -> bool {
    matches!(&ask.question, Question::Plan(plan) | Question::PlanCurve(plan, _) | Question::PlannedSizes(plan) if has_measured(plan))
}

/// Returns whether a request is a question whose answer is computed behind a [gate](base::later::gate).
pub fn is_gated(request: &Request) -> bool {
    let Request::Ask(ask) = request else { return false };
    matches!(ask.question, Question::Report(_) | Question::Pair(_) | Question::Comparison(..)) || is_measured(ask)
}

/// Parses path prefixes and replacements, `OLD=NEW;OLD=NEW`. Skips entries without `=`.
pub(super) fn prefixes(text: &str) -> Vec<(String, String)> {
    let pair = |part: &str| part.trim().split_once('=').map(|(old, new)| (old.to_owned(), new.to_owned()));
    text.split(';').filter_map(pair).filter(|(old, _)| !old.is_empty()).collect()
}

/// Replaces the device ordinals in a reply from the second file's engine by the ordinals of this pair.
pub(super) fn with_second_ordinals(reply: Reply) -> Reply {
    match reply {
        Reply::Opened(mut file) => {
            let FileSummary { devices, .. } = &mut *file;
            devices.iter_mut().for_each(|device| device.device = second_file_ordinal(device.device));
            Reply::Opened(file)
        }
        reply => reply,
    }
}
