//! Curves drawn over the recorded timeline: live bytes without the selected allocations, live bytes under a plan, and
//! the result of a simulated run.

pub(crate) mod drawn;

use crate::state::planned::CurveSource;
pub use crate::state::planned::Planned;
use drawn::{max_reserved, without};

use crate::plot::{capacity, comparing};
use crate::state::change::AskPhase;
pub use crate::state::line::DrawnCurve;
use crate::state::line::{Curve, CurveLabel, Line, steps};
use crate::state::outbox::Outbox;
use crate::state::part::Part;
use crate::state::shared::Shared;
use crate::text::amount::{change, exact_change};
use base::units::{Bytes, group_digits};
use picture::timeline::View;
use protocol::{Answer, PlanCurve, Plot, Question, WhatIfCourse};
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
pub(crate) const PART: Part = Part { asks: &[(AskPhase::Last, ask)], take };

/// Requests the peaks under the plan and without the selected allocations, one after the other, and the curve to draw.
fn ask(state: &mut Shared, device: i64, out: &mut Outbox) {
    let Some(view) = state.scene().map(|scene| scene.view) else { return };
    let without = drawn::selected_group(state).map(|(_, group)| without(group));
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
    let (source, question) = match (drawn::course(state), drawn::question(state)) {
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
                    _ => capacity::change_height(state, |state| state.planned.keep(of, page)),
                }
            }
        }
        Answer::PlanCurve(curve) => drop(state.planned.curve.take(serial, Rc::from(curve))),
        other => return Some(other),
    }
    None
}

/// Selects a simulated run, and draws its curves.
pub(crate) fn draw_course(state: &mut Shared, course: Rc<WhatIfCourse>) {
    capacity::change_height(state, |state| {
        let id = state.planned.run.as_ref().map_or(0, |(id, _)| id + 1);
        (state.planned.run, state.planned.drawn) = (Some((id, course)), DrawnCurve::Simulated);
    });
}

/// Selects the curve to draw.
pub(crate) fn draw_curve(state: &mut Shared, drawn: DrawnCurve) {
    capacity::change_height(state, |state| state.planned.drawn = drawn);
}

/// Returns the visible curves, in pixels of `view`.
pub(crate) fn planned_lines(state: &Shared, view: &View) -> Vec<Curve> {
    let all = if state.planned.drawn == DrawnCurve::Simulated {
        simulated_lines(state, view)
    } else {
        planned_line(state, view)
    };
    let overlaid = comparing::view::overlaid_line(state, view);
    all.unwrap_or_default().into_iter().chain(overlaid).filter(|curve| !curve.points.is_empty()).collect()
}

fn planned_line(state: &Shared, view: &View) -> Option<Vec<Curve>> {
    let (name, question) = drawn::plan(state)?;
    let peak = state.planned.page(&question)?.planned.0;
    let (curve, curve_view) = known_curve(state, &CurveSource::Plan(question))?;
    Some(vec![curve_in_view(Line::Planned, (&curve.edge_px, [&curve_view, view]), &curve.bytes, Some((peak, name)))])
}

fn simulated_lines(state: &Shared, view: &View) -> Option<Vec<Curve>> {
    let (number, course) = drawn::course(state)?;
    let (curve, over) = known_curve(state, &CurveSource::Run(number))?;
    let over = (&*curve.edge_px, [&over, view]);
    let peak = Some((max_reserved(&course), "reserved (simulated)".to_owned()));
    Some(vec![
        curve_in_view(Line::Rounded, over, &curve.allocated, None),
        curve_in_view(Line::Planned, over, &curve.bytes, peak),
    ])
}

/// Returns the latest curve from a source, and the view that the curve was computed for, which may be outdated.
fn known_curve<'a>(state: &'a Shared, source: &CurveSource) -> Option<(&'a PlanCurve, View)> {
    let known = state.planned.curve.answered_question();
    known.filter(|(known, view)| known == source && view.axis == state.axis)?;
    let curve = state.planned.curve.latest()?;
    Some((curve, curve.view?))
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
    let (name, group) = drawn::selected_group(state)?;
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
