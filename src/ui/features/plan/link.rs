//! Link keys of the planner: rows and capacity as typed, and the drawn curve.

use crate::features::plan::data::MAX_ROWS;
use crate::features::plan::{EditedRow, Plan, RowSubject};
use crate::plot::planned::DrawnCurve;
use crate::state::link_value::{Key, MAX_VALUE, view_key};
use crate::state::outbox::Intent;
use protocol::Preset;

pub(super) const LINKS: &[Key<Plan>] = &[
    view_key(
        "plan",
        |plan, _| format_plan(plan),
        |plan, _, link| {
            plan.rows = link.text.lines().take(MAX_ROWS).map(parse_row).collect();
        },
    ),
    view_key("fits", |plan, _| plan.capacity.trim().to_owned(), |plan, _, link| plan.capacity = link.text.to_owned()),
    view_key(
        "curve",
        |_, shared| shared.planned.drawn.name().to_owned(),
        |_, _, link| {
            let drawn = link.check(DrawnCurve::from_name(link.text)).unwrap_or_default();
            link.out.intend(Intent::DrawCurve(drawn));
        },
    ),
];

/// Formats the plan with one row per line. Omits rows that would exceed [`MAX_VALUE`].
fn format_plan(plan: &Plan) -> String {
    let mut text = String::new();
    for row in plan.rows.iter().filter(|row| !row.is_empty()) {
        let line = row.to_text();
        if text.len() + line.len() < MAX_VALUE {
            text += if text.is_empty() { "" } else { "\n" };
            text += &line;
        }
    }
    text
}

fn parse_row(line: &str) -> EditedRow {
    let (group, by) = line.rsplit_once('=').unwrap_or((line, ""));
    let preset = Preset::from_name(group);
    EditedRow {
        subject: preset.map_or_else(|| RowSubject::Group(group.to_owned()), RowSubject::Preset),
        factor: by.to_owned(),
    }
}
