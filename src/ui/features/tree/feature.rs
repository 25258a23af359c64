//! Registration of the call tree as a feature.

use crate::features::feature::{Feature, close_nothing};
use crate::features::tree::{Tree, ask, link, reset, reset_if_stale, take};
use crate::features::tree_keys;
use crate::features::tree_keys::TreeAction;
use crate::state::change::AskPhase;
use crate::state::outbox::Intent;

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
