//! Writes annotations.

use super::range::Range;
use super::tables::TableWriter;
use foldhash::fast::RandomState;
use hashbrown::HashMap;
use history::writing::ValueWriter;
use std::io;

impl TableWriter<'_> {
    /// Writes `external_annotations`. `indices` selects the START and END marks in the file's list of marks.
    pub(super) fn write_annotations(
        &mut self,
        out: &mut dyn ValueWriter,
        indices: impl Iterator<Item = usize>,
    ) -> io::Result<()> {
        out.key("external_annotations")?;
        let (marks, mut items) = (&self.file.snapshot.marks, out.list()?);
        for mark in indices.filter_map(|index| marks.get(index)) {
            out.item(&mut items)?;
            out.dict()?;
            out.key("stage")?;
            out.key(if mark.start { "START" } else { "END" })?;
            out.key("name")?;
            self.write_string(out, mark.name)?;
            out.key("device")?;
            out.int(mark.device.into())?;
            out.key("time_us")?;
            out.int(mark.time_us.into())?;
            out.end_dict()?;
        }
        out.end_list(items)
    }

    /// Appends the indices of the START and END marks of all annotations that overlap a range.
    pub(super) fn overlapping_annotations(&self, range: &Range<'_>, indices: &mut Vec<usize>) {
        let Some([first, last]) = range.times else { return };
        let marks = &self.file.snapshot.marks;
        let mut open: HashMap<u32, Vec<usize>, RandomState> = HashMap::default();
        for (index, mark) in marks.iter().enumerate().filter(|(_, mark)| mark.device == range.history.device) {
            if mark.start {
                open.entry(mark.name.0).or_default().push(index);
                continue;
            }
            let start = open.get_mut(&mark.name.0).and_then(Vec::pop);
            let from = start.and_then(|start| marks.get(start)).map_or(first, |start| start.time_us);
            if from <= last && mark.time_us >= first {
                indices.extend(start.into_iter().chain([index]));
            }
        }
        let is_open = |index: &usize| marks.get(*index).is_some_and(|mark| mark.time_us <= last);
        indices.extend(open.into_values().flatten().filter(is_open));
    }
}
