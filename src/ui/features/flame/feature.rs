//! Registration of the flame graph as a feature.

use crate::features::feature::Feature;
use crate::features::flame::{FlameAction, FlameGraph, ask, handle_action, link, reset, take, zoom_out_fully};
use crate::state::change::AskPhase;

pub(crate) const FEATURE: Feature<FlameGraph, FlameAction> = Feature {
    reset,
    questions: &[(AskPhase::BeforeScene, ask)],
    on_reply: take,
    on_action: handle_action,
    link_keys: link::LINKS,
    on_escape: zoom_out_fully,
};
