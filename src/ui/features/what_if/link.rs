//! Link keys of the simulated allocator: settings and capacity as typed.

use super::{Field, Simulator};
use crate::link::reading::{Key, LONGEST_VALUE, Reading, kept};

pub(super) const LINKS: &[Key<Simulator>] = &[
    kept("conf", |simulator, _| written(&simulator.settings), |simulator, _, link| set(simulator, Field::Line, link)),
    kept(
        "memory",
        |simulator, _| written(&simulator.capacity),
        |simulator, _, link| set(simulator, Field::Capacity, link),
    ),
];

/// Returns the text, or nothing if it is too long for a link.
fn written(text: &str) -> String {
    Some(text.trim()).filter(|text| text.len() < LONGEST_VALUE).unwrap_or_default().to_owned()
}

fn set(simulator: &mut Simulator, field: Field, link: &mut Reading<'_>) {
    *simulator.field(field) = link.text.to_owned();
}
