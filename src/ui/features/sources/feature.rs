//! Registration of the Source tab as a feature.

use super::{SourceAction, Sources, ask, handle_action, link, reset, take};
use crate::change::AskPhase;
use crate::feature::{Feature, close_nothing};

pub(crate) const FEATURE: Feature<Sources, SourceAction> = Feature {
    reset,
    questions: &[(AskPhase::BeforeScene, ask)],
    on_reply: take,
    on_action: handle_action,
    link_keys: link::LINKS,
    on_escape: close_nothing,
};
