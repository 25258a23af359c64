//! Decoder fast paths for slices of memo references and for whole dicts. Results are the same with them on or off, and
//! with the bytes whole or in chunks.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests may panic")]

use crate::pickle_tree;

use memscape::pickle::Unpickler;
use memscape::pickle::limits::{FAST_DICT_PAIRS, Limits, SLICE_BYTES};
use pickle_tree::Trees;
use proptest::prelude::*;

/// Decodes `bytes`. Returns the value as text and the number of dicts decoded by the fast path.
fn decoded(
    bytes: &[u8],
    (slice_bytes, fast_dict_pairs): (usize, usize),
    chunk: usize,
) -> Result<(String, u64), String> {
    let mut machine = Unpickler::new(Trees::default(), Limits { slice_bytes, fast_dict_pairs, ..Limits::default() });
    for piece in bytes.chunks(chunk) {
        machine.feed(piece).map_err(|error| error.to_string())?;
    }
    let (trees, root) = machine.finish().map_err(|error| error.to_string())?;
    Ok((trees.text(root), trees.whole_dicts))
}

/// Decodes `bytes` without fast paths and compares the result with either one, both, a full table, dicts above the
/// limit, and small chunks.
fn same_on_and_off(bytes: &[u8]) -> Result<String, String> {
    let plain = decoded(bytes, (0, 0), usize::MAX).map(|(text, _)| text);
    for switches in
        [(SLICE_BYTES, 0), (0, FAST_DICT_PAIRS), (SLICE_BYTES, FAST_DICT_PAIRS), (7, FAST_DICT_PAIRS), (SLICE_BYTES, 2)]
    {
        for chunk in [usize::MAX, 3, 8, 40] {
            let cut = decoded(bytes, switches, chunk).map(|(text, _)| text);
            assert_eq!(cut, plain, "{} in chunks of {chunk}, {switches:?}", bytes.escape_ascii());
        }
    }
    plain
}

#[test]
fn known_slice_decodes_to_equal_list() {
    // Three equal lists in a list. The slice is known from the second on.
    let text = same_on_and_off(b"\x80\x02](K\x01q\x00K\x02q\x01](h\x00h\x01e](h\x00h\x01e](h\x00h\x01ee.").unwrap();
    assert_eq!(text, "[1, 2, [1, 2], [1, 2], [1, 2]]");
}

#[test]
fn second_batch_and_append_extend_known_slice() {
    let text =
        same_on_and_off(b"\x80\x02](K\x01q\x00](h\x00h\x00e](h\x00h\x00e(K\x05e](h\x00h\x00eK\x06a](h\x00h\x00ee.");
    assert_eq!(text.unwrap(), "[1, [1, 1], [1, 1, 5], [1, 1, 6], [1, 1]]");
}

#[test]
fn error_in_second_batch_of_known_slice_has_index() {
    let error = same_on_and_off(b"\x80\x02](K\x01q\0](h\0h\0e](h\0h\0e(h\x09ee.").unwrap_err();
    assert_eq!(error, "[2][2]: memo slot 9 is read but was never written (BINGET at byte 23)");
}

#[test]
fn byte_identical_list_uses_rewritten_memo_slot() {
    let text = same_on_and_off(b"\x80\x02](K\x01q\x00](h\x00h\x00e](h\x00h\x00eK\x02q\x00](h\x00h\x00ee.").unwrap();
    assert_eq!(text, "[1, [1, 1], [1, 1], 2, [2, 2]]");
    // The slot is rewritten between the slice and the end of its list, which then gets more items.
    let text = same_on_and_off(b"\x80\x02](K\x01q\x00](h\x00e](h\x00eK\x07q\x00ae.").unwrap();
    assert_eq!(text, "[1, [1], [1, 7]]");
}

#[test]
fn reference_to_open_container_skips_fast_path() {
    let text = same_on_and_off(b"\x80\x02](]q\x00](h\x00h\x00e](h\x00h\x00ee.").unwrap();
    assert_eq!(text, "[[], [[], []], [[], []]]");
}

/// Strings in slots 0 to 4. The builder refuses containers with either of the last two.
const NAMES: &[u8] =
    b"\x80\x04](\x8c\x01aq\0\x8c\x01bq\x01\x8c\x01cq\x02\x8c\x09refuse meq\x03\x8c\x0enever finishedq\x04";

/// A pickle with the first two strings of [`NAMES`] followed by `program`.
fn with_names(program: &[u8]) -> Vec<u8> {
    [b"\x80\x04](\x8c\x01aq\0\x8c\x01bq\x01", program, b"e."].concat()
}

#[test]
fn dicts_of_known_shape_use_fast_path() {
    // Python: each container is memoized before its contents. A tuple, an empty list, a memoized string.
    let python = b"}\x94(h\0K\x01h\x01K\0K\0\x86\x94u}\x94(h\0]\x94h\x01h\x01u}\x94(h\0\x8c\x02hi\x94h\x01h\x05u}\x94(h\0h\x04h\x01Nu";
    // C++: memoized after the contents. The second dict has the list of the first.
    let cpp = b"}(h\0](h\0h\x01eq\x02h\x01K\x01u}(h\0](h\0h\x01eh\x01h\x02uq\x03}(h\0](h\0h\x01eh\x01h\x02u}(h\x01h\x03u}(h\0Nu";
    let cases: [(&[u8], &str, u64); 2] = [
        (python, "['a', 'b', {'a': 1, 'b': (0, 0)}, {'a': [], 'b': 'b'}, {'a': 'hi', 'b': []}, {'a': {'a': []", 3),
        (cpp, "['a', 'b', {'a': ['a', 'b'], 'b': 1}, {'a': ['a', 'b'], 'b': ['a', 'b']}, {'a': ['a', 'b']", 3),
    ];
    for (program, text, count) in cases {
        let bytes = with_names(program);
        let plain = same_on_and_off(&bytes);
        let (whole, made) = decoded(&bytes, (SLICE_BYTES, FAST_DICT_PAIRS), usize::MAX).unwrap();
        assert_eq!(plain.as_ref(), Ok(&whole));
        assert!(whole.starts_with(text), "{whole}");
        assert_eq!(made, count, "{whole}");
    }
}

#[test]
fn byte_identical_dict_uses_rewritten_key_slot() {
    let text = same_on_and_off(&with_names(b"}(h\0K\x01u}(h\0K\x02u\x8c\x01zq\0}(h\0K\x03u}(h\0K\x04u}(h\0K\x05u"));
    assert_eq!(text.unwrap(), "['a', 'b', {'a': 1}, {'a': 2}, 'z', {'z': 3}, {'z': 4}, {'z': 5}]");
}

#[test]
fn second_batch_extends_dict_of_first_batch() {
    let text = same_on_and_off(&with_names(b"}(h\0K\x01u(h\x01K\x02u}(h\0K\x03uh\x01K\x04s}(h\0K\x05u"));
    assert_eq!(text.unwrap(), "['a', 'b', {'a': 1, 'b': 2}, {'a': 3, 'b': 4}, {'a': 5}]");
}

/// Found by a fuzz target: a list replaced by a known slice has values before the builder receives them.
#[test]
fn error_path_counts_values_of_known_slice() {
    let error = same_on_and_off(b"\x80\x02]K\x01q\x00a](h\x00h\x00ea](h\x00h\x00e]R").unwrap_err();
    assert!(error.starts_with("[2][2][0]: "), "{error}");
}

/// The fast paths enforce the same limits as the plain decoder.
#[test]
fn limits_apply_on_fast_paths() {
    let cases: [(&[u8], Limits); 2] = [
        // The list's own MARK exceeds the first limit, its third value on the stack the second.
        (b"\x80\x02K\x01q\0((](h\0h\0et", Limits { open_containers: 2, ..Limits::default() }),
        (b"\x80\x02K\x01q\0](h\0h\0h\0e", Limits { stack_values: 4, ..Limits::default() }),
    ];
    for (bytes, limits) in cases {
        let plain = Limits { slice_bytes: 0, fast_dict_pairs: 0, ..limits };
        let read = |limits| Unpickler::new(Trees::default(), limits).feed(bytes).map_err(|error| error.to_string());
        let error = read(plain).unwrap_err();
        assert!(error.contains("not a snapshot"), "{error}");
        assert_eq!(read(limits), Err(error));
    }
}

/// Instructions that often combine into lists of references.
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

/// Memo instruction after a container, or none.
fn put() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        4 => Just(b"\x94".to_vec()),
        3 => Just(Vec::new()),
        1 => (0u8..12).prop_map(|slot| vec![b'q', slot]),
        1 => (0u8..12).prop_map(|slot| vec![b'r', slot, 0, 0, 0]),
    ]
}

/// A memo reference, usually to a name.
fn fetch() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        8 => (0u8..3).prop_map(|slot| vec![b'h', slot]),
        2 => (0u8..3).prop_map(|slot| vec![b'j', slot, 0, 0, 0]),
        1 => (0u8..14).prop_map(|slot| vec![b'h', slot]),
    ]
}

/// A value as it occurs in entries.
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

/// An entry with one of a few shapes, or another instruction that can occur between entries.
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
    fn fast_paths_decode_random_references_identically(program in proptest::collection::vec(instruction(), 0..24)) {
        let mut bytes = b"\x80\x02](K\x00q\x00K\x01q\x01K\x02q\x02".to_vec();
        bytes.extend(program.concat());
        bytes.extend(b"e.");
        let _ = same_on_and_off(&bytes);
    }

    #[test]
    fn fast_paths_decode_random_entries_identically(program in proptest::collection::vec(entry(), 0..12)) {
        let _ = same_on_and_off(&[NAMES, &program.concat(), b"e."].concat());
    }
}
