//! Moments and thresholds that several reports on fragmentation use.

use base::units::Moment;
use history::replay::{Curve, DeviceHistory};

/// Minimum of free bytes that is reported as a problem. A tenth of the reserved bytes is required as well.
pub(in crate::report) const MIN_PROBLEM_BYTES: u64 = 256 << 20;

/// Returns the first moment with peak reserved bytes.
pub(in crate::report) fn peak_reserved_moment(history: &DeviceHistory) -> u32 {
    let change = |event| history.reserved_change(event);
    let most = Curve::new(&history.reserved, &change).max_in(0..history.event_count().saturating_add(1));
    most.map_or(0, |(moment, _)| moment.0)
}

/// Returns the moment of peak live bytes. Segments and Pools use it as well.
pub(in crate::report) fn peak_moment(history: &DeviceHistory) -> u32 {
    Moment::after_event_or_minus_one(history.numbers.peak_event).0
}

/// Returns the event of the newest OOM. All reports describe this one by default.
pub(in crate::report) fn newest_oom(history: &DeviceHistory) -> Option<u32> {
    history.oom_events().last()
}
