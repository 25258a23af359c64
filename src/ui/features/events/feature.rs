//! Registration of the Events tab as a feature.

use crate::features::events::{Events, EventsAction, ask, handle_action, link, reset, take};
use crate::features::feature::{Feature, close_nothing};
use crate::state::change::AskPhase;

pub(crate) const FEATURE: Feature<Events, EventsAction> = Feature {
    reset,
    questions: &[(AskPhase::WithScene, ask)],
    on_reply: take,
    on_action: handle_action,
    link_keys: link::LINKS,
    on_escape: close_nothing,
};
