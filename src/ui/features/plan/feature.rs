//! Registration of the planner as a feature.

use super::{Plan, PlanAction, handle_action, link, publish, reset, simulate, take};
use crate::change::AskPhase;
use crate::feature::{Feature, close_nothing};

pub(crate) const FEATURE: Feature<Plan, PlanAction> = Feature {
    reset,
    questions: &[(AskPhase::BeforeScene, publish), (AskPhase::Last, simulate)],
    on_reply: take,
    on_action: handle_action,
    link_keys: link::LINKS,
    on_escape: close_nothing,
};
