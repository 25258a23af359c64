//! What is under the pointer: what the scene says at once, and the card that tells it.

mod data;

pub(crate) use data::life;
pub use data::{Card, Spot};

use super::cursor::{Standing, column_under};
use super::effect::Pointer;
use super::plots::segment;
use super::shown::Hover;

use base::units::{Bytes, counted, grouped};
use engine::protocol::Plot;
use picture::timeline::{Scene, View, scene_hit};

/// A place of the picture where nothing is drawn: the worker knows what is there. `None` outside of all columns.
pub fn empty_spot(scene: &Scene, view: &View, pointer: Pointer) -> Option<Spot> {
    let column = column_under(scene, view, pointer.x)?;
    let moment = scene.columns.moment.get(column).copied()?;
    let byte = view.bytes_from_row(pointer.y.floor() + 0.5).max(0.0) as u64;
    Some(Spot::of_keys(Standing { moment, byte }))
}

/// What the picture shows at `pointer`; `None` beside the stack.
pub fn spot(scene: &Scene, view: &View, pointer: Pointer) -> Option<Spot> {
    // The scene may be of another scale while the exact one is on its way.
    let x = scene.view.column_from_x(view.x_from_column(pointer.x.floor() + 0.5)).floor() as i32;
    let bytes = view.bytes_from_row(pointer.y.floor() + 0.5);
    let y = ((bytes / scene.view.bytes_per_px).floor() - scene.view.bottom_px as f64) as i32;
    let under = scene_hit(scene, x, y)?;
    let place = under.quad?;
    let (quad, identity) = scene.quads.get(place).zip(scene.identities.get(place))?;
    let middle = f64::from(quad.y[0] + quad.y[1]) / 2.0;
    let byte = if identity.count == 1 { scene.view.bytes_from_row(middle).max(0.0) as u64 } else { under.byte };
    let hidden = scene.columns.hidden.get(under.column).zip(scene.columns.hidden_largest.get(under.column));
    Some(Spot {
        quad: place,
        moment: under.moment.0,
        byte,
        ranks: [identity.first, identity.last],
        count: identity.count,
        requested: identity.requested(),
        hidden: hidden.map_or((0, 0), |(count, largest)| (*count, *largest)),
    })
}

/// The hover card.
pub fn card(hover: &Hover) -> Card {
    let spot = &hover.spot;
    let (count, largest) = spot.hidden;
    let hidden = match count {
        0 => String::new(),
        1 => format!("1 allocation of {} begins and ends within this column", Bytes(largest)),
        _ => {
            format!(
                "{} allocations of up to {} begin and end within this column",
                grouped(count.into()),
                Bytes(largest)
            )
        }
    };
    let is_allocation = !matches!(hover.plot, Plot::Reserved(_)) && (hover.hit.is_some() || spot.count > 0);
    if hover.plot != Plot::Stack && !is_allocation {
        return segment::card(hover, hidden);
    }
    let within = hover.memory.as_deref().and_then(|memory| memory.segment.as_ref());
    let segment = within.map_or_else(String::new, segment::segment_line);
    let Some(hit) = &hover.hit else {
        let site = if spot.count == 1 { "…".into() } else { counted(spot.count.into(), "small allocation") };
        return Card { title: Bytes(spot.requested).to_string(), site, lifetime: "…".into(), hidden, segment };
    };
    let exact = if hit.requested < 1024 { String::new() } else { format!(" · {} B", grouped(hit.requested)) };
    let site = hit.site.clone().unwrap_or_else(|| "no stack".into());
    Card {
        title: format!("{}{exact}", Bytes(hit.requested)),
        site,
        lifetime: life(hit.born, hit.died),
        hidden,
        segment,
    }
}
