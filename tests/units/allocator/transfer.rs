//! Serialization of recordings as columns, written in slices.

use super::{Writing, read};
use crate::files::{names, recordings};
use crate::recording::Recording;
use base::slice::{STEPS_PER_CHECK, TimeSlice};

fn columns(recording: &Recording) -> (Vec<u8>, u32) {
    let mut writing = Writing::new(recording.clone());
    let mut slices = 1;
    loop {
        if let Ok(bytes) = writing.step(&mut TimeSlice::new(&mut || false)) {
            return (bytes, slices);
        }
        slices += 1;
    }
}

#[test]
fn written_columns_round_trip() {
    for name in names() {
        for recording in recordings(&name).into_iter().flatten() {
            let (mut bytes, slices) = columns(&recording);
            assert!(slices as usize > recording.steps.len() / STEPS_PER_CHECK as usize, "{name}: {slices} slices");
            bytes.extend(b"behind");
            let (back, rest) = read(&bytes).unwrap();
            assert_eq!(rest, b"behind", "{name}");
            assert!(back.steps.iter().eq(recording.steps.iter()), "{name}");
            assert!(back.allocations.iter().eq(recording.allocations.iter()), "{name}");
            assert!(back.operations.iter().eq(recording.operations.iter()), "{name}");
        }
    }
}

#[test]
fn invalid_column_bytes_are_rejected() {
    let (bytes, _) = columns(&Recording::default());
    assert_eq!(bytes, [0; 12]);
    assert!(read(&bytes).is_some());
    assert!(read(&bytes[1..]).is_none(), "a count is cut off");
    assert!(read(&[255; 40]).is_none(), "fewer rows than the header announces");
    let step = |kind: u8| [&[0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, kind][..], &[0; 8]].concat();
    assert!(read(&step(5)).is_some() && read(&step(6)).is_none(), "unknown kind of step");
}
