//! Registration of the call tree as a feature.

use super::{Tree, arrange, ask, link, reset, take};
use crate::change::Turn;
use crate::feature::{Feature, ends_nothing};
use crate::features::tree_keys::{self, TreeAction, TreeCommand};

pub(crate) const FEATURE: Feature<Tree, TreeAction, TreeCommand> = Feature {
    reset,
    asks: &[
        (Turn::Ground, |tree, shared, _, _| arrange(tree, shared)),
        (Turn::Early, |tree, shared, _, _| shared.learn_node(|node| tree.label(node).cloned())),
        (Turn::Last, ask),
    ],
    take,
    act: tree_keys::act,
    command: tree_keys::command,
    keys: tree_keys::KEYS,
    links: link::LINKS,
    escape: ends_nothing,
};
