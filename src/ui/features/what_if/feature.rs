//! Registration of the simulated allocator as a feature.

use crate::features::feature::{Feature, close_nothing};
use crate::features::what_if::{Simulator, WhatIfAction, ask, handle_action, link, reset, take};
use crate::state::change::AskPhase;

pub(crate) const FEATURE: Feature<Simulator, WhatIfAction> = Feature {
    reset,
    questions: &[(AskPhase::Last, ask)],
    on_reply: take,
    on_action: handle_action,
    link_keys: link::LINKS,
    on_escape: close_nothing,
};
