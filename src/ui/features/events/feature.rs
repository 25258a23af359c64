//! Registration of the Events tab as a feature.

use super::{EventStep, Events, EventsAction, KEYS, ask, handle_action, link, reset, step, take};
use crate::change::AskPhase;
use crate::feature::{Feature, close_nothing};

pub(crate) const FEATURE: Feature<Events, EventsAction, EventStep> = Feature {
    reset,
    questions: &[(AskPhase::WithScene, ask)],
    on_reply: take,
    on_action: handle_action,
    on_command: step,
    bindings: KEYS,
    link_keys: link::LINKS,
    on_escape: close_nothing,
};
