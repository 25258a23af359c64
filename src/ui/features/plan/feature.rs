//! Registration of the planner as a feature.

use super::{Plan, PlanAction, act, ask, link, reset, simulate, take};
use crate::binding::{Binding, Scope, line};
use crate::change::Turn;
use crate::effect::Effect;
use crate::feature::{Feature, ends_nothing};
use crate::planned::Drawn;
use crate::shared::Shared;

/// Commands for the curve drawn over the recorded one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PlanStep {
    ToggleWithout,
}

const KEYS: &[Binding<PlanStep>] = &[line(
    Scope::Page,
    &[";"],
    PlanStep::ToggleWithout,
    "Draw the live bytes without what is selected",
    "without-show",
)];

pub(crate) const FEATURE: Feature<Plan, PlanAction, PlanStep> = Feature {
    reset,
    asks: &[(Turn::Early, ask), (Turn::Last, simulate)],
    take,
    act,
    command,
    keys: KEYS,
    links: link::LINKS,
    escape: ends_nothing,
};

fn command(_: &mut Plan, shared: &mut Shared, PlanStep::ToggleWithout: PlanStep, _: &mut Vec<Effect>) {
    let is_drawn = shared.planned.drawn == Drawn::Without;
    shared.draw(if is_drawn { Drawn::None } else { Drawn::Without });
}
