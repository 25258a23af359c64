//! Where the card goes: beside the cursor, inside the stage, never over what is pointed at.

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

#[cfg(test)]
#[path = "../../tests/units/ui/placing.rs"]
mod tests;
