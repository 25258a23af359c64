//! Tests of `src/ui/placing.rs`, a module of its: they reach what is private there.

use super::*;
use proptest::prelude::*;

proptest! {
    #[test]
    fn it_never_covers_the_cursor_and_stays_on_the_stage(
        across in 0.0..=1.0f64, down in 0.0..=1.0f64,
        width in 100.0..1400.0f64, height in 60.0..900.0f64,
        card_width in 40.0..300.0f64, card_height in 20.0..140.0f64,
    ) {
        let (stage, card) = ((width, height), (card_width, card_height));
        let at = (across * width, down * height);
        let (left, top) = beside(at, card, stage);
        let covers = left < at.0 + 1.0 && at.0 - 1.0 < left + card.0 && top < at.1 + 1.0 && at.1 - 1.0 < top + card.1;
        prop_assert!(!covers, "{left} {top}");
        // With room beside the cursor on at least one axis wherever it is, nothing is cut.
        let roomy = card.0 * 2.0 + 2.0 * DISTANCE <= stage.0 && card.1 <= stage.1;
        if roomy {
            // What was subtracted and added again may be a last digit off.
            let end = (stage.0 + 1e-9, stage.1 + 1e-9);
            prop_assert!(left >= 0.0 && left + card.0 <= end.0 && top >= 0.0 && top + card.1 <= end.1);
        }
    }
}

#[test]
fn it_is_right_and_below_where_there_is_room() {
    let (card, stage) = ((280.0, 90.0), (800.0, 400.0));
    assert_eq!(beside((100.0, 100.0), card, stage), (116.0, 116.0));
    assert_eq!(beside((700.0, 100.0), card, stage), (404.0, 116.0), "to the left at the right edge");
    assert_eq!(beside((100.0, 380.0), card, stage), (116.0, 274.0), "above at the lower edge");
    assert_eq!(beside((200.0, 100.0), card, (400.0, 400.0)), (120.0, 116.0), "a narrow stage: below, moved inside");
    assert_eq!(beside((100.0, 50.0), card, (800.0, 100.0)), (116.0, 10.0), "a low stage: beside, moved inside");
}
