//! Registration of the Segments tab as a feature.

use crate::features::feature::{Feature, close_nothing};
use crate::features::segments::{SegmentsAction, SegmentsTab, ask, handle_action, link, reset, take};
use crate::state::change::AskPhase;

pub(crate) const FEATURE: Feature<SegmentsTab, SegmentsAction> = Feature {
    reset,
    questions: &[(AskPhase::WithScene, ask)],
    on_reply: take,
    on_action: handle_action,
    link_keys: link::LINKS,
    on_escape: close_nothing,
};
