//! Registration of the Insights tab as a feature.

use crate::features::feature::{Feature, close_nothing};
use crate::features::insights::{
    InsightsAction, InsightsTab, ask_unseen, handle_action, link, open_requested, reset, simulation, take,
    update_and_ask,
};
use crate::state::change::AskPhase;

pub(crate) const FEATURE: Feature<InsightsTab, InsightsAction> = Feature {
    reset,
    questions: &[
        (AskPhase::Setup, open_requested),
        (AskPhase::BeforeScene, update_and_ask),
        (AskPhase::AfterScene, ask_unseen),
        (AskPhase::Last, simulation::ask),
    ],
    on_reply: take,
    on_action: handle_action,
    link_keys: link::LINKS,
    on_escape: close_nothing,
};
