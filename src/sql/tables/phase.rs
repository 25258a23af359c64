//! The table `phase`: phases of training steps, from annotations or inferred from call stacks.

use crate::rows::{RowRequest, RowScope, RowSet, Rows};
use crate::source::Source;
use engine::Phase;
use sqlite::{Cell, Kind};
use std::rc::Rc;

/// Table of all phases.
#[derive(Default)]
pub(super) struct Phases {
    phases: Rc<Vec<Phase>>,
}

impl Rows for Phases {
    const SCOPE: RowScope = RowScope::Device;
    const COLUMNS: &'static [(&'static str, Kind)] = &[
        ("step", Kind::Integer),
        ("phase", Kind::Text),
        ("inferred", Kind::Integer),
        ("first_event", Kind::Integer),
        ("last_event", Kind::Integer),
        ("begin_us", Kind::Integer),
        ("end_us", Kind::Integer),
        ("peak_bytes", Kind::Integer),
        ("peak_event", Kind::Integer),
    ];
    const KEY_COLUMN: Option<usize> = None;

    fn count(_: &Source) -> u64 {
        300
    }

    fn prepare(&mut self, source: &Source, part: usize, _: &RowRequest) -> Result<RowSet, String> {
        self.phases = source.phases(part).unwrap_or_default();
        Ok(RowSet::Range(0..self.phases.len() as u32))
    }

    fn cell<'a>(&'a self, source: &'a Source, part: usize, row: u32, column: usize) -> Cell<'a> {
        let (Some(side), Some(phase)) = (source.side(part), self.phases.get(row as usize)) else { return Cell::Null };
        let (from, last) = (phase.span.from, phase.span.to.checked_sub(1));
        let times = &side.history.events.times;
        match column {
            0 => source.step_at(part, from).into(),
            1 => phase.kind.name().into(),
            2 => phase.annotation.is_none().into(),
            3 => from.into(),
            4 => last.into(),
            5 => times.at(from).into(),
            6 => last.and_then(|last| times.at(last)).into(),
            7 => phase.peak.into(),
            8 => base::units::Moment(phase.peak_moment).event_or_minus_one().into(),
            _ => Cell::Null,
        }
    }
}
