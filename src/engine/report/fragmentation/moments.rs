//! Moments of a trace that reports on fragmentation look at, and from which on what is free there is much.

use base::units::Moment;
use history::replay::{Curve, DeviceHistory};
use history::snapshot::Action;

/// Free bytes in pieces from which on that is likely a fault; and a tenth of the reserved bytes.
pub(in crate::report) const MUCH: u64 = 256 << 20;

/// The first moment at which the most is reserved.
pub(in crate::report) fn most_reserved(history: &DeviceHistory) -> u32 {
    let change = |event| history.reserved_change(event);
    let most = Curve::new(&history.reserved, &change).max_in(0..history.event_count().saturating_add(1));
    most.map_or(0, |(moment, _)| moment.0)
}

/// The moment of the peak of requested bytes: Segments and Pools use it as well.
pub(in crate::report) fn most_requested(history: &DeviceHistory) -> u32 {
    Moment::after_event_or_minus_one(history.numbers.peak_event).0
}

/// The event of the newest request that failed: the one that the out-of-memory report describes by default, so that all reports
/// describe the same one.
pub(in crate::report) fn newest_failure(history: &DeviceHistory) -> Option<u32> {
    history.note_events().filter(|&event| history.events.action(event) == Action::Oom).last()
}
