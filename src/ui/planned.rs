//! The peak without what is selected, or under a plan, and its curve over the recorded one.

mod data;

pub use data::{Drawn, Planned};

use super::amount::{change, exact_change};
use super::change::Change;
use super::change::Turn;
use super::effect::Effect;
use super::find::SameStack;
use super::part::Part;
use super::plots::curves::steps;
use super::plots::line::{Curve, Line, Mark};
use super::shared::Shared;
use base::units::{Bytes, grouped};
use engine::protocol::{Answer, Factor, PlanGroup, PlanQuestion, Plot, Question};
use picture::timeline::View;
use std::rc::Rc;

/// What is said above the picture: the peak without what is selected.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Chip {
    /// Without what.
    pub name: String,
    /// The peak then, and by how much it is lower.
    pub text: String,
    /// The same to the byte.
    pub exact: String,
    pub is_drawn: bool,
}

/// How it takes part.
pub(super) const PART: Part = Part { reset, asks: &[(Turn::Last, ask)], take };

/// What was computed holds for one device, its categories and its nodes.
fn reset(state: &mut Shared, _: Change) {
    let Planned { drawn, plan, .. } = std::mem::take(&mut state.planned);
    state.planned = Planned { drawn, plan, ..Planned::default() };
}

/// Asks for what the selection and the plan come to, one at a time, and for the curve that is drawn.
fn ask(state: &mut Shared, device: i64, effects: &mut Vec<Effect>) {
    let Some(view) = state.geometry.scene.as_ref().map(|scene| scene.view) else { return };
    let without = state.selected().map(|(_, group)| without(group));
    if state.planned.asked.is_none() {
        let wanted = [state.planned.plan.clone(), without].into_iter().flatten();
        if let Some(question) = wanted.into_iter().find(|of| state.planned.page(of).is_none()) {
            let serial = state.next_serial();
            state.planned.asked = Some((serial, question.clone()));
            effects.push(Effect::ask(serial, device, Question::Plan(Box::new(question))));
        }
    }
    if let Some(question) = state.drawn_question().filter(|_| !matches!(state.looks.plot, Plot::Addresses(_))) {
        let whole = |(question, view)| Question::PlanCurve(Box::new(question), view);
        state.planned.curve.ask((question, view), device, &mut state.serial, effects, whole);
    }
}

fn take(state: &mut Shared, serial: u32, answer: Answer, _: &mut Vec<Effect>) -> Option<Answer> {
    match answer {
        Answer::Plan(page) => {
            if let Some((_, of)) = state.planned.asked.take_if(|(asked, _)| *asked == serial) {
                let page = Rc::from(page);
                match state.planned.drawn {
                    Drawn::None => state.planned.keep(of, page),
                    _ => state.raise(|state| state.planned.keep(of, page)),
                }
            }
        }
        Answer::PlanCurve(curve) => drop(state.planned.curve.take(serial, Rc::from(curve))),
        other => return Some(other),
    }
    None
}

/// A plan that leaves a group out.
fn without(group: PlanGroup) -> PlanQuestion {
    PlanQuestion { groups: vec![(group, Factor::ZERO)], ..PlanQuestion::default() }
}

impl Shared {
    /// What is selected, by what stands out of the picture: a node of a tree, what was found, a call stack, an allocation.
    fn selected(&self) -> Option<(String, PlanGroup)> {
        let quoted = |name: &str| ["“", name, "”"].concat();
        if let Some(node) = self.views.node {
            let name = self.node_label().map_or_else(|| "this node".to_owned(), |label| quoted(&label.name));
            return Some((name, PlanGroup::Node(self.views.arrangement, node)));
        }
        if let Some(found) = self.find.current().filter(|found| found.tally.count > 0) {
            return Some((quoted(self.find.text.trim()), PlanGroup::Where(found.query.clone())));
        }
        let selection = self.selection.as_deref()?;
        Some(match selection.stack.filter(|_| self.same_stack == SameStack::StandsOut) {
            Some(stack) => ("this call stack".to_owned(), PlanGroup::Stack(stack)),
            None => ("this allocation".to_owned(), PlanGroup::Where(["#", &selection.allocation.to_string()].concat())),
        })
    }

    /// What is drawn, and without what.
    fn drawn(&self) -> Option<(String, PlanQuestion)> {
        match self.planned.drawn {
            Drawn::None => None,
            Drawn::Without => self.selected().map(|(name, group)| (["without ", &name].concat(), without(group))),
            Drawn::Plan => self.planned.plan.clone().map(|plan| ("as planned".to_owned(), plan)),
        }
    }

    fn drawn_question(&self) -> Option<PlanQuestion> {
        self.drawn().map(|(_, question)| question)
    }

    /// The highest byte of the curve that is drawn.
    pub(super) fn drawn_peak(&self) -> Option<u64> {
        Some(self.planned.page(&self.drawn_question()?)?.planned.0)
    }

    /// Draws another curve, or none.
    pub(super) fn draw(&mut self, drawn: Drawn) {
        self.raise(|state| state.planned.drawn = drawn);
    }

    /// The curve in a window that shows the plane as `view` does.
    pub(super) fn planned_line(&self, view: &View) -> Option<Curve> {
        let (name, question) = self.drawn()?;
        let (of, _) = self.planned.curve.question().filter(|(of, seen)| *of == question && seen.axis == self.axis)?;
        let curve = self.planned.curve.latest()?;
        let (page, over) = (self.planned.page(of)?, curve.view?);
        let row = |at: usize| curve.live.get(at).map(|&bytes| view.row_from_bytes(bytes) as f64);
        let points = steps(&curve.edge_px, [&over, view], &row);
        let peak = curve.live.iter().position(|&bytes| bytes == page.planned.0 && bytes > 0);
        let mark =
            peak.and_then(|at| Some((curve.edge_px.get(at)?, curve.edge_px.get(at + 1)?))).map(|(left, right)| {
                let middle = f64::from(*left).midpoint(f64::from(*right));
                let at = [view.column_from_x(over.x_from_column(middle)), view.row_from_bytes(page.planned.0) as f64];
                Mark { at, text: [&Bytes(page.planned.0).to_string(), " ", &name].concat() }
            });
        Some(Curve { line: Line::Planned, points, mark }).filter(|curve| !curve.points.is_empty())
    }
}

/// What is said above the picture; `None` while nothing is selected.
pub fn chip(state: &Shared) -> Option<Chip> {
    let (name, group) = state.selected()?;
    let page = state.planned.page(&without(group))?;
    let (old, new) = (page.recorded.0, page.planned.0);
    (page.problem.is_empty() && old > 0).then(|| Chip {
        name,
        text: match old == new {
            true => "unchanged".to_owned(),
            false => [&Bytes(new).to_string(), " (", &change(old, new), ")"].concat(),
        },
        exact: [&grouped(new), " B (", &exact_change(old, new), ")"].concat(),
        is_drawn: state.planned.drawn == Drawn::Without,
    })
}
