//! Groups of mapped ranges. Like an allocation, a range has a call site, size, lifetime, stream and pool. It has no
//! category.

use super::{AGE_COUNT, CLASS_COUNT, Groups, MIN_CLASS_BITS, class_of};
use history::replay::{AllocationId, DeviceHistory, SegmentLifetimes};
use history::snapshot::Snapshot;
use protocol::Grouping;

impl Groups {
    /// Returns the grouping that is used for mapped ranges. Categories and metadata are replaced by pools, because only
    /// allocations have them.
    pub(crate) fn range_grouping(by: Grouping) -> Grouping {
        if matches!(by, Grouping::Category | Grouping::Metadata) { Grouping::Pool } else { by }
    }

    /// Returns the group of a mapped range. The group numbers are the same as for allocations.
    pub(crate) fn group_of_range(
        &self,
        snapshot: &Snapshot,
        (history, segments): (&DeviceHistory, &SegmentLifetimes),
        id: AllocationId,
        by: Grouping,
    ) -> u32 {
        let kind = segments.kind(id);
        let (allocated_at, freed_at, bytes) = segments.ranges.span(id);
        match Groups::range_grouping(by) {
            Grouping::CallSite => self.call_site_group(segments.stack(snapshot, history, id)),
            Grouping::Size => 1 + class_of(bytes.saturating_sub(1) >> MIN_CLASS_BITS),
            Grouping::Lifetime => match (allocated_at, freed_at) {
                (_, u32::MAX) => CLASS_COUNT + 2,
                (0, _) => CLASS_COUNT + 1,
                _ => 1 + class_of(u64::from(freed_at.saturating_sub(allocated_at).saturating_sub(1))),
            },
            Grouping::Age if allocated_at == 0 => 1,
            Grouping::Age => {
                2 + (u64::from(allocated_at - 1) * u64::from(AGE_COUNT) / u64::from(history.event_count().max(1)))
                    as u32
            }
            Grouping::Stream => self.group_number(&self.streams, kind.and_then(|kind| kind.stream)),
            Grouping::Pool | Grouping::Category | Grouping::Metadata => {
                self.group_number(&self.pools, kind.and_then(|kind| kind.pool))
            }
            Grouping::Annotation => self.regions.annotation(history, segments.ranges.allocated_at(id)),
            Grouping::CompileContext => self.regions.context(snapshot, history, segments.ranges.allocated_at(id)),
        }
    }
}
