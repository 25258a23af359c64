//! Link keys of the simulated allocator: settings and sizes as typed, and changes to the program.

use crate::features::what_if::{ProgramChange, Simulator, SimulatorField};
use crate::state::link_value::{Key, MAX_VALUE, ValueReader, format_list, view_key};
use crate::state::shared::Shared;
use protocol::WhatIfProgram;

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
    view_key(
        "total",
        |simulator, _| text_if_short(&simulator.total),
        |simulator, _, link| set(simulator, SimulatorField::Total, link),
    ),
    view_key("program", program, set_program),
    view_key(
        "preallocate",
        |simulator, _| text_if_short(&simulator.preallocate),
        |simulator, _, link| set(simulator, SimulatorField::Preallocate, link),
    ),
];

fn program(simulator: &Simulator, _: &Shared) -> String {
    let mut program = simulator.program.clone();
    let changes = ProgramChange::ALL.into_iter().filter(|(change, _)| *change.field(&mut program));
    format_list(&mut changes.map(|(_, name)| name.to_owned()))
}

fn set_program(simulator: &mut Simulator, _: &Shared, link: &mut ValueReader<'_>) {
    simulator.program = WhatIfProgram::default();
    link.for_each_entry(&mut |entry| {
        let (change, _) = ProgramChange::ALL.into_iter().find(|(_, name)| *name == entry)?;
        *change.field(&mut simulator.program) = true;
        Some(())
    });
}

/// Returns the text, or nothing if it is too long for a link.
fn text_if_short(text: &str) -> String {
    Some(text.trim()).filter(|text| text.len() < MAX_VALUE).unwrap_or_default().to_owned()
}

fn set(simulator: &mut Simulator, field: SimulatorField, link: &mut ValueReader<'_>) {
    *simulator.field(field) = link.text.to_owned();
}
