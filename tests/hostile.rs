//! Hostile files: a small file must not cost much time or memory, and no input may make the engine panic or hang.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may fail")]

use crate::generate;
use crate::opened;

use memscape::engine::{Answer, Ask, Engine, Question, Reply, Request};
use memscape::protocol::{Details, Direction, FileSummary, Highlight, PlotSettings, Scope, SearchStart};
use memscape::protocol::{decode, encode};
use memscape::snapshot::schema::KEYS;
use memscape::timeline::View;
use opened::{Opened, open};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::sync::mpsc;
use std::time::Duration;

/// Builds a pickle of protocol 2.
fn pickle(parts: &[&[u8]]) -> Vec<u8> {
    [b"\x80\x02", parts.concat().as_slice(), b"."].concat()
}

fn word(text: &str) -> Vec<u8> {
    [b"X", &(text.len() as u32).to_le_bytes()[..], text.as_bytes()].concat()
}

/// Returns the keys and values for SETITEMS.
fn fields(fields: &[(&str, &[u8])]) -> Vec<u8> {
    fields.iter().flat_map(|(key, value)| [&word(key), *value].concat()).collect()
}

fn dict(pairs: &[(&str, &[u8])]) -> Vec<u8> {
    [b"}(", fields(pairs).as_slice(), b"u"].concat()
}

fn list(items: &[u8]) -> Vec<u8> {
    [b"](", items, b"e"].concat()
}

/// Runs a function on a thread. Panics if it takes far longer than any valid file of this size.
fn with_timeout<R: Send + 'static>(look: impl FnOnce() -> R + Send + 'static) -> R {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || sender.send(look()));
    receiver.recv_timeout(Duration::from_secs(20)).expect("a small file takes too long")
}

/// Opens a file with the time limit of [`with_timeout`]. Returns its summary or error.
fn open_with_timeout(bytes: Vec<u8>) -> Result<FileSummary, String> {
    with_timeout(move || open(&bytes).map(|opened| opened.summary))
}

/// An unfinished batch is checked only when its size has doubled, even if nested batches start and end in between.
#[test]
fn unfinished_batch_is_not_searched_repeatedly() {
    let tuples = b"(t".repeat(300_000);
    let bytes = pickle(&[b"](]", &b"N".repeat(1 << 20), &tuples, b"e"]);
    assert_eq!(open_with_timeout(bytes).unwrap_err(), "[0]: expected a segment, found a list");
}

/// Rewriting a memo slot invalidates the shortcuts' tables. This must cost no more than what they recorded since the
/// last time.
#[test]
fn rewritten_memo_slots_take_linear_time() {
    let rewritten = pickle(&[b"](", &b"]".repeat(60_000), b"e(K\x00", &b"q\x00".repeat(1_000_000), b"e"]);
    assert_eq!(open_with_timeout(rewritten).unwrap_err(), "[0]: expected a segment, found a list");

    let frame = dict(&[("filename", &word("f")), ("name", &word("n")), ("line", b"K\x00")]);
    let slots = 0..400_000u32;
    let names: Vec<u8> = slots.clone().flat_map(|slot| [b"r", &slot.to_le_bytes()[..]].concat()).collect();
    let stacks: Vec<u8> = slots.flat_map(|slot| [b"](j", &slot.to_le_bytes()[..], b"ea"].concat()).collect();
    let bytes = pickle(&[b"]", &frame, &names, b"a", &stacks, &b"](h\x01eaNq\x00a".repeat(300_000)]);
    assert_eq!(open_with_timeout(bytes).unwrap_err(), "[0]: expected a segment, found a frame");
}

/// Four levels of nested settings, each with forty references to the next.
#[test]
fn nested_shared_settings_are_truncated() {
    let level = |value: &[u8], put: u8| {
        let pairs: Vec<u8> = (0..40).flat_map(|key| [&[b'K', key], value].concat()).collect();
        [b"}(", pairs.as_slice(), b"uq", &[put]].concat()
    };
    // POP is not allowed in a snapshot, so each level is the value of an unknown key.
    let mut parts = word("segments");
    parts.extend(b"]");
    for depth in 0..4u8 {
        parts.extend(word(&format!("level {depth}")));
        parts.extend(if depth == 0 { level(b"N", 1) } else { level(&[b'h', depth], depth + 1) });
    }
    parts.extend(word("allocator_settings"));
    parts.extend(b"h\x04");
    let summary = open_with_timeout(pickle(&[b"}(", &parts, b"u"])).unwrap();
    assert!(summary.settings.len() <= 1001, "{}", summary.settings.len());
    assert_eq!(summary.settings.last().unwrap().0, "…");
}

/// A traceback that repeats one shared line of 1 MiB 100,000 times.
#[test]
fn shared_forward_frames_are_not_copied_for_each_use() {
    let line = "x".repeat(1 << 20);
    let first = [word(&line), b"q\x01".to_vec()].concat();
    let lines = list(&[first, b"h\x01".repeat(100_000)].concat());
    let event = dict(&[("action", &word("alloc")), ("addr", b"K\x00"), ("size", b"K\x08"), ("forward_frames", &lines)]);
    let bytes = pickle(&[&dict(&[("segments", b"]"), ("device_traces", &list(&list(&event)))])]);
    let details = with_timeout(move || open(&bytes).unwrap().details(0, 0).unwrap());
    assert!(encoded_bytes(&details) < 64 << 20, "{}", encoded_bytes(&details));
}

/// Details must not copy shared frames, fx texts, annotations and metadata for each use.
#[test]
fn shared_texts_are_not_copied_for_each_use_in_details() {
    let long = [word(&"x".repeat(1 << 20)), b"q\x01".to_vec()].concat();
    let frame = [dict(&[("filename", &long), ("name", b"h\x01"), ("line", b"K\x00")]), b"q\x02".to_vec()].concat();
    let frames = list(&[frame, b"h\x02".repeat(100_000)].concat());
    let time = |at: u8| vec![b'K', at];
    let alloc = dict(&[
        ("action", &word("alloc")),
        ("addr", b"K\x00"),
        ("size", b"K\x08"),
        ("time_us", &time(9)),
        ("frames", &frames),
    ]);
    let note = dict(&[("action", &word("annotate")), ("addr", b"K\x00"), ("user_metadata", b"h\x01")]);
    let mark = dict(&[("stage", &word("START")), ("name", b"h\x01"), ("time_us", &time(1)), ("device", b"K\x00")]);
    let mark = [mark, b"q\x03".to_vec(), b"h\x03".repeat(100_000)].concat();
    let events = list(&[alloc, note.repeat(10_000)].concat());
    let bytes = pickle(&[&dict(&[
        ("segments", b"]"),
        ("device_traces", &list(&events)),
        ("external_annotations", &list(&mark)),
    ])]);
    let details = with_timeout(move || open(&bytes).unwrap().details(0, 0).unwrap());
    assert!(encoded_bytes(&details) < 64 << 20, "{}", encoded_bytes(&details));
    assert!(details.frames.len() <= 10_001 && details.metadata.len() <= 1001 && details.annotations.len() <= 1001);
}

fn encoded_bytes(details: &Details) -> usize {
    encode(details).len()
}

/// A list that 100,000 events share is searched once.
#[test]
fn shared_lists_are_searched_once() {
    let frame = dict(&[("filename", &word("f")), ("name", &word("n")), ("line", b"K\x00")]);
    let frames = list(&[frame, b"q\x02".to_vec(), b"h\x02".repeat(500_000), b"N".to_vec()].concat());
    let head =
        fields(&[("action", &word("oom")), ("size", b"K\x08"), ("frames", &[frames, b"q\x03".to_vec()].concat())]);
    let again = dict(&[("action", &word("oom")), ("frames", b"h\x03")]);
    let events = list(&[b"}(", head.as_slice(), b"u", &again.repeat(100_000)].concat());
    let bytes = pickle(&[&dict(&[("segments", b"]"), ("device_traces", &list(&events))])]);
    let error = open_with_timeout(bytes).unwrap_err();
    assert_eq!(error, "device_traces[0][0].frames[500001]: expected a frame, found None or a bool");
}

/// Segments must not share blocks, and a segment must not appear twice.
#[test]
fn shared_blocks_and_segments_report_error() {
    let block = dict(&[("size", b"K\x08"), ("state", &word("active_allocated"))]);
    let blocks = [list(&block.repeat(30_000)), b"q\x04".to_vec()].concat();
    let segment = |blocks: &[u8]| dict(&[("total_size", b"K\x08"), ("blocks", blocks)]);
    let shared_blocks = list(&[segment(&blocks), segment(b"h\x04").repeat(100_000)].concat());
    assert_eq!(
        open_with_timeout(pickle(&[&dict(&[("segments", &shared_blocks)])])).unwrap_err(),
        "segments[1].blocks: is not a separate list of blocks"
    );
    let one = [segment(&blocks), b"q\x05".to_vec()].concat();
    let shared_segment = list(&[one.clone(), b"h\x05".repeat(1_000_000)].concat());
    assert_eq!(
        open_with_timeout(pickle(&[&dict(&[("segments", &shared_segment)])])).unwrap_err(),
        "segments[1]: is not a separate segment"
    );
    let many = list(&[segment(b"]").repeat(3000), one].concat());
    let again = [word("segments"), b"q\x07".to_vec(), many, b"q\x06".to_vec(), b"h\x07h\x06".repeat(300_000)].concat();
    let summary = open_with_timeout(pickle(&[b"}(", &again, b"u"])).unwrap();
    assert_eq!((summary.devices[0].segments, summary.devices[0].static_blocks), (3001, 30_000));
}

/// A slice checks the clock at least once per fixed number of events, devices or frames.
#[test]
fn opening_many_devices_checks_clock_regularly() {
    let segments: Vec<Value> = (0..500).map(|device| segment(device, 0, json!([live(0, 8)]))).collect();
    let asked = clock_checks(&pickled(&json!({"segments": segments})));
    assert!(asked >= 1000, "the clock was checked {asked} times for 500 devices");
}

/// Returns how often opening a file checks the clock.
fn clock_checks(bytes: &[u8]) -> usize {
    let mut engine = Engine::new();
    engine.request(Request::open("", None));
    engine.feed(bytes.to_vec());
    engine.request(Request::EndOfFile);
    let mut asked = 0;
    while engine.is_loading() {
        engine.step(&mut || {
            asked += 1;
            true
        });
    }
    asked
}

#[test]
fn long_names_are_truncated_in_messages() {
    let key = word(&"k".repeat(1 << 20));
    let unknown = pickle(&[b"}(", &word("segments"), b"]", &key, b"Nu"]);
    let summary = open_with_timeout(unknown).unwrap();
    assert!(summary.warnings[0].message.len() < 5000 && summary.warnings[0].example.len() < 5000);
    let refused = pickle(&[b"}(", &key, b"cos\nsystem\n"]);
    assert!(open_with_timeout(refused).unwrap_err().len() < 5000);
    let nested = pickle(&[&b"](".repeat(60_000), b"R"]);
    assert!(open_with_timeout(nested).unwrap_err().len() < 5000);
}

/// Found by fuzzing: a key with a line break split the error message in two. Escape sequences would reach the terminal.
#[test]
fn control_characters_are_escaped_in_messages() {
    let refused = pickle(&[b"}(", &word("a\n\x1b[2Jb"), b"cos\nsystem\n"]);
    let error = open_with_timeout(refused).unwrap_err();
    assert!(error.starts_with("a\\n\\u{1b}[2Jb: "), "{error}");
    let unknown = pickle(&[b"}(", &word("segments"), b"]", &word("a\rb"), b"Nu"]);
    assert_eq!(open_with_timeout(unknown).unwrap().warnings[0].example, "a\\rb");
}

#[test]
fn metadata_shaped_like_event_does_not_change_warning_paths() {
    let note = json!({"action": "jump"});
    let mut events: Vec<Value> = (0..20_000).map(|at| event("alloc", at * 512, 8)).collect();
    events[0]["user_metadata"] = note.clone();
    events[7]["user_metadata"] = note;
    events[9]["color"] = json!("red");
    let mut engine = Engine::new();
    engine.request(Request::open("", None));
    engine.feed(pickled(&json!({"segments": [], "device_traces": [events]})));
    while engine.wants().is_none() {
        engine.step(&mut || false);
    }
    let waiting = engine.heap_bytes().iter().find(|(name, _)| name.contains("waiting")).unwrap().1;
    assert!(waiting < 1 << 20, "{waiting}");
    engine.request(Request::EndOfFile);
    while engine.is_loading() {
        engine.step(&mut || true);
    }
    let summary = std::iter::from_fn(|| engine.next_reply()).find_map(|reply| match reply {
        Reply::Opened(summary) => Some(summary),
        _ => None,
    });
    let places: Vec<String> = summary.unwrap().warnings.iter().map(|warning| warning.example.clone()).collect();
    assert!(places.contains(&"device_traces[0][9].color".to_owned()), "{places:?}");
}

fn event(action: &str, addr: u64, size: u64) -> Value {
    json!({"action": action, "addr": addr, "size": size, "stream": 0, "time_us": addr})
}

fn live(address: u64, requested: u64) -> Value {
    json!({"address": address, "size": requested, "requested_size": requested, "state": "active_allocated", "frames": []})
}

fn segment(device: i64, address: u64, blocks: Value) -> Value {
    json!({"device": device, "address": address, "total_size": 4096, "stream": 0, "segment_type": "large", "blocks": blocks})
}

fn pickled(value: &impl serde::Serialize) -> Vec<u8> {
    serde_pickle::to_vec(value, serde_pickle::SerOptions::new()).unwrap()
}

/// A small snapshot with most features of the format.
fn small_snapshot() -> Value {
    let frames = json!([{"filename": "a.py", "line": 3, "name": "f"}, {"filename": "??", "line": 0, "name": "g"}]);
    let mut alloc = event("alloc", 512, 100);
    alloc["frames"] = frames.clone();
    alloc["pool_id"] = json!([0, 1]);
    alloc["forward_frames"] = json!(["one\n", "two\n"]);
    alloc["user_metadata"] = json!({"phase": 2});
    json!({
        "segments": [segment(0, 0, json!([live(0, 64), live(512, 100)])), segment(1, 4096, json!([live(4096, 7)]))],
        "device_traces": [
            [event("segment_alloc", 0, 4096), alloc, event("alloc", 1024, 5), event("free_requested", 1024, 5),
             event("annotate", 512, 0), event("free_completed", 1024, 5), event("free_completed", 2048, 50)],
            [json!({"action": "oom", "size": 9, "device_free": 4}), event("snapshot", 0, 0)],
        ],
        "external_annotations": [{"stage": "START", "name": "step", "device": 0, "time_us": 3},
                                 {"stage": "END", "name": "step", "device": 0, "time_us": 900}],
        "allocator_settings": {"roundup_power2_divisions": {"1": 4}, "max_split_size": -1},
        "host_segments": [segment(-1, 0, json!([live(0, 8)]))],
        "host_traces": [event("alloc", 0, 8)],
    })
}

/// Opens a file in the shortest possible slices and sends all kinds of requests. Panics if one is never answered.
fn exercise(bytes: &[u8]) {
    let mut engine = Engine::new();
    engine.request(Request::open("x", None));
    let mut chunks = bytes.chunks(97);
    let mut reply = |engine: &mut Engine, request: Option<Request>| {
        request.into_iter().for_each(|request| engine.request(request));
        for _ in 0..1_000_000 {
            match engine.next_reply() {
                Some(Reply::Progress(_)) | None => {}
                Some(reply) => return reply,
            }
            if engine.wants().is_some() {
                match chunks.next() {
                    Some(chunk) => engine.feed(chunk.to_vec()),
                    None => engine.request(Request::EndOfFile),
                }
            }
            engine.step(&mut || false);
        }
        panic!("no reply after a million slices")
    };
    let Reply::Opened(summary) = reply(&mut engine, None) else { return };
    serde_json::to_vec(&summary).unwrap();
    for device in summary.devices.iter().take(5) {
        let moments = device.events + 1;
        let fit = View::fit(moments, device.drawn_peak, 40, 30);
        let odd = View { x_per_px: 0.3, bytes_per_px: 1e-3, left_px: -7, bottom_px: i64::MAX - 3, ..fit };
        for view in [fit, odd, View { bytes_per_px: f64::NAN, ..fit }, View::fit(1, 1, u32::MAX, 9)] {
            let request = Request::Ask(Ask {
                serial: 1,
                device: device.device,
                question: Question::Scene { view, plot_settings: PlotSettings::default() },
            });
            assert!(matches!(reply(&mut engine, Some(request)), Reply::Answer { answer: Answer::Scene(_), .. }));
        }
        for moment in [0, 1, 2, device.events as u32, u32::MAX] {
            for byte in [0, 1, device.drawn_peak / 2, u64::MAX] {
                let request = Request::Ask(Ask {
                    serial: 1,
                    device: device.device,
                    question: Question::Hit { plot_settings: PlotSettings::default(), moment, byte },
                });
                assert!(matches!(reply(&mut engine, Some(request)), Reply::Answer { answer: Answer::Hit { .. }, .. }));
            }
        }
        for allocation in (0..20).chain([u32::MAX]) {
            let request =
                Request::Ask(Ask { serial: 1, device: device.device, question: Question::Details(allocation) });
            let Reply::Answer { answer: Answer::Details(details), .. } = reply(&mut engine, Some(request)) else {
                panic!("not details")
            };
            assert_eq!(decode(&encode(&details)), Some(details));
        }
        for query in ["a", "/.*:[0-9]+ ./", "0x0", ">=0", "..512", "#0"] {
            let search = Request::Ask(Ask { serial: 2, device: device.device, question: Question::Find(query.into()) });
            let Reply::Answer { answer: Answer::Find(tally), .. } = reply(&mut engine, Some(search)) else {
                panic!("not a tally")
            };
            for direction in [Direction::Next, Direction::Previous] {
                let begin = SearchStart::Moment(device.events as u32 / 2);
                let (plot_settings, window) = (PlotSettings::default(), [1, 5]);
                let step = Request::Ask(Ask {
                    serial: 3,
                    device: 0,
                    question: Question::FindNext {
                        search_serial: 2,
                        begin,
                        direction,
                        plot_settings,
                        window,
                        scope: Scope::All,
                    },
                });
                let Reply::Answer { answer: Answer::FindNext(found), .. } = reply(&mut engine, Some(step)) else {
                    panic!("not a step")
                };
                assert!(found.is_some_and(|found| found.index < tally.count) == (tally.count > 0));
            }
            let plot_settings = PlotSettings { highlight: Highlight::Found(2), ..PlotSettings::default() };
            let request = Request::Ask(Ask {
                serial: 1,
                device: device.device,
                question: Question::Scene { view: fit, plot_settings },
            });
            assert!(matches!(reply(&mut engine, Some(request)), Reply::Answer { answer: Answer::Scene(_), .. }));
        }
        let request = Request::Ask(Ask { serial: 4, device: device.device, question: Question::SameStack(1) });
        assert!(matches!(reply(&mut engine, Some(request)), Reply::Answer { answer: Answer::SameStack(_), .. }));
    }
}

/// Returns small valid pickles of every writer.
fn seeds() -> Vec<Vec<u8>> {
    let generated =
        ["--events 30 --frames 3", "--events 30 --frames 3 --style cpp", "--events 30 --protocol 2 --pending"];
    let generated = generated.iter().map(|words| {
        let (options, _) = generate::Options::parse(words.split_whitespace().map(str::to_owned)).unwrap();
        generate::generate(&options, Vec::new()).unwrap().0
    });
    std::iter::once(pickled(&small_snapshot())).chain(generated).collect()
}

/// Bytes with a meaning in pickles, inserted more often than by chance.
const OPCODES: &[u8] = b"](}e)u.KMJGNas\x85\x86\x87thqjr\x94\x88\x89\x8aX\x8c\x80\xff\x00\x7f";

#[derive(Clone, Debug)]
enum Edit {
    Set(u8),
    Opcode(prop::sample::Index),
    Delete(usize),
    Repeat(usize, usize),
    Copy(prop::sample::Index, usize),
}

fn edits() -> impl Strategy<Value = Vec<(prop::sample::Index, Edit)>> {
    let edit = prop_oneof![
        any::<u8>().prop_map(Edit::Set),
        any::<prop::sample::Index>().prop_map(Edit::Opcode),
        (1..40usize).prop_map(Edit::Delete),
        (1..60usize, 1..30usize).prop_map(|(length, times)| Edit::Repeat(length, times)),
        (any::<prop::sample::Index>(), 1..60usize).prop_map(|(from, length)| Edit::Copy(from, length)),
    ];
    prop::collection::vec((any::<prop::sample::Index>(), edit), 1..6)
}

fn edit(bytes: &mut Vec<u8>, at: prop::sample::Index, edit: &Edit) {
    if bytes.is_empty() {
        return;
    }
    let at = at.index(bytes.len());
    let part = |from: usize, length: usize| from..(from + length).min(bytes.len());
    match edit {
        Edit::Set(byte) => bytes[at] = *byte,
        Edit::Opcode(which) => bytes[at] = OPCODES[which.index(OPCODES.len())],
        Edit::Delete(length) => drop(bytes.drain(part(at, *length))),
        Edit::Repeat(length, times) => {
            let again = bytes[part(at, *length)].repeat(*times);
            bytes.splice(at..at, again);
        }
        Edit::Copy(from, length) => {
            let from = from.index(bytes.len());
            let copy = bytes[part(from, *length)].to_vec();
            bytes.splice(at..at, copy);
        }
    }
}

/// Generates a value that no writer puts there.
fn odd_value() -> impl Strategy<Value = Value> {
    let number = prop_oneof![
        -3..2000i64,
        prop::sample::select(vec![i64::MIN, i64::MIN + 1, i64::MAX, 1 << 58, -(1 << 58) - 1, 1 << 32, 1 << 62])
    ];
    let leaf = prop_oneof![
        6 => number.prop_map(|number| json!(number)),
        4 => prop::sample::select(KEYS.to_vec()).prop_map(|word| json!(word)),
        1 => Just(json!(u64::MAX)),
        1 => any::<f64>().prop_map(|number| json!(number)),
        1 => Just(json!(null)),
        1 => any::<bool>().prop_map(|value| json!(value)),
    ];
    leaf.prop_recursive(3, 20, 4, |inner| {
        prop_oneof![prop::collection::vec(inner.clone(), 0..4).prop_map(|list| json!(list)), odd_dict(inner)]
    })
}

fn odd_dict(value: impl Strategy<Value = Value>) -> impl Strategy<Value = Value> {
    let key = prop::sample::select(KEYS.to_vec());
    prop::collection::vec((key, value), 0..5)
        .prop_map(|pairs| json!(pairs.into_iter().collect::<std::collections::BTreeMap<_, _>>()))
}

/// Generates events that follow the format but no allocator: few addresses, any size, and any actions in any order.
fn odd_events() -> impl Strategy<Value = Value> {
    let actions =
        ["alloc", "free_requested", "free_completed", "segment_alloc", "segment_unmap", "oom", "annotate", "jump"];
    let size = prop_oneof![0..100i64, Just(i64::MAX), Just(1 << 62)];
    let time = prop_oneof![-5..100i64, Just(i64::MAX), Just(i64::MIN + 1)];
    let event = (prop::sample::select(actions.to_vec()), 0..4u64, size, prop::option::of(time));
    let event = event.prop_map(|(action, addr, size, time)| {
        let mut event = json!({"action": action, "addr": addr, "size": size, "device_free": size});
        time.into_iter().for_each(|time| event["time_us"] = json!(time));
        event
    });
    prop::collection::vec(event, 0..30).prop_map(|events| json!(events))
}

/// Replaces a value of the tree, selected by `at`.
fn replace(value: &mut Value, at: usize, with: &Value) {
    let children: Vec<&mut Value> = match value {
        Value::Array(items) => items.iter_mut().collect(),
        Value::Object(fields) => fields.values_mut().collect(),
        _ => Vec::new(),
    };
    let count = children.len();
    match children.into_iter().nth(at % count.max(1)) {
        Some(child) if at % 5 != 4 => replace(child, at / 3 + 1, with),
        _ => *value = with.clone(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn file_with_changed_bytes_opens_or_reports_error(seed in 0..4usize, edits in edits()) {
        let mut bytes = seeds().swap_remove(seed);
        edits.iter().for_each(|(at, change)| edit(&mut bytes, *at, change));
        exercise(&bytes);
    }

    #[test]
    fn file_with_changed_values_opens_or_reports_error(
        changes in prop::collection::vec((0..1_000_000usize, odd_value()), 1..4),
    ) {
        let mut value = small_snapshot();
        changes.iter().for_each(|(at, with)| replace(&mut value, *at, with));
        exercise(&pickled(&value));
    }

    #[test]
    fn file_with_random_keys_and_values_opens_or_reports_error(value in odd_dict(odd_value())) {
        exercise(&pickled(&value));
    }

    #[test]
    fn file_with_random_event_sequences_opens(
        traces in prop::collection::vec(odd_events(), 0..3),
        sizes in prop::collection::vec(0..9u64, 0..4),
    ) {
        let blocks: Vec<Value> = sizes.iter().map(|&address| live(address, address)).collect();
        let value = json!({"segments": [segment(0, 0, json!(blocks))], "device_traces": traces});
        let mut opened: Opened = open(&pickled(&value)).unwrap();
        exercise(&pickled(&value));
        for device in opened.summary.devices.clone() {
            opened.scene(device.device, View::fit(device.events + 1, device.drawn_peak, 9, 9));
        }
    }
}
