//! Registration of the flame graph as a feature.

use super::{FlameAction, FlameGraph, FlameStep, ask, handle_action, keys, link, reset, step, take, zoom_out_fully};
use crate::change::AskPhase;
use crate::feature::Feature;

pub(crate) const FEATURE: Feature<FlameGraph, FlameAction, FlameStep> = Feature {
    reset,
    questions: &[(AskPhase::BeforeScene, ask)],
    on_reply: take,
    on_action: handle_action,
    on_command: step,
    bindings: keys::KEYS,
    link_keys: link::LINKS,
    on_escape: zoom_out_fully,
};
