//! Reader of serialized histories.

use super::packing::unpack;
use super::validation::is_valid;
use super::{Columns, HISTORY, KINDS, RESULTS, WARNING};
use crate::replay::allocations::Allocations;
use crate::replay::annotations::annotation_ranges;
use crate::replay::device_history::DeviceHistory;
use crate::replay::live::LiveSets;
use crate::replay::numbers::DeviceFigures;
use crate::replay::times::Times;
use crate::replay::totals::Totals;
use crate::replay::trace::{Annotated, EARLY_BIT, Events, LifetimeColumns, Subject};
use crate::snapshot::{Action, LabelsId, Rows, Snapshot, Warnings};
use base::column::Column;
use base::heap::{self, HeapBytes};
use std::fmt;

/// Number of values of a device other than columns.
pub(super) const SCALARS: usize = 11 + Action::ALL.len() + 25;

/// Loader that restores histories from their serialized parts.
#[derive(Default)]
pub(in crate::replay) struct ImageReader {
    devices: Vec<([u64; SCALARS], Columns)>,
    warnings: Warnings,
    histories: Vec<DeviceHistory>,
    results: Vec<u8>,
    has_parts: bool,
}

/// Interface of [`ImageReader`]. It is used as a trait object, so that programs that load no serialized histories do
/// not link the code.
pub(in crate::replay) trait HistoryLoader: HeapBytes {
    /// Adds the next part. Returns `false` if it is invalid.
    fn part(&mut self, part: &[u8]) -> bool;

    /// Returns whether any part was added.
    fn has_parts(&self) -> bool;

    /// Builds the histories after the last part. Returns whether the histories are valid and refer only to existing
    /// rows of the snapshot's tables.
    fn end(&mut self, rows: Rows) -> bool;

    /// Returns the histories, sorted by device ordinal with host memory last, the warnings and the results. The
    /// annotations come from the snapshot.
    fn finish(&mut self, snapshot: &Snapshot) -> (Vec<DeviceHistory>, Warnings, Vec<u8>);

    /// Returns the number of events of all devices.
    fn events(&self) -> u64;
}

/// Prints only a name, to keep the wasm small. Printing the contents would need more code than loading them.
impl fmt::Debug for dyn HistoryLoader {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Histories")
    }
}

impl HistoryLoader for ImageReader {
    fn part(&mut self, part: &[u8]) -> bool {
        self.has_parts = true;
        match part {
            [HISTORY, numbers @ ..] => {
                let mut all = [0; SCALARS];
                let (chunks, rest) = numbers.as_chunks();
                all.iter_mut().zip(chunks).for_each(|(number, &bytes)| *number = u64::from_le_bytes(bytes));
                self.devices.push((all, Columns::default()));
                chunks.len() == SCALARS && rest.is_empty()
            }
            [WARNING, kind, rest @ ..] => {
                let Some((&count, place)) = rest.split_first_chunk() else { return false };
                let (kind, place) = (KINDS.get(usize::from(*kind)), std::str::from_utf8(place));
                let (Some(kind), Ok(place)) = (kind, place) else { return false };
                self.warnings.add(kind.clone(), u64::from_le_bytes(count), || place.to_owned());
                true
            }
            [RESULTS, results @ ..] => {
                self.results = results.to_vec();
                true
            }
            [column, values @ ..] => {
                let Some((_, columns)) = self.devices.last_mut() else { return false };
                let (kind, index) = (column >> 5, usize::from(column & 31));
                match kind {
                    0 => columns.bytes.get_mut(index).is_some_and(|column| unpack(values, column)),
                    1 => columns.words.get_mut(index).is_some_and(|column| unpack(values, column)),
                    2 => columns.longs.get_mut(index).is_some_and(|column| unpack(values, column)),
                    3 => columns.signed.get_mut(index).is_some_and(|column| unpack(values, column)),
                    4 => columns.offsets.get_mut(index).is_some_and(|column| unpack(values, column)),
                    _ => false,
                }
            }
            [] => false,
        }
    }

    fn has_parts(&self) -> bool {
        self.has_parts
    }

    fn end(&mut self, rows: Rows) -> bool {
        for (numbers, columns) in std::mem::take(&mut self.devices) {
            match build_history(numbers, columns) {
                Some(history) if is_valid(&history, rows) => self.histories.push(history),
                _ => return false,
            }
        }
        true
    }

    fn finish(&mut self, snapshot: &Snapshot) -> (Vec<DeviceHistory>, Warnings, Vec<u8>) {
        for history in &mut self.histories {
            let marks = (0u32..).zip(&snapshot.marks).filter(|(_, mark)| mark.device == history.device);
            let rows: Vec<u32> = marks.map(|(row, _)| row).collect();
            // Warnings about them are already among the loaded ones.
            history.annotations = annotation_ranges(&rows, snapshot, &mut Warnings::default());
        }
        let ImageReader { histories, warnings, results, .. } = std::mem::take(self);
        (histories, warnings, results)
    }

    fn events(&self) -> u64 {
        let loading =
            self.devices.iter().map(|(_, columns)| columns.bytes.iter().map(Column::len).sum::<usize>() as u64);
        loading.chain(self.histories.iter().map(|history| history.event_count().into())).sum()
    }
}

impl HeapBytes for ImageReader {
    fn heap_bytes(&self) -> usize {
        let histories = self.histories.iter().flat_map(DeviceHistory::heap_bytes).map(|(_, bytes)| bytes);
        heap::sum(&self.devices) + histories.sum::<usize>() + self.results.heap_bytes()
    }
}

/// Builds a history from its values and columns. Returns `None` if something is missing.
fn build_history(numbers: [u64; SCALARS], columns: Columns) -> Option<DeviceHistory> {
    let Columns { bytes: [action], words, longs, signed, offsets: [offset] } = columns;
    let [
        subject,
        stack,
        labels,
        exceptions,
        before_requested,
        before_freed_at,
        requested,
        freed_at,
        allocated_at,
        note_events,
        live_counts,
        end_ids,
        end_rows,
        subject_labels,
        address_labels,
        drawn_moments,
        reserved_moments,
        pending_moments,
        unlisted_events,
    ] = words;
    let [
        before_address,
        before_size,
        address,
        size,
        operation_address,
        operation_size,
        note_address,
        note_size,
        subjects,
        addresses,
        unlisted_address,
        unlisted_size,
    ] = longs;
    let [start, latest_before, exception_times, drawn, drawn_max, reserved, reserved_max, pending, pending_max] =
        signed;

    let mut rest = numbers.into_iter();
    let mut next = || rest.next().unwrap_or_default();
    let (device, ending) = (next() as i64, next());
    let ending_action =
        [Action::FreeRequested, Action::FreeCompleted].into_iter().find(|ends| *ends as u64 == ending)?;
    let (may_start_awaiting_free, unexplained_count, static_count) = (next() != 0, next() as u32, next() as u32);
    let times_end = (next() as i64, next() as i64, next() != 0);
    let [drawn_last, reserved_last, pending_last] = [(); 3].map(|()| next() as i64);
    let action_counts = [(); Action::ALL.len()].map(|()| next());
    let mut numbers = DeviceFigures {
        allocations: next(),
        baseline: next() as i64,
        peak: next() as i64,
        peak_event: next() as i64,
        min: next() as i64,
        mean: f64::from_bits(next()),
        median: next() as i64,
        ..DeviceFigures::default()
    };
    let (is_known, mean) = (next() != 0, f64::from_bits(next()));
    numbers.time_weighted_mean = is_known.then_some(mean);
    [numbers.end, numbers.end_rounded] = [next(), next()];
    [numbers.unmatched_frees, numbers.unmatched_free_bytes] = [next(), next()];
    [numbers.static_blocks, numbers.static_bytes] = [next(), next()];
    [numbers.remainder, numbers.reserved_start] = [next() as i64, next() as i64];
    numbers.reserved_end = next();
    numbers.peak_reserved = next() as i64;
    [numbers.segments, numbers.annotations] = [next(), next()];
    let (is_known, from, to) = (next() != 0, next() as i64, next() as i64);
    numbers.time_us = is_known.then_some((from, to));
    numbers.drawn_peak = next();

    let moments = u32::try_from(action.len()).ok()?.checked_add(1)?;
    let totals = |last, blocks| Totals::from_blocks(moments, last, blocks);
    let times = Times::from_parts([start, latest_before], offset, (exceptions, exception_times), times_end)?;
    let allocations = Allocations {
        parts: [
            LifetimeColumns {
                address: before_address,
                size: before_size,
                free_requested: before_requested,
                freed_at: before_freed_at,
            },
            LifetimeColumns { address, size, free_requested: requested, freed_at },
        ],
        allocated_at,
        unexplained_count,
        static_count,
        may_start_awaiting_free,
    };
    let is_paired = end_ids.len() == end_rows.len()
        && subjects.len() == subject_labels.len()
        && addresses.len() == address_labels.len()
        && operation_address.len() == operation_size.len()
        && note_address.len() == note_size.len()
        && [unlisted_address.len(), unlisted_size.len()] == [unlisted_events.len(); 2]
        && unlisted_events.iter().all(|event| (event as usize) < action.len());
    let unlisted = unlisted_address.iter().zip(unlisted_size.iter()).zip(unlisted_events.iter());
    let subjects = subjects.iter().map(decode_subject).collect::<Option<Vec<Subject>>>()?;
    let annotated = Annotated {
        by_subject: subjects.into_iter().zip(subject_labels.iter().map(LabelsId)).collect(),
        by_address: addresses.iter().zip(address_labels.iter().map(LabelsId)).collect(),
    };
    is_paired.then_some(DeviceHistory {
        device,
        events: Events { skipped: 0, action, subject, stack, labels, times },
        action_counts,
        allocations,
        numbers,
        annotations: Vec::new(),
        live: LiveSets::default(),
        drawn: totals(drawn_last, (drawn, drawn_max, drawn_moments))?,
        reserved: totals(reserved_last, (reserved, reserved_max, reserved_moments))?,
        awaiting_free: totals(pending_last, (pending, pending_max, pending_moments))?,
        live_counts,
        end_blocks: end_ids.iter().zip(end_rows.iter()).collect(),
        segment_operations: operation_address.iter().zip(operation_size.iter()).collect(),
        unlisted_ranges: unlisted.map(|((address, size), event)| (address, size, event)).collect(),
        notes: note_address.iter().zip(note_size.iter()).collect(),
        early_facts: Column::new(),
        later_operations: Column::new(),
        later_event_count: 0,
        note_events,
        annotated,
        ending_action,
    })
}

/// Decodes the subject of an annotation, the inverse of `encode_subject`. Returns `None` if the kind is invalid.
pub(super) fn decode_subject(number: u64) -> Option<Subject> {
    let index = number as u32;
    match number >> 32 {
        0 if index & EARLY_BIT != 0 => Some(Subject::Early(index & !EARLY_BIT)),
        0 => Some(Subject::Traced(index)),
        1 => Some(Subject::Segment(index)),
        2 => Some(Subject::Note(index)),
        _ => None,
    }
}
