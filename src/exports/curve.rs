//! Iterates over the totals of a device, event by event.

use base::units::{EventIdx, Moment};
use engine::Side;
use history::replay::Curve;

/// Totals of a device after an event, or before the first event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Point {
    pub(crate) event: Option<u32>,
    /// Time of the event in µs since 1970.
    pub(crate) time_us: Option<i64>,
    /// Requested bytes of live allocations.
    pub(crate) live: i64,
    /// Bytes included in `live` that are awaiting free.
    pub(crate) awaiting_free: i64,
    pub(crate) reserved: i64,
}

impl Point {
    /// Returns live bytes, bytes awaiting free, and reserved bytes. Negative values, which only corrupt files have, are
    /// replaced by 0.
    pub(crate) fn shown(self) -> [u64; 3] {
        [self.live, self.awaiting_free, self.reserved].map(|bytes| u64::try_from(bytes).unwrap_or(0))
    }
}

/// Returns the totals at moment `from`, and after each event with an index in `from..to`.
pub(crate) fn points(side: Side<'_>, from: u32, to: u32) -> impl Iterator<Item = Point> + '_ {
    let history = side.history;
    let from = from.max(history.events.first());
    let moment = Moment(from);
    let awaiting = |event| history.awaiting_free_change(event);
    let mut point = Point {
        event: moment.event().map(|event| event.0),
        time_us: moment.event().and_then(|event| history.events.times.at(event.0)),
        live: history.drawn_at(moment),
        awaiting_free: Curve::new(&history.awaiting_free, &awaiting).at(moment),
        reserved: history.reserved_at(moment),
    };
    let first = point;
    let after = (from..to.min(history.event_count())).map(move |event| {
        let at = EventIdx(event);
        point = Point {
            event: Some(event),
            time_us: history.events.times.at(event),
            live: point.live.saturating_add(history.drawn_change(at)),
            awaiting_free: point.awaiting_free.saturating_add(history.awaiting_free_change(at)),
            reserved: point.reserved.saturating_add(history.reserved_change(at)),
        };
        point
    });
    std::iter::once(first).chain(after)
}
