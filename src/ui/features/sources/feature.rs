//! Registration of the Source tab as a feature.

use crate::features::feature::{Feature, close_nothing};
use crate::features::sources::{SourceAction, Sources, ask, handle_action, link, reset, take};
use crate::state::change::AskPhase;

pub(crate) const FEATURE: Feature<Sources, SourceAction> = Feature {
    reset,
    questions: &[(AskPhase::BeforeScene, ask)],
    on_reply: take,
    on_action: handle_action,
    link_keys: link::LINKS,
    on_escape: close_nothing,
};
