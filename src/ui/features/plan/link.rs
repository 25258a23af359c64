//! Link keys of the planner: rows and capacity as typed, and the drawn curve.

use super::data::MOST_ROWS;
use super::{Plan, Row, What};
use crate::link::reading::{Key, LONGEST_VALUE, kept, name};
use crate::planned::Drawn;
use engine::protocol::Preset;

const CURVES: [&str; 3] = ["", "without", "plan"];

pub(super) const LINKS: &[Key<Plan>] = &[
    kept(
        "plan",
        |plan, _| written(plan),
        |plan, _, link| {
            plan.rows = link.text.lines().take(MOST_ROWS).map(read).collect();
        },
    ),
    kept("fits", |plan, _| plan.capacity.trim().to_owned(), |plan, _, link| plan.capacity = link.text.to_owned()),
    kept(
        "curve",
        |_, shared| name(&CURVES, shared.planned.drawn as usize).to_owned(),
        |_, shared, link| {
            let drawn = link.one_of(&CURVES, &[Drawn::None, Drawn::Without, Drawn::Plan]);
            shared.draw(drawn);
        },
    ),
];

/// Formats the plan with one row per line. Rows that exceed the maximum length are left out.
fn written(plan: &Plan) -> String {
    let mut text = String::new();
    for row in plan.rows.iter().filter(|row| !row.is_empty()) {
        let line = row.written();
        if text.len() + line.len() < LONGEST_VALUE {
            text += if text.is_empty() { "" } else { "\n" };
            text += &line;
        }
    }
    text
}

fn read(line: &str) -> Row {
    let (group, by) = line.rsplit_once('=').unwrap_or((line, ""));
    let preset = Preset::ALL.into_iter().find(|preset| preset.name() == group);
    Row { what: preset.map_or_else(|| What::Group(group.to_owned()), What::Preset), by: by.to_owned() }
}
