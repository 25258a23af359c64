//! Computes positions of tooltips ("cards") that do not cover the hovered block, and of labels ("chips") that do not
//! overlap another label on the same line.

/// Distance between the pointer and a card, in CSS pixels.
const POINTER_GAP: f64 = 16.0;

/// Width and height, or left and top edge, in CSS pixels.
pub type Pair = (f64, f64);

/// Returns the left and top edge of a card of size `card`, within an area of size `stage`, for a pointer at `at`. The
/// card goes below and to the right of the pointer. If there is no space, it goes above or to the left. If it fits on
/// neither side along one axis, it is clamped to the area along that axis.
pub fn place_card(at: Pair, card: Pair, stage: Pair) -> Pair {
    let (x, fits_x) = place_on_axis(at.0, card.0, stage.0);
    let (y, fits_y) = place_on_axis(at.1, card.1, stage.1);
    let inside = |place: f64, size: f64, room: f64| place.min(room - size).max(0.0);
    match (fits_x, fits_y) {
        (Fits::Yes, Fits::Yes) => (x, y),
        // The card is beside the pointer, so its vertical position is free.
        (Fits::Yes, Fits::No) => (x, inside(y, card.1, stage.1)),
        (Fits::No, Fits::Yes) => (inside(x, card.0, stage.0), y),
        // The stage is hardly larger than the card. Place it below or above, cut off at the edge.
        (Fits::No, Fits::No) => (inside(x, card.0, stage.0), y),
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Fits {
    Yes,
    No,
}

fn place_on_axis(at: f64, size: f64, room: f64) -> (f64, Fits) {
    let (after, before) = (at + POINTER_GAP, at - POINTER_GAP - size);
    if after + size <= room {
        (after, Fits::Yes)
    } else if before >= 0.0 {
        (before, Fits::Yes)
    } else if room - at >= at {
        (after, Fits::No)
    } else {
        (before, Fits::No)
    }
}

/// Returns the left edge of a chip. The chip is centred on `x` if possible, stays between `from` and `to`, and keeps a
/// distance of `apart` from the span `taken`. All lengths have the same unit.
pub fn place_chip(x: f64, width: f64, [from, to]: [f64; 2], taken: Option<[f64; 2]>, apart: f64) -> f64 {
    let inside = |left: f64| left.clamp(from, (to - width).max(from));
    let left = inside(x - width / 2.0);
    let Some([begin, end]) = taken.filter(|[begin, end]| left < end + apart && left + width > begin - apart) else {
        return left;
    };
    let (before, after) = (begin - apart - width, end + apart);
    let is_right = x >= begin.midpoint(end);
    match (is_right, before >= from, after + width <= to) {
        (true, _, true) | (false, false, true) => after,
        (_, true, _) => before,
        _ => left,
    }
}

/// A rectangle as left, top, right and bottom edge, in CSS pixels.
pub type Rect = [f64; 4];

/// Areas that a card should leave visible.
pub struct Obstacles<'a> {
    /// Rectangles of the hovered block. The rectangle under the pointer comes first.
    pub block: &'a [Rect],
    /// Returns the top edge of the stack at a horizontal position in CSS pixels.
    pub stack_top_at_x: &'a dyn Fn(f64) -> f64,
}

/// Distance between the hovered block and the card, in CSS pixels.
const BLOCK_GAP: f64 = 12.0;
/// Height of the area that is reserved for chips at the top, in CSS pixels.
const CHIPS_HEIGHT: f64 = 22.0;
/// Cost of a card position that covers the whole hovered block. Covering its surroundings costs up to 1. A distance
/// from the pointer of [`DISTANCE_COST_PX`] CSS pixels also costs 1.
const BLOCK_COST: f64 = 8.0;
const DISTANCE_COST_PX: f64 = 320.0;

/// Returns the left and top edge of a card that does not cover the hovered block, covers as little of the stack as
/// possible, and stays close to the pointer.
pub fn place_card_around(at: Pair, card: Pair, stage: Pair, obstacles: &Obstacles<'_>) -> Pair {
    let usual = place_card(at, card, stage);
    let Some([left, top, right, bottom]) = obstacles.block.first().copied() else { return usual };
    let inside = |place: f64, least: f64, size: f64, room: f64| place.min(room - size).max(least);
    let (x, y) =
        (inside(at.0 - card.0 / 2.0, 0.0, card.0, stage.0), inside(at.1 - card.1 / 2.0, CHIPS_HEIGHT, card.1, stage.1));
    let places = [
        usual,
        (right + BLOCK_GAP, y),
        (left - BLOCK_GAP - card.0, y),
        (x, top - BLOCK_GAP - card.1),
        (x, bottom + BLOCK_GAP),
        (usual.0, top - BLOCK_GAP - card.1),
        (usual.0, bottom + BLOCK_GAP),
        (usual.0, CHIPS_HEIGHT),
    ];
    let cost = |&(x, y): &Pair| {
        let rect = [x, y, x + card.0, y + card.1];
        let area = (card.0 * card.1).max(1.0);
        let on_block: f64 = obstacles.block.iter().map(|piece| intersection_area(&rect, piece)).sum();
        let steps = [0.1, 0.3, 0.5, 0.7, 0.9]
            .map(|part| (rect[3] - (obstacles.stack_top_at_x)(x + part * card.0)).clamp(0.0, card.1));
        let on_others = steps.iter().sum::<f64>() / 5.0 / card.1.max(1.0);
        let distance = [rect[0] - at.0, at.0 - rect[2], rect[1] - at.1, at.1 - rect[3]].into_iter().fold(0.0, f64::max);
        // Never cover the pointer.
        let pointer_cost = if distance <= 0.0 { f64::INFINITY } else { 0.0 };
        pointer_cost + BLOCK_COST * (on_block / area).min(1.0) + on_others + distance / DISTANCE_COST_PX
    };
    let fits = |(x, y): &Pair| *x >= 0.0 && *y >= CHIPS_HEIGHT && x + card.0 <= stage.0 && y + card.1 <= stage.1;
    let best = places.into_iter().filter(fits).min_by(|a, b| cost(a).total_cmp(&cost(b)));
    best.unwrap_or(usual)
}

/// Returns the area of the intersection of two rectangles.
fn intersection_area(a: &Rect, b: &Rect) -> f64 {
    let along =
        |low: f64, high: f64, other_low: f64, other_high: f64| (high.min(other_high) - low.max(other_low)).max(0.0);
    along(a[0], a[2], b[0], b[2]) * along(a[1], a[3], b[1], b[3])
}

#[cfg(test)]
#[path = "../../../tests/units/ui/placing.rs"]
mod tests;
