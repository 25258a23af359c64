//! The planner of the Savings insight. A plan multiplies the sizes of groups of allocations by factors, which presets
//! fill in for common changes. The planner shows the resulting peak.

mod data;

pub use data::{EditedRow, Plan, PlanAction, PlanField, RowSubject};

pub mod commands;
mod link;
pub mod view;
pub mod words;

use crate::features::feature::{Feature, close_nothing};
use crate::plot::planned::DrawnCurve;
use crate::state::change::{AskPhase, Change};
use crate::state::outbox::{Intent, Outbox};
use crate::state::shared::Shared;
use crate::text::tab::Tab;
use protocol::{Answer, Factor, Preset, Question, Topic, WhatIfQuestion};
use std::rc::Rc;

pub(crate) const FEATURE: Feature<Plan, PlanAction> = Feature {
    reset,
    questions: &[(AskPhase::BeforeScene, publish), (AskPhase::Last, simulate)],
    on_reply: take,
    on_action: handle_action,
    link_keys: link::LINKS,
    on_escape: close_nothing,
};

/// Returns true while the planner is visible.
fn is_seen(shared: &Shared) -> bool {
    shared.views.visible() == Some(Tab::Insights) && shared.topic == Topic::Savings
}

/// Copies the plan to the shared state while the planner is visible or its curve is drawn.
fn publish(plan: &mut Plan, shared: &Shared, _: i64, out: &mut Outbox) {
    let compared = shared.comparing.pair.filter(|[a, _]| *a == shared.device_index);
    plan.comparison = compared.map(|[_, b]| shared.comparing.second_load().wrapping_mul(256).wrapping_add(b as u32));
    let is_wanted = is_seen(shared) || shared.planned.drawn == DrawnCurve::Plan;
    let question = if is_wanted { plan.question(shared.capacity()) } else { None };
    if shared.planned.plan != question {
        out.intend(Intent::Plan(question));
    }
}

/// Requests a simulation of the plan while the planner is visible. Does nothing until the worker has validated the
/// plan.
fn simulate(plan: &mut Plan, shared: &Shared, device: i64, out: &mut Outbox) {
    // The simulation failed or was replaced by another one.
    if let Some((_, question)) = plan.pending.take_if(|(serial, _)| shared.simulation != Some(*serial)) {
        plan.simulated = Some((question, None));
    }
    let Some(question) = plan.question(shared.capacity()).filter(|_| is_seen(shared)) else { return };
    let is_valid = shared.planned.page(&question).is_some_and(|page| page.error.is_empty());
    let is_known = plan.simulated.as_ref().is_some_and(|(of, _)| *of == question);
    if !is_valid || is_known || shared.simulation.is_some() {
        return;
    }
    out.ask(device, Question::PlannedSizes(Box::new(question.clone())));
    let what_if = WhatIfQuestion { capacity: question.capacity, is_planned: true, ..WhatIfQuestion::default() };
    let serial = out.ask(device, Question::WhatIf(Box::new(what_if)));
    out.intend(Intent::Simulation(Some(serial)));
    plan.pending = Some((serial, question));
}

/// Handles a reply of the simulator. Returns replies for other features.
fn take(plan: &mut Plan, shared: &Shared, serial: u32, answer: Answer, out: &mut Outbox) -> Option<Answer> {
    let Answer::WhatIf(answer) = answer else { return Some(answer) };
    if shared.simulation == Some(serial) {
        out.intend(Intent::Simulation(None));
    }
    if let Some((_, question)) = plan.pending.take_if(|(asked, _)| *asked == serial) {
        plan.simulated = Some((question, Some(Rc::from(answer))));
    }
    None
}

/// Discards the simulation, but keeps the rows of the plan.
fn reset(plan: &mut Plan, _: &Shared, _: Change, _: &mut Outbox) {
    (plan.pending, plan.simulated) = Default::default();
}

/// Handles user input in the planner.
fn handle_action(plan: &mut Plan, _: &Shared, action: PlanAction, out: &mut Outbox) {
    match action {
        PlanAction::Drawn(drawn) => {
            out.intend(Intent::DrawCurve(drawn));
            return;
        }
        PlanAction::CapacityTyped(text) => {
            plan.capacity = text;
            return;
        }
        PlanAction::Undo => {
            plan.rows = plan.undo.pop().unwrap_or_default();
            return;
        }
        _ => {}
    }
    let previous_rows = plan.rows.clone();
    match action {
        PlanAction::Typed(index, field, text) => {
            if let Some(row) = plan.rows.get_mut(index) {
                row.set_text(field, text);
            }
        }
        PlanAction::GroupAdded => plan.add(RowSubject::Group(String::new()), ""),
        PlanAction::PresetAdded(preset) => {
            let number = match preset {
                _ if !preset.has_number() => "",
                Preset::Batch | Preset::Sequence => "2",
                _ => "8",
            };
            plan.add(RowSubject::Preset(preset), number);
        }
        PlanAction::Removed(index) if index < plan.rows.len() => drop(plan.rows.remove(index)),
        PlanAction::Cleared => plan.rows.clear(),
        _ => {}
    }
    if plan.rows != previous_rows {
        plan.push_undo(previous_rows);
        // A plan that changes something is drawn at once.
        let does_nothing = plan.question(None).is_none_or(|of| of.groups.is_empty() && of.batch == Factor::ONE);
        if !does_nothing {
            out.intend(Intent::DrawCurve(DrawnCurve::Plan));
        }
    }
}

#[cfg(test)]
#[path = "../../../tests/units/ui/features/plan.rs"]
mod tests;
