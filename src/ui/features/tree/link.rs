//! Link keys of the call tree: arrangement, selected node, focus and folds.

use super::{Tree, arrange};
use crate::link::reading::{Key, Reading, kept, later_name, list, optional, step, word};
use crate::shared::Shared;
use engine::protocol::{Fold, FoldState, Internal, Merge, Reach, Root};

/// Values of the key `merge`. The first one is the default and is not written.
const MERGES: [&str; 3] = ["line", "function", "file"];

pub(super) const LINKS: &[Key<Tree>] = &[
    kept(
        "root",
        |_, shared| word(shared.views.arrangement.root == Root::Innermost, "innermost"),
        |_, shared, link| {
            let is_innermost = link.is_second(["outermost", "innermost"]);
            shared.views.arrangement.root = if is_innermost { Root::Innermost } else { Root::Outermost };
        },
    ),
    kept(
        "merge",
        |_, shared| later_name(&MERGES, shared.views.arrangement.merge as usize),
        |_, shared, link| {
            shared.views.arrangement.merge = link.one_of(&MERGES, &[Merge::Line, Merge::Function, Merge::File]);
        },
    ),
    kept(
        "internal",
        |_, shared| word(shared.views.arrangement.internal == Internal::Shown, "shown"),
        |tree, shared, link| {
            let shown = link.is_second(["hidden", "shown"]);
            shared.views.arrangement.internal = if shown { Internal::Shown } else { Internal::Hidden };
            // Node numbers depend on the arrangement, and the following keys contain some.
            arrange(tree, shared);
        },
    ),
    step("node", |_, shared| optional(shared.views.node), |_, shared, link| shared.views.node = link.number()),
    kept(
        "focus",
        |tree, _| optional(tree.place.focus),
        |tree, _, link| {
            let node = link.number();
            tree.focus_on(node);
        },
    ),
    kept("folds", folds, set_folds),
];

/// Formats the opened (`o`) and closed (`c`) nodes. Capital letters include all descendants.
fn folds(tree: &Tree, _: &Shared) -> String {
    let fold = |fold: &Fold| {
        let sign = match (fold.reach, fold.state) {
            (Reach::One, FoldState::Open) => "o",
            (Reach::One, _) => "c",
            (_, FoldState::Open) => "O",
            _ => "C",
        };
        [&fold.node.to_string(), sign].concat()
    };
    list(&mut tree.place.folds.iter().map(fold))
}

fn set_folds(tree: &mut Tree, _: &mut Shared, link: &mut Reading<'_>) {
    tree.place.folds.clear();
    link.each(&mut |entry| {
        let (node, sign) = entry.split_at(entry.trim_end_matches(|letter: char| !letter.is_ascii_digit()).len());
        let (reach, fold) = match sign {
            "o" => (Reach::One, FoldState::Open),
            "c" => (Reach::One, FoldState::Closed),
            "O" => (Reach::AllBelow, FoldState::Open),
            "C" => (Reach::AllBelow, FoldState::Closed),
            _ => return None,
        };
        tree.place.fold(node.parse().ok()?, reach, fold);
        Some(())
    });
}
