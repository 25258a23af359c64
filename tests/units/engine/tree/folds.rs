//! Unit tests of `src/engine/tree/folds.rs`.

use super::*;

#[test]
fn last_expand_or_collapse_operation_wins() {
    let fold = |node, scope, state| Fold { node, scope, state };
    let (open, closed) = (FoldState::Open, FoldState::Closed);
    let folds = Folds::new(&[
        fold(3, FoldScope::Node, open),
        fold(1, FoldScope::Subtree, closed),
        fold(4, FoldScope::Node, open),
        fold(4, FoldScope::Subtree, open),
        fold(4, FoldScope::Node, closed),
    ]);
    let nothing = FoldAction::default();
    let (state, below) = folds.resolve(1, nothing, open);
    assert_eq!(state, closed);
    assert_eq!(folds.resolve(3, below, open).0, closed, "closed later from above");
    assert_eq!(folds.resolve(3, nothing, closed), (open, nothing));
    let (state, below) = folds.resolve(4, below, open);
    assert_eq!((state, folds.resolve(9, below, closed).0), (closed, open), "itself closed, all below open");
    assert_eq!(folds.resolve(9, nothing, closed).0, closed);
}
