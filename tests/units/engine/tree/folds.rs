//! Unit tests of `src/engine/tree/folds.rs`.

use super::*;

#[test]
fn last_fold_operation_wins() {
    let fold = |node, reach, state| Fold { node, reach, state };
    let (open, closed) = (FoldState::Open, FoldState::Closed);
    let folds = Folds::new(&[
        fold(3, Reach::One, open),
        fold(1, Reach::AllBelow, closed),
        fold(4, Reach::One, open),
        fold(4, Reach::AllBelow, open),
        fold(4, Reach::One, closed),
    ]);
    let nothing = Done::default();
    let (state, below) = folds.of(1, nothing, open);
    assert_eq!(state, closed);
    assert_eq!(folds.of(3, below, open).0, closed, "closed later from above");
    assert_eq!(folds.of(3, nothing, closed), (open, nothing));
    let (state, below) = folds.of(4, below, open);
    assert_eq!((state, folds.of(9, below, closed).0), (closed, open), "itself closed, all below open");
    assert_eq!(folds.of(9, nothing, closed).0, closed);
}
