//! Where the card goes, inside the stage and never over what is pointed at; and where chips go that share a line.

/// CSS pixels between cursor and card.
const DISTANCE: f64 = 16.0;

/// A width and a height, or a place from the left and the top, in CSS pixels.
pub type Pair = (f64, f64);

/// The left and upper edge of a card of size `card` on a stage of size `stage`, for a cursor at `at`. To the right and below, unless
/// there is more room on the other side; where there is room on neither, the card keeps clear of the cursor in one direction and
/// stays on the stage in the other, as far as it fits at all.
pub fn beside(at: Pair, card: Pair, stage: Pair) -> Pair {
    let (x, fits_x) = along(at.0, card.0, stage.0);
    let (y, fits_y) = along(at.1, card.1, stage.1);
    let inside = |place: f64, size: f64, room: f64| place.min(room - size).max(0.0);
    match (fits_x, fits_y) {
        (Fits::Yes, Fits::Yes) => (x, y),
        // Clear of the cursor sideways, so its height is free.
        (Fits::Yes, Fits::No) => (x, inside(y, card.1, stage.1)),
        (Fits::No, Fits::Yes) => (inside(x, card.0, stage.0), y),
        // A stage hardly larger than the card: below or above, and cut.
        (Fits::No, Fits::No) => (inside(x, card.0, stage.0), y),
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Fits {
    Yes,
    No,
}

fn along(at: f64, size: f64, room: f64) -> (f64, Fits) {
    let (after, before) = (at + DISTANCE, at - DISTANCE - size);
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

/// The left edge of a chip `width` wide whose middle is to be at `x`, between two edges, clear of another chip.
pub fn chip(x: f64, width: f64, [from, to]: [f64; 2], taken: Option<[f64; 2]>, apart: f64) -> f64 {
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

/// Left, top, right and bottom edge in CSS pixels.
pub type Rect = [f64; 4];

/// What a card is to leave visible.
pub struct Busy<'a> {
    /// The pieces of the block that is pointed at; the first is the one under the pointer.
    pub block: &'a [Rect],
    /// Where what is drawn begins, from the top, at a place from the left.
    pub top: &'a dyn Fn(f64) -> f64,
}

/// CSS pixels between a block and the card.
const CLEAR: f64 = 12.0;
/// CSS pixels at the top that chips need.
const CHIPS: f64 = 22.0;
/// How much worse it is to lie on all of the block than to lie on neighbours; that is as bad as to be so many CSS pixels away.
const ON_BLOCK: f64 = 8.0;
const AWAY: f64 = 320.0;

/// The left and upper edge of a card that leaves a block visible, and what is around it as far as that is possible nearby.
pub fn clear_of(at: Pair, card: Pair, stage: Pair, busy: &Busy<'_>) -> Pair {
    let usual = beside(at, card, stage);
    let Some([left, top, right, bottom]) = busy.block.first().copied() else { return usual };
    let inside = |place: f64, least: f64, size: f64, room: f64| place.min(room - size).max(least);
    let (x, y) =
        (inside(at.0 - card.0 / 2.0, 0.0, card.0, stage.0), inside(at.1 - card.1 / 2.0, CHIPS, card.1, stage.1));
    let places = [
        usual,
        (right + CLEAR, y),
        (left - CLEAR - card.0, y),
        (x, top - CLEAR - card.1),
        (x, bottom + CLEAR),
        (usual.0, top - CLEAR - card.1),
        (usual.0, bottom + CLEAR),
        (usual.0, CHIPS),
    ];
    let cost = |&(x, y): &Pair| {
        let rect = [x, y, x + card.0, y + card.1];
        let area = (card.0 * card.1).max(1.0);
        let on_block: f64 = busy.block.iter().map(|piece| shared(&rect, piece)).sum();
        let steps = [0.1, 0.3, 0.5, 0.7, 0.9].map(|part| (rect[3] - (busy.top)(x + part * card.0)).clamp(0.0, card.1));
        let on_others = steps.iter().sum::<f64>() / 5.0 / card.1.max(1.0);
        let away = [rect[0] - at.0, at.0 - rect[2], rect[1] - at.1, at.1 - rect[3]].into_iter().fold(0.0, f64::max);
        // Never over what is pointed at.
        let hides = if away <= 0.0 { f64::INFINITY } else { 0.0 };
        hides + ON_BLOCK * (on_block / area).min(1.0) + on_others + away / AWAY
    };
    let fits = |(x, y): &Pair| *x >= 0.0 && *y >= CHIPS && x + card.0 <= stage.0 && y + card.1 <= stage.1;
    let best = places.into_iter().filter(fits).min_by(|a, b| cost(a).total_cmp(&cost(b)));
    best.unwrap_or(usual)
}

/// The area that two rectangles share.
fn shared(a: &Rect, b: &Rect) -> f64 {
    let along =
        |low: f64, high: f64, other_low: f64, other_high: f64| (high.min(other_high) - low.max(other_low)).max(0.0);
    along(a[0], a[2], b[0], b[2]) * along(a[1], a[3], b[1], b[3])
}

#[cfg(test)]
#[path = "../../tests/units/ui/placing.rs"]
mod tests;
