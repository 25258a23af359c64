//! Groups of allocations by annotation, by torch.compile region and by user metadata.

use super::innermost::InnermostAnnotations;
use analysis::metadata;
use base::slice::{SliceResult, TimeSlice};
use base::units::{EventIdx, Moment};
use hashbrown::HashMap;
use history::replay::DeviceHistory;
use history::snapshot::{Snapshot, StringId};
use std::ops::Range;

/// Distinct names. Each has a number, starting with 0 in the order of the file.
#[derive(Default)]
struct Names {
    names: Vec<StringId>,
    numbers: HashMap<StringId, u32, foldhash::fast::RandomState>,
    read: usize,
}

base::heap_bytes!(Names: names, numbers);

impl Names {
    fn read(
        &mut self,
        rows: &[impl Sized],
        name: impl Fn(usize) -> Option<StringId>,
        slice: &mut TimeSlice,
    ) -> SliceResult {
        while let Some(part) = slice.next_range(&mut self.read, rows.len(), 1)? {
            for row in part {
                let Some(name) = name(row) else { continue };
                let next = self.names.len() as u32;
                if *self.numbers.entry(name).or_insert(next) == next {
                    self.names.push(name);
                }
            }
        }
        Ok(())
    }

    fn number(&self, name: StringId) -> Option<u32> {
        self.numbers.get(&name).copied()
    }

    fn label(&self, snapshot: &Snapshot, number: u32) -> Option<String> {
        self.names.get(number as usize).map(|&name| snapshot.strings.text(name).into_owned())
    }
}

/// The annotations, torch.compile regions and user metadata of a file.
#[derive(Default)]
pub(super) struct Regions {
    annotations: Names,
    contexts: Names,
    metadata: Names,
    /// Device ordinal and innermost annotations of each device, in the order of the histories.
    innermost: Vec<(i64, InnermostAnnotations)>,
    read: usize,
}

base::heap_bytes!(Regions: annotations, contexts, metadata, [innermost]);

impl Regions {
    /// Continues reading the annotation marks and event labels.
    pub(super) fn step(
        &mut self,
        snapshot: &Snapshot,
        histories: &[DeviceHistory],
        slice: &mut TimeSlice,
    ) -> SliceResult {
        let (marks, labels) = (&snapshot.marks, snapshot.labels.rows());
        let context = |row: usize| labels.get(row).and_then(|labels| labels.compile_context);
        self.annotations.read(marks, |row| marks.get(row).map(|mark| mark.name), slice)?;
        self.contexts.read(labels, context, slice)?;
        let recorded = |text: &StringId| !snapshot.strings.bytes(*text).is_empty();
        let metadata = |row: usize| labels.get(row).and_then(|labels| labels.user_metadata).filter(recorded);
        self.metadata.read(labels, metadata, slice)?;
        while let Some(history) = histories.get(self.read) {
            if self.innermost.len() == self.read {
                self.innermost.push((history.device, InnermostAnnotations::new(Default::default())));
            }
            if let Some((_, innermost)) = self.innermost.last_mut() {
                innermost.step(snapshot, history, slice)?;
            }
            self.read += 1;
        }
        Ok(())
    }

    /// Returns the annotation group of an allocation that is made at this moment. 0 if no annotation is open.
    pub(super) fn annotation(&self, history: &DeviceHistory, allocated_at: Moment) -> u32 {
        self.annotation_range(history, allocated_at).0
    }

    /// Returns the annotation group of an allocation that is made at this moment, and the surrounding range of moments
    /// with the same group. Callers can skip lookups for allocations within this range.
    pub(super) fn annotation_range(&self, history: &DeviceHistory, allocated_at: Moment) -> (u32, Range<u32>) {
        let (name, around) = self.innermost(history).map_or((None, 0..u32::MAX), |it| it.at_allocation(allocated_at.0));
        (name.and_then(|name| self.annotations.number(name)).map_or(0, |number| number + 1), around)
    }

    pub(super) fn innermost(&self, history: &DeviceHistory) -> Option<&InnermostAnnotations> {
        self.innermost.iter().find(|&&(device, _)| device == history.device).map(|(_, innermost)| innermost)
    }

    /// Returns the group by torch.compile region of an allocation made at this moment. 0 means before the trace, and 1
    /// means outside all regions.
    pub(super) fn context(&self, snapshot: &Snapshot, history: &DeviceHistory, allocated_at: Moment) -> u32 {
        let Some(event) = allocated_at.event() else { return 0 };
        let name = compile_context(snapshot, history, event);
        name.and_then(|name| self.contexts.number(name)).map_or(1, |number| number + 2)
    }

    /// Returns the group by user metadata. 0 if it is not set.
    pub(super) fn metadata(&self, text: Option<StringId>) -> u32 {
        text.and_then(|text| self.metadata.number(text)).map_or(0, |number| number + 1)
    }

    /// Returns the number of groups by annotation, by torch.compile region and by user metadata.
    pub(super) fn counts(&self) -> [u32; 3] {
        let [annotations, contexts, metadata] =
            [&self.annotations, &self.contexts, &self.metadata].map(|names| names.names.len() as u32);
        [annotations + 1, contexts + 2, metadata + 1]
    }

    pub(super) fn annotation_label(&self, snapshot: &Snapshot, group: u32) -> String {
        let name = group.checked_sub(1).and_then(|number| self.annotations.label(snapshot, number));
        name.unwrap_or_else(|| "no annotation".to_owned())
    }

    pub(super) fn metadata_label(&self, snapshot: &Snapshot, group: u32) -> String {
        let text = group.checked_sub(1).and_then(|number| self.metadata.label(snapshot, number));
        text.map_or_else(|| "no metadata".to_owned(), |text| metadata::short(&text))
    }

    pub(super) fn context_label(&self, snapshot: &Snapshot, group: u32) -> String {
        let name = group.checked_sub(2).and_then(|number| self.contexts.label(snapshot, number));
        name.unwrap_or_else(|| if group == 0 { "allocated before recording" } else { "N/A" }.to_owned())
    }
}

/// Returns the torch.compile region of an event. `None` if it is not recorded, or recorded as `N/A`.
pub(super) fn compile_context(snapshot: &Snapshot, history: &DeviceHistory, event: EventIdx) -> Option<StringId> {
    let name = snapshot.labels.labels(history.events.labels(event.0)).compile_context;
    name.filter(|&name| snapshot.strings.bytes(name) != b"N/A")
}
