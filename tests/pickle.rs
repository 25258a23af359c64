//! The machine on hand-made pickles: every opcode, every rule, every limit, and where each error says it is.

#[path = "support/pickle_tree.rs"]
#[allow(dead_code, reason = "each test file uses its part")]
mod pickle_tree;

use memscape::pickle::opcode::{Refusal, Verdict, opcode};
use memscape::pickle::{ErrorKind, Limits, Machine, PickleError};
use pickle_tree::{Trees, decode, decode_with};

fn text(bytes: &[u8]) -> Result<String, PickleError<String>> {
    decode(bytes).map(|(trees, root)| trees.text(root))
}

/// The error in full, as a user reads it.
fn error(bytes: &[u8]) -> String {
    match text(bytes) {
        Ok(text) => panic!("decoded as {text}"),
        Err(error) => error.to_string(),
    }
}

mod opcodes {
    use super::*;

    #[test]
    fn each_of_the_256_bytes_is_run_refused_or_unknown() {
        let (mut run, mut refused) = (0, 0);
        for byte in 0..=u8::MAX {
            // Zeros are an operand for every opcode; a 1 keeps a STOP from being first.
            let outcome = decode(&[&[b'K', 1, byte][..], &[0; 16]].concat());
            let kind = outcome.err().map(|error| error.kind);
            match opcode(byte).map(|known| known.verdict) {
                Some(Verdict::Runs(_)) => {
                    // 0 is no opcode: whatever follows the operand stops at it, or at the opcode's own complaint.
                    assert!(!matches!(kind, Some(ErrorKind::UnknownOpcode(other)) if other == byte), "0x{byte:02x}");
                    assert!(!matches!(kind, Some(ErrorKind::Refused(_))), "0x{byte:02x} {kind:?}");
                    run += 1;
                }
                Some(Verdict::Refused(why)) => {
                    assert_eq!(kind, Some(ErrorKind::Refused(why)), "0x{byte:02x}");
                    refused += 1;
                }
                None => assert_eq!(kind, Some(ErrorKind::UnknownOpcode(byte))),
            }
        }
        assert_eq!((run, refused), (38, 30), "Python has 68 opcodes");
    }

    #[test]
    fn scalars() {
        let cases: [(&[u8], &str); 26] = [
            (b"N.", "None"),
            (b"\x88.", "True"),
            (b"\x89.", "False"),
            (b"K\xff.", "255"),
            (b"M\x01\x02.", "513"),
            (b"J\xff\xff\xff\xff.", "-1"),
            (b"J\x00\x00\x00\x80.", "-2147483648"),
            (b"\x8a\x00.", "0"),
            (b"\x8a\x01\x80.", "-128"),
            (b"\x8a\x06\x00\x00\x00\x00\x00\x7f.", "139637976727552"),
            (b"\x8a\x08\x00\x00\x00\x00\x00\x00\x00\x80.", "-9223372036854775808"),
            (b"\x8a\x09\xff\xff\xff\xff\xff\xff\xff\x7f\x00.", "9223372036854775807"),
            (b"\x8a\x09\xff\xff\xff\xff\xff\xff\xff\xff\xff.", "-1"),
            (b"\x8a\x09\xff\xff\xff\xff\xff\xff\xff\xff\x00.", "0x00ffffffffffffffff"),
            (b"\x8a\x09\x00\x00\x00\x00\x00\x00\x00\x00\xff.", "0xff0000000000000000"),
            (b"\x8b\x02\x00\x00\x00\x00\x80.", "-32768"),
            (b"G\x3f\xe0\x00\x00\x00\x00\x00\x00.", "0.5"),
            (b"\x8c\x02hi.", "'hi'"),
            (b"X\x02\x00\x00\x00hi.", "'hi'"),
            (b"\x8d\x02\x00\x00\x00\x00\x00\x00\x00hi.", "'hi'"),
            (b"U\x02hi.", "'hi'"),
            (b"T\x02\x00\x00\x00hi.", "'hi'"),
            (b"C\x02hi.", "b'hi'"),
            (b"B\x02\x00\x00\x00hi.", "b'hi'"),
            (b"\x8e\x02\x00\x00\x00\x00\x00\x00\x00hi.", "b'hi'"),
            (b"\x96\x02\x00\x00\x00\x00\x00\x00\x00hi.", "b'hi'"),
        ];
        for (bytes, expected) in cases {
            assert_eq!(text(bytes).unwrap(), expected, "{}", bytes.escape_ascii());
        }
    }

    #[test]
    fn containers() {
        let cases: [(&[u8], &str); 12] = [
            (b"].", "[]"),
            (b"]K\x01a.", "[1]"),
            (b"](K\x01K\x02e.", "[1, 2]"),
            (b"](K\x01K\x02e(K\x03e(e.", "[1, 2, 3]"),
            (b"}.", "{}"),
            (b"}K\x01K\x02s.", "{1: 2}"),
            (b"}(K\x01K\x02K\x03K\x04u.", "{1: 2, 3: 4}"),
            (b").", "()"),
            (b"K\x01\x85.", "(1,)"),
            (b"K\x01K\x02\x86.", "(1, 2)"),
            (b"K\x01K\x02K\x03\x87.", "(1, 2, 3)"),
            (b"(K\x01K\x02K\x03K\x04t.", "(1, 2, 3, 4)"),
        ];
        for (bytes, expected) in cases {
            assert_eq!(text(bytes).unwrap(), expected, "{}", bytes.escape_ascii());
        }
    }

    #[test]
    fn frames_and_protocols_are_passed_over() {
        assert_eq!(text(b"\x80\x04\x95\x02\x00\x00\x00\x00\x00\x00\x00N.").unwrap(), "None");
        assert_eq!(text(b"\x80\x05N.").unwrap(), "None");
        assert_eq!(error(b"\x80\x06N."), "pickle protocol 6 is newer than 5, the newest known (PROTO at byte 0)");
        assert_eq!(
            error(b"\x80\x04\x95\xff\xff\xff\xff\xff\xff\xff\xffN."),
            "a frame of 18446744073709551615 bytes can't be (FRAME at byte 2)"
        );
    }

    #[test]
    fn what_comes_after_stop_is_ignored() {
        let mut machine = Machine::new(Trees::default(), Limits::default());
        machine.feed(b"N.\0\0cos\nsystem\n").unwrap();
        assert!(machine.is_complete());
        machine.feed(b"more").unwrap();
        assert_eq!(machine.offset(), 2);
        assert!(machine.finish().is_ok());
    }
}

mod rules {
    use super::*;

    /// Rule 2: wherever PUT stands, the memo gives the finished container, one and the same.
    #[test]
    fn finishing_fills_every_memo_slot_that_named_it() {
        for bytes in [
            &b"](}q\x00K\x01K\x02s}h\x00e."[..], // Python: PUT before the contents
            b"](}(K\x01K\x02uq\x00}h\x00e.",     // C++: after them
            b"](}q\x00K\x01K\x02sq\x01}h\x01e.", // both, under two numbers
            b"](}q\x00q\x01K\x01K\x02s}h\x00e.",
        ] {
            let (trees, root) = decode(bytes).unwrap();
            assert_eq!(trees.text(root), "[{1: 2}, {}, {1: 2}]", "{}", bytes.escape_ascii());
            let items = trees.items(root);
            assert_eq!(items[0], items[2]);
        }
        // The slot has been given to something else meanwhile: finishing must not write over it.
        assert_eq!(text(b"](}q\x00K\x01K\x07q\x00s}h\x00e.").unwrap(), "[{1: 7}, {}, 7]");
    }

    /// Rule 3: a dict is finished by the container that is begun on top of it; numbers, strings and MARK finish nothing.
    #[test]
    fn a_dict_is_finished_when_a_container_is_begun_on_top_of_it() {
        let batch = b"}(K\x01K\x02u".repeat(3000);
        let (trees, root) = decode(&[b"](", batch.as_slice(), b"e."].concat()).unwrap();
        assert_eq!(trees.most_open, 2, "the list and one dict");
        assert_eq!(trees.items(root).len(), 3000);

        assert_eq!(text(b"}(K\x01K\x02u(K\x03K\x04uK\x05K\x06s.").unwrap(), "{1: 2, 3: 4, 5: 6}");
        assert_eq!(text(b"]](K\x01ea.").unwrap(), "[[1]]", "a list may be waiting for what is begun on top of it");
        assert_eq!(text(b"}K\x01}K\x02}ss.").unwrap(), "{1: {2: {}}}");
    }

    /// Rule 4, and what it does not mean: beside itself a container may stand though it is still open.
    #[test]
    fn a_container_inside_itself_is_refused_beside_itself_it_is_not() {
        assert_eq!(error(b"]q\x00(h\x00e."), "[0]: a container contains itself (BINGET at byte 4)");
        assert_eq!(error(b"]q\x00h\x00a."), "[0]: a container contains itself (APPEND at byte 5)");
        assert_eq!(error(b"}q\x00(K\x05]h\x00au."), "5[0]: a container contains itself (BINGET at byte 7)");
        assert_eq!(
            error(b"]q\x00]h\x00aa."),
            "the items are for something that is not a list, or a list changed after use (APPEND at byte 7)",
        );

        // A segment's `frames`, [] in the memo, again in its blocks; a new frame twice in one stack, with another between.
        for (bytes, expected) in [
            (&b"}(K\x01]q\x00K\x02](h\x00h\x00eu."[..], "{1: [], 2: [[], []]}"),
            (b"](}(K\x01K\x02uq\x00h\x00e.", "[{1: 2}, {1: 2}]"),
            (b"](}(K\x01K\x02uq\x00K\x09h\x00e.", "[{1: 2}, 9, {1: 2}]"),
        ] {
            assert_eq!(text(bytes).unwrap(), expected, "{}", bytes.escape_ascii());
        }
    }

    #[test]
    fn a_finished_container_is_not_changed() {
        let changed = "the items are for something that is not a list, or a list changed after use (APPEND at byte";
        assert_eq!(error(b"]]q\x00ah\x00K\x01a."), format!("[1]: {changed} 9)"));
        assert_eq!(error(b"NK\x01a."), format!("{changed} 3)"));
        assert_eq!(
            error(b"]K\x01K\x02s."),
            "the items are for something that is not a dict, or a dict changed after use (SETITEM at byte 5)"
        );
    }

    /// Rule 5.
    #[test]
    fn of_equal_keys_the_last_wins_and_memoize_counts_filled_slots() {
        assert_eq!(text(b"}(K\x01K\x02K\x01K\x03u.").unwrap(), "{1: 3}");
        assert_eq!(text(b"}K\x01K\x02s(K\x01K\x03K\x04K\x05u.").unwrap(), "{1: 3, 4: 5}");
        // PUT 1, then MEMOIZE: one slot is filled, so it writes slot 1 as well. Then slot 5 stays empty.
        assert_eq!(text(b"(K\x07q\x01K\x08\x94h\x01t.").unwrap(), "(7, 8, 8)");
        assert_eq!(error(b"K\x01q\x05h\x03."), "memo slot 3 is read but was never written (BINGET at byte 4)");
    }

    /// Rule 6.
    #[test]
    fn what_no_snapshot_needs_is_refused_by_name_and_place() {
        let cases: [(&[u8], &str, Refusal); 5] = [
            (b"cos\nsystem\n", "GLOBAL", Refusal::Code),
            (b"2", "DUP", Refusal::Juggling),
            (b"\x8f", "EMPTY_SET", Refusal::Set),
            (b"\x97", "NEXT_BUFFER", Refusal::Elsewhere),
            (b"I1\n", "INT", Refusal::Text),
        ];
        for (bytes, name, why) in cases {
            let error = decode(&[b"\x80\x04N", bytes].concat()).err().unwrap();
            assert_eq!((error.offset, error.opcode, error.kind), (3, Some(name), ErrorKind::Refused(why)));
        }
        assert_eq!(
            error(b"\x80\x02cos\nsystem\nX\x02\x00\x00\x00ls\x85R."),
            "it names code to be run; a snapshot has none, and nothing in a file is ever run (GLOBAL at byte 2)"
        );
        assert_eq!(
            error(b"}(X\x01\x00\x00\x00ai__main__\nC\n"),
            "a: it names code to be run; a snapshot has none, and nothing in a file is ever run (INST at byte 8)"
        );
    }

    #[test]
    fn what_stands_below_a_mark_is_out_of_reach() {
        for bytes in [&b"]K\x01(a."[..], b"](K\x01a.", b"K\x01(\x85.", b"](.", b"(e.", b"]((e.", b"a.", b"q\x00."] {
            assert!(
                matches!(error(bytes).as_str(), text if text.contains("too few values")),
                "{}",
                bytes.escape_ascii()
            );
        }
        assert_eq!(error(b"]e."), "[0]: no MARK stands before it (APPENDS at byte 1)");
        assert_eq!(error(b"}(K\x01u."), "1: the last key has no value (SETITEMS at byte 4)");
    }
}

mod places {
    use super::*;

    /// `refuse me` as a string.
    const BAD: &[u8] = b"\x8c\x09refuse me";

    fn path(parts: &[&[u8]]) -> String {
        let error = decode(&parts.concat()).err().expect("the builder refuses");
        assert!(matches!(error.kind, ErrorKind::Builder(_)), "{error}");
        error.path
    }

    #[test]
    fn an_error_of_the_builder_says_where() {
        let message = error(&[&b"}(\x8c\x06traces](K\x01K\x02"[..], BAD, b"eu."].concat());
        assert_eq!(message, "traces[2]: refused (APPENDS at byte 27)");
    }

    #[test]
    fn in_either_style() {
        // Python: a batch of one has no MARK; C++: always one, and memo numbers come last.
        assert_eq!(path(&[b"}\x8c\x01d]]}\x8c\x01k", BAD, b"saas."]), "d[0][0].k");
        assert_eq!(path(&[b"}(\x8c\x01d](](}(\x8c\x01k", BAD, b"ueeu."]), "d[0][0].k");
        assert_eq!(path(&[b"}(\x8c\x01a]\x8c\x01b](K\x01K\x02e(}", BAD, b"eu."]), "b[3]");
    }

    #[test]
    fn beside_complete_containers() {
        // device_traces of four devices, three of them empty: the fault is in the last.
        assert_eq!(path(&[b"](]]](}(\x8c\x01k", BAD, b"uee."]), "[2][0].k");
        // One event a device, in the first batch of each: lists hold values of one kind.
        assert_eq!(path(&[b"](]}K\x00K\x00sa]}\x8c\x01k", BAD, b"sae."]), "[1][0].k");
        // A dict whose value is complete, then the fault under the next key.
        assert_eq!(path(&[b"}(K\x01](K\x01eK\x02]", BAD, b"au."]), "2[0]");
    }

    #[test]
    fn where_the_container_itself_is_refused() {
        let dict = b"}\x8c\x0enever finishedK\x00s";
        assert_eq!(path(&[b"](}", dict, b"e."]), "[1]");
        assert_eq!(path(&[b"](", dict, b"}e."]), "[0]", "finished by the dict on top of it");
        assert_eq!(path(&[dict, b"."]), "");
        assert_eq!(path(&[b"}K\x05", dict, b"s."]), "5");
    }

    #[test]
    fn in_a_batch_that_was_partly_handed_on() {
        let items = b"N".repeat(10_000);
        assert_eq!(path(&[b"](", &items, BAD, b"e."]), "[10000]");
        assert_eq!(path(&[b"](", &items, b"](", BAD, b"ee."]), "[10000][0]");
    }
}

mod limits {
    use super::*;

    fn refused(bytes: &[u8], limits: Limits) -> ErrorKind<String> {
        decode_with(bytes, limits).err().expect("a limit is reached").kind
    }

    #[test]
    fn each_is_kept() {
        let limits = Limits {
            string_bytes: 3,
            integer_bytes: 9,
            tuple_items: 5,
            stack_values: 7,
            open_containers: 2,
            memo_slots: 4,
            memo_holes: 2,
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
        for (bytes, what, most) in cases {
            assert_eq!(refused(bytes, limits), ErrorKind::Limit { what, most }, "{}", bytes.escape_ascii());
        }
        let holes = ErrorKind::Limit { what: "memo slots skipped over", most: 2 };
        assert_eq!(refused(b"Nq\x03", limits), holes);
    }

    /// A long batch is handed on as it comes, without a trace in the result.
    #[test]
    fn the_stack_stays_small() {
        let small = Limits { tuple_items: 8, stack_values: 24, ..Limits::default() };
        let numbers: Vec<u8> = (0..=255).flat_map(|number| [b'K', number]).collect();
        for bytes in [[b"](", &numbers[..], b"e."].concat(), [b"}(", &numbers[..], b"u."].concat()] {
            let (small_trees, small_root) = decode_with(&bytes, small).unwrap();
            let (trees, root) = decode(&bytes).unwrap();
            assert_eq!(small_trees.text(small_root), trees.text(root));
            assert!(small_trees.longest_batch <= 24 && trees.longest_batch == 256);
        }
        // What began as a list's batch can't end as a tuple.
        let tuple = [b"](", &numbers[..], b"t."].concat();
        assert_eq!(refused(&tuple, small), ErrorKind::Limit { what: "values in one tuple", most: 8 });
        // The last three stay: they may be a tuple's.
        let triples = b"NNN\x87".repeat(50);
        let (trees, root) = decode_with(&[b"](", &triples[..], b"e."].concat(), small).unwrap();
        assert_eq!(trees.items(root).len(), 50);
    }
}
