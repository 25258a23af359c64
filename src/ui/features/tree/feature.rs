//! Registration of the call tree as a feature.

use super::{Tree, ask, link, reset, reset_if_stale, take};
use crate::change::AskPhase;
use crate::feature::{Feature, close_nothing};
use crate::features::tree_keys::{self, TreeAction};

pub(crate) const FEATURE: Feature<Tree, TreeAction> = Feature {
    reset,
    questions: &[
        (AskPhase::Setup, |tree, shared, _, _| reset_if_stale(tree, shared)),
        (AskPhase::BeforeScene, |tree, shared, _, _| shared.set_node_label(|node| tree.label(node).cloned())),
        (AskPhase::Last, ask),
    ],
    on_reply: take,
    on_action: tree_keys::handle_action,
    link_keys: link::LINKS,
    on_escape: close_nothing,
};
