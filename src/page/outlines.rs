//! Outlines of the hovered and the selected allocation, each clipped to its lane.

use picture::outline::{Rect, outline as strokes};
use picture::render::placement::Placement;
use picture::render::{OverlayRect, PictureTheme};
use picture::timeline::{OutlineRect, Quad, View, outline};
use ui::features::State;
use ui::state::lanes::ShownLane;

/// Returns the outlines in device pixels of the canvas. The hovered allocation comes first, so that the selected one is
/// drawn on top.
pub(super) fn outlines(state: &State, look: &PictureTheme) -> Vec<OverlayRect> {
    let mut rects = Vec::new();
    let thick = state.canvas.map_or(1, |canvas| canvas.scale.round().max(1.0) as i32);
    let lane_of = |place: usize| state.shown_lanes().find(|lane| lane.index == place);
    if let Some(hover) = &state.hover
        && let Some(lane) = lane_of(hover.device_index)
    {
        let quads = match hover.spot.single_allocation() {
            None if hover.spot.quad == usize::MAX => Vec::new(),
            Some(rank) => quads_of(&lane, rank),
            None => lane.geometry.scene.iter().filter_map(|scene| scene.quads.get(hover.spot.quad).copied()).collect(),
        };
        add_strokes(&mut rects, &lane, &to_canvas(&lane, &quads), thick, look.hover);
    }
    if let Some(of) = ui::plot::surroundings::outline_key(state)
        && let Some(lane) = state.focused_lane()
    {
        // The worker knows the outline even if the scene merges the allocation with others.
        let quad = |rect: &OutlineRect| Quad { x: rect.x.map(|x| x as i16), y: rect.y.map(|y| y as i16), paint: 0 };
        let exact = state.surroundings.outline.answer_to(&of);
        let exact = exact.map(|rects| rects.iter().map(quad).collect());
        let quads: Vec<Quad> = exact.unwrap_or_else(|| quads_of(&lane, of.allocation));
        add_strokes(&mut rects, &lane, &to_canvas(&lane, &quads), 2 * thick, look.selection);
    }
    rects
}

fn quads_of(lane: &ShownLane<'_>, rank: u32) -> Vec<Quad> {
    lane.geometry.scene.iter().flat_map(|scene| outline(scene, rank)).collect()
}

/// Returns the lane's visible range of time and bytes, extended to the whole canvas.
fn canvas_view(lane: &ShownLane<'_>) -> View {
    View { bottom_px: lane.view.bottom_px.saturating_sub(lane.bottom_px.into()), ..*lane.view }
}

fn to_canvas(lane: &ShownLane<'_>, quads: &[Quad]) -> Vec<Rect> {
    let Some(scene) = &lane.geometry.scene else { return Vec::new() };
    let placement = Placement::new(&scene.view, &canvas_view(lane));
    let placed = |quad: &Quad| Rect { x: quad.x.map(|x| placement.column(x)), y: quad.y.map(|y| placement.row(y)) };
    quads.iter().map(placed).collect()
}

/// Adds outlines of `parts`, clipped to the lane. `thick` is the line width in device pixels.
fn add_strokes(rects: &mut Vec<OverlayRect>, lane: &ShownLane<'_>, parts: &[Rect], thick: i32, rgba: [u8; 4]) {
    let [bottom, top] = [lane.bottom_px, lane.bottom_px + lane.view.height_px].map(|row| row as i32);
    let strokes = strokes(parts, thick).into_iter().map(|stroke| OverlayRect {
        x: stroke.x,
        y: stroke.y.map(|row| row.clamp(bottom, top)),
        rgba,
    });
    rects.extend(strokes.filter(|rect| rect.y[0] < rect.y[1]));
}
