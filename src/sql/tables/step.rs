//! The table `step`: training steps, as found by the report on steps.

use crate::cache::Step;
use crate::rows::{RowRequest, RowScope, RowSet, Rows};
use crate::source::Source;
use sqlite::{Cell, Kind};
use std::rc::Rc;

/// Table of all steps.
#[derive(Default)]
pub(super) struct Steps {
    steps: Rc<Vec<Step>>,
}

impl Rows for Steps {
    const SCOPE: RowScope = RowScope::Device;
    const COLUMNS: &'static [(&'static str, Kind)] = &[
        ("step", Kind::Integer),
        ("name", Kind::Text),
        ("first_event", Kind::Integer),
        ("last_event", Kind::Integer),
        ("begin_us", Kind::Integer),
        ("end_us", Kind::Integer),
        ("peak_bytes", Kind::Integer),
    ];
    const KEY_COLUMN: Option<usize> = Some(0);

    fn count(_: &Source) -> u64 {
        100
    }

    fn prepare(&mut self, source: &Source, part: usize, wanted: &RowRequest) -> Result<RowSet, String> {
        self.steps = source.steps(part).unwrap_or_default();
        Ok(RowSet::keyed(0..self.steps.len() as u32, 0, &wanted.keys))
    }

    fn cell<'a>(&'a self, source: &'a Source, part: usize, row: u32, column: usize) -> Cell<'a> {
        let (Some(side), Some(step)) = (source.side(part), self.steps.get(row as usize)) else { return Cell::Null };
        let [from, to] = step.span;
        let last = to.checked_sub(1);
        let times = &side.history.events.times;
        match column {
            0 => row.into(),
            1 => step.name.as_deref().into(),
            2 => from.into(),
            3 => last.into(),
            4 => times.at(from).into(),
            5 => last.and_then(|last| times.at(last)).into(),
            6 => step.peak.into(),
            _ => Cell::Null,
        }
    }
}
