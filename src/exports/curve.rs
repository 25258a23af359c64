//! Iterates over the totals of a device, event by event.

use base::units::Moment;
use engine::Side;
use engine::tables::{Quantity, TotalsCache};

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
    let (history, totals) = (side.history, TotalsCache::default());
    (from.max(history.events.first())..=to.min(history.event_count())).map(Moment).map(move |moment| {
        let event = moment.event().map(|event| event.0);
        let [live, awaiting_free, reserved] = [Quantity::Live, Quantity::AwaitingFree, Quantity::Reserved]
            .map(|quantity| totals.bytes(side, quantity, moment));
        let time_us = event.and_then(|event| history.events.times.at(event));
        Point { event, time_us, live, awaiting_free, reserved }
    })
}
