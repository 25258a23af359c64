//! Link keys of the flame graph.

use crate::features::flame::{FlameGraph, GrowthDirection};
use crate::state::link_value::{Key, format_optional, view_key, word_if};

pub(super) const LINKS: &[Key<FlameGraph>] = &[
    view_key(
        "zoom",
        |flame, shared| format_optional(flame.zoom_node(shared)),
        |flame, shared, link| {
            let node = link.number().unwrap_or(0);
            flame.zoom_to(shared, node);
        },
    ),
    view_key(
        "flame",
        |flame, _| word_if(flame.growth == GrowthDirection::Up, "up"),
        |flame, _, link| {
            flame.growth = if link.is_second_word(["down", "up"]) { GrowthDirection::Up } else { GrowthDirection::Down }
        },
    ),
];
