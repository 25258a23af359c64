//! Packing of column chunks as bytes, and invalid parts.

use super::packing::{Word, pack, unpack};
use super::reading::{HistoryLoader, ImageReader, SCALARS};
use super::*;
use crate::snapshot::Rows;
use std::fmt::Debug;

fn round<T: Word + Debug + PartialEq>(values: &[T], width: u8) {
    let part = pack(7, values);
    assert_eq!((part[0], part[1]), (7, width), "{values:?}");
    let mut column = Column::new();
    assert!(unpack(&part[1..], &mut column));
    assert_eq!(column.iter().collect::<Vec<T>>(), values);
    for length in 1..part.len() {
        // A cut between two values gives a valid, shorter chunk.
        let is_whole = length >= 10 && (length - 10).is_multiple_of(usize::from(width));
        assert_eq!(unpack(&part[1..length], &mut Column::<T>::new()), is_whole, "{length} bytes of {values:?}");
    }
}

#[test]
fn values_are_packed_with_minimum_width() {
    round::<u8>(&[], 1);
    round(&[7u8, 0, 255], 1);
    round(&[u32::MAX, u32::MAX - 255], 1);
    round(&[0u32, 256], 2);
    round(&[0u32, u32::MAX], 4);
    round(&[1u64 << 40, (1 << 40) + 65_535], 2);
    round(&[0, u64::MAX], 8);
    round(&[i64::MIN, i64::MAX, 0, -1], 8);
    round(&[-100i64, 100], 1);
    round(&[i32::MIN, i32::MAX], 4);
    round(&[-1i32, 1], 1);
}

#[test]
fn only_last_chunk_of_column_may_be_partial() {
    let values: Vec<u32> = (0..40_000).collect();
    let mut column = Column::new();
    for chunk in values.chunks(1 << 14) {
        assert!(unpack(&pack(0, chunk)[1..], &mut column));
    }
    assert_eq!(column.iter().collect::<Vec<u32>>(), values);
    assert!(!unpack(&pack(0, &[1u32])[1..], &mut column), "the last chunk is not whole");
    assert!(!unpack(&pack(0, &vec![1u32; (1 << 14) + 1])[1..], &mut Column::<u32>::new()), "too long");
    // The column can still grow.
    (0..50_000).for_each(|value| column.push(value));
    assert_eq!((column.get(39_999), column.get(40_000), column.get(89_999)), (Some(39_999), Some(0), Some(49_999)));
}

#[test]
fn invalid_parts_are_rejected() {
    let refused: [&[u8]; 7] =
        [&[], &[0, 1], &[HISTORY], &[HISTORY, 1, 2], &[WARNING, 0, 1], &[WARNING, 200, 0, 0, 0, 0, 0, 0, 0, 0], &[250]];
    for part in refused {
        assert!(!ImageReader::default().part(part), "{part:?}");
    }
    // A history of zeros is inconsistent.
    let mut image = ImageReader::default();
    assert!(image.part(&[&[HISTORY][..], &[0; 8 * SCALARS]].concat()));
    assert!(!image.end(Rows { stacks: 1, labels: 1, blocks: 1 }));
}
