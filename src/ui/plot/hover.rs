//! Looks up the spot of a scene under the pointer, and builds the hover card that describes it.

pub(crate) use crate::state::hover::lifetime_text;
pub use crate::state::hover::{Card, Spot};

use crate::plot::plots::segment;
use crate::state::crosshair::{Position, column_under};
use crate::state::drawing::Hover;
use crate::state::effect::Pointer;
use crate::state::shared::Shared;

use crate::text::names::no_stack;
use base::units::{Bytes, group_digits, percent, pluralize};
use picture::timeline::{Quad, QuadIdentity, Scene, View, scene_hit};
use protocol::Plot;
use protocol::category::category_label;

/// Returns a spot for a position at which the scene draws no block. The worker is then asked about the position. `None`
/// if the position is outside all columns.
pub fn empty_spot(scene: &Scene, view: &View, pointer: Pointer) -> Option<Spot> {
    let column = column_under(scene, view, pointer.x)?;
    let moment = scene.columns.moment.get(column).copied()?;
    let byte = view.bytes_from_row(pointer.y.floor() + 0.5).max(0.0) as u64;
    Some(Spot::from_position(Position { moment, byte }))
}

/// Returns the spot of the block or band under `pointer`. `None` outside the stack.
pub fn spot(scene: &Scene, view: &View, pointer: Pointer) -> Option<Spot> {
    // The scene may have another scale than the window until the scene at the right scale arrives.
    let x = scene.view.column_from_x(view.x_from_column(pointer.x.floor() + 0.5)).floor() as i32;
    let bytes = view.bytes_from_row(pointer.y.floor() + 0.5);
    let y = ((bytes / scene.view.bytes_per_px).floor() - scene.view.bottom_px as f64) as i32;
    let under = scene_hit(scene, x, y)?;
    let quad_index = under.quad?;
    let (quad, identity) = scene.quads.get(quad_index).zip(scene.identities.get(quad_index))?;
    let middle = f64::from(quad.y[0] + quad.y[1]) / 2.0;
    let byte = if identity.count == 1 { scene.view.bytes_from_row(middle).max(0.0) as u64 } else { under.byte };
    let hidden = scene.columns.hidden.get(under.column).zip(scene.columns.hidden_largest.get(under.column));
    Some(Spot {
        quad: quad_index,
        moment: under.moment.0,
        byte,
        ids: [identity.first, identity.last],
        count: identity.count,
        requested: identity.requested(),
        total: scene.columns.total.get(under.column).copied().unwrap_or(0),
        hidden: hidden.map_or((0, 0), |(count, largest)| (*count, *largest)),
    })
}

/// Maximum number of rectangles of a block that the hover card avoids covering.
const MAX_PIECES: usize = 400;

/// Returns the rectangles of the hovered block, which the hover card must not cover: left, top, right and bottom edge
/// in device pixels from the canvas's top left corner. The rectangle under the pointer comes first.
pub fn block_rects(state: &Shared) -> Vec<[f64; 4]> {
    let rects = || {
        let (hover, canvas) = (state.hover.as_ref()?, state.canvas?);
        let lane = state.shown_lanes().find(|lane| lane.index == hover.device_index)?;
        let scene = lane.geometry.scene.as_ref()?;
        let quads = || scene.quads.iter().zip(&scene.identities);
        let (first, identity) = quads().nth(hover.spot.quad)?;
        let rect = |quad: &Quad| {
            let x = quad.x.map(|x| lane.view.column_from_x(scene.view.x_from_column(x.into())));
            let y = quad.y.map(|row| {
                let bytes = (f64::from(row) + scene.view.bottom_px as f64) * scene.view.bytes_per_px;
                let up = bytes / lane.view.bytes_per_px - lane.view.bottom_px as f64;
                f64::from(canvas.height_px) - f64::from(lane.bottom_px) - up.clamp(0.0, lane.view.height_px.into())
            });
            [x[0].max(0.0), y[1], x[1].min(lane.view.width_px.into()), y[0]]
        };
        let is_same = |other: &QuadIdentity| identity.count == 1 && other.count == 1 && other.first == identity.first;
        let others = quads().filter(|(_, other)| is_same(other)).map(|(quad, _)| rect(quad)).take(MAX_PIECES);
        Some(std::iter::once(rect(first)).chain(others).collect())
    };
    rects().unwrap_or_default()
}

/// Returns the top edge of the stack at column `x` of the canvas, in device pixels from the canvas's top. 0 in plots
/// without a stack, such as the plot of addresses.
pub fn stack_top_px(state: &Shared, x: f64) -> f64 {
    let top = || {
        let (hover, canvas) = (state.hover.as_ref()?, state.canvas?);
        let lane = state.shown_lanes().find(|lane| lane.index == hover.device_index)?;
        let scene = lane.geometry.scene.as_ref().filter(|scene| scene.ground.is_none())?;
        let total = column_under(scene, lane.view, x).and_then(|column| scene.columns.total.get(column))?;
        let up = f64::from(lane.bottom_px) + lane.view.row_from_bytes(*total) as f64;
        Some(f64::from(canvas.height_px) - up)
    };
    top().unwrap_or(0.0)
}

/// Builds the hover card.
pub fn card(hover: &Hover) -> Card {
    let spot = &hover.spot;
    let (count, largest) = spot.hidden;
    let hidden = match count {
        0 => String::new(),
        1 => format!("1 allocation of {} begins and ends within this column", Bytes(largest)),
        _ => {
            format!(
                "{} allocations of up to {} begin and end within this column",
                group_digits(count.into()),
                Bytes(largest)
            )
        }
    };
    let is_allocation = !matches!(hover.plot, Plot::Reserved(_)) && (hover.hit.is_some() || spot.count > 0);
    if hover.plot != Plot::Stack && !is_allocation {
        return segment::card(hover, hidden);
    }
    let segment_of_hit = hover.memory.as_deref().and_then(|memory| memory.segment.as_ref());
    let segment = segment_of_hit.map_or_else(String::new, segment::segment_line);
    let bytes = hover.hit.as_ref().map_or(spot.requested, |hit| hit.requested);
    let mut share = hover.hit.as_ref().and_then(|hit| hit.category.as_deref()).map_or("", category_label).to_owned();
    if hover.plot == Plot::Stack && spot.total > 0 {
        let comma = if share.is_empty() { "" } else { " · " };
        share = [&share, comma, &percent(bytes, spot.total), " of ", &Bytes(spot.total).to_string(), " live"].concat();
    }
    let Some(hit) = &hover.hit else {
        let call_site = if spot.count == 1 { "…".into() } else { pluralize(spot.count.into(), "small allocation") };
        return Card {
            title: Bytes(spot.requested).to_string(),
            call_site,
            lifetime: "…".into(),
            hidden,
            segment,
            share,
            ..Card::default()
        };
    };
    let exact = if hit.requested < 1024 { String::new() } else { format!(" · {} B", group_digits(hit.requested)) };
    let call_site = hit.call_site.clone().unwrap_or_else(|| no_stack(hit.allocated_at > 0).into());
    Card {
        title: format!("{}{exact}", Bytes(hit.requested)),
        call_site,
        lifetime: lifetime_text(hit.allocated_at, hit.freed_at),
        hidden,
        segment,
        share,
        ..Card::default()
    }
}
