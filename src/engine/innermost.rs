//! The innermost annotation that is open at each moment, by Mosaic's rule (`semantics.md` §1): in the order of the file a START is put
//! on a stack and an END takes off the last of its name; the one on top holds.

use base::slice::{Slice, Sliced};
use hashbrown::HashMap;
use history::replay::DeviceHistory;
use history::snapshot::{Snapshot, StringId};
use std::ops::Range;

/// Which marks count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Marks {
    /// Those of the device.
    #[default]
    OfDevice,
    /// All of the file, as Mosaic has it.
    OfFile,
}

/// An annotation that was begun.
struct OpenMark {
    name: StringId,
    is_open: bool,
    /// What its name had in `last_of` before.
    before: u32,
}

/// The innermost annotation of a device at each moment.
#[derive(Default)]
pub(super) struct Innermost {
    marks: Marks,
    next: usize,
    /// The events before each change, and what is innermost from then on.
    changes: Vec<(u32, Option<StringId>)>,
    /// Those that were begun; the last is open.
    begun: Vec<OpenMark>,
    /// The place after that of the last open one of each name; 0: none is.
    last_of: HashMap<StringId, u32, foldhash::fast::RandomState>,
    /// The latest time of a mark so far: one that stands behind a later one waits for it.
    latest: i64,
}

impl Innermost {
    /// By these marks.
    pub(super) fn by(marks: Marks) -> Innermost {
        Innermost { marks, latest: i64::MIN, ..Innermost::default() }
    }

    /// Reads marks. Without times nothing is ever open.
    pub(super) fn step(&mut self, snapshot: &Snapshot, history: &DeviceHistory, slice: &mut Slice) -> Sliced {
        let Some(clock) = history.events.times.clock() else { return Ok(()) };
        while let Some(part) = slice.part(&mut self.next, snapshot.marks.len(), 1)? {
            for mark in snapshot.marks.get(part).unwrap_or_default() {
                if self.marks == Marks::OfDevice && mark.device != history.device {
                    continue;
                }
                self.latest = self.latest.max(mark.time_us);
                let last = self.last_of.entry(mark.name).or_default();
                if mark.start {
                    self.begun.push(OpenMark { name: mark.name, is_open: true, before: *last });
                    *last = self.begun.len() as u32;
                } else if let Some(it) = last.checked_sub(1).and_then(|at| self.begun.get_mut(at as usize)) {
                    (it.is_open, *last) = (false, it.before);
                }
                while self.begun.last().is_some_and(|it| !it.is_open) {
                    self.begun.pop();
                }
                let innermost = self.begun.last().map(|it| it.name);
                let before = clock.events_before_us(self.latest);
                match self.changes.last_mut() {
                    Some((same, last)) if *same == before => *last = innermost,
                    _ => self.changes.push((before, innermost)),
                }
            }
        }
        (self.begun, self.last_of) = Default::default();
        Ok(())
    }

    /// What is open at an event; `cursor` was given before, for an event before it, or is 0.
    pub(super) fn at_event(&self, cursor: &mut usize, event: u32) -> Option<StringId> {
        while self.changes.get(*cursor).is_some_and(|&(before, _)| before <= event) {
            *cursor += 1;
        }
        self.changes.get(cursor.checked_sub(1)?)?.1
    }

    /// What is open where an allocation is born, at this moment, nothing before the trace; and at which moments around it the same is.
    pub(super) fn at_birth(&self, born: u32) -> (Option<StringId>, Range<u32>) {
        let after = self.changes.partition_point(|&(before, _)| before < born);
        let until = self.changes.get(after).map_or(u32::MAX, |&(before, _)| before + 1);
        match after.checked_sub(1).and_then(|last| self.changes.get(last)) {
            Some(&(before, name)) => (name, before + 1..until),
            None => (None, 0..until),
        }
    }

    /// Bytes on the heap.
    pub(super) fn heap_bytes(&self) -> usize {
        self.changes.capacity() * size_of::<(u32, Option<StringId>)>()
    }
}
