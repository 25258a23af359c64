//! Unit tests of `src/base/slice.rs`.

use super::*;

/// Adds up the numbers from `*next` to 10,000. Each step costs `weight`.
fn add_up(next: &mut u64, sum: &mut u64, weight: u32, slice: &mut TimeSlice) -> SliceResult<u64> {
    while *next <= 10_000 {
        slice.spend(weight)?;
        *sum += *next;
        *next += 1;
    }
    Ok(*sum)
}

#[test]
fn work_resumes_after_each_slice() {
    for (weight, most) in [(1, 10_000 / 2048 + 1), (100, 10_000 / 21 + 1), (u32::MAX, 10_000)] {
        let (mut next, mut sum, mut slices) = (1, 0, 1);
        let found = loop {
            match add_up(&mut next, &mut sum, weight, &mut TimeSlice::new(&mut || false)) {
                Ok(found) => break found,
                Err(OutOfTime) => slices += 1,
            }
        };
        assert_eq!(found, 50_005_000);
        assert!(slices <= most, "{slices} slices at {weight}");
    }
}

#[test]
fn parts_cover_every_row_once() {
    for (steps, length) in [(0, 2048), (1, 2048), (16, 128), (u32::MAX, 1)] {
        let (mut next, mut seen, mut slices) = (0, 0, 0);
        let is_done = |slice: &mut TimeSlice, next: &mut usize, seen: &mut usize| -> SliceResult {
            while let Some(part) = slice.next_range(next, 5000, steps)? {
                assert_eq!(part.start, *seen);
                *seen = part.end;
            }
            Ok(())
        };
        while is_done(&mut TimeSlice::new(&mut || false), &mut next, &mut seen).is_err() {
            slices += 1;
        }
        assert_eq!((next, seen, slices), (5000, 5000, 4999 / length), "{steps}");
    }
}

#[test]
fn clock_is_checked_once_per_batch_of_steps() {
    let mut looks = 0;
    let mut has_time = || {
        looks += 1;
        true
    };
    let mut slice = TimeSlice::new(&mut has_time);
    assert_eq!(add_up(&mut 1, &mut 0, 1, &mut slice), Ok(50_005_000));
    assert_eq!(slice.check(), Ok(()));
    assert_eq!(looks, 10_000 / 2048 + 1);
}
