//! Complete pickle streams: both writers, all chunkings, every prefix, other readers, and hostile bytes.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests may panic")]

use crate::pickle_tree;
use crate::pickle_value;
use crate::pickle_writer;

use memscape::pickle::opcode::{Support, opcode};
use memscape::pickle::{ErrorKind, Limits, PickleError, Unpickler};
use pickle_tree::{Trees, decode};
use pickle_value::{Value, pickled, plain_values, serde_text, snapshot, values};
use pickle_writer::Style;
use proptest::prelude::*;

const STYLES: [Style; 5] = [
    Style::Python { protocol: 2 },
    Style::Python { protocol: 3 },
    Style::Python { protocol: 4 },
    Style::Python { protocol: 5 },
    Style::Cpp,
];

type Outcome = Result<String, PickleError<String>>;

fn text(bytes: &[u8]) -> Outcome {
    decode(bytes).map(|(trees, root)| trees.text(root))
}

/// Decodes bytes that arrive in `chunks`.
fn text_of_chunks<'a>(chunks: impl IntoIterator<Item = &'a [u8]>) -> Outcome {
    let mut machine = Unpickler::new(Trees::default(), Limits::default());
    for chunk in chunks {
        machine.feed(chunk)?;
    }
    machine.finish().map(|(trees, root)| trees.text(root))
}

mod cuts {
    use super::*;

    #[test]
    fn file_split_at_any_byte_decodes() {
        for style in STYLES {
            let (bytes, expected) = pickled(&snapshot(3), style);
            assert_eq!(text(&bytes).unwrap(), expected, "{style:?}");
            for at in 0..=bytes.len() {
                let (before, after) = bytes.split_at(at);
                assert_eq!(text_of_chunks([before, after]).unwrap(), expected, "{style:?} cut at {at}");
            }
            assert_eq!(text_of_chunks(bytes.chunks(1)).unwrap(), expected, "{style:?} byte by byte");
        }
    }

    #[test]
    fn truncated_pickle_reports_unexpected_end() {
        for style in STYLES {
            let (bytes, _) = pickled(&snapshot(3), style);
            for length in 0..bytes.len() {
                let error = text(&bytes[..length]).expect_err("STOP is missing");
                assert_eq!((error.offset, error.kind), (length as u64, ErrorKind::UnexpectedEnd), "{style:?}");
            }
        }
    }

    #[test]
    fn long_string_in_chunks_decodes() {
        let long = "x".repeat(5 << 20);
        for style in STYLES {
            let (bytes, expected) = pickled(&Value::List(vec![Value::Text(long.clone()), Value::Int(1)]), style);
            let mut machine = Unpickler::new(Trees::default(), Limits::default());
            for chunk in bytes.chunks(1000) {
                machine.feed(chunk).unwrap();
            }
            assert!(machine.heap_bytes() < 1 << 20, "buffer of the string is released");
            let (trees, root) = machine.finish().unwrap();
            assert!(trees.text(root) == expected, "{style:?}");
        }
    }

    proptest! {
        #[test]
        fn value_is_same_for_all_chunk_sizes(
            value in values(),
            style in 0..5usize,
            cuts in prop::collection::vec(1..40usize, 1..30),
        ) {
            let (bytes, expected) = pickled(&value, STYLES[style]);
            let mut rest = bytes.as_slice();
            let chunks = cuts.iter().cycle().map_while(|&cut| {
                let (chunk, after) = rest.split_at(cut.min(rest.len()));
                rest = after;
                (!chunk.is_empty()).then_some(chunk)
            });
            prop_assert_eq!(text_of_chunks(chunks).unwrap(), expected);
        }

        #[test]
        fn error_is_same_for_all_splits(bytes in hostile_bytes(), at in 0..400usize) {
            let (before, after) = bytes.split_at(at.min(bytes.len()));
            prop_assert_eq!(outcome(&[before, after]), outcome(&[&bytes]));
        }
    }
}

mod writers {
    use super::*;

    #[test]
    fn lists_and_dicts_of_any_length_decode() {
        for style in STYLES {
            for length in [0, 1, 2, 999, 1000, 1001, 2000, 2001, 10_000] {
                let list = Value::List((0..length).map(Value::Int).collect());
                let dict =
                    Value::Dict((0..length).map(|key| (format!("k{key:05}"), Value::List(Vec::new()))).collect());
                for value in [list, dict] {
                    let (bytes, expected) = pickled(&value, style);
                    assert!(text(&bytes).unwrap() == expected, "{style:?} {length}");
                }
            }
        }
    }

    /// A batch of a million entries needs only a few open containers and a short stack.
    #[test]
    fn long_cpp_list_uses_constant_memory() {
        let (bytes, _) = pickled(&snapshot(20_000), Style::Cpp);
        let mut machine = Unpickler::new(Trees::default(), Limits::default());
        machine.feed(&bytes).unwrap();
        assert!(machine.builder().max_open < 10, "{}", machine.builder().max_open);
        let memo = 8 * 16_384 * 3;
        assert!(machine.heap_bytes() < memo + 16 * 8192, "{}", machine.heap_bytes());
    }

    proptest! {
        #[test]
        fn pickles_of_python_and_cpp_writers_decode(value in values()) {
            for style in STYLES {
                let (bytes, expected) = pickled(&value, style);
                prop_assert_eq!(text(&bytes).unwrap(), expected, "{:?}", style);
            }
        }
    }
}

mod other_implementations {
    use super::*;
    use serde_pickle::{DeOptions, SerOptions, value_from_slice, value_to_vec};

    proptest! {
        #[test]
        fn serde_pickle_decodes_same_value_as_our_decoder(value in plain_values(), style in 0..5usize) {
            let (bytes, _) = pickled(&value, STYLES[style]);
            let theirs = value_from_slice(&bytes, DeOptions::new()).unwrap();
            prop_assert_eq!(text(&bytes).unwrap(), serde_text(&theirs));
        }

        #[test]
        fn pickles_of_serde_pickle_decode(value in plain_values()) {
            let (bytes, _) = pickled(&value, Style::Cpp);
            let theirs = value_from_slice(&bytes, DeOptions::new()).unwrap();
            for options in [SerOptions::new(), SerOptions::new().proto_v2()] {
                let bytes = value_to_vec(&theirs, options).unwrap();
                prop_assert_eq!(text(&bytes).unwrap(), serde_text(&theirs));
            }
        }
    }
}

/// Bytes that get further than noise: mostly supported opcodes with small operands.
fn hostile_bytes() -> impl Strategy<Value = Vec<u8>> {
    let runs: Vec<u8> = (0..=255).filter(|&byte| is_run(byte)).collect();
    let containers = b"(((]]}}}aesuutq\x00h\x00\x94\x85\x86NNK\x01K\x02".to_vec();
    let byte = prop_oneof![
        8 => prop::sample::select(containers),
        3 => prop::sample::select(runs),
        2 => 0..4u8,
        1 => any::<u8>(),
    ];
    prop::collection::vec(byte, 0..400)
}

fn is_run(byte: u8) -> bool {
    matches!(opcode(byte).map(|known| known.support), Some(Support::Supported(_)))
}

/// Number of bytes read, or the full error. The value's text is not compared: a value that contains itself many times
/// has a text of exponential length.
fn outcome(chunks: &[&[u8]]) -> Result<usize, String> {
    let mut machine = Unpickler::new(Trees::default(), Limits::default());
    for chunk in chunks {
        machine.feed(chunk).map_err(|error| error.to_string())?;
    }
    let offset = machine.offset();
    machine.finish().map(|_| offset as usize).map_err(|error| error.to_string())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]
    #[test]
    fn hostile_bytes_give_a_value_or_an_error(bytes in hostile_bytes()) {
        let mut machine = Unpickler::new(Trees::default(), Limits::default());
        match machine.feed(&bytes) {
            Ok(()) => {
                prop_assert!(machine.heap_bytes() < 4096 + 64 * bytes.len());
                let length = bytes.len() as u64;
                prop_assert!(machine.offset() <= length);
                if let Err(error) = machine.finish() {
                    prop_assert_eq!((error.offset, error.kind), (length, ErrorKind::UnexpectedEnd));
                }
            }
            Err(error) => prop_assert!(error.offset < bytes.len() as u64),
        }
    }
}
