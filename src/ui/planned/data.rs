//! State of the curves drawn over the recorded one.

use crate::latest::Latest;
use engine::protocol::{PlanCurve, PlanPage, PlanQuestion, WhatIfCourse};
use picture::timeline::View;
use std::rc::Rc;

/// Maximum number of cached answers.
const MAX_KEPT: usize = 8;

/// Chosen curve and the answers of the worker that it needs.
#[derive(Clone, Debug, Default)]
pub struct Planned {
    pub drawn: DrawnCurve,
    /// The plan from the Planner, if it can be computed and is shown.
    pub(crate) plan: Option<PlanQuestion>,
    pub(crate) pages: Vec<(PlanQuestion, Rc<PlanPage>)>,
    pub(crate) asked: Option<(u32, PlanQuestion)>,
    pub(crate) curve: Latest<(CurveSource, View), Rc<PlanCurve>>,
    /// The drawn simulated run, with a number that identifies it.
    pub(crate) run: Option<(u32, Rc<WhatIfCourse>)>,
}

/// The curve drawn over the recorded one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum DrawnCurve {
    #[default]
    None,
    /// Live bytes without the current selection.
    Without,
    /// Live bytes under the plan of the Planner.
    Plan,
    /// Reserved and allocated bytes of a simulated run.
    Simulated,
}

/// Source of a curve.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum CurveSource {
    Plan(PlanQuestion),
    /// The simulated run with this number.
    Run(u32),
}

impl Planned {
    /// Returns the cached answer to a question.
    pub(crate) fn page(&self, of: &PlanQuestion) -> Option<&Rc<PlanPage>> {
        self.pages.iter().find(|(question, _)| question == of).map(|(_, page)| page)
    }

    pub(crate) fn keep(&mut self, of: PlanQuestion, page: Rc<PlanPage>) {
        if self.pages.len() >= MAX_KEPT {
            self.pages.remove(0);
        }
        self.pages.push((of, page));
    }
}
