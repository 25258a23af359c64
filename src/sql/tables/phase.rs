//! The table `phase`: phases of training steps, from annotations or inferred from call stacks.

use crate::rows::{OwnColumn, RowRequest, RowScope, RowSet, Rows};
use crate::source::{At, Source};
use base::units::Moment;
use engine::Phase;
use sqlite::Kind;
use std::rc::Rc;

/// Table of all phases.
#[derive(Default)]
pub(super) struct Phases {
    phases: Rc<Vec<Phase>>,
}

impl Rows for Phases {
    type Item<'a> = &'a Phase;

    const SCOPE: RowScope = RowScope::Device;
    const COLUMNS: &'static [OwnColumn<Self>] = &[
        ("step", Kind::Integer, |at, phase| at.source.step_at(at.part, phase.span.from).into()),
        ("phase", Kind::Text, |_, phase| phase.kind.name().into()),
        ("inferred", Kind::Integer, |_, phase| phase.annotation.is_none().into()),
        ("first_event", Kind::Integer, |_, phase| phase.span.from.into()),
        ("last_event", Kind::Integer, |_, phase| phase.span.to.checked_sub(1).into()),
        ("begin_us", Kind::Integer, |at, phase| at.side.history.events.times.at(phase.span.from).into()),
        ("end_us", Kind::Integer, |at, phase| at.time_before(phase.span.to).into()),
        ("peak_bytes", Kind::Integer, |_, phase| phase.peak.into()),
        ("peak_event", Kind::Integer, |_, phase| Moment(phase.peak_moment).event_or_minus_one().into()),
    ];
    const KEY_COLUMN: Option<usize> = None;

    fn count(_: &Source) -> u64 {
        300
    }

    fn prepare(&mut self, source: &Source, part: usize, _: &RowRequest) -> Result<RowSet, String> {
        self.phases = source.phases(part).unwrap_or_default();
        Ok(RowSet::Range(0..self.phases.len() as u32))
    }

    fn item<'a>(&'a self, at: &At<'a>) -> Option<Self::Item<'a>> {
        self.phases.get(at.row as usize)
    }
}
