//! Memory limits of a simulated run: those in the question, otherwise those that the recording implies.

use super::answer::WhatIfQuestion;
use super::infer::Proof;
use super::settings::{Limits, Settings, Share};

/// Returns the highest and the lowest possible memory limits of a run under these settings, in this order.
pub(super) fn limits(proof: &Proof, question: &WhatIfQuestion, settings: &Settings) -> [Limits; 2] {
    if let Some(limits) = asked(question, settings) {
        return [limits; 2];
    }
    let implied = proof.verdict.implied;
    let ends = implied.limit().map_or([None; 2], |[low, high]| [Some(high), Some(low)]);
    if *settings == proof.settings {
        return ends.map(|limit| implied.limits(limit, settings));
    }
    if !implied.is_fraction {
        return ends.map(|capacity| Limits { capacity, ..Limits::default() });
    }
    if proof.settings.fraction == Share::ALL {
        // The fraction was set by a call, which stays.
        return ends.map(|allowed| Limits::allowing(allowed, settings));
    }
    let total = implied.total(&proof.settings).map_or([None; 2], |[low, high]| [Some(high), Some(low)]);
    total.map(|total| Limits::new(None, total, settings))
}

/// Returns the memory limits specified in a question, if any.
pub(super) fn asked(question: &WhatIfQuestion, settings: &Settings) -> Option<Limits> {
    let capacity = question.capacity.or(question.total)?;
    Some(Limits::new(Some(capacity), question.total.or(question.capacity), settings))
}

/// Returns true if the question specifies an amount of memory that contradicts the recording.
pub(super) fn is_other_memory(proof: &Proof, question: &WhatIfQuestion) -> bool {
    let Some(asked) = asked(question, &proof.settings) else { return false };
    let implied = proof.verdict.implied;
    let limit = if implied.is_fraction { asked.allowed } else { asked.capacity };
    let [low, high] = implied.bounds;
    !implied.is_contradictory()
        && !limit.map_or(high == u64::MAX, |limit| low <= limit && (limit < high || high == u64::MAX))
}
