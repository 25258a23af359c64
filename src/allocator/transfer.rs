//! Serialization of a recording's columns for transfer between workers. The bytes consist of three row counts and the
//! rows of each column, as little-endian numbers of fixed width. The sender appends the remaining fields.

use super::operation::{Kind, Operation};
use super::recording::{Allocation, Recording, Step, What};
use base::column::Column;
use base::slice::{SliceResult, TimeSlice};

/// Progress of serializing a recording.
pub struct Writing {
    pub recording: Recording,
    bytes: Vec<u8>,
    /// Numbers of allocations, steps and operations that are already written.
    next: [usize; 3],
}

impl Writing {
    /// Creates a serialization of `recording`.
    pub fn new(recording: Recording) -> Writing {
        let Recording { allocations, steps, operations, .. } = &recording;
        let counts = [allocations.len(), steps.len(), operations.len()];
        let mut bytes = Vec::with_capacity(12 + 20 * counts[0] + 9 * counts[1] + 17 * counts[2]);
        counts.iter().for_each(|count| put(&mut bytes, *count as u64, 4));
        Writing { recording, bytes, next: [0; 3] }
    }

    /// Continues the serialization until it is complete or the time slice is used up. Returns the bytes.
    ///
    /// # Errors
    /// Returns an error if the time slice is used up.
    pub fn step(&mut self, slice: &mut TimeSlice) -> SliceResult<Vec<u8>> {
        let Recording { allocations, steps, operations, .. } = &self.recording;
        let ([one, two, three], bytes) = (&mut self.next, &mut self.bytes);
        write(allocations, one, slice, |Allocation { size, address, place }| {
            put(bytes, size, 8);
            put(bytes, address, 8);
            put(bytes, place.into(), 4);
        })?;
        write(steps, two, slice, |Step { event, what }| {
            let (kind, number) = match what {
                What::Alloc(number) => (0, number),
                What::FreeRequested(number) => (1, number),
                What::FreeCompleted(number) => (2, number),
                What::Grow(number) => (3, number),
                What::Release(number) => (4, number),
                What::Oom(number) => (5, number),
            };
            put(bytes, kind, 1);
            put(bytes, event.into(), 4);
            put(bytes, number.into(), 4);
        })?;
        write(operations, three, slice, |Operation { kind, address, size }| {
            put(bytes, kind as u64, 1);
            put(bytes, address, 8);
            put(bytes, size, 8);
        })?;
        Ok(std::mem::take(bytes))
    }
}

fn write<T: Copy>(column: &Column<T>, next: &mut usize, slice: &mut TimeSlice, mut row: impl FnMut(T)) -> SliceResult {
    while let Some(part) = slice.next_range(next, column.len(), 1)? {
        column.range(part).for_each(&mut row);
    }
    Ok(())
}

/// Appends the lowest `width` bytes of `number` in little-endian order.
pub fn put(bytes: &mut Vec<u8>, number: u64, width: usize) {
    bytes.extend_from_slice(number.to_le_bytes().get(..width).unwrap_or_default());
}

/// Reads the columns of a recording from the start of `bytes`. Returns the recording and the remaining bytes, or `None`
/// if the bytes are invalid.
pub fn read(bytes: &[u8]) -> Option<(Recording, &[u8])> {
    let mut rest = bytes;
    let [allocations, steps, operations] = [number(&mut rest)?, number(&mut rest)?, number(&mut rest)?];
    let mut recording = Recording::default();
    for _ in 0..allocations {
        let (size, address, place) = (long(&mut rest)?, long(&mut rest)?, number(&mut rest)?);
        recording.allocations.push(Allocation { size, address, place });
    }
    for _ in 0..steps {
        let (kind, event, number) = (byte(&mut rest)?, number(&mut rest)?, number(&mut rest)?);
        let what = match kind {
            0 => What::Alloc(number),
            1 => What::FreeRequested(number),
            2 => What::FreeCompleted(number),
            3 => What::Grow(number),
            4 => What::Release(number),
            5 => What::Oom(number),
            _ => return None,
        };
        recording.steps.push(Step { event, what });
    }
    for _ in 0..operations {
        let kind = match byte(&mut rest)? {
            0 => Kind::Alloc,
            1 => Kind::Free,
            2 => Kind::Map,
            3 => Kind::Unmap,
            _ => return None,
        };
        let (address, size) = (long(&mut rest)?, long(&mut rest)?);
        recording.operations.push(Operation { kind, address, size });
    }
    Some((recording, rest))
}

#[inline]
fn byte(bytes: &mut &[u8]) -> Option<u8> {
    bytes.split_off_first().copied()
}

#[inline]
fn number(bytes: &mut &[u8]) -> Option<u32> {
    let (first, rest) = bytes.split_first_chunk()?;
    *bytes = rest;
    Some(u32::from_le_bytes(*first))
}

#[inline]
fn long(bytes: &mut &[u8]) -> Option<u64> {
    let (first, rest) = bytes.split_first_chunk()?;
    *bytes = rest;
    Some(u64::from_le_bytes(*first))
}

#[cfg(test)]
#[path = "../../tests/units/allocator/transfer.rs"]
mod tests;
