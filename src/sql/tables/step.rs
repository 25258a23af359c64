//! The table `step`: training steps, as found by the report on steps.

use crate::cache::Step;
use crate::rows::{OwnColumn, RowRequest, RowScope, RowSet, Rows};
use crate::source::{At, Source};
use sqlite::Kind;
use std::rc::Rc;

/// Table of all steps.
#[derive(Default)]
pub(super) struct Steps {
    steps: Rc<Vec<Step>>,
}

impl Rows for Steps {
    type Item<'a> = &'a Step;

    const SCOPE: RowScope = RowScope::Device;
    const COLUMNS: &'static [OwnColumn<Self>] = &[
        ("step", Kind::Integer, |at, _| at.row.into()),
        ("name", Kind::Text, |_, step| step.name.as_deref().into()),
        ("first_event", Kind::Integer, |_, step| step.span[0].into()),
        ("last_event", Kind::Integer, |_, step| step.span[1].checked_sub(1).into()),
        ("begin_us", Kind::Integer, |at, step| at.side.history.events.times.at(step.span[0]).into()),
        ("end_us", Kind::Integer, |at, step| at.time_before(step.span[1]).into()),
        ("peak_bytes", Kind::Integer, |_, step| step.peak.into()),
    ];
    const KEY_COLUMN: Option<usize> = Some(0);

    fn count(_: &Source) -> u64 {
        100
    }

    fn prepare(&mut self, source: &Source, part: usize, wanted: &RowRequest) -> Result<RowSet, String> {
        self.steps = source.steps(part).unwrap_or_default();
        Ok(RowSet::keyed(0..self.steps.len() as u32, 0, &wanted.keys))
    }

    fn item<'a>(&'a self, at: &At<'a>) -> Option<Self::Item<'a>> {
        self.steps.get(at.row as usize)
    }
}
