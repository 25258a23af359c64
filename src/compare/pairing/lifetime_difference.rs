//! Difference in lifetime between an allocation and its partner in the other trace.

use crate::aligning::AlignmentResult;
use base::units::Moment;
use engine::Side;
use history::replay::AllocationId;

/// Difference in events up to which lifetimes count as equal.
const LIFETIME_TOLERANCE_EVENTS: u64 = 16;
/// Lifetimes count as equal if they differ by at most the longer lifetime divided by this number.
const LIFETIME_TOLERANCE_PART: u64 = 8;

/// Sum of the differences in lifetime, B − A, in events and in steps of B.
#[derive(Clone, Copy, Default)]
pub(super) struct LifetimeDifference {
    pub(super) events: i128,
    pub(super) steps: i64,
}

/// Returns the difference in lifetime of a pair, B − A, in events and in steps of B. Returns 0 if the lifetimes are
/// about equal.
pub(super) fn lifetime_difference(
    [a, b]: [&Side; 2],
    found: &AlignmentResult,
    id_a: AllocationId,
    id_b: AllocationId,
) -> LifetimeDifference {
    let ends = |side: &Side, id: AllocationId| side.history.allocations.freed_at(id);
    let last = Moment(b.history.event_count());
    let expected = match ends(a, id_a) {
        Some(freed_at) => found.alignment.to_b(freed_at),
        // Both are live at the end, no matter how long the traces are.
        None if ends(b, id_b).is_none() => return LifetimeDifference::default(),
        None => last,
    };
    let freed_at = ends(b, id_b).unwrap_or(last);
    let allocated_at = b.history.allocations.allocated_at(id_b);
    let difference = i64::from(freed_at.0) - i64::from(expected.0);
    let life = u64::from(freed_at.0.max(expected.0).saturating_sub(allocated_at.0));
    match difference.unsigned_abs() > LIFETIME_TOLERANCE_EVENTS.max(life / LIFETIME_TOLERANCE_PART) {
        true => LifetimeDifference { events: difference.into(), steps: found.steps_between(expected, freed_at) },
        false => LifetimeDifference::default(),
    }
}
