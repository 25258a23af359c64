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

#[test]
fn chips_of_one_line_stand_beside_each_other() {
    let edges = [10.0, 510.0];
    assert_eq!(chip(200.0, 80.0, edges, None, 4.0), 160.0);
    assert_eq!(chip(500.0, 80.0, edges, None, 4.0), 430.0);
    let taken = Some([160.0, 240.0]);
    assert_eq!(chip(400.0, 80.0, edges, taken, 4.0), 360.0);
    assert_eq!(chip(210.0, 80.0, edges, taken, 4.0), 244.0);
    assert_eq!(chip(190.0, 80.0, edges, taken, 4.0), 76.0);
    // At an edge, on the other side.
    assert_eq!(chip(500.0, 80.0, edges, Some([430.0, 510.0]), 4.0), 346.0);
    assert_eq!(chip(12.0, 80.0, edges, Some([10.0, 90.0]), 4.0), 94.0);
}

#[test]
fn the_card_leaves_the_block_visible() {
    let (card, stage) = ((280.0, 120.0), (1000.0, 500.0));
    let covered = |(x, y): Pair, block: &Rect| shared(&[x, y, x + card.0, y + card.1], block);
    let at = |at: Pair, block: Rect, top: f64| clear_of(at, card, stage, &Busy { block: &[block], top: &|_| top });
    // Beside the pointer it would lie on a block as large as this; below and above there is room.
    for block in [[100.0, 150.0, 900.0, 300.0], [100.0, 150.0, 1000.0, 500.0], [0.0, 0.0, 600.0, 500.0]] {
        for pointer in [(block[0] + 50.0, block[1] + 20.0), (block[2] - 30.0, block[3] - 40.0)] {
            assert_eq!(covered(at(pointer, block, 0.0), &block), 0.0, "{block:?} {pointer:?}");
        }
    }
    // Where nothing is drawn nearby, it hides no neighbour.
    let (_, y) = at((500.0, 180.0), [400.0, 170.0, 600.0, 200.0], 150.0);
    assert!(y + card.1 <= 150.0, "{y}");
    // A block that is all there is: as before.
    assert_eq!(at((500.0, 250.0), [0.0, 0.0, 1000.0, 500.0], 0.0), beside((500.0, 250.0), card, stage));
}
