//! State of the curves drawn over the recorded timeline.

use crate::state::latest::Latest;
use crate::state::line::DrawnCurve;
use picture::timeline::View;
use protocol::{PlanCurve, PlanPage, PlanQuestion, WhatIfCourse};
use std::rc::Rc;

/// Maximum number of responses that are cached.
const MAX_KEPT: usize = 8;

/// State of the curves: the curve to draw, and the worker's responses.
#[derive(Clone, Debug, Default)]
pub struct Planned {
    pub drawn: DrawnCurve,
    /// The plan from the planner. `None` if the plan is invalid or hidden.
    pub(crate) plan: Option<PlanQuestion>,
    pub(crate) pages: Vec<(PlanQuestion, Rc<PlanPage>)>,
    pub(crate) asked: Option<(u32, PlanQuestion)>,
    pub(crate) curve: Latest<(CurveSource, View), Rc<PlanCurve>>,
    /// The simulated run to draw, preceded by its id.
    pub(crate) run: Option<(u32, Rc<WhatIfCourse>)>,
}

/// Source of a curve: a plan or a simulated run.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum CurveSource {
    Plan(PlanQuestion),
    /// The simulated run with this id.
    Run(u32),
}

impl Planned {
    /// Returns the cached response about a plan.
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
