//! The pickle machine on hand-written pickles: every opcode and every rule.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests may panic")]

use crate::pickle_tree;

use memscape::pickle::opcode::{Support, UnsupportedReason, opcode};
use memscape::pickle::{ErrorKind, Limits, PickleError, Unpickler};
use pickle_tree::{Trees, decode};

fn text(bytes: &[u8]) -> Result<String, PickleError<String>> {
    decode(bytes).map(|(trees, root)| trees.text(root))
}

/// The full error message that users see.
fn error(bytes: &[u8]) -> String {
    match text(bytes) {
        Ok(text) => panic!("decoded as {text}"),
        Err(error) => error.to_string(),
    }
}

mod opcodes {
    use super::*;

    #[test]
    fn every_opcode_byte_is_decoded_refused_or_unknown() {
        let (mut run, mut refused) = (0, 0);
        for byte in 0..=u8::MAX {
            // Zeros are an operand for every opcode. The 1 keeps a STOP from being first.
            let outcome = decode(&[&[b'K', 1, byte][..], &[0; 16]].concat());
            let kind = outcome.err().map(|error| error.kind);
            match opcode(byte).map(|known| known.support) {
                Some(Support::Supported(_)) => {
                    // 0 is not an opcode: decoding stops at the zero after the operand, or at the opcode's own error.
                    assert!(!matches!(kind, Some(ErrorKind::UnknownOpcode(other)) if other == byte), "0x{byte:02x}");
                    assert!(!matches!(kind, Some(ErrorKind::Unsupported(_))), "0x{byte:02x} {kind:?}");
                    run += 1;
                }
                Some(Support::Unsupported(why)) => {
                    assert_eq!(kind, Some(ErrorKind::Unsupported(why)), "0x{byte:02x}");
                    refused += 1;
                }
                None => assert_eq!(kind, Some(ErrorKind::UnknownOpcode(byte))),
            }
        }
        assert_eq!((run, refused), (55, 13), "Python has 68 opcodes");
    }

    #[test]
    fn scalars_decode() {
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
    fn containers_decode() {
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
    fn frame_and_protocol_opcodes_are_skipped() {
        assert_eq!(text(b"\x80\x04\x95\x02\x00\x00\x00\x00\x00\x00\x00N.").unwrap(), "None");
        assert_eq!(text(b"\x80\x05N.").unwrap(), "None");
        assert_eq!(error(b"\x80\x06N."), "pickle protocol 6 is not supported, the newest is 5 (PROTO at byte 0)");
        assert_eq!(
            error(b"\x80\x04\x95\xff\xff\xff\xff\xff\xff\xff\xffN."),
            "invalid frame length: 18,446,744,073,709,551,615 bytes (FRAME at byte 2)"
        );
    }

    #[test]
    fn bytes_after_stop_are_ignored() {
        let mut machine = Unpickler::new(Trees::default(), Limits::default());
        machine.feed(b"N.\0\0cos\nsystem\n").unwrap();
        assert!(machine.is_complete());
        machine.feed(b"more").unwrap();
        assert_eq!(machine.offset(), 2);
        assert!(machine.finish().is_ok());
    }
}

mod rules {
    use super::*;

    /// Rule 2: a PUT anywhere in a container's construction refers to the same finished container.
    #[test]
    fn finished_container_fills_all_its_memo_slots() {
        for bytes in [
            &b"](}q\x00K\x01K\x02s}h\x00e."[..], // Python: PUT before the contents
            b"](}(K\x01K\x02uq\x00}h\x00e.",     // C++: PUT after the contents
            b"](}q\x00K\x01K\x02sq\x01}h\x01e.", // both, in two slots
            b"](}q\x00q\x01K\x01K\x02s}h\x00e.",
        ] {
            let (trees, root) = decode(bytes).unwrap();
            assert_eq!(trees.text(root), "[{1: 2}, {}, {1: 2}]", "{}", bytes.escape_ascii());
            let items = trees.items(root);
            assert_eq!(items[0], items[2]);
        }
        // The slot has been overwritten in between: finishing the dict must not write to it.
        assert_eq!(text(b"](}q\x00K\x01K\x07q\x00s}h\x00e.").unwrap(), "[{1: 7}, {}, 7]");
    }

    /// Rule 3: starting a container on top of a dict finishes the dict. Numbers, strings and MARK finish nothing.
    #[test]
    fn container_pushed_above_dict_finishes_the_dict() {
        let batch = b"}(K\x01K\x02u".repeat(3000);
        let (trees, root) = decode(&[b"](", batch.as_slice(), b"e."].concat()).unwrap();
        assert_eq!(trees.max_open, 2, "the list and one dict");
        assert_eq!(trees.items(root).len(), 3000);

        assert_eq!(text(b"}(K\x01K\x02u(K\x03K\x04uK\x05K\x06s.").unwrap(), "{1: 2, 3: 4, 5: 6}");
        assert_eq!(text(b"]](K\x01ea.").unwrap(), "[[1]]", "a list can wait for the container on top of it");
        assert_eq!(text(b"}K\x01}K\x02}ss.").unwrap(), "{1: {2: {}}}");
    }

    /// Rule 4 and its exception: a container can follow itself in a list even while it is open.
    #[test]
    fn container_inside_itself_is_refused() {
        assert_eq!(error(b"]q\x00(h\x00e."), "[0]: a container contains itself (BINGET at byte 4)");
        assert_eq!(error(b"]q\x00h\x00a."), "[0]: a container contains itself (APPEND at byte 5)");
        assert_eq!(error(b"}q\x00(K\x05]h\x00au."), "5[0]: a container contains itself (BINGET at byte 7)");
        assert_eq!(
            error(b"]q\x00]h\x00aa."),
            "items appended to something that is not a list, or to a list that was already used (APPEND at byte 7)",
        );

        // A segment's `frames`, [] in the memo, again in its blocks. A new frame twice in one stack, with another in
        // between.
        for (bytes, expected) in [
            (&b"}(K\x01]q\x00K\x02](h\x00h\x00eu."[..], "{1: [], 2: [[], []]}"),
            (b"](}(K\x01K\x02uq\x00h\x00e.", "[{1: 2}, {1: 2}]"),
            (b"](}(K\x01K\x02uq\x00K\x09h\x00e.", "[{1: 2}, 9, {1: 2}]"),
        ] {
            assert_eq!(text(bytes).unwrap(), expected, "{}", bytes.escape_ascii());
        }
    }

    #[test]
    fn changing_a_finished_container_is_refused() {
        let changed =
            "items appended to something that is not a list, or to a list that was already used (APPEND at byte";
        assert_eq!(error(b"]]q\x00ah\x00K\x01a."), format!("[1]: {changed} 9)"));
        assert_eq!(error(b"NK\x01a."), format!("{changed} 3)"));
        assert_eq!(
            error(b"]K\x01K\x02s."),
            "items added to something that is not a dict, or to a dict that was already used (SETITEM at byte 5)"
        );
    }

    /// Rule 5.
    #[test]
    fn last_of_equal_keys_wins_and_memoize_counts_filled_slots() {
        assert_eq!(text(b"}(K\x01K\x02K\x01K\x03u.").unwrap(), "{1: 3}");
        assert_eq!(text(b"}K\x01K\x02s(K\x01K\x03K\x04K\x05u.").unwrap(), "{1: 3, 4: 5}");
        // PUT 1, then MEMOIZE: one slot is filled, so MEMOIZE writes slot 1 too. Slot 5 stays empty.
        assert_eq!(text(b"(K\x07q\x01K\x08\x94h\x01t.").unwrap(), "(7, 8, 8)");
        assert_eq!(error(b"K\x01q\x05h\x03."), "memo slot 3 is read but was never written (BINGET at byte 4)");
    }

    /// Rule 6.
    #[test]
    fn unneeded_opcode_is_refused_with_name_and_offset() {
        let cases: [(&[u8], &str, UnsupportedReason); 4] = [
            (b"o", "OBJ", UnsupportedReason::Code),
            (b"2", "DUP", UnsupportedReason::StackManipulation),
            (b"\x97", "NEXT_BUFFER", UnsupportedReason::ExternalBuffer),
            (b"S'1'\n", "STRING", UnsupportedReason::Python2String),
        ];
        for (bytes, name, why) in cases {
            let error = decode(&[b"\x80\x04N", bytes].concat()).err().unwrap();
            assert_eq!((error.offset, error.opcode, error.kind), (3, Some(name), ErrorKind::Unsupported(why)));
        }
        assert_eq!(
            error(b"\x80\x02cos\nsystem\nX\x02\x00\x00\x00ls\x85R."),
            "names os.system: a snapshot contains no code, and memscape never runs any (GLOBAL at byte 2)"
        );
        assert_eq!(
            error(b"}(X\x01\x00\x00\x00ai__main__\nC\n"),
            "a: imports or calls code: a snapshot contains none, and memscape never runs any (INST at byte 8)"
        );
    }

    #[test]
    fn values_below_mark_are_not_popped() {
        for bytes in [&b"]K\x01(a."[..], b"](K\x01a.", b"K\x01(\x85.", b"](.", b"(e.", b"]((e.", b"a.", b"q\x00."] {
            assert!(
                matches!(error(bytes).as_str(), text if text.contains("too few values")),
                "{}",
                bytes.escape_ascii()
            );
        }
        assert_eq!(error(b"]e."), "[0]: no MARK on the stack (APPENDS at byte 1)");
        assert_eq!(error(b"}(K\x01u."), "1: the last key has no value (SETITEMS at byte 4)");
    }
}
