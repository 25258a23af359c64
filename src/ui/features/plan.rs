//! The planner of the Savings insight. A plan multiplies the sizes of groups of allocations by factors, which presets
//! fill in for common changes. The planner shows the resulting peak.

mod data;

pub use data::{EditedRow, Plan, PlanAction, PlanField, RowSubject};

pub mod commands;
mod feature;
mod link;
pub mod view;
pub mod words;

pub(crate) use feature::FEATURE;

use crate::change::Change;
use crate::effect::Effect;
use crate::planned::DrawnCurve;
use crate::shared::Shared;
use crate::tab::Tab;
use protocol::{Answer, Factor, Preset, Question, Topic, WhatIfQuestion};
use std::rc::Rc;

/// Returns true while the planner is visible.
fn is_seen(shared: &Shared) -> bool {
    shared.views.visible() == Some(Tab::Insights) && shared.topic == Topic::Savings
}

/// Copies the plan to the shared state while the planner is visible or its curve is drawn.
fn publish(plan: &mut Plan, shared: &mut Shared, _: i64, _: &mut Vec<Effect>) {
    let compared = shared.comparing.pair.filter(|[a, _]| *a == shared.device_index);
    plan.comparison = compared.map(|[_, b]| shared.comparing.second_load().wrapping_mul(256).wrapping_add(b as u32));
    let is_wanted = is_seen(shared) || shared.planned.drawn == DrawnCurve::Plan;
    let question = if is_wanted { plan.question(shared.capacity()) } else { None };
    if shared.planned.plan != question {
        shared.change_height(|shared| shared.planned.plan = question);
    }
}

/// Requests a simulation of the plan while the planner is visible. Does nothing until the worker has validated the
/// plan.
fn simulate(plan: &mut Plan, shared: &mut Shared, device: i64, effects: &mut Vec<Effect>) {
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
    let sizes = Question::PlannedSizes(Box::new(question.clone()));
    effects.push(Effect::ask(shared.next_serial(), device, sizes));
    let what_if = WhatIfQuestion { capacity: question.capacity, is_planned: true, ..WhatIfQuestion::default() };
    let serial = shared.next_serial();
    (plan.pending, shared.simulation) = (Some((serial, question)), Some(serial));
    effects.push(Effect::ask(serial, device, Question::WhatIf(Box::new(what_if))));
}

/// Handles a reply of the simulator. Returns replies for other features.
fn take(plan: &mut Plan, shared: &mut Shared, serial: u32, answer: Answer, _: &mut Vec<Effect>) -> Option<Answer> {
    let Answer::WhatIf(answer) = answer else { return Some(answer) };
    shared.simulation.take_if(|asked| *asked == serial);
    if let Some((_, question)) = plan.pending.take_if(|(asked, _)| *asked == serial) {
        plan.simulated = Some((question, Some(Rc::from(answer))));
    }
    None
}

/// Discards the simulation, but keeps the rows of the plan.
fn reset(plan: &mut Plan, _: &mut Shared, _: Change) {
    (plan.pending, plan.simulated) = Default::default();
}

/// Handles user input in the planner.
fn handle_action(plan: &mut Plan, shared: &mut Shared, action: PlanAction, _: &mut Vec<Effect>) {
    match action {
        PlanAction::Drawn(drawn) => {
            shared.draw_curve(drawn);
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
            shared.draw_curve(DrawnCurve::Plan);
        }
    }
}

#[cfg(test)]
#[path = "../../../tests/units/ui/features/plan.rs"]
mod tests;
