//! Pairing of `START` and `END` marks into annotation ranges.

use crate::snapshot::{AnnotationRange, Snapshot, StringId, WarningKind, Warnings};
use base::sorted::{signed_key, sorted_by_key};
use hashbrown::HashMap;

/// Pairs the annotation marks in these rows of the snapshot's table. Returns the ranges, sorted by start. An `END` ends
/// the innermost open range with the same name.
pub(super) fn annotation_ranges(rows: &[u32], snapshot: &Snapshot, warnings: &mut Warnings) -> Vec<AnnotationRange> {
    let Snapshot { marks, steps, .. } = snapshot;
    // The recorder's steps apply to all devices.
    let mut ranges: Vec<AnnotationRange> = steps.clone();
    let mut open: HashMap<StringId, Vec<usize>, foldhash::fast::RandomState> = HashMap::default();
    for &row in rows {
        let Some(mark) = marks.get(row as usize) else { continue };
        if mark.start {
            open.entry(mark.name).or_default().push(ranges.len());
            ranges.push(AnnotationRange { name: mark.name, start_us: mark.time_us, end_us: None });
            continue;
        }
        match open.get_mut(&mark.name).and_then(Vec::pop).and_then(|range| ranges.get_mut(range)) {
            Some(range) => range.end_us = Some(mark.time_us),
            None => warnings.add(WarningKind::AnnotationWithoutStart, 1, || format!("external_annotations[{row}]")),
        }
    }
    sorted_by_key(ranges, |range| signed_key(range.start_us).into())
}
