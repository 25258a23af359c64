//! Registration of the planner as a feature.

use crate::features::feature::{Feature, close_nothing};
use crate::features::plan::{Plan, PlanAction, handle_action, link, publish, reset, simulate, take};
use crate::state::change::AskPhase;

pub(crate) const FEATURE: Feature<Plan, PlanAction> = Feature {
    reset,
    questions: &[(AskPhase::BeforeScene, publish), (AskPhase::Last, simulate)],
    on_reply: take,
    on_action: handle_action,
    link_keys: link::LINKS,
    on_escape: close_nothing,
};
