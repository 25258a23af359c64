//! Unit tests of `src/ui/plot/placement.rs`.

use super::*;
use proptest::prelude::*;

proptest! {
    #[test]
    fn card_never_covers_pointer_and_stays_in_stage(
        across in 0.0..=1.0f64, down in 0.0..=1.0f64,
        width in 100.0..1400.0f64, height in 60.0..900.0f64,
        card_width in 40.0..300.0f64, card_height in 20.0..140.0f64,
    ) {
        let (stage, card) = ((width, height), (card_width, card_height));
        let at = (across * width, down * height);
        let (left, top) = place_card(at, card, stage);
        let covers = left < at.0 + 1.0 && at.0 - 1.0 < left + card.0 && top < at.1 + 1.0 && at.1 - 1.0 < top + card.1;
        prop_assert!(!covers, "{left} {top}");
        // The card fits completely if there is room beside the pointer on at least one axis.
        let roomy = card.0 * 2.0 + 2.0 * POINTER_GAP <= stage.0 && card.1 <= stage.1;
        if roomy {
            // Allows for floating-point rounding.
            let end = (stage.0 + 1e-9, stage.1 + 1e-9);
            prop_assert!(left >= 0.0 && left + card.0 <= end.0 && top >= 0.0 && top + card.1 <= end.1);
        }
    }
}

#[test]
fn card_is_below_right_of_pointer_or_moves_inside_stage() {
    let (card, stage) = ((280.0, 90.0), (800.0, 400.0));
    assert_eq!(place_card((100.0, 100.0), card, stage), (116.0, 116.0));
    assert_eq!(place_card((700.0, 100.0), card, stage), (404.0, 116.0), "to the left at the right edge");
    assert_eq!(place_card((100.0, 380.0), card, stage), (116.0, 274.0), "above at the lower edge");
    assert_eq!(place_card((200.0, 100.0), card, (400.0, 400.0)), (120.0, 116.0), "a narrow stage: below, moved inside");
    assert_eq!(place_card((100.0, 50.0), card, (800.0, 100.0)), (116.0, 10.0), "a low stage: beside, moved inside");
}

#[test]
fn chips_do_not_overlap() {
    let edges = [10.0, 510.0];
    assert_eq!(place_chip(200.0, 80.0, edges, None, 4.0), 160.0);
    assert_eq!(place_chip(500.0, 80.0, edges, None, 4.0), 430.0);
    let taken = Some([160.0, 240.0]);
    assert_eq!(place_chip(400.0, 80.0, edges, taken, 4.0), 360.0);
    assert_eq!(place_chip(210.0, 80.0, edges, taken, 4.0), 244.0);
    assert_eq!(place_chip(190.0, 80.0, edges, taken, 4.0), 76.0);
    // At an edge, the chip moves to the other side.
    assert_eq!(place_chip(500.0, 80.0, edges, Some([430.0, 510.0]), 4.0), 346.0);
    assert_eq!(place_chip(12.0, 80.0, edges, Some([10.0, 90.0]), 4.0), 94.0);
}

#[test]
fn card_does_not_cover_hovered_block() {
    let (card, stage) = ((280.0, 120.0), (1000.0, 500.0));
    let covered = |(x, y): Pair, block: &Rect| intersection_area(&[x, y, x + card.0, y + card.1], block);
    let at = |at: Pair, block: Rect, top: f64| {
        place_card_around(at, card, stage, &Obstacles { block: &[block], stack_top_at_x: &|_| top })
    };
    // Beside the pointer the card would cover these large blocks, but there is room below or above.
    for block in [[100.0, 150.0, 900.0, 300.0], [100.0, 150.0, 1000.0, 500.0], [0.0, 0.0, 600.0, 500.0]] {
        for pointer in [(block[0] + 50.0, block[1] + 20.0), (block[2] - 30.0, block[3] - 40.0)] {
            assert_eq!(covered(at(pointer, block, 0.0), &block), 0.0, "{block:?} {pointer:?}");
        }
    }
    // The card prefers an empty area of the picture.
    let (_, y) = at((500.0, 180.0), [400.0, 170.0, 600.0, 200.0], 150.0);
    assert!(y + card.1 <= 150.0, "{y}");
    // If the block fills the stage, the card is placed beside the pointer.
    assert_eq!(at((500.0, 250.0), [0.0, 0.0, 1000.0, 500.0], 0.0), place_card((500.0, 250.0), card, stage));
}
