//! Snapshots read with the decoder's fast paths on and off and in any chunks: real and generated files.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests may panic")]

use crate::generate;
use crate::opened;

use generate::Options;
use memscape::pickle::{Limits, Unpickler};
use memscape::snapshot::{Event, EventSink, Reader};
use opened::snapshots;
use proptest::prelude::*;

#[derive(Default)]
struct Events(Vec<(u32, Event)>);

impl EventSink for Events {
    fn event_at(&mut self, trace: u32, event: &Event) {
        self.0.push((trace, *event));
    }
}

/// All events with their trace index, and the rest of the snapshot as text.
fn read(bytes: &[u8], limits: Limits, chunk: usize) -> Result<(Vec<(u32, Event)>, String), String> {
    let mut machine = Unpickler::new(Reader::new(Events::default()), limits);
    for piece in bytes.chunks(chunk) {
        machine.feed(piece).map_err(|error| error.to_string())?;
    }
    let (reader, root) = machine.finish().map_err(|error| error.to_string())?;
    let (snapshot, events) = reader.finish(root, 0).map_err(|error| error.to_string())?;
    let lengths = [snapshot.strings.len(), snapshot.frames.len(), snapshot.stacks.len(), snapshot.labels.len()];
    let warnings: Vec<_> = snapshot.warnings.iter().collect();
    let rest = (&snapshot.segments, &snapshot.blocks, &snapshot.marks, &snapshot.traces, &snapshot.settings);
    Ok((events.0, format!("{lengths:?} {warnings:?} {rest:?} {:?}", snapshot.torch)))
}

fn same_on_and_off(name: &str, bytes: &[u8]) {
    let plain = read(bytes, Limits { slice_bytes: 0, fast_dict_pairs: 0, ..Limits::default() }, usize::MAX);
    let cases = [
        (Limits::default(), usize::MAX),
        (Limits::default(), 4096),
        (Limits::default(), 101),
        (Limits { slice_bytes: 0, ..Limits::default() }, 65_536),
        (Limits { slice_bytes: 1000, ..Limits::default() }, 65_536),
    ];
    for (limits, chunk) in cases {
        assert!(read(bytes, limits, chunk) == plain, "{name} in chunks of {chunk}, {limits:?}");
    }
}

#[test]
fn fast_paths_read_real_files_identically() {
    let Some(folder) = snapshots() else { return };
    for file in std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()) {
        if file.extension().is_some_and(|extension| extension == "pickle") {
            same_on_and_off(&file.display().to_string(), &std::fs::read(&file).unwrap());
        }
    }
}

#[test]
fn fast_paths_read_generated_files_identically() {
    for words in [
        "--events 6000 --frames 12 --protocol 2 --pending --oom",
        "--events 6000 --frames 12 --protocol 4 --compile-contexts --devices 2",
        "--events 6000 --frames 12 --style cpp --compile-contexts --expandable",
        "--events 3000 --frames 3 --no-time --ring 1500",
    ] {
        let (options, _) = Options::parse(words.split_whitespace().map(str::to_owned)).unwrap();
        let (bytes, _) = generate::generate(&options, Vec::new()).unwrap();
        same_on_and_off(words, &bytes);
    }
}

/// Memo contents of the programs below, by slot. First the keys of an event.
const KEYS: [&str; 12] = [
    "action",
    "addr",
    "size",
    "stream",
    "time_us",
    "frames",
    "user_metadata",
    "device_free",
    "segment_pool_id",
    "pool_id",
    "category",
    "odd",
];
/// After them the names of actions, followed by two frames, a stack, and a value that is not a list.
const WORDS: [&str; 7] = ["alloc", "free_completed", "free_requested", "oom", "snapshot", "free", "odd action"];
const FRAME: u8 = (KEYS.len() + WORDS.len()) as u8;
/// The first slot that a program may fill itself.
const FREE: u8 = FRAME + 4;

fn text(text: &str) -> Vec<u8> {
    [&[b'X', text.len() as u8, 0, 0, 0][..], text.as_bytes()].concat()
}

fn reference(slot: u8) -> Vec<u8> {
    vec![b'h', slot]
}

/// A snapshot with `program` inside its only trace.
fn snapshot_around(program: &[u8]) -> Vec<u8> {
    let names = (0..).zip(KEYS.iter().chain(&WORDS)).flat_map(|(slot, word)| [text(word), vec![b'q', slot]].concat());
    let frame = |name: &str, slot| {
        [b"}(".to_vec(), text("filename"), text("a.py"), text("name"), text(name), vec![b'u', b'q', slot]].concat()
    };
    let stack = [b'(', b'h', FRAME, b'h', FRAME + 1, b'e', b'q', FRAME + 2];
    [
        b"\x80\x02}(".to_vec(),
        text("names"),
        b"](".to_vec(),
        names.collect(),
        frame("f", FRAME),
        frame("g", FRAME + 1),
        [b"]", &stack[..], b"](K\x01K\x02eq", &[FRAME + 3], b"e"].concat(),
        text("segments"),
        b"]".to_vec(),
        text("device_traces"),
        b"](](".to_vec(),
        program.to_vec(),
        b"eeu.".to_vec(),
    ]
    .concat()
}

/// A value of an event, usually one that fits its key.
fn value(key: u8) -> BoxedStrategy<Vec<u8>> {
    let number = || {
        prop_oneof![
            6 => (0u8..4).prop_map(|value| vec![b'K', value]),
            1 => Just(b"J\xff\xff\xff\xff".to_vec()),
            1 => Just(b"\x8a\x08\xff\xff\xff\xff\xff\xff\xff\x7f".to_vec()),
            1 => Just(b"\x8a\x08\0\0\0\0\0\0\0\x80".to_vec()),
        ]
    };
    let words = KEYS.len() as u8;
    let any = prop_oneof![
        3 => (0..FREE + 6).prop_map(reference),
        1 => number(),
        1 => Just(b"N".to_vec()),
        1 => Just(b"]".to_vec()),
        1 => (0..FREE + 2).prop_map(|slot| [text("new"), vec![b'q', slot]].concat()),
        1 => (0u8..2).prop_map(|value| vec![b'K', value, b'K', 0, 0x86]),
    ];
    let fit = match key {
        0 => (words..FRAME).prop_map(reference).boxed(),
        1..=4 | 7 => number().boxed(),
        5 => {
            let slice = proptest::collection::vec(FRAME..FRAME + 2, 1..4);
            let list = slice.prop_map(|slots| {
                [b"](".to_vec(), slots.into_iter().flat_map(reference).collect(), b"e".to_vec()].concat()
            });
            prop_oneof![1 => Just(reference(FRAME + 2)), 3 => list, 1 => Just(b"]".to_vec())].boxed()
        }
        6 | 10 => prop_oneof![(0..words).prop_map(reference), Just(text("metadata")), Just(b"N".to_vec())].boxed(),
        _ => any.clone().boxed(),
    };
    prop_oneof![20 => fit, 1 => any].boxed()
}

/// Entries of one shape, some of them memoized.
fn run_of_entries() -> impl Strategy<Value = Vec<u8>> {
    let shape = prop_oneof![
        3 => Just(vec![0u8, 1, 2]),
        3 => Just(vec![0u8, 1, 2, 3, 4, 5]),
        3 => proptest::collection::vec(0u8..8, 1..5),
        1 => proptest::collection::vec(0u8..12, 1..7),
    ];
    let put = || prop_oneof![6 => Just(Vec::new()), 2 => Just(b"\x94".to_vec()), 1 => (0..FREE + 4).prop_map(|slot| vec![b'q', slot])];
    shape.prop_flat_map(move |keys| {
        let values: Vec<_> = keys.iter().map(|&key| value(key)).collect();
        proptest::collection::vec((values, put(), put()), 1..5).prop_map(move |entries| {
            let entry = |(values, before, after): (Vec<Vec<u8>>, Vec<u8>, Vec<u8>)| {
                let pairs: Vec<u8> =
                    keys.iter().zip(values).flat_map(|(&key, value)| [reference(key), value].concat()).collect();
                [b"}".to_vec(), before, b"(".to_vec(), pairs, b"u".to_vec(), after].concat()
            };
            entries.into_iter().flat_map(entry).collect()
        })
    })
}

/// Entries and other instructions that can occur in a trace.
fn program() -> impl Strategy<Value = Vec<u8>> {
    let part = prop_oneof![
        20 => run_of_entries(),
        1 => (FREE..FREE + 6).prop_map(reference),
        1 => Just(b"ee](](".to_vec()),
        2 => proptest::collection::vec(FREE..FREE + 4, 1..4)
            .prop_map(|slots| [b"e](".to_vec(), slots.into_iter().flat_map(reference).collect(), b"e](".to_vec()].concat()),
        1 => (0..FREE, 0u8..3).prop_map(|(slot, value)| vec![b'K', value, b'q', slot]),
    ];
    proptest::collection::vec(part, 1..6).prop_map(|parts| parts.concat())
}

fn same_with_any_limits(program: &[u8]) {
    let bytes = snapshot_around(program);
    let plain = read(&bytes, Limits { slice_bytes: 0, fast_dict_pairs: 0, ..Limits::default() }, usize::MAX);
    for (slice_bytes, fast_dict_pairs) in [(1 << 20, 24), (0, 24), (1 << 20, 0), (7, 24), (1 << 20, 3)] {
        for chunk in [usize::MAX, 64, 9] {
            let limits = Limits { slice_bytes, fast_dict_pairs, ..Limits::default() };
            let quick = read(&bytes, limits, chunk);
            assert_eq!(
                quick,
                plain,
                "{} in chunks of {chunk}, {slice_bytes} {fast_dict_pairs}",
                program.escape_ascii()
            );
        }
    }
}

/// A dict without an address is an event only if its action needs none.
#[test]
fn dict_without_address_is_event_only_for_some_actions() {
    let entry = |word: u8| {
        [b"}(".to_vec(), reference(0), reference(KEYS.len() as u8 + word), reference(2), b"K\x01u".to_vec()].concat()
    };
    same_with_any_limits(&[3, 3, 0, 3].map(entry).concat());
}

/// The error is about the refused value, not about an earlier one that was accepted.
#[test]
fn repeated_event_gives_same_error_with_and_without_fast_paths() {
    let event = [
        b"}(".to_vec(),
        reference(0),
        reference(KEYS.len() as u8),
        reference(1),
        b"K\x01".to_vec(),
        reference(2),
        b"K\x01u".to_vec(),
    ];
    let events = [event.concat(), vec![b'q', FREE], event.concat(), vec![b'q', FREE + 1]].concat();
    let list = [b"](".to_vec(), reference(FREE + 1), reference(FREE), reference(FREE), b"e".to_vec()].concat();
    same_with_any_limits(&[events, list].concat());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, ..ProptestConfig::default() })]

    #[test]
    fn fast_paths_read_random_traces_identically(program in program()) {
        same_with_any_limits(&program);
    }
}
