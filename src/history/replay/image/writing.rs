//! Writer of serialized histories.

use super::packing::{Word, pack};
use super::reading::decode_subject;
use super::{HISTORY, KINDS, RESULTS, WARNING};
use crate::replay::device_history::DeviceHistory;
use crate::replay::totals::Totals;
use crate::replay::trace::{Annotated, EARLY_BIT, Subject};
use crate::snapshot::Warnings;
use base::column::Column;

/// Serializes a complete history and passes its parts to `put`.
///
/// # Errors
/// Returns the first error that `put` returns.
pub fn write_parts<E>(history: &DeviceHistory, put: &mut dyn FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
    let mut head = vec![HISTORY];
    scalar_values(history).into_iter().for_each(|number| head.extend(number.to_le_bytes()));
    put(&head)?;
    let DeviceHistory { events, allocations, drawn, reserved, awaiting_free, .. } = history;
    let times = &events.times;
    let [before, traced] = &allocations.parts;
    // Sorted as plain numbers, because sorting another type adds code to the page.
    let sorted = |mut numbers: Vec<u64>| {
        numbers.sort_unstable();
        numbers
    };
    let ends = sorted(history.end_blocks.iter().map(|(&id, &row)| u64::from(id) << 32 | u64::from(row)).collect());
    let Annotated { by_subject, by_address } = &history.annotated;
    let subjects = sorted(by_subject.keys().map(|&subject| encode_subject(subject)).collect());
    let subject_labels = subjects.iter().filter_map(|&number| by_subject.get(&decode_subject(number)?));
    let addresses = sorted(by_address.keys().copied().collect());
    let address_labels = addresses.iter().filter_map(|address| by_address.get(address));
    let address = |pairs: &Column<(u64, u64)>| pairs.iter().map(|pair| pair.0).collect::<Column<u64>>();
    let size = |pairs: &Column<(u64, u64)>| pairs.iter().map(|pair| pair.1).collect::<Column<u64>>();
    let totals = [drawn, reserved, awaiting_free].map(Totals::blocks);
    let [drawn, reserved, pending] = &totals;

    let unlisted = &history.unlisted_ranges;
    write_columns(0, [&events.action], put)?;
    let words = [
        &events.subject,
        &events.stack,
        &events.labels,
        &times.exceptions.iter().map(|exception| exception.0).collect(),
        &before.free_requested,
        &before.freed_at,
        &traced.free_requested,
        &traced.freed_at,
        &allocations.allocated_at,
        &history.note_events,
        &history.live_counts,
        &ends.iter().map(|end| (end >> 32) as u32).collect(),
        &ends.iter().map(|&end| end as u32).collect(),
        &subject_labels.map(|labels| labels.0).collect(),
        &address_labels.map(|labels| labels.0).collect(),
        drawn.2,
        reserved.2,
        pending.2,
        &unlisted.iter().map(|range| range.2).collect(),
    ];
    write_columns(1, words, put)?;
    let (operations, notes) = (&history.segment_operations, &history.notes);
    let longs = [
        &before.address,
        &before.size,
        &traced.address,
        &traced.size,
        &address(operations),
        &size(operations),
        &address(notes),
        &size(notes),
        &subjects.into_iter().collect(),
        &addresses.into_iter().collect(),
        &unlisted.iter().map(|range| range.0).collect(),
        &unlisted.iter().map(|range| range.1).collect(),
    ];
    write_columns(2, longs, put)?;
    let signed = [
        &times.start,
        &times.latest_before,
        &times.exceptions.iter().map(|exception| exception.1).collect(),
        drawn.0,
        drawn.1,
        reserved.0,
        reserved.1,
        pending.0,
        pending.1,
    ];
    write_columns(3, signed, put)?;
    write_columns(4, [&times.offset], put)
}

/// Serializes warnings about histories and passes their parts to `put`.
///
/// # Errors
/// Returns the first error that `put` returns.
pub fn write_warning_parts<E>(warnings: &Warnings, put: &mut dyn FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
    for (kind, count, place) in warnings.iter() {
        let kind = KINDS.iter().position(|known| known == kind).unwrap_or(KINDS.len());
        let mut part = vec![WARNING, kind as u8];
        part.extend(count.to_le_bytes());
        part.extend(place.as_bytes());
        put(&part)?;
    }
    Ok(())
}

/// Passes results to `put`. [`Builder::take_results`](crate::replay::Builder::take_results) returns them unchanged.
///
/// # Errors
/// Returns the error that `put` returns.
pub fn write_results<E>(results: &[u8], put: &mut dyn FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
    put(&[&[RESULTS], results].concat())
}

fn write_columns<T: Word, E, const COUNT: usize>(
    kind: u8,
    columns: [&Column<T>; COUNT],
    put: &mut dyn FnMut(&[u8]) -> Result<(), E>,
) -> Result<(), E> {
    for (index, column) in (0u8..).zip(columns) {
        column.chunks().try_for_each(|chunk| put(&pack(kind << 5 | index, chunk)))?;
    }
    Ok(())
}

/// Encodes the subject of an annotation: its value in the column of subjects in the low 32 bits, and its kind in the
/// high 32 bits.
fn encode_subject(subject: Subject) -> u64 {
    match subject {
        Subject::Traced(index) => u64::from(index),
        Subject::Early(index) => u64::from(index | EARLY_BIT),
        Subject::Segment(index) => 1 << 32 | u64::from(index),
        Subject::Note(index) => 2 << 32 | u64::from(index),
    }
}

/// Returns all values of a history that are not columns, in file order.
fn scalar_values(history: &DeviceHistory) -> Vec<u64> {
    let DeviceHistory { device, allocations, events, numbers, drawn, reserved, awaiting_free, ending_action, .. } =
        history;
    let (first, latest, uneven) = events.times.bounds();
    let mut all = vec![
        *device as u64,
        *ending_action as u64,
        allocations.may_start_awaiting_free.into(),
        allocations.unexplained_count.into(),
        allocations.static_count.into(),
        first as u64,
        latest as u64,
        uneven.into(),
    ];
    all.extend([drawn, reserved, awaiting_free].map(|totals| totals.last() as u64));
    all.extend(history.action_counts);
    let times = numbers.time_us.unwrap_or_default();
    all.extend([
        numbers.allocations,
        numbers.baseline as u64,
        numbers.peak as u64,
        numbers.peak_event as u64,
        numbers.min as u64,
        numbers.mean.to_bits(),
        numbers.median as u64,
        numbers.time_weighted_mean.is_some().into(),
        numbers.time_weighted_mean.unwrap_or_default().to_bits(),
        numbers.end,
        numbers.end_rounded,
        numbers.unmatched_frees,
        numbers.unmatched_free_bytes,
        numbers.static_blocks,
        numbers.static_bytes,
        numbers.remainder as u64,
        numbers.reserved_start as u64,
        numbers.reserved_end,
        numbers.peak_reserved as u64,
        numbers.segments,
        numbers.annotations,
        numbers.time_us.is_some().into(),
        times.0 as u64,
        times.1 as u64,
        numbers.drawn_peak,
    ]);
    all
}
