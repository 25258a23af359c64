//! The allocations that curves over the recorded timeline are about, and the plan and the peak of the drawn curve.

use crate::state::find::SameStack;
use crate::state::line::DrawnCurve;
use crate::state::shared::Shared;
use protocol::{Factor, PlanGroup, PlanQuestion, WhatIfCourse};
use std::rc::Rc;

/// Returns the name and the group of the allocations that are highlighted in the timeline: a tree node's, the
/// search matches, a segment's, those with a certain call stack, or a single allocation.
pub(crate) fn selected_group(state: &Shared) -> Option<(String, PlanGroup)> {
    let quoted = |name: &str| ["“", name, "”"].concat();
    if let Some(node) = state.views.node {
        let name = state.node_label().map_or_else(|| "this node".to_owned(), |label| quoted(&label.name));
        return Some((name, PlanGroup::Node(state.views.arrangement, node)));
    }
    if let Some(found) = state.find.current_result().filter(|found| found.tally.count > 0) {
        return Some((quoted(state.find.text.trim()), PlanGroup::NamedIfAny(found.query.clone())));
    }
    let selected_allocation = state.selection.as_deref().map(|selection| selection.allocation);
    if let Some(([from, to], _)) = state.segment.filter(|(_, keeper)| *keeper == selected_allocation) {
        let addresses = format!("0x{from:x}..0x{to:x}");
        return Some(("the allocations in this segment".to_owned(), PlanGroup::NamedIfAny(addresses)));
    }
    let selection = state.selection.as_deref()?;
    Some(match selection.stack.filter(|_| state.same_stack == SameStack::Highlighted) {
        Some(stack) => ("this call stack".to_owned(), PlanGroup::Stack(stack)),
        None => {
            ("this allocation".to_owned(), PlanGroup::NamedIfAny(["#", &selection.allocation.to_string()].concat()))
        }
    })
}

/// Returns the label and the plan of the drawn curve. `None` for the curve of a simulated run.
pub(crate) fn plan(state: &Shared) -> Option<(String, PlanQuestion)> {
    match state.planned.drawn {
        DrawnCurve::None | DrawnCurve::Simulated => None,
        DrawnCurve::Without => {
            selected_group(state).map(|(name, group)| (["without ", &name].concat(), without(group)))
        }
        DrawnCurve::Plan => state.planned.plan.clone().map(|plan| ("as planned".to_owned(), plan)),
    }
}

pub(crate) fn question(state: &Shared) -> Option<PlanQuestion> {
    plan(state).map(|(_, question)| question)
}

pub(crate) fn course(state: &Shared) -> Option<(u32, Rc<WhatIfCourse>)> {
    state.planned.run.clone().filter(|_| state.planned.drawn == DrawnCurve::Simulated)
}

/// Returns the maximum of the drawn curve, in bytes.
pub(crate) fn peak(state: &Shared) -> Option<u64> {
    if let Some((_, course)) = course(state) {
        return Some(max_reserved(&course));
    }
    Some(state.planned.page(&question(state)?)?.planned.0)
}

/// Returns a plan that removes one group of allocations.
pub(super) fn without(group: PlanGroup) -> PlanQuestion {
    PlanQuestion { groups: vec![(group, Factor::ZERO)], ..PlanQuestion::default() }
}

/// Returns the peak of reserved bytes in a simulated run.
pub(super) fn max_reserved(course: &WhatIfCourse) -> u64 {
    course.reserved.iter().fold(course.reserved_at_start, |max, (_, bytes)| max.max(*bytes))
}
