//! Checks that shortcuts and chunk boundaries do not affect the values, events and errors of the pickle reader.

use super::{digest, snapshot_text};
use memscape::pickle::Limits;

/// Runs the target on a pickle. The last byte selects chunk size and limits, so any pickle is a seed.
pub(crate) fn run(pickle: &[u8]) {
    let Some(&choice) = pickle.last() else { return };
    let plain = Limits { slice_bytes: 0, fast_dict_pairs: 0, ..Limits::default() };
    // Limits that small files reach, and a table of slices that is always full.
    let tight = |limits: Limits| Limits {
        string_bytes: 300,
        tuple_items: 5,
        stack_values: 200,
        open_containers: 20,
        memo_slots: 200,
        memo_holes: 20,
        ..limits
    };
    let chunk = usize::from(choice % 29) + 1;
    let read = if choice & 0x40 == 0 { digest::read } else { snapshot_text::read };
    let (plain, quick) = match choice & 0x80 {
        0 => (plain, Limits::default()),
        _ => (tight(plain), tight(Limits::default())),
    };
    let expected = read(pickle, plain, usize::MAX);
    for (limits, chunk, how) in [
        (quick, usize::MAX, "shortcuts, in one piece"),
        (quick, chunk, "shortcuts, in chunks"),
        (
            Limits { slice_bytes: 9, fast_dict_pairs: 3, ..quick },
            usize::MAX,
            "shortcuts with a full table, in one piece",
        ),
        (plain, chunk, "no shortcuts, in chunks"),
    ] {
        assert_eq!(read(pickle, limits, chunk), expected, "{how} of {chunk}");
    }
}
