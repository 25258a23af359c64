//! Curves drawn over the recorded timeline: live bytes without the selected allocations, live bytes under a plan, and
//! the result of a simulated run.

mod data;

use data::CurveSource;
pub use data::Planned;

use super::amount::{change, exact_change};
use super::change::AskPhase;
use super::find::SameStack;
use super::outbox::Outbox;
use super::part::Part;
use super::plots::curves::steps;
pub use super::plots::line::DrawnCurve;
use super::plots::line::{Curve, CurveLabel, Line};
use super::shared::Shared;
use base::units::{Bytes, group_digits};
use picture::timeline::View;
use protocol::{Answer, Factor, PlanCurve, PlanGroup, PlanQuestion, Plot, Question, WhatIfCourse};
use std::rc::Rc;

/// Label above the timeline that shows the peak without the selected allocations.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Chip {
    /// Name of the selected allocations, which the peak excludes.
    pub name: String,
    /// The peak without the selected allocations, and the change from the recorded peak.
    pub text: String,
    /// The same values with exact bytes.
    pub exact: String,
    pub is_drawn: bool,
}

/// Callbacks of the curves drawn over the recorded timeline.
pub(super) const PART: Part = Part { asks: &[(AskPhase::Last, ask)], take };

/// Requests the peaks under the plan and without the selected allocations, one after the other, and the curve to draw.
fn ask(state: &mut Shared, device: i64, out: &mut Outbox) {
    let Some(view) = state.geometry.scene.as_ref().map(|scene| scene.view) else { return };
    let without = state.selected_group().map(|(_, group)| without(group));
    if state.planned.asked.is_none() {
        let wanted = [state.planned.plan.clone(), without].into_iter().flatten();
        if let Some(question) = wanted.into_iter().find(|source| state.planned.page(source).is_none()) {
            let serial = out.ask(device, Question::Plan(Box::new(question.clone())));
            state.planned.asked = Some((serial, question));
        }
    }
    if matches!(state.plot_settings.plot, Plot::Addresses(_)) {
        return;
    }
    let (source, question) = match (state.drawn_course(), state.drawn_question()) {
        (Some((number, course)), _) => (CurveSource::Run(number), Question::Course(Box::new((*course).clone()), view)),
        (None, Some(question)) => (CurveSource::Plan(question.clone()), Question::PlanCurve(Box::new(question), view)),
        (None, None) => return,
    };
    state.planned.curve.ask((source, view), device, out, |_| question);
}

fn take(state: &mut Shared, serial: u32, answer: Answer, _: &mut Outbox) -> Option<Answer> {
    match answer {
        Answer::Plan(page) => {
            if let Some((_, of)) = state.planned.asked.take_if(|(asked, _)| *asked == serial) {
                let page = Rc::from(page);
                match state.planned.drawn {
                    DrawnCurve::None => state.planned.keep(of, page),
                    _ => state.change_height(|state| state.planned.keep(of, page)),
                }
            }
        }
        Answer::PlanCurve(curve) => drop(state.planned.curve.take(serial, Rc::from(curve))),
        other => return Some(other),
    }
    None
}

/// Returns a plan that removes one group of allocations.
fn without(group: PlanGroup) -> PlanQuestion {
    PlanQuestion { groups: vec![(group, Factor::ZERO)], ..PlanQuestion::default() }
}

impl Shared {
    /// Returns the name and the group of the allocations that are highlighted in the timeline: a tree node's, the
    /// search matches, a segment's, those with a certain call stack, or a single allocation.
    fn selected_group(&self) -> Option<(String, PlanGroup)> {
        let quoted = |name: &str| ["“", name, "”"].concat();
        if let Some(node) = self.views.node {
            let name = self.node_label().map_or_else(|| "this node".to_owned(), |label| quoted(&label.name));
            return Some((name, PlanGroup::Node(self.views.arrangement, node)));
        }
        if let Some(found) = self.find.current_result().filter(|found| found.tally.count > 0) {
            return Some((quoted(self.find.text.trim()), PlanGroup::NamedIfAny(found.query.clone())));
        }
        let selected_allocation = self.selection.as_deref().map(|selection| selection.allocation);
        if let Some(([from, to], _)) = self.segment.filter(|(_, keeper)| *keeper == selected_allocation) {
            let addresses = format!("0x{from:x}..0x{to:x}");
            return Some(("the allocations in this segment".to_owned(), PlanGroup::NamedIfAny(addresses)));
        }
        let selection = self.selection.as_deref()?;
        Some(match selection.stack.filter(|_| self.same_stack == SameStack::Highlighted) {
            Some(stack) => ("this call stack".to_owned(), PlanGroup::Stack(stack)),
            None => {
                ("this allocation".to_owned(), PlanGroup::NamedIfAny(["#", &selection.allocation.to_string()].concat()))
            }
        })
    }

    /// Returns the label and the plan of the drawn curve. `None` for the curve of a simulated run.
    fn drawn_plan(&self) -> Option<(String, PlanQuestion)> {
        match self.planned.drawn {
            DrawnCurve::None | DrawnCurve::Simulated => None,
            DrawnCurve::Without => {
                self.selected_group().map(|(name, group)| (["without ", &name].concat(), without(group)))
            }
            DrawnCurve::Plan => self.planned.plan.clone().map(|plan| ("as planned".to_owned(), plan)),
        }
    }

    fn drawn_question(&self) -> Option<PlanQuestion> {
        self.drawn_plan().map(|(_, question)| question)
    }

    fn drawn_course(&self) -> Option<(u32, Rc<WhatIfCourse>)> {
        self.planned.run.clone().filter(|_| self.planned.drawn == DrawnCurve::Simulated)
    }

    /// Returns the maximum of the drawn curve, in bytes.
    pub(super) fn drawn_peak(&self) -> Option<u64> {
        if let Some((_, course)) = self.drawn_course() {
            return Some(max_reserved(&course));
        }
        Some(self.planned.page(&self.drawn_question()?)?.planned.0)
    }

    /// Selects a simulated run, and draws its curves.
    pub(super) fn draw_course(&mut self, course: Rc<WhatIfCourse>) {
        self.change_height(|state| {
            let id = state.planned.run.as_ref().map_or(0, |(id, _)| id + 1);
            (state.planned.run, state.planned.drawn) = (Some((id, course)), DrawnCurve::Simulated);
        });
    }

    /// Selects the curve to draw.
    pub(super) fn draw_curve(&mut self, drawn: DrawnCurve) {
        self.change_height(|state| state.planned.drawn = drawn);
    }

    /// Returns the visible curves, in pixels of `view`.
    pub(super) fn planned_lines(&self, view: &View) -> Vec<Curve> {
        let all = if self.planned.drawn == DrawnCurve::Simulated {
            self.simulated_lines(view)
        } else {
            self.planned_line(view)
        };
        let overlaid = self.overlaid_line(view);
        all.unwrap_or_default().into_iter().chain(overlaid).filter(|curve| !curve.points.is_empty()).collect()
    }

    fn planned_line(&self, view: &View) -> Option<Vec<Curve>> {
        let (name, question) = self.drawn_plan()?;
        let peak = self.planned.page(&question)?.planned.0;
        let (curve, curve_view) = self.known_curve(&CurveSource::Plan(question))?;
        Some(vec![curve_in_view(
            Line::Planned,
            (&curve.edge_px, [&curve_view, view]),
            &curve.bytes,
            Some((peak, name)),
        )])
    }

    fn simulated_lines(&self, view: &View) -> Option<Vec<Curve>> {
        let (number, course) = self.drawn_course()?;
        let (curve, over) = self.known_curve(&CurveSource::Run(number))?;
        let over = (&*curve.edge_px, [&over, view]);
        let peak = Some((max_reserved(&course), "reserved (simulated)".to_owned()));
        Some(vec![
            curve_in_view(Line::Rounded, over, &curve.allocated, None),
            curve_in_view(Line::Planned, over, &curve.bytes, peak),
        ])
    }

    /// Returns the latest curve from a source, and the view that the curve was computed for, which may be outdated.
    fn known_curve(&self, source: &CurveSource) -> Option<(&PlanCurve, View)> {
        let known = self.planned.curve.answered_question();
        known.filter(|(known, view)| known == source && view.axis == self.axis)?;
        let curve = self.planned.curve.latest()?;
        Some((curve, curve.view?))
    }
}

/// Returns the peak of reserved bytes in a simulated run.
fn max_reserved(course: &WhatIfCourse) -> u64 {
    course.reserved.iter().fold(course.reserved_at_start, |max, (_, bytes)| max.max(*bytes))
}

/// Converts a curve from pixels of the first view to pixels of the second. Adds a label at the peak if the peak is
/// visible.
fn curve_in_view(
    line: Line,
    (edge_px, views): (&[i32], [&View; 2]),
    bytes: &[u64],
    peak: Option<(u64, String)>,
) -> Curve {
    let [curve_view, view] = views;
    let row = |index: usize| bytes.get(index).map(|&bytes| view.row_from_bytes(bytes) as f64);
    let label = peak.and_then(|(peak, name)| {
        let index = bytes.iter().position(|&bytes| bytes == peak && bytes > 0)?;
        let middle = f64::from(*edge_px.get(index)?).midpoint(f64::from(*edge_px.get(index + 1)?));
        let at = [view.column_from_x(curve_view.x_from_column(middle)), view.row_from_bytes(peak) as f64];
        Some(CurveLabel { at, text: [&Bytes(peak).to_string(), " ", &name].concat() })
    });
    Curve { line, points: steps(edge_px, views, &row), label }
}

/// Returns the label above the timeline. `None` if nothing is selected or the peak is not yet known.
pub fn chip(state: &Shared) -> Option<Chip> {
    let (name, group) = state.selected_group()?;
    let page = state.planned.page(&without(group))?;
    let (old, new) = (page.recorded.0, page.planned.0);
    (page.error.is_empty() && old > 0).then(|| Chip {
        name,
        text: match old == new {
            true => "unchanged".to_owned(),
            false => [&Bytes(new).to_string(), " (", &change(old, new), ")"].concat(),
        },
        exact: [&group_digits(new), " B (", &exact_change(old, new), ")"].concat(),
        is_drawn: state.planned.drawn == DrawnCurve::Without,
    })
}
