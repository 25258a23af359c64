//! What is drawn beside the recorded curve, and what is known of it.

use crate::latest::Latest;
use engine::protocol::{PlanCurve, PlanPage, PlanQuestion, WhatIfCourse};
use picture::timeline::View;
use std::rc::Rc;

/// Answers that are kept: of the selection and the plan, and of those before.
const MOST_KEPT: usize = 8;

/// The peak under other conditions.
#[derive(Clone, Debug, Default)]
pub struct Planned {
    pub drawn: Drawn,
    /// The plan of the planner, where it can be computed and is wanted.
    pub(crate) plan: Option<PlanQuestion>,
    pub(crate) pages: Vec<(PlanQuestion, Rc<PlanPage>)>,
    pub(crate) asked: Option<(u32, PlanQuestion)>,
    pub(crate) curve: Latest<(Of, View), Rc<PlanCurve>>,
    /// The simulated run that is drawn, with a number of its own.
    pub(crate) course: Option<(u32, Rc<WhatIfCourse>)>,
}

/// Which curve is drawn over the recorded one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Drawn {
    #[default]
    None,
    /// Live bytes without what is selected, whatever that is.
    Without,
    /// Live bytes under the plan of the planner.
    Plan,
    /// Reserved and allocated bytes of a simulated run.
    Simulated,
}

/// What a curve is of.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Of {
    Plan(PlanQuestion),
    /// The simulated run with this number.
    Run(u32),
}

impl Planned {
    /// What a question came to, once that is known.
    pub(crate) fn page(&self, of: &PlanQuestion) -> Option<&Rc<PlanPage>> {
        self.pages.iter().find(|(question, _)| question == of).map(|(_, page)| page)
    }

    pub(crate) fn keep(&mut self, of: PlanQuestion, page: Rc<PlanPage>) {
        if self.pages.len() >= MOST_KEPT {
            self.pages.remove(0);
        }
        self.pages.push((of, page));
    }
}
