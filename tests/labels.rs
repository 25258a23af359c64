//! User metadata and streams in searches, tables, groups, exports and commands.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may fail")]

use crate::cases::folder;
use crate::opened;

use memscape::engine::{Answer, Ask, Question, Reply, Request};
use memscape::protocol::{Grouping, Scope, SortDirection, TableColumn, TableFilter, TableQuestion, TableSort};
use opened::{Opened, open};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const MIB: u64 = 1 << 20;
/// Handle of a stream that is not the default stream.
const SIDE_STREAM: u64 = 0x558c_0de0_0000;

fn stdout_of(arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_memscape")).args(arguments).stdin(Stdio::null()).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Message of a command that writes a file.
fn message_of(arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_memscape")).args(arguments).stdin(Stdio::null()).output().unwrap();
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{arguments:?}: {message}");
    message
}

fn json_of(arguments: &[&str]) -> Value {
    serde_json::from_str(&stdout_of(&[arguments, &["--json"]].concat())).unwrap()
}

fn error_of(arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_memscape")).args(arguments).stdin(Stdio::null()).output().unwrap();
    assert!(!output.status.success(), "{arguments:?}");
    String::from_utf8(output.stderr).unwrap()
}

/// Ids of the allocations that a search finds.
fn found(opened: &mut Opened, search: &str) -> Vec<u32> {
    let question = TableQuestion {
        scope: Scope::All,
        filter: TableFilter { text: search.to_owned(), ..TableFilter::default() },
        sort: TableSort { column: TableColumn::Id, direction: SortDirection::Ascending },
        rows: [0, 500],
        reveal: None,
        selected: Vec::new(),
        search_serial: None,
    };
    let ask = |question| Request::Ask(Ask { serial: 3, device: 0, question });
    let ids = match opened.reply(ask(Question::Table(Box::new(question)))) {
        Reply::Answer { answer: Answer::Table(page), .. } => {
            page.rows.iter().map(|row| row.allocation).collect::<Vec<_>>()
        }
        other => panic!("{other:?}"),
    };
    // The search of the timeline and the tree finds the same.
    let Reply::Answer { answer: Answer::Find(tally), .. } = opened.reply(ask(Question::Find(search.to_owned()))) else {
        panic!("expected a tally")
    };
    assert_eq!(tally.count as usize, ids.len(), "{search}");
    ids
}

fn pickled(value: &Value) -> Vec<u8> {
    serde_pickle::to_vec(value, serde_pickle::SerOptions::new()).unwrap()
}

/// Every shape that `user_metadata` has in files of PyTorch 2.10 to 2.15 and of tools.
fn metadata_shapes() -> Vec<(Value, Option<&'static str>)> {
    vec![
        (json!(""), None),
        (json!("testing"), Some("testing")),
        (json!({"pool": "kv", "step": 7}), Some("{\"pool\": \"kv\", \"step\": 7}")),
        (json!("{\"pool\":\"kv\",\"layer\":3}"), Some("{\"pool\":\"kv\",\"layer\":3}")),
        (json!("line one\n  line two\n"), Some("line one\n  line two\n")),
        (Value::Null, None),
        (json!(7), Some("7")),
        (json!(["a", "b"]), Some("[a, b]")),
        (json!("Größe ☃"), Some("Größe ☃")),
    ]
}

fn opened_with_metadata() -> Opened {
    let event = |(number, (metadata, _)): (usize, (Value, _))| {
        let address = 4096 + 512 * number;
        json!({"action": "alloc", "addr": address, "size": 100 + number, "stream": 0, "user_metadata": metadata, "frames": []})
    };
    let mut trace: Vec<Value> = metadata_shapes().into_iter().enumerate().map(event).collect();
    // An annotation of an allocation without metadata, and one of an allocation that has some.
    trace.push(json!({"action": "annotate", "addr": 4096, "user_metadata": "logits.gradient", "frames": []}));
    trace.push(json!({"action": "annotate", "addr": 4096 + 512, "user_metadata": "loss", "frames": []}));
    open(&pickled(&json!({"segments": [], "device_traces": [trace]}))).unwrap()
}

#[test]
fn metadata_of_every_shape_is_a_column_and_is_found() {
    let mut opened = opened_with_metadata();
    let side = opened.engine.complete_side(0).unwrap();
    for (id, (_, expected)) in (0u32..).zip(metadata_shapes()) {
        let expected = if id == 0 { Some("logits.gradient") } else { expected };
        let text = side.user_metadata(memscape::replay::AllocationId(id));
        assert_eq!(text.as_deref(), expected, "allocation {id}");
    }
    let event_texts = (0..11).map(|event| side.event_metadata(event).map(String::from));
    let expected = metadata_shapes().into_iter().map(|(_, text)| text.map(str::to_owned));
    let expected = expected.chain([Some("logits.gradient".to_owned()), Some("loss".to_owned())]);
    assert_eq!(event_texts.collect::<Vec<_>>(), expected.collect::<Vec<_>>());
    for (search, ids) in [
        ("@metadata KV", vec![2, 3]),
        ("@metadata \"KV\"", vec![]),
        ("@metadata /layer.:\\d/", vec![3]),
        ("@metadata line two", vec![4]),
        ("@metadata gradient", vec![0]),
        ("@metadata loss", vec![1]),
        ("@metadata testing", vec![1]),
        ("@metadata GRÖSSE", vec![]),
        ("@metadata größe", vec![8]),
        ("@metadata ☃", vec![8]),
        ("@metadata /./", vec![0, 1, 2, 3, 4, 6, 7, 8]),
    ] {
        assert_eq!(found(&mut opened, search), ids, "{search}");
    }
}

#[test]
fn allocations_are_grouped_by_metadata() {
    let mut opened = opened_with_metadata();
    let ask = Question::Legend { colouring: Grouping::Metadata, at: None };
    let Reply::Answer { answer: Answer::Legend(entries), .. } =
        opened.reply(Request::Ask(Ask { serial: 1, device: 0, question: ask }))
    else {
        panic!("expected a legend")
    };
    let shown: BTreeMap<String, u64> = entries.into_iter().map(|entry| (entry.label, entry.peak_requested)).collect();
    assert_eq!(shown["no metadata"], 105, "{shown:?}");
    assert_eq!(shown["logits.gradient"], 100);
    assert_eq!(shown["testing"], 101);
    assert_eq!(shown["line one   line two "], 104);
    assert_eq!(shown.values().sum::<u64>(), (100..109).sum::<u64>());
}

#[test]
fn shared_case_has_metadata_of_each_allocation() {
    let Some(folder) = folder() else { return };
    let path = folder.join("metadata-every-shape.pickle");
    let csv =
        stdout_of(&["sql", path.to_str().unwrap(), "SELECT id, user_metadata FROM allocation ORDER BY id", "--json"]);
    let rows = serde_json::from_str::<Value>(&csv).unwrap()["rows"].take();
    let texts: Vec<Option<&str>> = rows.as_array().unwrap().iter().map(|row| row[1].as_str()).collect();
    assert_eq!(texts[..2], [None, Some("testing")]);
    assert_eq!(texts[3], Some("{\"pool\":\"kv\",\"layer\":3}"));
    assert_eq!(texts[6], None);
    assert_eq!(texts[10].map(str::len), Some(70_000));
    let by_search = json_of(&["allocations", path.to_str().unwrap(), "@metadata kv"]);
    assert_eq!(by_search["count"], 2);
}

/// Writes a trace on two streams and in two pools: 40 MiB on the default stream, then 30 MiB on the other one with 5
/// MiB on the default one. One block on the other stream is from before recording.
fn two_streams(name: &str) -> PathBuf {
    let frame = |function: &str| json!([{"filename": "train.py", "line": 3, "name": function}]);
    let first = 0x7f00_0000_0000u64;
    let second = first + 64 * MIB;
    let mut time = 0;
    let mut event = |action: &str, addr: u64, size: u64, stream: u64, pool: [u64; 2], function: &str| {
        time += 50;
        json!({"action": action, "addr": addr, "size": size, "stream": stream, "pool_id": pool, "time_us": 1_000_000 + time, "frames": frame(function)})
    };
    let (default, private) = ([0, 0], [0, 1]);
    let trace = json!([
        event("alloc", first, 40 * MIB, 0, default, "forward"),
        event("free_requested", first, 40 * MIB, 0, default, "forward"),
        event("free_completed", first, 40 * MIB, 0, default, "forward"),
        event("alloc", second, 30 * MIB, SIDE_STREAM, private, "prefetch"),
        event("alloc", first, 5 * MIB, 0, default, "forward"),
        event("free_requested", second, 30 * MIB, SIDE_STREAM, private, "prefetch"),
        event("free_completed", second, 30 * MIB, SIDE_STREAM, private, "prefetch"),
        {"action": "snapshot", "addr": 0, "size": 0, "stream": 0, "time_us": 1_001_000},
    ]);
    let block = |address: u64, size: u64, state: &str| json!({"address": address, "size": size, "requested_size": size, "state": state, "frames": []});
    let segment = |address: u64, stream: u64, pool: [u64; 2], blocks: Value| {
        json!({"device": 0, "address": address, "total_size": 64 * MIB, "stream": stream, "segment_type": "large",
               "segment_pool_id": pool, "is_expandable": false, "frames": [], "blocks": blocks})
    };
    let segments = json!([
        segment(
            first,
            0,
            default,
            json!([block(first, 5 * MIB, "active_allocated"), block(first + 5 * MIB, 59 * MIB, "inactive")])
        ),
        segment(
            second,
            SIDE_STREAM,
            private,
            json!([block(second, 60 * MIB, "inactive"), block(second + 60 * MIB, 4 * MIB, "active_allocated")])
        ),
    ]);
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, pickled(&json!({"segments": segments, "device_traces": [trace]}))).unwrap();
    path
}

#[test]
fn search_selects_stream_or_pool() {
    let mut opened = open(&std::fs::read(two_streams("labels-search.pickle")).unwrap()).unwrap();
    let all = found(&mut opened, "size>0");
    let on_side = found(&mut opened, "stream:0x558c0de00000");
    let by_number = found(&mut opened, &format!("stream:{SIDE_STREAM}"));
    assert_eq!((on_side.len(), &on_side), (2, &by_number), "the block from before recording has its segment's stream");
    let on_default = found(&mut opened, "stream:0");
    assert_eq!([on_side.clone(), on_default].concat().len(), all.len());
    assert_eq!(found(&mut opened, "pool:0,1"), on_side);
    assert_eq!(found(&mut opened, "pool:(0, 7)"), Vec::<u32>::new());
}

#[test]
fn peak_of_a_stream_is_its_own() {
    let path = two_streams("labels-peak.pickle");
    let path = path.to_str().unwrap();
    let peak = |more: &[&str]| {
        let output = json_of(&[&["peak", path], more].concat());
        assert!(
            output["rows"].as_array().unwrap().iter().map(|row| row["live_bytes"].as_u64().unwrap()).sum::<u64>()
                == output["live_bytes"]
        );
        ["live_bytes", "event", "count", "reserved_bytes"].map(|key| output[key].clone())
    };
    assert_eq!(peak(&[])[..3], [json!(44 * MIB), json!(0), json!(2)]);
    assert_eq!(peak(&["--stream", "0"]), [json!(40 * MIB), json!(0), json!(1), Value::Null]);
    assert_eq!(peak(&["--stream", "0x558c0de00000"]), [json!(34 * MIB), json!(3), json!(2), Value::Null]);
    // Within a range of time, which starts after the first free.
    assert_eq!(peak(&["--stream", "0", "--from", "1000200us"])[..2], [json!(5 * MIB), json!(4)]);
    let live = json_of(&["live", path, "--at", "end", "--stream", "0x558c0de00000", "--by", "tree"]);
    assert_eq!((&live["live_bytes"], &live["stream"]), (&json!(4 * MIB), &json!(SIDE_STREAM)));
    assert!(stdout_of(&["peak", path, "--stream", "0"]).contains("live on stream 0 after event 0"));
    let error = error_of(&["peak", path, "--stream", "9"]);
    assert!(error.contains("no allocation on stream 0x9; the streams are 0, 0x558c0de00000"), "{error}");
    assert!(error_of(&["peak", path, "--stream", "x"]).contains("Invalid stream"));
}

#[test]
fn sql_and_csv_have_stream_and_metadata() {
    let path = two_streams("labels-sql.pickle");
    let path = path.to_str().unwrap();
    let query = "SELECT stream, max(live) FROM (SELECT stream, sum(bytes) OVER (PARTITION BY stream ORDER BY event) AS live FROM (\
        SELECT stream, coalesce(allocated_at, -1) AS event, requested_bytes AS bytes FROM allocation UNION ALL \
        SELECT stream, freed_at, -requested_bytes FROM allocation WHERE freed_at IS NOT NULL)) GROUP BY stream ORDER BY stream";
    let rows = json_of(&["sql", path, query])["rows"].take();
    assert_eq!(rows, json!([[0, 40 * MIB], [SIDE_STREAM, 34 * MIB]]));
}

#[test]
fn crop_keeps_events_and_segments_of_one_stream() {
    let path = two_streams("labels-crop.pickle");
    let path = path.to_str().unwrap();
    for (stream, peak, end, events) in [("0", 40 * MIB, 5 * MIB, 5), ("0x558c0de00000", 34 * MIB, 4 * MIB, 4)] {
        let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join("labels-cropped.pickle");
        let said = message_of(&["crop", path, "--stream", stream, "-o", out.to_str().unwrap()]);
        assert!(said.contains(&format!("{events} events")) && said.contains(" 1 segment "), "{said}");
        let cropped = open(&std::fs::read(&out).unwrap()).unwrap();
        let device = &cropped.summary.devices[0];
        let totals = [u64::try_from(device.peak_requested).unwrap(), device.end_requested];
        assert_eq!((totals, device.events), ([peak, end], events), "{stream}");
        assert!(device.identity, "{stream}");
    }
    // From the middle on: the prologue has the allocations of the stream only.
    let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join("labels-cropped-end.pickle");
    let said = message_of(&["crop", path, "--stream", "0", "--from", "6", "-o", out.to_str().unwrap()]);
    assert!(said.contains("1 event, 5.00 MiB live before them, 1 event added"), "{said}");
}

#[test]
fn diff_compares_one_stream() {
    let path = two_streams("labels-diff.pickle");
    let path = path.to_str().unwrap();
    let diff = |stream: &str, more: &[&str]| json_of(&[&["diff", path, path, "--stream", stream], more].concat());
    let own = diff("0x558c0de00000", &[]);
    assert_eq!([&own["a"]["live_bytes"], &own["b"]["live_bytes"]], [&json!(34 * MIB); 2]);
    assert_eq!((&own["delta_bytes"], &own["stream"]), (&json!(0), &json!(SIDE_STREAM)));
    // Events are numbered within the stream: 30 MiB are allocated at event 0.
    assert_eq!(own["a"]["event"], 0);
    let default = diff("0", &["--at-a", "peak", "--at-b", "end"]);
    assert_eq!([&default["a"]["live_bytes"], &default["b"]["live_bytes"]], [&json!(40 * MIB), &json!(5 * MIB)]);
    let rows = default["rows"].as_array().unwrap();
    assert!(rows.iter().all(|row| !row["key"].as_str().unwrap().contains("prefetch")), "{rows:?}");
    assert!(error_of(&["diff", path, path, "--stream", "9"]).contains("no allocation on stream 0x9"));
}

#[test]
fn exports_carry_metadata_and_stream() {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("labels-export.pickle");
    let frames = json!([{"filename": "train.py", "line": 3, "name": "forward"}]);
    let trace = json!([
        {"action": "alloc", "addr": 4096, "size": 512, "stream": 7, "time_us": 10, "user_metadata": "{\"name\":\"kv \\\"0\\\"\"}", "frames": frames},
        {"action": "alloc", "addr": 8192, "size": 512, "stream": 0, "time_us": 20, "user_metadata": "", "frames": frames},
    ]);
    std::fs::write(&path, pickled(&json!({"segments": [], "device_traces": [trace]}))).unwrap();
    let path = path.to_str().unwrap();
    let export = |more: &[&str]| stdout_of(&[&["export", path, "-o", "-"], more].concat());
    let csv = export(&["--to", "csv", "--table", "allocations"]);
    let (head, rows) = csv.split_once("\r\n").unwrap();
    let place = head.split(',').position(|column| column == "user_metadata").unwrap();
    assert!(head.split(',').nth(place - 3) == Some("stream"), "{head}");
    assert!(rows.contains(",7,") && rows.contains("\"{\"\"name\"\":\"\"kv \\\"\"0\\\"\"\"\"}\""), "{rows}");
    let lines = export(&["--to", "jsonl", "--table", "events"]);
    let texts = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["user_metadata"].clone());
    assert_eq!(texts.collect::<Vec<_>>(), [json!("{\"name\":\"kv \\\"0\\\"\"}"), Value::Null]);
    let trace: Value = serde_json::from_str(&export(&["--to", "trace"])).unwrap();
    let args = trace["traceEvents"].as_array().unwrap().iter().map(|event| event["args"]["user_metadata"].clone());
    let args: Vec<Value> = args.filter(|text| !text.is_null()).collect();
    assert_eq!(args, [json!("{\"name\":\"kv \\\"0\\\"\"}")]);
}
