//! The table `annotation`: annotated time ranges (`record_function`), with their events.

use crate::rows::{OwnColumn, RowRequest, RowScope, RowSet, Rows};
use crate::source::{At, Source};
use base::units::Moment;
use history::replay::DeviceHistory;
use history::snapshot::AnnotationRange;
use sqlite::Kind;

/// Table of all annotations.
#[derive(Default)]
pub(super) struct Annotations;

impl Rows for Annotations {
    type Item<'a> = &'a AnnotationRange;

    const SCOPE: RowScope = RowScope::Device;
    const COLUMNS: &'static [OwnColumn<Self>] = &[
        ("id", Kind::Integer, |at, _| at.row.into()),
        ("name", Kind::Text, |at, range| at.side.snapshot().strings.text(range.name).into()),
        ("begin_us", Kind::Integer, |_, range| range.start_us.into()),
        ("end_us", Kind::Integer, |_, range| range.end_us.into()),
        ("first_event", Kind::Integer, |at, range| events(at.side.history, range).map(|(from, _)| from).into()),
        ("last_event", Kind::Integer, |at, range| events(at.side.history, range).map(|(_, to)| to - 1).into()),
        ("peak_bytes", Kind::Integer, |at, range| {
            let events = events(at.side.history, range);
            events.map(|(from, to)| at.side.peak_bytes_in(Moment(from), Moment(to))).into()
        }),
    ];
    const KEY_COLUMN: Option<usize> = Some(0);

    fn count(source: &Source) -> u64 {
        let sides = (0..source.parts.len()).filter_map(|part| source.side(part));
        sides.map(|side| side.history.annotations.len() as u64).sum()
    }

    fn prepare(&mut self, source: &Source, part: usize, wanted: &RowRequest) -> Result<RowSet, String> {
        let all = source.side(part).map_or(0, |side| side.history.annotations.len() as u32);
        Ok(RowSet::keyed(0..all, 0, &wanted.keys))
    }

    fn item<'a>(&'a self, at: &At<'a>) -> Option<Self::Item<'a>> {
        at.side.history.annotations.get(at.row as usize)
    }
}

/// Returns the first event in a range and the first one after it. `None` if the range has no events.
fn events(history: &DeviceHistory, range: &AnnotationRange) -> Option<(u32, u32)> {
    let clock = history.events.times.time_axis()?;
    let from = clock.events_before_us(range.start_us);
    let to = range.end_us.map_or(history.event_count(), |end| clock.events_before_us(end.saturating_add(1)));
    Some((from, to)).filter(|(from, to)| from < to)
}
