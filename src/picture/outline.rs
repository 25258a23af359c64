//! The outline of an allocation in the picture: thin rectangles along the edges of its quads.

/// A rectangle in device pixels of the window; `y` counts upwards; right and upper edges exclusive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rect {
    pub x: [i32; 2],
    pub y: [i32; 2],
}

/// The outline of the quads of one allocation, in strokes `thick` pixels wide that lie inside them. `parts` are in order from
/// left to right; where one ends and the next begins, only the step between them gets a line.
///
/// ```text
///   ┌────────┐
///   │        └─────┐
///   └──┐           │
///      └───────────┘
/// ```
pub fn outline(parts: &[Rect], thick: i32) -> Vec<Rect> {
    let mut strokes = Vec::with_capacity(parts.len() * 4);
    for (at, part) in parts.iter().enumerate() {
        let ([left, right], [low, high]) = (part.x, part.y);
        strokes.push(Rect { x: part.x, y: [(high - thick).max(low), high] });
        strokes.push(Rect { x: part.x, y: [low, (low + thick).min(high)] });
        let before = at.checked_sub(1).and_then(|at| parts.get(at)).filter(|before| before.x[1] == left);
        let after = parts.get(at + 1).filter(|after| after.x[0] == right);
        let sides = [(before, [left, (left + thick).min(right)]), (after, [(right - thick).max(left), right])];
        for (neighbour, x) in sides {
            // The side as far as no neighbour stands beside it: all of it at an end.
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
