//! Link keys of the flame graph.

use super::{FlameGraph, Growth};
use crate::link::reading::{Key, kept, optional, word};

pub(super) const LINKS: &[Key<FlameGraph>] = &[
    kept(
        "zoom",
        |flame, shared| optional(flame.zoom_node(shared)),
        |flame, shared, link| {
            let node = link.number().unwrap_or(0);
            flame.zoom_to(shared, node);
        },
    ),
    kept(
        "flame",
        |flame, _| word(flame.growth == Growth::Up, "up"),
        |flame, _, link| flame.growth = if link.is_second(["down", "up"]) { Growth::Up } else { Growth::Down },
    ),
];
