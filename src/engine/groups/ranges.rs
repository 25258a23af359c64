//! Groups of mapped ranges. A range has a call site, size, lifetime, stream and pool like an allocation, but no
//! category.

use super::{AGES, CLASSES, Groups, SMALLEST_CLASS_BITS, class};
use crate::protocol::Grouping;
use history::replay::{AllocationId, DeviceHistory, SegmentLives};
use history::snapshot::Snapshot;

impl Groups {
    /// Returns the grouping to use for ranges: pools in place of categories, which only allocations have.
    pub(crate) fn for_ranges(by: Grouping) -> Grouping {
        if by == Grouping::Category { Grouping::Pool } else { by }
    }

    /// Returns the group of a range, numbered like those of allocations.
    pub(crate) fn of_range(
        &self,
        snapshot: &Snapshot,
        (history, segments): (&DeviceHistory, &SegmentLives),
        id: AllocationId,
        by: Grouping,
    ) -> u32 {
        let kind = segments.kind(id);
        let (born, died, bytes) = segments.ranges.span(id);
        match Groups::for_ranges(by) {
            Grouping::CallSite => self.site(segments.stack(snapshot, history, id)),
            Grouping::Size => 1 + class(bytes.saturating_sub(1) >> SMALLEST_CLASS_BITS),
            Grouping::Lifetime => match (born, died) {
                (_, u32::MAX) => CLASSES + 2,
                (0, _) => CLASSES + 1,
                _ => 1 + class(u64::from(died.saturating_sub(born).saturating_sub(1))),
            },
            Grouping::Age if born == 0 => 1,
            Grouping::Age => {
                2 + (u64::from(born - 1) * u64::from(AGES) / u64::from(history.event_count().max(1))) as u32
            }
            Grouping::Stream => self.number(&self.streams, kind.and_then(|kind| kind.stream)),
            Grouping::Pool | Grouping::Category => self.number(&self.pools, kind.and_then(|kind| kind.pool)),
            Grouping::Annotation => self.regions.annotation(history, segments.ranges.born(id)),
            Grouping::CompileContext => self.regions.context(snapshot, history, segments.ranges.born(id)),
        }
    }
}
