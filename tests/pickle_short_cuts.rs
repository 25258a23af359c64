//! The short cuts, for slices of memo references and for whole dicts, change nothing but the time: on and off, whole and in chunks.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may fail")]

use crate::pickle_tree;

use memscape::pickle::Machine;
use memscape::pickle::limits::{Limits, SLICE_BYTES, WHOLE_PAIRS};
use pickle_tree::Trees;
use proptest::prelude::*;

/// The value as text and how many dicts were made at a stroke, or the error.
fn decoded(bytes: &[u8], (slice_bytes, whole_pairs): (usize, usize), chunk: usize) -> Result<(String, u64), String> {
    let mut machine = Machine::new(Trees::default(), Limits { slice_bytes, whole_pairs, ..Limits::default() });
    for piece in bytes.chunks(chunk) {
        machine.feed(piece).map_err(|error| error.to_string())?;
    }
    let (trees, root) = machine.finish().map_err(|error| error.to_string())?;
    Ok((trees.text(root), trees.whole_dicts))
}

/// The same with both short cuts off, with either, with both, with a table that is always full, with dicts too long, and in
/// small chunks.
fn same_on_and_off(bytes: &[u8]) -> Result<String, String> {
    let plain = decoded(bytes, (0, 0), usize::MAX).map(|(text, _)| text);
    for switches in [(SLICE_BYTES, 0), (0, WHOLE_PAIRS), (SLICE_BYTES, WHOLE_PAIRS), (7, WHOLE_PAIRS), (SLICE_BYTES, 2)]
    {
        for chunk in [usize::MAX, 3, 8, 40] {
            let cut = decoded(bytes, switches, chunk).map(|(text, _)| text);
            assert_eq!(cut, plain, "{} in chunks of {chunk}, {switches:?}", bytes.escape_ascii());
        }
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
fn a_refusal_in_the_second_batch_of_a_known_slice_has_its_index() {
    let error = same_on_and_off(b"\x80\x02](K\x01q\0](h\0h\0e](h\0h\0e(h\x09ee.").unwrap_err();
    assert_eq!(error, "[2][2]: memo slot 9 is read but was never written (BINGET at byte 23)");
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

/// Strings in the slots 0 to 4, the last two such that the builder refuses what has them.
const NAMES: &[u8] =
    b"\x80\x04](\x8c\x01aq\0\x8c\x01bq\x01\x8c\x01cq\x02\x8c\x09refuse meq\x03\x8c\x0enever finishedq\x04";

/// [`NAMES`] without the last two, and a program.
fn with_names(program: &[u8]) -> Vec<u8> {
    [b"\x80\x04](\x8c\x01aq\0\x8c\x01bq\x01", program, b"e."].concat()
}

#[test]
fn dicts_of_one_shape_are_made_at_a_stroke() {
    // Python: each numbered before its contents. A pair, an empty list, a text that is numbered too.
    let python = b"}\x94(h\0K\x01h\x01K\0K\0\x86\x94u}\x94(h\0]\x94h\x01h\x01u}\x94(h\0\x8c\x02hi\x94h\x01h\x05u}\x94(h\0h\x04h\x01Nu";
    // C++: after them; the second dict has the list of the first.
    let cpp = b"}(h\0](h\0h\x01eq\x02h\x01K\x01u}(h\0](h\0h\x01eh\x01h\x02uq\x03}(h\0](h\0h\x01eh\x01h\x02u}(h\x01h\x03u}(h\0Nu";
    let cases: [(&[u8], &str, u64); 2] = [
        (python, "['a', 'b', {'a': 1, 'b': (0, 0)}, {'a': [], 'b': 'b'}, {'a': 'hi', 'b': []}, {'a': {'a': []", 3),
        (cpp, "['a', 'b', {'a': ['a', 'b'], 'b': 1}, {'a': ['a', 'b'], 'b': ['a', 'b']}, {'a': ['a', 'b']", 3),
    ];
    for (program, text, count) in cases {
        let bytes = with_names(program);
        let plain = same_on_and_off(&bytes);
        let (whole, made) = decoded(&bytes, (SLICE_BYTES, WHOLE_PAIRS), usize::MAX).unwrap();
        assert_eq!(plain.as_ref(), Ok(&whole));
        assert!(whole.starts_with(text), "{whole}");
        assert_eq!(made, count, "{whole}");
    }
}

#[test]
fn a_rewritten_slot_makes_another_key_of_the_same_bytes() {
    let text = same_on_and_off(&with_names(b"}(h\0K\x01u}(h\0K\x02u\x8c\x01zq\0}(h\0K\x03u}(h\0K\x04u}(h\0K\x05u"));
    assert_eq!(text.unwrap(), "['a', 'b', {'a': 1}, {'a': 2}, 'z', {'z': 3}, {'z': 4}, {'z': 5}]");
}

#[test]
fn a_dict_that_goes_on_after_its_first_batch_is_one_dict() {
    let text = same_on_and_off(&with_names(b"}(h\0K\x01u(h\x01K\x02u}(h\0K\x03uh\x01K\x04s}(h\0K\x05u"));
    assert_eq!(text.unwrap(), "['a', 'b', {'a': 1, 'b': 2}, {'a': 3, 'b': 4}, {'a': 5}]");
}

/// What a fuzz target found: a list that a known slice stands for has values, though the builder has none yet.
#[test]
fn the_path_of_an_error_counts_what_a_known_slice_stands_for() {
    let error = same_on_and_off(b"\x80\x02]K\x01q\x00a](h\x00h\x00ea](h\x00h\x00e]R").unwrap_err();
    assert!(error.starts_with("[2][2][0]: "), "{error}");
}

/// What the plain road refuses for there being too much of it, the short cuts refuse.
#[test]
fn limits_hold_with_short_cuts() {
    let cases: [(&[u8], Limits); 2] = [
        // The list's own MARK is one too many; so is its third value on the stack.
        (b"\x80\x02K\x01q\0((](h\0h\0et", Limits { open_containers: 2, ..Limits::default() }),
        (b"\x80\x02K\x01q\0](h\0h\0h\0e", Limits { stack_values: 4, ..Limits::default() }),
    ];
    for (bytes, limits) in cases {
        let plain = Limits { slice_bytes: 0, whole_pairs: 0, ..limits };
        let read = |limits| Machine::new(Trees::default(), limits).feed(bytes).map_err(|error| error.to_string());
        let error = read(plain).unwrap_err();
        assert!(error.contains("not a snapshot"), "{error}");
        assert_eq!(read(limits), Err(error));
    }
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

/// How a program numbers its containers.
fn put() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        4 => Just(b"\x94".to_vec()),
        3 => Just(Vec::new()),
        1 => (0u8..12).prop_map(|slot| vec![b'q', slot]),
        1 => (0u8..12).prop_map(|slot| vec![b'r', slot, 0, 0, 0]),
    ]
}

/// A reference, mostly to a name.
fn fetch() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        8 => (0u8..3).prop_map(|slot| vec![b'h', slot]),
        2 => (0u8..3).prop_map(|slot| vec![b'j', slot, 0, 0, 0]),
        1 => (0u8..14).prop_map(|slot| vec![b'h', slot]),
    ]
}

/// A value such as entries have.
fn value() -> impl Strategy<Value = Vec<u8>> {
    let integer = prop_oneof![
        any::<u8>().prop_map(|value| vec![b'K', value]),
        any::<[u8; 2]>().prop_map(|bytes| [&b"M"[..], &bytes].concat()),
        any::<[u8; 4]>().prop_map(|bytes| [&b"J"[..], &bytes].concat()),
        proptest::collection::vec(any::<u8>(), 0..10)
            .prop_map(|bytes| [&[0x8a, bytes.len() as u8][..], &bytes].concat()),
    ];
    let list = (proptest::collection::vec(fetch(), 1..4), put(), put())
        .prop_map(|(items, before, after)| [b"]", &before[..], b"(", &items.concat(), b"e", &after].concat());
    prop_oneof![
        4 => integer.clone(),
        4 => fetch(),
        4 => list,
        1 => put().prop_map(|put| [&b"]"[..], &put].concat()),
        1 => (integer.clone(), integer, put()).prop_map(|(one, two, put)| [&one[..], &two, b"\x86", &put].concat()),
        1 => (0u8..3, put()).prop_map(|(length, put)| [&[0x8c, length][..], &b"xyz"[..length.into()], &put].concat()),
        1 => prop_oneof![Just(b"N".to_vec()), Just(b"\x88".to_vec()), Just(b"\x89".to_vec()), Just(b"G\0\0\0\0\0\0\0\0".to_vec())],
        1 => (3u8..5).prop_map(|slot| vec![b'h', slot]),
    ]
}

/// An entry of one of a few shapes, or something else that may stand between entries.
fn entry() -> impl Strategy<Value = Vec<u8>> {
    let shape = prop_oneof![
        6 => Just([&b"h\0"[..], b"h\x01", b"j\x02\0\0\0"]),
        1 => Just([&b"h\0"[..], b"h\x02", b"h\x01"]),
        1 => Just([&b"h\0"[..], b"h\0", b"h\x05"]),
        1 => Just([&b"h\0"[..], b"h\x04", b"h\x03"]),
    ];
    let values = proptest::collection::vec(value(), 0..4);
    let whole = (shape, values, put(), put()).prop_map(|(keys, values, before, after)| {
        let pairs: Vec<u8> = keys.iter().zip(&values).flat_map(|(key, value)| [key, &value[..]].concat()).collect();
        [b"}", &before[..], b"(", &pairs, b"u", &after].concat()
    });
    prop_oneof![
        12 => whole,
        1 => instruction(),
        1 => Just(b"e(".to_vec()),
        1 => Just(b"](".to_vec()),
        1 => (0u8..3).prop_map(|slot| vec![b'h', slot, b'K', 9, b's']),
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

    #[test]
    fn random_programs_of_entries(program in proptest::collection::vec(entry(), 0..12)) {
        let _ = same_on_and_off(&[NAMES, &program.concat(), b"e."].concat());
    }
}
