//! Every limit of the decoder, with a file that exceeds it and its error message, and errors for every prefix of valid
//! files.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may fail")]

use crate::generate;
use crate::opened;

use flate2::write::GzEncoder;
use generate::Options;
use memscape::engine::{Engine, Reply, Request, Work};
use memscape::replay::Recorder;
use memscape::snapshot::Reader;
use opened::{Opened, open};
use std::io::Write;

/// Returns the error for a file that cannot be opened.
#[track_caller]
fn error_of(bytes: &[u8]) -> String {
    open(bytes).map(drop).expect_err("the file must not open")
}

/// Builds a pickle of protocol 2.
fn pickle(parts: &[&[u8]]) -> Vec<u8> {
    [b"\x80\x02", parts.concat().as_slice(), b"."].concat()
}

fn word(text: &str) -> Vec<u8> {
    [b"X", &(text.len() as u32).to_le_bytes()[..], text.as_bytes()].concat()
}

/// Concatenates the instructions for each number, which contain the number as four bytes.
fn each(numbers: std::ops::Range<u32>, instructions: impl Fn([u8; 4]) -> Vec<u8>) -> Vec<u8> {
    numbers.flat_map(|number| instructions(number.to_le_bytes())).collect()
}

fn gzipped(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn exceeded_pickle_limits_report_error() {
    let cases: [(&str, Vec<u8>, &str); 15] = [
        (
            "a string of 4 GiB − 1, announced in five bytes",
            pickle(&[b"X\xff\xff\xff\xff"]),
            "more than 134,217,728 bytes in one string: not a snapshot (BINUNICODE at byte 2)",
        ),
        (
            "a string of 2^64 − 1 bytes",
            pickle(&[b"\x8d", &[0xff; 8]]),
            "more than 134,217,728 bytes in one string: not a snapshot (BINUNICODE8 at byte 2)",
        ),
        (
            "an integer of 2 GiB",
            pickle(&[b"\x8b\xff\xff\xff\x7f"]),
            "more than 255 bytes in one integer: not a snapshot (LONG4 at byte 2)",
        ),
        ("an integer of 200 bytes", pickle(&[b"\x8a\xc8", &[0x11; 200]]), "an integer of 200 bytes (LONG1 at byte 2)"),
        (
            "a tuple of 5000",
            pickle(&[b"(", &b"N".repeat(5000), b"t"]),
            "more than 4,096 values in one tuple: not a snapshot (TUPLE at byte 5003)",
        ),
        (
            "values that stay on the stack",
            pickle(&[b"(", &b"N".repeat((1 << 22) + 1)]),
            "more than 4,194,304 values on the stack: not a snapshot (NONE at byte 4194307)",
        ),
        (
            "a list of 2^25 + 1 values",
            pickle(&[b"](", &b"N".repeat((1 << 25) + 1), b"e"]),
            "more than 33,554,432 values in one list or dict: not a snapshot (APPENDS at byte 33554437)",
        ),
        (
            "a list three million deep",
            pickle(&[&b"]".repeat(3_000_000)]),
            "more than 65,536 open containers: not a snapshot (EMPTY_LIST at byte 65538)",
        ),
        (
            "marks three million deep",
            pickle(&[&b"(".repeat(3_000_000)]),
            "more than 65,536 nested batches: not a snapshot (MARK at byte 65538)",
        ),
        (
            "the highest memo slot there is",
            pickle(&[b"Nr\xff\xff\xff\xff"]),
            "more than 268,435,456 memo slots: not a snapshot (LONG_BINPUT at byte 3)",
        ),
        (
            "a memo slot far beyond the last",
            pickle(&[b"Nr\x00\x00\x10\x00"]),
            "more than 65,536 skipped memo slots: not a snapshot (LONG_BINPUT at byte 3)",
        ),
        (
            "a memo slot that was never written",
            pickle(&[b"j\xff\xff\xff\xff"]),
            "memo slot 4294967295 is read but was never written (LONG_BINGET at byte 2)",
        ),
        (
            "a newer protocol",
            b"\x80\x06.".to_vec(),
            "pickle protocol 6 is not supported, the newest is 5 (PROTO at byte 0)",
        ),
        (
            "a frame of 2^64 − 1 bytes",
            pickle(&[b"\x95", &[0xff; 8]]),
            "invalid frame length: 18,446,744,073,709,551,615 bytes (FRAME at byte 2)",
        ),
        (
            "gzip that packs a gigabyte",
            [gzipped(b"\x80\x02](Nq\x00"), gzipped(&b"q\x00".repeat(1 << 19)).repeat(1024)].concat(),
            "bytes of gzip decompress to more than 200 times as many: not a snapshot",
        ),
    ];
    for (what, file, sentence) in cases {
        let error = error_of(&file);
        // The paths of nested lists are truncated but still long.
        assert!(error.ends_with(sentence), "{what}: {error}");
        assert!(error.len() < 5000, "{what}: {} bytes", error.len());
    }
}

/// Found by fuzzing: a too long string with a control character behind the limit gave different errors in one chunk and
/// in small ones.
#[test]
fn json_limit_does_not_depend_on_chunks() {
    let limits = memscape::json::Limits { string_bytes: 5, ..Default::default() };
    let error = |chunk: usize| {
        let mut machine = memscape::json::Parser::new(Reader::new(Recorder::default()), limits);
        b"[\"long enough\0\"]".chunks(chunk).find_map(|piece| machine.feed(piece).err()).unwrap().to_string()
    };
    assert_eq!(error(100), "[0]: more than 5 bytes in one string: not a snapshot (at byte 1)");
    assert_eq!(error(1), error(100));
}

/// Limits of containers, lists and devices, which need tables. They must not be exceeded by a few bytes each.
#[test]
fn exceeded_snapshot_limits_report_error() {
    let event = [b"}(", word("action").as_slice(), b"q\x01", &word("oom"), b"q\x02u"].concat();
    // Batches as written by Python. This many open lists would be an error of their own.
    let batch = [b"(", b"](}(h\x01h\x02ue".repeat(1000).as_slice(), b"e"].concat();
    let traces = [b"}", word("device_traces").as_slice(), b"](](", &event, b"ee", &batch.repeat(66), b"s"].concat();
    assert_eq!(error_of(&pickle(&[&traces])), "device_traces[1024]: is not one of the first 1024 devices");

    let lists = pickle(&[
        b"}(",
        &word("other"),
        b"](](",
        &event,
        b"ee",
        &batch.repeat(66),
        &word("device_traces"),
        b"](](}(h\x01h\x02ueeu",
    ]);
    assert_eq!(error_of(&lists), "device_traces[0]: is not one of the first 65536 lists of events");

    // Keys and words are in the memo, so a device takes 40 bytes.
    let names = ["device", "total_size", "blocks", "size", "state", "active_allocated"];
    let names: Vec<u8> = (10..).zip(names).flat_map(|(slot, name)| [word(name), vec![b'q', slot]].concat()).collect();
    let segment = |device: [u8; 4]| [b"}(h\nJ", &device[..], b"h\x0bK\x08h\x0c](}(h\rK\x08h\x0eh\x0fueu"].concat();
    let segments =
        [b"](", names.as_slice(), b"e", &word("segments"), b"](", &each(0..1_000_000, segment), b"e"].concat();
    let segments = pickle(&[b"}(", &word("names"), &segments, b"u"]);
    assert_eq!(error_of(&segments), "segments[1024].device: is not one of the first 1024 devices");
}

#[test]
fn empty_devices_are_left_out() {
    let event = [b"}(", word("action").as_slice(), &word("oom"), b"u"].concat();
    let batch = [b"(", b"]".repeat(1000).as_slice(), b"e"].concat();
    let traces = [b"]", batch.repeat(1000).as_slice(), b"](", &event, b"ea"].concat();
    let opened: Opened = open(&pickle(&[b"}", &word("device_traces"), &traces, b"s"])).unwrap();
    let devices: Vec<i64> = opened.summary.devices.iter().map(|device| device.device).collect();
    assert_eq!(devices, [1_000_000]);
}

/// A small memory limit in place of 32-bit memory. The error must come while there is memory to report it.
#[test]
fn file_too_large_for_memory_reports_needed_bytes() {
    let file = generated("--events 60000 --frames 6");
    let open = |memory: u64, total_bytes: Option<u64>| {
        let mut engine = Engine::with_memory_limit(memory);
        engine.request(Request::open("large.pickle", total_bytes));
        for chunk in file.chunks(1 << 16) {
            engine.feed(chunk.to_vec());
            while engine.step(&mut || true) == Work::More {}
        }
        engine.request(Request::EndOfFile);
        while engine.step(&mut || true) == Work::More {}
        let replies = std::iter::from_fn(|| engine.next_reply());
        let error = replies.into_iter().find_map(|reply| match reply {
            Reply::Failed { message } => Some(message),
            _ => None,
        });
        (error, engine.heap_bytes().iter().map(|(_, bytes)| bytes).sum::<usize>() as u64)
    };
    let length = Some(file.len() as u64);
    let (error, needed) = open(1 << 30, length);
    assert_eq!(error, None);
    let (error, held) = open(needed / 2, length);
    let error = error.expect("half the memory is not enough");
    assert_eq!(held, 0, "memory is released after the error");
    let start = "not enough memory: ";
    assert!(error.starts_with(start) && error.contains(", about ") && error.contains(" needed. "), "{error}");
    assert!(error.contains("record fewer events (max_entries="), "{error}");
    let (error, _) = open(needed / 2, None);
    assert!(!error.unwrap().contains("needed"), "no estimate for a file of unknown length");
}

/// Returns a file of Python's writer, one of torch's, and a gzipped one.
fn small_files() -> [Vec<u8>; 3] {
    let small =
        |words: &str| generated(&format!("--events 12 --frames 2 --layers 1 --hidden 64 --record-from-start {words}"));
    [small("--protocol 4"), small("--style cpp"), gzipped(&small("--pending"))]
}

fn generated(words: &str) -> Vec<u8> {
    let (options, _) = Options::parse(words.split_whitespace().map(str::to_owned)).unwrap();
    generate::generate(&options, Vec::new()).unwrap().0
}

#[test]
fn every_prefix_reports_error_with_offset() {
    for (number, whole) in small_files().iter().enumerate() {
        assert!(open(whole).is_ok(), "file {number}");
        for length in 0..whole.len() {
            let error = error_of(&whole[..length]);
            let place = match error.as_str() {
                "the file is empty" => 0,
                error if error.contains("it begins with") => 0,
                error => {
                    offset_in(error).unwrap_or_else(|| panic!("file {number}, {length} bytes: no place in {error:?}"))
                }
            };
            assert!(place <= length as u64, "file {number}, {length} bytes: {error}");
        }
    }
}

/// Returns the offset in an error message: `… (at byte 12)`, `… (APPENDS at byte 12)`, `… after 12 bytes`, `… near byte
/// 12`.
fn offset_in(error: &str) -> Option<u64> {
    let before = ["byte ", "after "].into_iter().filter_map(|word| Some(error.rfind(word)? + word.len())).max()?;
    error.get(before..)?.split(|letter: char| !letter.is_ascii_digit()).next()?.parse().ok()
}
