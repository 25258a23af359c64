//! Link keys of the simulated allocator: settings and capacity as typed.

use super::{Simulator, SimulatorField};
use crate::link::value::{Key, MAX_VALUE, ValueReader, view_key};

pub(super) const LINKS: &[Key<Simulator>] = &[
    view_key(
        "conf",
        |simulator, _| text_if_short(&simulator.settings),
        |simulator, _, link| set(simulator, SimulatorField::Settings, link),
    ),
    view_key(
        "memory",
        |simulator, _| text_if_short(&simulator.capacity),
        |simulator, _, link| set(simulator, SimulatorField::Capacity, link),
    ),
];

/// Returns the text, or nothing if it is too long for a link.
fn text_if_short(text: &str) -> String {
    Some(text.trim()).filter(|text| text.len() < MAX_VALUE).unwrap_or_default().to_owned()
}

fn set(simulator: &mut Simulator, field: SimulatorField, link: &mut ValueReader<'_>) {
    *simulator.field(field) = link.text.to_owned();
}
