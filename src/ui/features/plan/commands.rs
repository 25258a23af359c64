//! Command for the curve that is drawn over the recorded one.

use crate::features::command::Trait::BrowserOnly;
use crate::features::command::{PAGE, row, rows};
use crate::plot::planned::DrawnCurve;
use crate::state::binding::KeyScope::Page;
use crate::state::outbox::Intent;

rows! {
    pub(crate) ROWS:
    TOGGLE_WITHOUT_SELECTION = row(Page, PAGE, &[";"], "Draw the live bytes without what is selected", "without-show",
        |state, out| {
            let is_drawn = state.planned.drawn == DrawnCurve::Without;
            out.intend(Intent::DrawCurve(if is_drawn { DrawnCurve::None } else { DrawnCurve::Without }));
        }).with(&[BrowserOnly]);
}
