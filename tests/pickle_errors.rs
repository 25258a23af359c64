//! Paths in decoding errors, and the decoder's limits.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests may panic")]

use crate::pickle_tree;

use memscape::pickle::{ErrorKind, Limits};
use pickle_tree::{decode, decode_with};

/// `refuse me` as a string.
const BAD: &[u8] = b"\x8c\x09refuse me";

fn error_path(parts: &[&[u8]]) -> String {
    let error = decode(&parts.concat()).err().expect("builder returns an error");
    assert!(matches!(error.kind, ErrorKind::Builder(_)), "{error}");
    error.path
}

#[test]
fn builder_error_has_path() {
    let error = decode(&[&b"}(\x8c\x06traces](K\x01K\x02"[..], BAD, b"eu."].concat()).err().unwrap();
    assert_eq!(error.to_string(), "traces[2]: refused (APPENDS at byte 27)");
}

#[test]
fn error_path_is_exact_for_python_and_cpp_pickles() {
    // Python: a batch of one has no MARK. C++: always a MARK, and memo numbers come last.
    assert_eq!(error_path(&[b"}\x8c\x01d]]}\x8c\x01k", BAD, b"saas."]), "d[0][0].k");
    assert_eq!(error_path(&[b"}(\x8c\x01d](](}(\x8c\x01k", BAD, b"ueeu."]), "d[0][0].k");
    assert_eq!(error_path(&[b"}(\x8c\x01a]\x8c\x01b](K\x01K\x02e(}", BAD, b"eu."]), "b[3]");
}

#[test]
fn path_skips_complete_containers() {
    // device_traces of four devices, three of them empty. The error is in the last.
    assert_eq!(error_path(&[b"](]]](}(\x8c\x01k", BAD, b"uee."]), "[2][0].k");
    // One event per device, in the first batch of each: lists hold values of one kind.
    assert_eq!(error_path(&[b"](]}K\x00K\x00sa]}\x8c\x01k", BAD, b"sae."]), "[1][0].k");
    // A dict with one complete value, then the error under the next key.
    assert_eq!(error_path(&[b"}(K\x01](K\x01eK\x02]", BAD, b"au."]), "2[0]");
}

#[test]
fn error_for_refused_container_has_its_path() {
    let dict = b"}\x8c\x0enever finishedK\x00s";
    assert_eq!(error_path(&[b"](}", dict, b"e."]), "[1]");
    assert_eq!(error_path(&[b"](", dict, b"}e."]), "[0]", "finished by the dict on top of it");
    assert_eq!(error_path(&[dict, b"."]), "");
    assert_eq!(error_path(&[b"}K\x05", dict, b"s."]), "5");
}

/// Found by `hostile_bytes_give_a_value_or_an_error`: `a list: …` looks like a dict's batch with a list as key.
#[test]
fn list_as_key_gives_unknown_path() {
    let error = decode(b"}(]]a\0").err().expect("no such opcode");
    assert_eq!((error.offset, error.path.as_str()), (5, "?"));
}

#[test]
fn path_counts_items_already_passed_to_builder() {
    let items = b"N".repeat(10_000);
    assert_eq!(error_path(&[b"](", &items, BAD, b"e."]), "[10000]");
    assert_eq!(error_path(&[b"](", &items, b"](", BAD, b"ee."]), "[10000][0]");
}

fn limit_error(bytes: &[u8], limits: Limits) -> ErrorKind<String> {
    decode_with(bytes, limits).err().expect("limit is exceeded").kind
}

#[test]
fn each_limit_is_enforced() {
    let limits = Limits {
        string_bytes: 3,
        integer_bytes: 9,
        tuple_items: 5,
        stack_values: 7,
        open_containers: 2,
        memo_slots: 4,
        memo_holes: 2,
        slice_bytes: 0,
        fast_dict_pairs: 0,
    };
    let cases: [(&[u8], &str, usize); 9] = [
        (b"\x8c\x04", "bytes in one string", 3),
        (b"B\xff\xff\xff\xff", "bytes in one string", 3),
        (b"\x8d\xff\xff\xff\xff\xff\xff\xff\xff", "bytes in one string", 3),
        (b"\x8a\x0a", "bytes in one integer", 9),
        (b"(NNNNNNt", "values in one tuple", 5),
        (b"NNNNNNNN", "values on the stack", 7),
        (b"]]]", "open containers", 2),
        (b"(((", "nested batches", 2),
        (b"Nr\xff\xff\xff\xff", "memo slots", 4),
    ];
    for (bytes, what, max) in cases {
        assert_eq!(limit_error(bytes, limits), ErrorKind::Limit { what, max }, "{}", bytes.escape_ascii());
    }
    let holes = ErrorKind::Limit { what: "skipped memo slots", max: 2 };
    assert_eq!(limit_error(b"Nq\x03", limits), holes);
}

/// A long batch is passed to the builder in parts, which does not change the result.
#[test]
fn long_batch_keeps_stack_small() {
    let small = Limits { tuple_items: 8, stack_values: 24, ..Limits::default() };
    let numbers: Vec<u8> = (0..=255).flat_map(|number| [b'K', number]).collect();
    for bytes in [[b"](", &numbers[..], b"e."].concat(), [b"}(", &numbers[..], b"u."].concat()] {
        let (small_trees, small_root) = decode_with(&bytes, small).unwrap();
        let (trees, root) = decode(&bytes).unwrap();
        assert_eq!(small_trees.text(small_root), trees.text(root));
        assert!(small_trees.longest_batch <= 24 && trees.longest_batch == 256);
    }
    // A list's batch cannot end as a tuple.
    let tuple = [b"](", &numbers[..], b"t."].concat();
    assert_eq!(limit_error(&tuple, small), ErrorKind::Limit { what: "values in one tuple", max: 8 });
    // The last three values stay on the stack because they may belong to a tuple.
    let triples = b"NNN\x87".repeat(50);
    let (trees, root) = decode_with(&[b"](", &triples[..], b"e."].concat(), small).unwrap();
    assert_eq!(trees.items(root).len(), 50);
}
