//! Registration of the Events tab as a feature.

use crate::features::events::{Events, EventsAction, ask, handle_action, link, reset, take};
use crate::features::feature::Feature;
use crate::state::change::AskPhase;

pub(crate) const FEATURE: Feature<Events, EventsAction> =
    Feature::with_rows(reset, &[(AskPhase::WithScene, ask)], take, handle_action, link::LINKS);
