//! Registration of the simulated allocator as a feature.

use super::{Simulator, WhatIfAction, ask, handle_action, link, reset, take};
use crate::change::AskPhase;
use crate::feature::{Feature, close_nothing, no_commands};
use std::convert::Infallible;

pub(crate) const FEATURE: Feature<Simulator, WhatIfAction, Infallible> = Feature {
    reset,
    questions: &[(AskPhase::Last, ask)],
    on_reply: take,
    on_action: handle_action,
    on_command: no_commands,
    bindings: &[],
    link_keys: link::LINKS,
    on_escape: close_nothing,
};
