//! Registration of the Segments tab as a feature.

use super::{SegmentsAction, SegmentsStep, SegmentsTab, ask, handle_action, keys, link, reset, step, take};
use crate::change::AskPhase;
use crate::feature::{Feature, close_nothing};

pub(crate) const FEATURE: Feature<SegmentsTab, SegmentsAction, SegmentsStep> = Feature {
    reset,
    questions: &[(AskPhase::WithScene, ask)],
    on_reply: take,
    on_action: handle_action,
    on_command: step,
    bindings: keys::KEYS,
    link_keys: link::LINKS,
    on_escape: close_nothing,
};
