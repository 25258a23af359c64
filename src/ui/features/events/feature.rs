//! Registration of the Events tab as a feature.

use super::{EventStep, Events, EventsAction, KEYS, act, ask, link, reset, step, take};
use crate::change::AskPhase;
use crate::feature::{Feature, close_nothing};

pub(crate) const FEATURE: Feature<Events, EventsAction, EventStep> = Feature {
    reset,
    questions: &[(AskPhase::WithScene, ask)],
    on_reply: take,
    on_action: act,
    on_command: step,
    bindings: KEYS,
    link_keys: link::LINKS,
    on_escape: close_nothing,
};
