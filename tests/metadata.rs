//! Snapshots with user metadata, annotations and pools; files of a single pool, of Ascend, and with rewritten
//! addresses.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests may panic")]

use crate::opened;

use memscape::engine::{Answer, Ask, Question, Reply, Request};
use memscape::protocol::{Details, Grouping, Topic};
use opened::{Opened, open};
use serde_json::{Value, json};

fn opened(value: Value) -> Opened {
    let bytes = serde_pickle::to_vec(&value, serde_pickle::SerOptions::new()).unwrap();
    open(&bytes).unwrap_or_else(|error| panic!("{error}"))
}

/// Kind, count and first location of each warning.
fn warnings(opened: &Opened) -> Vec<(String, u64, String)> {
    opened.summary.warnings.iter().map(|w| (w.kind.clone(), w.count, w.example.clone())).collect()
}

/// `_set_memory_metadata` called with a dict stores JSON text since PyTorch 2.15 and the dict itself before. An
/// `annotate` event applies to an allocation that is already live. Both can name pools, allocations and categories.
#[test]
fn metadata_and_annotations_name_pools_and_allocations() {
    let alloc = |addr: u64, metadata: Value, pool: [u64; 2]| json!({"action": "alloc", "addr": addr, "size": 512, "user_metadata": metadata, "pool_id": pool, "frames": []});
    let note = |addr: u64, text: &str| json!({"action": "annotate", "addr": addr, "user_metadata": text, "frames": []});
    let free = |addr: u64| json!({"action": "free_completed", "addr": addr, "size": 512, "frames": []});
    let trace = json!([
        alloc(512, json!("{\"pool\": \"kv cache\", \"name\": \"layer 3\"}"), [0, 2]),
        alloc(1024, json!({"name": "old \"style\"", "step": 7}), [0, 0]),
        alloc(2048, json!("{\"category\": \"activations\"}"), [4, 0]),
        note(8192, "cut_cross_entropy::linear.gradient"),
        note(4096, "cut_cross_entropy::logits"),
        free(4096),
    ]);
    let block = json!({"address": 8192, "size": 512, "requested_size": 500, "state": "active_allocated", "frames": []});
    let segment = json!({"device": 0, "address": 8192, "total_size": 512, "stream": 0, "segment_type": "small", "blocks": [block]});
    let mut opened = opened(json!({"segments": [segment], "device_traces": [trace]}));
    let by_address = |opened: &mut Opened, address: u64| {
        (0..9).filter_map(|id| opened.details(0, id)).find(|it| it.address == Some(address)).unwrap()
    };
    let pairs = |details: &Details| {
        details.metadata.iter().map(|(label, text)| format!("{label}={text}")).collect::<Vec<_>>().join("; ")
    };
    let warning_texts = by_address(&mut opened, 512);
    assert_eq!(pairs(&warning_texts), "pool=kv cache; name=layer 3");
    assert_eq!(pairs(&by_address(&mut opened, 1024)), "name=old \"style\"; step=7");
    let called = |opened: &mut Opened, address: u64| by_address(opened, address).category.unwrap().name;
    assert_eq!([2048, 8192].map(|address| called(&mut opened, address)), ["activation", "gradient"]);
    assert_eq!(pairs(&by_address(&mut opened, 8192)), "annotation=cut_cross_entropy::linear.gradient");
    assert_eq!(pairs(&by_address(&mut opened, 4096)), "annotation=cut_cross_entropy::logits");
    let names: Vec<&str> = opened.summary.pools.iter().map(|pool| pool.name.as_str()).collect();
    assert_eq!(names, ["kv cache, MemPool (0, 2)", "graph-private pool (4, 0)"]);
}

/// Without pool ids on events, metadata names the pool of the segment that contains the address. A pool with several
/// names gets none. Frames identify the owner of a pool.
#[test]
fn pools_are_named_by_segments_and_frames() {
    let frame = |file: &str| json!([{"name": "f", "filename": file, "line": 1}]);
    let alloc = |addr: u64, metadata: &str, file: &str| json!({"action": "alloc", "addr": addr, "size": 512, "user_metadata": metadata, "frames": frame(file)});
    let segment = |at: u64, pool: [u64; 2], file: &str| {
        let block =
            json!({"address": at, "size": 512, "requested_size": 512, "state": "active_allocated", "frames": []});
        json!({"device": 0, "address": at, "total_size": 4096, "stream": 0, "segment_type": "small", "segment_pool_id": pool,
               "frames": frame(file), "blocks": [block]})
    };
    let trees = "/x/torch/_inductor/cudagraph_trees.py";
    let trace = json!([
        {"action": "segment_alloc", "addr": 4096, "size": 4096, "user_metadata": "{\"pool\": \"weights\"}", "frames": []},
        alloc(4096, "", "a.py"),
        alloc(8192, "{\"pool\": \"one\"}", "a.py"),
        alloc(8704, "{\"pool\": \"other\"}", "a.py"),
        alloc(12288, "", trees),
    ]);
    let segments = json!([
        segment(4096, [0, 1], "a.py"),
        segment(8192, [0, 2], "a.py"),
        segment(12288, [0, 3], "b.py"),
        segment(16384, [0, 4], "/x/torch/distributed/_symmetric_memory/__init__.py")
    ]);
    let mut opened = opened(json!({"segments": segments, "device_traces": [trace]}));
    let names: Vec<&str> = opened.summary.pools.iter().map(|pool| pool.name.as_str()).collect();
    let expected = [
        "weights, MemPool (0, 1)",
        "MemPool (0, 2)",
        "CUDA graph trees, MemPool (0, 3)",
        "symmetric memory, MemPool (0, 4)",
    ];
    assert_eq!(names, expected);
    let Reply::Answer { answer: Answer::Legend(entries), .. } = opened.reply(Request::Ask(Ask {
        serial: 1,
        device: 0,
        question: Question::Legend { colouring: Grouping::Pool, at: None },
    })) else {
        panic!("expected a legend")
    };
    assert!(entries.iter().any(|entry| entry.label == expected[0]), "{entries:?}");
}

/// `MemPool.snapshot()` is a list of the segments of one pool.
#[test]
fn segments_of_one_pool_give_one_pool_warning() {
    let segment = |at: u64, pool: [u64; 2]| {
        let block =
            json!({"address": at, "size": 512, "requested_size": 512, "state": "active_allocated", "frames": []});
        json!({"device": 0, "address": at, "total_size": 512, "stream": 0, "segment_type": "small", "segment_pool_id": pool, "blocks": [block]})
    };
    let kinds = |value: Value| warnings(&opened(value)).into_iter().map(|(kind, ..)| kind).collect::<Vec<_>>();
    assert_eq!(kinds(json!([segment(512, [0, 1]), segment(1024, [0, 1])])), ["one_pool"]);
    assert_eq!(
        kinds(json!([segment(512, [0, 0])])),
        Vec::<String>::new(),
        "default pool alone may be the whole device"
    );
    assert_eq!(kinds(json!([segment(512, [0, 1]), segment(1024, [0, 0])])), Vec::<String>::new());
}

/// torch_npu puts the trace of its workspaces before a device's own trace, so addresses and times start over.
#[test]
fn merged_ascend_trace_opens_with_one_warning() {
    let event = |action: &str, addr: u64, time: u64| json!({"action": action, "addr": addr, "size": 512, "stream": 0, "time_us": time, "frames": [{"filename": "train.py", "line": 7, "name": "train"}]});
    let mut marker = event("workspace_snapshot", 0, 40);
    marker["size"] = json!(0);
    let trace = json!([
        event("segment_alloc", 1 << 20, 10),
        event("alloc", 1 << 20, 20),
        event("free_completed", 1 << 20, 30),
        marker,
        event("segment_alloc", 1 << 21, 5),
        event("alloc", 1 << 21, 15),
        event("free_completed", 1 << 21, 25),
    ]);
    let segment = |at: u64| {
        json!({"device": 0, "address": at, "total_size": 512, "stream": 0, "segment_type": "small",
        "blocks": [{"address": at, "size": 512, "requested_size": 0, "state": "inactive", "frames": []}]})
    };
    let opened = opened(json!({"segments": [segment(1 << 20), segment(1 << 21)], "device_traces": [trace]}));
    let kinds: Vec<String> = warnings(&opened).into_iter().map(|(kind, ..)| kind).collect();
    assert_eq!(kinds, ["time_steps_back"], "no other warning");
    let device = &opened.summary.devices[0];
    assert_eq!((device.events, device.peak_requested, device.peak_reserved), (7, 512, 1024));
    assert!(device.actions.contains(&("snapshot".to_owned(), 1)), "{:?}", device.actions);
}

/// More live than reserved bytes: the file lacks segments, or its addresses were rewritten.
#[test]
fn more_requested_than_reserved_bytes_give_warning() {
    let event = |action: &str, addr: u64, size: u64| json!({"action": action, "addr": addr, "size": size, "stream": 0, "frames": [{"filename": "train.py", "line": 7, "name": "train"}]});
    let segment = json!({"device": 0, "address": 512, "total_size": 1024, "stream": 0, "segment_type": "small",
        "blocks": [{"address": 512, "size": 1024, "requested_size": 0, "state": "inactive", "frames": []}]});
    let trace = json!([
        event("alloc", 512, 1024),
        event("alloc", 1 << 20, 512),
        event("free_completed", 1 << 20, 512),
        event("free_completed", 512, 1024)
    ]);
    let warning_texts = warnings(&opened(json!({"segments": [segment], "device_traces": [trace]})));
    let example = "device_traces[0][1]: 1.50 KiB requested, 1.00 KiB reserved";
    assert_eq!(warning_texts, [("requested_beyond_reserved".into(), 1, example.into())]);
}

/// `resize_` with an address hint allocates a prefix block and frees it at once. The report says so if the block is
/// part of the peak.
#[test]
fn peak_report_mentions_temporary_prefix_block() {
    let event = |action: &str, addr: u64, size: u64, internal: &str| json!({"action": action, "addr": addr, "size": size, "stream": 0, "internal_metadata": internal, "frames": []});
    let trace = json!([
        event("alloc", 512, 1024, ""),
        event("alloc", 1 << 20, 4096, "mallocWithAddress"),
        event("alloc", 1 << 21, 512, ""),
        event("free_completed", 1 << 20, 4096, ""),
    ]);
    let mut opened = opened(json!({"segments": [], "device_traces": [trace]}));
    let report = crate::reported::report(&mut opened, 0, Topic::Peak, &[]);
    let statements: Vec<&str> =
        report.statements.iter().map(|it| it.text.as_str()).filter(|text| text.contains("mallocWithAddress")).collect();
    assert!(
        statements.len() == 1 && statements[0].starts_with("4.00 KiB of the peak is momentary: 1 prefix block"),
        "{statements:?}"
    );
    let (label, text) = opened.details(0, 1).unwrap().metadata[0].clone();
    assert!(label.contains("prefix block") && text == "mallocWithAddress", "{label}");
}

/// Allocations that are never freed can be hidden or shown alone, in the table and in a search.
#[test]
fn filter_freed_hides_never_freed_allocations() {
    use memscape::protocol::{Scope, SortDirection, TableColumn, TableFilter, TableQuestion, TableSort};
    let event =
        |action: &str, addr: u64| json!({"action": action, "addr": addr, "size": 512, "stream": 0, "frames": []});
    let trace =
        json!([event("alloc", 512), event("alloc", 1024), event("free_completed", 512), event("free_completed", 4096)]);
    let mut opened = opened(json!({"segments": [], "device_traces": [trace]}));
    let mut listed = |text: &str| {
        let question = TableQuestion {
            scope: Scope::All,
            filter: TableFilter { text: text.to_owned(), ..TableFilter::default() },
            sort: TableSort { column: TableColumn::Id, direction: SortDirection::Ascending },
            rows: [0, 10],
            reveal: None,
            selected: Vec::new(),
            search_serial: None,
        };
        let request = Request::Ask(Ask { serial: 1, device: 0, question: Question::Table(Box::new(question)) });
        let Reply::Answer { answer: Answer::Table(page), .. } = opened.reply(request) else {
            panic!("expected a table")
        };
        page.rows.iter().map(|row| row.address().unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(listed("freed"), [4096, 512]);
    assert_eq!(listed("never-freed"), [1024]);
    assert_eq!(listed("freed & >1000000"), [0u64; 0]);
    assert_eq!(listed("\"freed\""), [0u64; 0], "a quoted filter is text");
}

/// Every report measures growth from the same baseline: the end of the second step.
#[test]
fn leak_growth_is_equal_in_all_reports() {
    let (mut opened, truth) = crate::trained::generated("--steps 12 --layers 2 --leak");
    let leaks = crate::reported::report(&mut opened, 0, Topic::Leaks, &[]);
    let grows = crate::reported::sheet(&leaks, "grows");
    let growth = u64::try_from(crate::reported::number(grows, &grows.rows[0], "growth_bytes")).unwrap();
    // Excludes the bytes leaked in the first two steps.
    assert!(growth > 0 && growth < truth.devices[0].leaked_requested);
    let bytes = memscape::units::Bytes(growth).to_string();
    let statements = |opened: &mut Opened, topic: Topic, part: &str| {
        let report = crate::reported::report(opened, 0, topic, &[]);
        let statements = report.statements.iter().find(|it| it.text.contains(part));
        statements.map(|it| it.text.clone()).unwrap_or_else(|| panic!("{topic:?}: {:?}", report.statements))
    };
    let text = statements(&mut opened, Topic::Steps, "Memory grows with every step");
    assert!(text.contains(&bytes) && text.contains("after the first two"), "{bytes}: {text}");
    let all = memscape::units::Bytes(truth.devices[0].leaked_requested).to_string();
    for topic in [Topic::Leaks, Topic::Peak] {
        let text = statements(&mut opened, topic, " grew ");
        assert!(
            text.contains("in each of the 12 steps, ") && text.contains(&[&all, " in all"].concat()),
            "{topic:?}: {all}: {text}"
        );
    }
}

/// Buckets of ages, sizes and lifetimes do not overlap, have no gaps, and have labels with thousands separators.
#[test]
fn histogram_buckets_do_not_overlap() {
    let (mut opened, truth) = crate::trained::generated("--events 12983 --layers 3 --no-annotations");
    let events = truth.devices[0].events;
    let mut labels = |colouring| match opened.reply(Request::Ask(Ask {
        serial: 1,
        device: 0,
        question: Question::Legend { colouring, at: None },
    })) {
        Reply::Answer { answer: Answer::Legend(entries), .. } => {
            entries.into_iter().map(|entry| entry.label).collect::<Vec<_>>()
        }
        other => panic!("{other:?}"),
    };
    let mut next = 0;
    for label in labels(Grouping::Age).iter().filter_map(|label| label.strip_prefix("allocated at events ")) {
        let ends: Vec<u64> = label.split('–').map(|end| end.replace(',', "").parse().unwrap()).collect();
        assert_eq!(ends[0], next, "{label}");
        next = ends[1] + 1;
    }
    assert_eq!(next, events);
    let sizes = labels(Grouping::Size);
    assert_eq!(sizes[..3], ["≤ 512 B", "512 B–2.00 KiB", "2.00–8.00 KiB"]);
    assert!(sizes.iter().any(|label| label == "512 KiB–2.00 MiB"), "{sizes:?}");
    let lives = labels(Grouping::Lifetime);
    assert_eq!(lives[..3], ["1 event", "2–4 events", "5–16 events"]);
    assert!(lives.iter().any(|label| label == "1,025–4,096 events"), "{lives:?}");
}
