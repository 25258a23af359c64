//! Undoes the events of a trace from its end, which yields the lifetime of each address range.

use super::{ClosedRange, MAX_OVERLAPS, OpenRange, RangeInfo, SegmentKind, SegmentLifetimes, Work};
use crate::replay::device_history::DeviceHistory;
use crate::replay::loaded_range::LaterOperation;
use crate::replay::totals::Totals;
use crate::replay::trace::{NEVER, Subject, to_signed};
use crate::snapshot::{Action, LabelsId, Snapshot};
use base::slice::STEPS_PER_CHECK;
use base::units::{EventIdx, Moment};
use std::collections::BTreeMap;

/// Size in bytes of segments for small blocks (`kSmallBuffer`). Segments for large blocks are larger.
const SMALL_SEGMENT: u64 = 2 << 20;
/// Granularity in bytes of expandable segments for large blocks (`kLargeBuffer`).
const LARGE_PAGE: u64 = 20 << 20;

impl SegmentLifetimes {
    /// Adds a segment that exists at the end.
    pub(super) fn add_end_segment(
        &mut self,
        snapshot: &Snapshot,
        history: &DeviceHistory,
        index: usize,
        open: &mut BTreeMap<u64, OpenRange>,
    ) {
        let Some(segment) = snapshot.segments.get(index).filter(|segment| segment.device == history.device) else {
            return;
        };
        let Some(address) = segment.address else { return };
        let kind = SegmentKind {
            pool: segment.pool,
            stream: segment.stream,
            small: segment.small,
            expandable: segment.expandable,
        };
        let facts =
            RangeInfo { kind: self.intern_kind(kind), starts_segment: !segment.expandable, segment: index as u32 };
        self.add_range(open, [address, address.saturating_add(segment.total_size)], NEVER, facts);
    }

    /// Adds the reserved ranges that exist at the end in no listed segment.
    pub(super) fn add_unlisted_ranges(
        &mut self,
        snapshot: &Snapshot,
        history: &DeviceHistory,
        open: &mut BTreeMap<u64, OpenRange>,
    ) {
        for &(address, size, event) in &history.unlisted_ranges {
            let labels = snapshot.labels.labels(history.events.labels(event));
            let expandable = history.events.action(event) == Action::SegmentMap;
            let kind = SegmentKind {
                pool: labels.pool,
                stream: labels.stream,
                small: if expandable { !size.is_multiple_of(LARGE_PAGE) } else { size <= SMALL_SEGMENT },
                expandable,
            };
            let facts = RangeInfo { kind: self.intern_kind(kind), starts_segment: !expandable, segment: u32::MAX };
            self.add_range(open, [address, address.saturating_add(size)], NEVER, facts);
        }
    }

    pub(super) fn start_undo(&mut self, history: &DeviceHistory, open: BTreeMap<u64, OpenRange>) -> Work {
        self.changes = (0..history.segment_operations.len()).map(|_| 0).collect();
        Work::UndoLater(history.later_operations.len(), open)
    }

    /// Undoes an event after the loaded range. Discards ranges that the event mapped. Ranges that it released exist
    /// until the end of the loaded range.
    pub(super) fn undo_behind(
        &mut self,
        snapshot: &Snapshot,
        history: &DeviceHistory,
        operation: usize,
        open: &mut BTreeMap<u64, OpenRange>,
    ) {
        let Some(LaterOperation { action, address, size, labels }) = history.later_operations.get(operation) else {
            return;
        };
        let range = [address, address.saturating_add(size)];
        if matches!(action, Action::SegmentAlloc | Action::SegmentMap) {
            let (rows, missing_bytes) = (self.rows.len(), self.missing_bytes);
            self.remove_range(open, range, NEVER);
            self.rows.truncate(rows);
            self.missing_bytes = missing_bytes;
        } else {
            self.restore_range(snapshot, open, range, (action, labels), NEVER);
        }
    }

    fn intern_kind(&mut self, kind: SegmentKind) -> u32 {
        let new = self.kinds.len() as u32;
        let number = *self.kind_indices.entry(kind).or_insert(new);
        if number == new {
            self.kinds.push(kind);
        }
        number
    }

    /// Undoes an event of the loaded range.
    pub(super) fn undo(
        &mut self,
        snapshot: &Snapshot,
        history: &DeviceHistory,
        event: u32,
        open: &mut BTreeMap<u64, OpenRange>,
    ) {
        let Subject::Segment(operation) = history.events.subject(event) else { return };
        let action = history.events.action(event);
        let moment = Moment::after(EventIdx(event)).0;
        let (address, size) = history.address_and_size(EventIdx(event));
        let range = [address, address.saturating_add(size)];
        let change = if matches!(action, Action::SegmentAlloc | Action::SegmentMap) {
            to_signed(self.remove_range(open, range, moment))
        } else {
            -to_signed(self.restore_range(snapshot, open, range, (action, history.events.labels(event)), moment))
        };
        self.changes.set(operation as usize, change);
    }

    /// Restores a released range, which existed until `moment`. Returns the number of bytes added, without ranges that
    /// already exist.
    fn restore_range(
        &mut self,
        snapshot: &Snapshot,
        open: &mut BTreeMap<u64, OpenRange>,
        range: [u64; 2],
        (action, labels): (Action, LabelsId),
        moment: u32,
    ) -> u64 {
        let labels = snapshot.labels.labels(labels);
        let size = range[1] - range[0];
        let expandable = action == Action::SegmentUnmap;
        let small = if expandable { !size.is_multiple_of(LARGE_PAGE) } else { size <= SMALL_SEGMENT };
        let inferred = SegmentKind { pool: labels.pool, stream: labels.stream, small, expandable };
        let kind = self.adjacent_kind(open, range, inferred).unwrap_or_else(|| self.intern_kind(inferred));
        self.add_range(open, range, moment, RangeInfo { kind, starts_segment: !expandable, segment: u32::MAX })
    }

    /// Returns the kind of an adjacent expandable segment that the range may belong to. This kind is preferred to the
    /// inferred one, because segments have more properties than events.
    fn adjacent_kind(
        &self,
        open: &BTreeMap<u64, OpenRange>,
        [start, end]: [u64; 2],
        inferred: SegmentKind,
    ) -> Option<u32> {
        let below = open.range(..start).next_back().filter(|(_, open)| open.end == start);
        let above = open.get(&end);
        [below.map(|(_, open)| open), above].into_iter().flatten().map(|open| open.facts.kind).find(|&number| {
            self.kinds.get(number as usize).is_some_and(|kind| kind.expandable && kind.may_be_one_segment(&inferred))
        })
    }

    /// Adds a range that is freed at the given moment, except where other ranges already exist. Returns the number of
    /// new bytes.
    fn add_range(
        &mut self,
        open: &mut BTreeMap<u64, OpenRange>,
        [start, end]: [u64; 2],
        freed_at: u32,
        facts: RangeInfo,
    ) -> u64 {
        let mut from = open.range(..start).next_back().map_or(start, |(_, open)| open.end.max(start));
        let mut holes = Vec::new();
        for (&address, existing) in open.range(start..end).take(MAX_OVERLAPS) {
            self.compared += 1;
            if from < address {
                holes.push([from, address]);
            }
            from = existing.end.max(from);
        }
        if from < end && open.range(from..end).next().is_none() {
            holes.push([from, end]);
        }
        let mut covered = 0u64;
        for [from, to] in holes {
            covered = covered.saturating_add(to - from);
            let starts_segment = facts.starts_segment && from == start;
            open.insert(from, OpenRange { end: to, freed_at, facts: RangeInfo { starts_segment, ..facts } });
        }
        covered
    }

    /// Removes a range that was mapped at the given moment, which completes its lifetime. Returns the number of removed
    /// bytes.
    fn remove_range(&mut self, open: &mut BTreeMap<u64, OpenRange>, [start, end]: [u64; 2], allocated_at: u32) -> u64 {
        let mut removed = 0u64;
        if let Some((&address, &existing)) =
            open.range(..start).next_back().filter(|(_, existing)| existing.end > start)
        {
            open.insert(address, OpenRange { end: start, ..existing });
            open.insert(start, OpenRange { facts: RangeInfo { starts_segment: false, ..existing.facts }, ..existing });
        }
        // Highest first, because rows are reversed at the end.
        while let Some((&address, &existing)) = open.range(start..end).next_back() {
            open.remove(&address);
            if existing.end > end {
                open.insert(
                    end,
                    OpenRange { facts: RangeInfo { starts_segment: false, ..existing.facts }, ..existing },
                );
            }
            let size = existing.end.min(end) - address;
            removed = removed.saturating_add(size);
            self.rows.push(ClosedRange {
                address,
                size,
                allocated_at,
                freed_at: existing.freed_at,
                facts: existing.facts,
            });
        }
        self.missing_bytes = self.missing_bytes.saturating_add((end - start).saturating_sub(removed));
        removed
    }

    /// Adds ranges that were mapped before recording started, from the highest address down. `bytes` is the total size
    /// of the ranges added by earlier calls.
    pub(super) fn add_initial_ranges(&mut self, mut open: BTreeMap<u64, OpenRange>, mut bytes: i64) -> Work {
        for _ in 0..STEPS_PER_CHECK {
            let Some((address, range)) = open.pop_last() else {
                self.mapped = Totals::new(bytes);
                return Work::ReverseRows(self.rows.len());
            };
            let size = range.end - address;
            bytes = bytes.saturating_add(to_signed(size));
            self.rows.push(ClosedRange {
                address,
                size,
                allocated_at: 0,
                freed_at: range.freed_at,
                facts: range.facts,
            });
        }
        Work::InitialRanges(open, bytes)
    }

    pub(super) fn reverse_rows(&mut self, before: usize) -> Work {
        let first = before.saturating_sub(STEPS_PER_CHECK as usize);
        for index in (first..before).rev() {
            let Some(row) = self.rows.get(index) else { continue };
            let ClosedRange { address, size, allocated_at, freed_at, facts } = row;
            if allocated_at > 0 {
                self.ranges.allocated_at.push(allocated_at);
            }
            if let Some(lifetimes) = self.ranges.parts.get_mut(usize::from(allocated_at > 0)) {
                lifetimes.push_row(address, size, freed_at, freed_at);
            }
            self.facts.push(facts);
        }
        if first > 0 {
            return Work::ReverseRows(first);
        }
        self.ranges.static_count = self.ranges.early_count() as u32;
        (self.rows, self.kind_indices) = Default::default();
        Work::Totals(0)
    }
}

#[cfg(test)]
#[path = "../../../../tests/units/history/replay/segments/undo.rs"]
mod tests;
