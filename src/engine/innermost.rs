//! The innermost open annotation at each moment, by Mosaic's rule (`semantics.md` §1): in file order, a START is pushed
//! on a stack, and an END closes the last open START with its name. The innermost annotation is at the top of the
//! stack.

use base::slice::{SliceResult, TimeSlice};
use hashbrown::HashMap;
use history::replay::DeviceHistory;
use history::snapshot::{Snapshot, StringId};
use std::ops::Range;

/// Selection of the annotation marks that are considered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum MarkScope {
    /// Only the marks of the device.
    #[default]
    Device,
    /// All marks of the file, as in Mosaic.
    File,
}

/// An annotation on the stack of open annotations.
struct OpenMark {
    name: StringId,
    is_open: bool,
    /// Value of `last_open` for this name before this annotation was pushed.
    before: u32,
}

/// The innermost annotation of a device at each moment.
#[derive(Default)]
pub(super) struct InnermostAnnotations {
    marks: MarkScope,
    next: usize,
    /// Number of events before each change, and the innermost annotation after the change.
    changes: Vec<(u32, Option<StringId>)>,
    /// Stack of annotations. The top one is the innermost open annotation.
    open_marks: Vec<OpenMark>,
    /// Maps each name to the 1-based index in `open_marks` of the last open annotation with this name. 0 if none is
    /// open.
    last_open: HashMap<StringId, u32, foldhash::fast::RandomState>,
    /// Latest time of a mark so far, in µs. A mark with an earlier time takes effect at this time.
    latest: i64,
}

base::heap_bytes!(InnermostAnnotations: changes);

impl InnermostAnnotations {
    /// Creates a list without changes. `marks` selects the marks that will be considered.
    pub(super) fn new(marks: MarkScope) -> InnermostAnnotations {
        InnermostAnnotations { marks, latest: i64::MIN, ..InnermostAnnotations::default() }
    }

    /// Continues reading marks. If the trace has no recorded times, no annotation is ever open.
    pub(super) fn step(&mut self, snapshot: &Snapshot, history: &DeviceHistory, slice: &mut TimeSlice) -> SliceResult {
        let Some(clock) = history.events.times.time_axis() else { return Ok(()) };
        while let Some(part) = slice.next_range(&mut self.next, snapshot.marks.len(), 1)? {
            for mark in snapshot.marks.get(part).unwrap_or_default() {
                if self.marks == MarkScope::Device && mark.device != history.device {
                    continue;
                }
                self.latest = self.latest.max(mark.time_us);
                let last = self.last_open.entry(mark.name).or_default();
                if mark.start {
                    self.open_marks.push(OpenMark { name: mark.name, is_open: true, before: *last });
                    *last = self.open_marks.len() as u32;
                } else if let Some(it) = last.checked_sub(1).and_then(|index| self.open_marks.get_mut(index as usize)) {
                    (it.is_open, *last) = (false, it.before);
                }
                while self.open_marks.last().is_some_and(|it| !it.is_open) {
                    self.open_marks.pop();
                }
                let innermost = self.open_marks.last().map(|it| it.name);
                let before = clock.events_before_us(self.latest);
                match self.changes.last_mut() {
                    Some((same, last)) if *same == before => *last = innermost,
                    _ => self.changes.push((before, innermost)),
                }
            }
        }
        (self.open_marks, self.last_open) = Default::default();
        Ok(())
    }

    /// Returns the innermost annotation at an event. `cursor` must be 0 in the first call and must be passed on to
    /// calls for later events.
    pub(super) fn at_event(&self, cursor: &mut usize, event: u32) -> Option<StringId> {
        while self.changes.get(*cursor).is_some_and(|&(before, _)| before <= event) {
            *cursor += 1;
        }
        self.changes.get(cursor.checked_sub(1)?)?.1
    }

    /// Returns the innermost annotation at the moment of an allocation, or `None` if no annotation is open. Also
    /// returns the surrounding range of moments with the same innermost annotation.
    pub(super) fn at_allocation(&self, allocated_at: u32) -> (Option<StringId>, Range<u32>) {
        let after = self.changes.partition_point(|&(before, _)| before < allocated_at);
        let until = self.changes.get(after).map_or(u32::MAX, |&(before, _)| before + 1);
        match after.checked_sub(1).and_then(|last| self.changes.get(last)) {
            Some(&(before, name)) => (name, before + 1..until),
            None => (None, 0..until),
        }
    }
}
