//! Outline of an allocation in a picture, as thin rectangles along the edges of its quads.

/// A rectangle in device pixels of the window. `y` counts upwards. The right and upper edges are exclusive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rect {
    pub x: [i32; 2],
    pub y: [i32; 2],
}

/// Returns the outline of the quads of one allocation, as strokes `thick` pixels wide inside the quads. `parts` must be
/// ordered from left to right. Between two adjacent parts only the step between them gets a stroke.
///
/// ```text
///   ┌────────┐
///   │        └─────┐
///   └──┐           │
///      └───────────┘
/// ```
pub fn outline(parts: &[Rect], thick: i32) -> Vec<Rect> {
    let mut strokes = Vec::with_capacity(parts.len() * 4);
    for (index, part) in parts.iter().enumerate() {
        let ([left, right], [low, high]) = (part.x, part.y);
        strokes.push(Rect { x: part.x, y: [(high - thick).max(low), high] });
        strokes.push(Rect { x: part.x, y: [low, (low + thick).min(high)] });
        let before = index.checked_sub(1).and_then(|index| parts.get(index)).filter(|before| before.x[1] == left);
        let after = parts.get(index + 1).filter(|after| after.x[0] == right);
        let sides = [(before, [left, (left + thick).min(right)]), (after, [(right - thick).max(left), right])];
        for (neighbour, x) in sides {
            // The part of this side that has no neighbour beside it.
            let [beside_low, beside_high] = neighbour.map_or([high, high], |neighbour| neighbour.y);
            let below = Rect { x, y: [low, beside_low.clamp(low, high)] };
            let above = Rect { x, y: [beside_high.clamp(low, high), high] };
            strokes.extend([below, above].into_iter().filter(|stroke| stroke.y[0] < stroke.y[1]));
        }
    }
    strokes
}

#[cfg(test)]
#[path = "../../tests/units/picture/outline.rs"]
mod tests;
