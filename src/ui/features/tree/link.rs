//! Link keys of the call tree: arrangement, selected node, focus, and expanded or collapsed nodes.

use crate::features::tree::{Tree, reset_if_stale};
use crate::state::link_value::{Key, ValueReader, format_list, format_optional, history_key, view_key, word_if};
use crate::state::outbox::Intent;
use crate::state::shared::Shared;
use protocol::{Arrangement, Fold, FoldScope, FoldState, Internal, Merge, Root};

pub(super) const LINKS: &[Key<Tree>] = &[
    view_key(
        "root",
        |_, shared| word_if(shared.views.arrangement.root == Root::Innermost, "innermost"),
        |_, shared, link| {
            let is_innermost = link.is_second_word(["outermost", "innermost"]);
            let root = if is_innermost { Root::Innermost } else { Root::Outermost };
            link.out.intend(Intent::Arrange(Arrangement { root, ..shared.views.arrangement }));
        },
    ),
    view_key(
        "merge",
        |_, shared| {
            let merge = shared.views.arrangement.merge;
            word_if(merge != Merge::default(), merge.name())
        },
        |_, shared, link| {
            let merge = link.check(Merge::from_name(link.text)).unwrap_or_default();
            link.out.intend(Intent::Arrange(Arrangement { merge, ..shared.views.arrangement }));
        },
    ),
    view_key(
        "internal",
        |_, shared| word_if(shared.views.arrangement.internal == Internal::Shown, "shown"),
        |tree, shared, link| {
            let shown = link.is_second_word(["hidden", "shown"]);
            let internal = if shown { Internal::Shown } else { Internal::Hidden };
            let arrangement = Arrangement { internal, ..shared.views.arrangement };
            link.out.intend(Intent::Arrange(arrangement));
            // Node ids depend on the arrangement, and the following keys contain some.
            reset_if_stale(tree, shared, arrangement, link.out);
        },
    ),
    history_key(
        "node",
        |_, shared| format_optional(shared.views.node),
        |_, _, link| {
            let node = link.number();
            link.out.intend(Intent::Node(node));
        },
    ),
    view_key(
        "focus",
        |tree, _| format_optional(tree.position.focus),
        |tree, _, link| {
            let node = link.number();
            tree.focus_on(node);
        },
    ),
    view_key("folds", folds, set_folds),
];

/// Formats the expanded (`o`) and collapsed (`c`) nodes. Capital letters include all descendants.
fn folds(tree: &Tree, _: &Shared) -> String {
    let fold = |fold: &Fold| {
        let sign = match (fold.scope, fold.state) {
            (FoldScope::Node, FoldState::Open) => "o",
            (FoldScope::Node, _) => "c",
            (_, FoldState::Open) => "O",
            _ => "C",
        };
        [&fold.node.to_string(), sign].concat()
    };
    format_list(&mut tree.position.folds.iter().map(fold))
}

fn set_folds(tree: &mut Tree, _: &Shared, link: &mut ValueReader<'_>) {
    tree.position.folds.clear();
    link.for_each_entry(&mut |entry| {
        let (node, sign) = entry.split_at(entry.trim_end_matches(|letter: char| !letter.is_ascii_digit()).len());
        let (scope, fold) = match sign {
            "o" => (FoldScope::Node, FoldState::Open),
            "c" => (FoldScope::Node, FoldState::Closed),
            "O" => (FoldScope::Subtree, FoldState::Open),
            "C" => (FoldScope::Subtree, FoldState::Closed),
            _ => return None,
        };
        tree.position.fold(node.parse().ok()?, scope, fold);
        Some(())
    });
}
