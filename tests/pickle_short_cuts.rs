//! The short cut for slices of memo references changes nothing but the time: on and off, whole and in chunks.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may fail")]

#[path = "support/pickle_tree.rs"]
#[allow(dead_code, reason = "each test file uses its part")]
mod pickle_tree;

use memscape::pickle::Machine;
use memscape::pickle::limits::{Limits, SLICE_BYTES};
use pickle_tree::Trees;
use proptest::prelude::*;

/// The value as text, or the error.
fn decoded(bytes: &[u8], slice_bytes: usize, chunk: usize) -> Result<String, String> {
    let mut machine = Machine::new(Trees::default(), Limits { slice_bytes, ..Limits::default() });
    for piece in bytes.chunks(chunk) {
        machine.feed(piece).map_err(|error| error.to_string())?;
    }
    let (trees, root) = machine.finish().map_err(|error| error.to_string())?;
    Ok(trees.text(root))
}

/// The same with the short cut off, on, on with a table that is always full, and on in small chunks.
fn same_on_and_off(bytes: &[u8]) -> Result<String, String> {
    let plain = decoded(bytes, 0, usize::MAX);
    for (slice_bytes, chunk) in [(SLICE_BYTES, usize::MAX), (7, usize::MAX), (SLICE_BYTES, 3), (SLICE_BYTES, 8)] {
        let cut = decoded(bytes, slice_bytes, chunk);
        assert_eq!(cut, plain, "{} in chunks of {chunk}, table of {slice_bytes}", bytes.escape_ascii());
    }
    plain
}

#[test]
fn a_known_slice_is_the_same_list() {
    // Three equal lists in a list; the slice is known from the second on.
    let text = same_on_and_off(b"\x80\x02](K\x01q\x00K\x02q\x01](h\x00h\x01e](h\x00h\x01e](h\x00h\x01ee.").unwrap();
    assert_eq!(text, "[1, 2, [1, 2], [1, 2], [1, 2]]");
}

#[test]
fn a_second_batch_and_a_lone_append_follow_a_known_slice() {
    let text =
        same_on_and_off(b"\x80\x02](K\x01q\x00](h\x00h\x00e](h\x00h\x00e(K\x05e](h\x00h\x00eK\x06a](h\x00h\x00ee.");
    assert_eq!(text.unwrap(), "[1, [1, 1], [1, 1, 5], [1, 1, 6], [1, 1]]");
}

#[test]
fn a_rewritten_memo_slot_makes_another_list_of_the_same_bytes() {
    let text = same_on_and_off(b"\x80\x02](K\x01q\x00](h\x00h\x00e](h\x00h\x00eK\x02q\x00](h\x00h\x00ee.").unwrap();
    assert_eq!(text, "[1, [1, 1], [1, 1], 2, [2, 2]]");
    // Rewritten between the slice and the end of its list, which then gets more.
    let text = same_on_and_off(b"\x80\x02](K\x01q\x00](h\x00e](h\x00eK\x07q\x00ae.").unwrap();
    assert_eq!(text, "[1, [1], [1, 7]]");
}

#[test]
fn a_reference_to_an_open_container_takes_the_plain_road() {
    let text = same_on_and_off(b"\x80\x02](]q\x00](h\x00h\x00e](h\x00h\x00ee.").unwrap();
    assert_eq!(text, "[[], [[], []], [[], []]]");
}

/// Instructions of which many sequences are lists of references.
fn instruction() -> impl Strategy<Value = Vec<u8>> {
    let slot = 0u8..4;
    prop_oneof![
        4 => proptest::collection::vec(slot.clone(), 1..4).prop_map(|slots| {
            let references = slots.into_iter().flat_map(|slot| match slot {
                3 => vec![b'j', 1, 0, 0, 0],
                slot => vec![b'h', slot],
            });
            b"](".iter().copied().chain(references).chain([b'e']).collect()
        }),
        2 => (0u8..3, slot.clone()).prop_map(|(value, slot)| vec![b'K', value, b'q', slot]),
        1 => slot.clone().prop_map(|slot| vec![b']', b'q', slot]),
        1 => slot.clone().prop_map(|slot| vec![b'q', slot]),
        1 => slot.clone().prop_map(|slot| vec![b'h', slot, b'a']),
        1 => slot.prop_map(|slot| vec![b'(', b'h', slot, b'e']),
        1 => Just(b"\x94".to_vec()),
        1 => Just(b"a".to_vec()),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4000, ..ProptestConfig::default() })]

    #[test]
    fn random_programs_of_references(program in proptest::collection::vec(instruction(), 0..24)) {
        let mut bytes = b"\x80\x02](K\x00q\x00K\x01q\x01K\x02q\x02".to_vec();
        bytes.extend(program.concat());
        bytes.extend(b"e.");
        let _ = same_on_and_off(&bytes);
    }
}
