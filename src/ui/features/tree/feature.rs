//! Registration of the call tree as a feature.

use super::{Tree, ask, link, reset, reset_if_stale, take};
use crate::change::AskPhase;
use crate::feature::{Feature, close_nothing};
use crate::features::tree_keys::{self, TreeAction};
use crate::outbox::Intent;

pub(crate) const FEATURE: Feature<Tree, TreeAction> = Feature {
    reset,
    questions: &[
        (AskPhase::Setup, |tree, shared, _, out| reset_if_stale(tree, shared, shared.views.arrangement, out)),
        (AskPhase::BeforeScene, |tree, shared, _, out| {
            let label = shared.unnamed_node().and_then(|node| tree.label(node));
            out.intents.extend(label.cloned().map(Intent::NodeLabel));
        }),
        (AskPhase::Last, ask),
    ],
    on_reply: take,
    on_action: tree_keys::handle_action,
    link_keys: link::LINKS,
    on_escape: close_nothing,
};
