//! Registration of the planner as a feature.

use super::{Plan, PlanAction, handle_action, link, publish, reset, simulate, take};
use crate::binding::{Binding, KeyScope, bind};
use crate::change::AskPhase;
use crate::feature::{Feature, close_nothing};
use crate::outbox::{Intent, Outbox};
use crate::planned::DrawnCurve;
use crate::shared::Shared;

/// Commands for the curve that is drawn over the recorded one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PlanStep {
    ToggleWithoutSelection,
}

const KEYS: &[Binding<PlanStep>] = &[bind(
    KeyScope::Page,
    &[";"],
    PlanStep::ToggleWithoutSelection,
    "Draw the live bytes without what is selected",
    "without-show",
)];

pub(crate) const FEATURE: Feature<Plan, PlanAction, PlanStep> = Feature {
    reset,
    questions: &[(AskPhase::BeforeScene, publish), (AskPhase::Last, simulate)],
    on_reply: take,
    on_action: handle_action,
    on_command,
    bindings: KEYS,
    link_keys: link::LINKS,
    on_escape: close_nothing,
};

fn on_command(_: &mut Plan, shared: &Shared, PlanStep::ToggleWithoutSelection: PlanStep, out: &mut Outbox) {
    let is_drawn = shared.planned.drawn == DrawnCurve::Without;
    out.intend(Intent::DrawCurve(if is_drawn { DrawnCurve::None } else { DrawnCurve::Without }));
}
