//! Observations of the recorder: what holds tensors, paused memory, and samples of memory outside the allocator.

use crate::opened::{Opened, open};
use crate::recorded::{MIB, snapshot};
use memscape::engine::{Answer, Ask, Question, Reply, Request};
use memscape::protocol::{
    CAPACITY, Curves, MemoryFilter, OUTSIDE_ALLOCATOR, OUTSIDE_OR_OTHERS, PAUSED, PEAK_PAUSED, SAMPLED_PEAKS,
};
use memscape::timeline::{Axis, View, time_axis_margin};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::Command;

const BASE: u64 = 0x7f00_0000_0000;
const START_US: u64 = 1_700_000_000_000_000;

fn write(name: &str, value: &Value) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("recorder-observed");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join(name), value.to_string()).unwrap();
    folder.join(name)
}

fn memscape(words: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_memscape")).args(words).output().unwrap();
    assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn json_of(words: &[&str]) -> Value {
    serde_json::from_str(&memscape(words)).unwrap()
}

/// Returns the facts about the process in a summary.
fn process_facts(file: &str) -> Value {
    json_of(&["summary", "--json", file])[0]["recorder"].take()
}

fn without_nvml(mut value: Value) -> Value {
    let device = value["memscape"]["devices"][0].as_object_mut().unwrap();
    device.remove("process_bytes");
    device.remove("other_processes_bytes");
    value
}

fn with_holders() -> Value {
    let mut value = snapshot();
    let holder = |place: u64, root: &str, more: Value| {
        let mut holder = json!({"addr": BASE + place * MIB, "bytes": 1, "device": 0, "root": root, "length": 2});
        holder.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        holder
    };
    value["memscape"]["holders"] = json!({"seconds": 0.1, "objects": 1000, "cut": false, "of": [
        holder(128, "cycle", json!({"path": "Tensor <- Node", "cycle": ["Tensor", "Node"]})),
        holder(0, "global", json!({"path": "__main__.HISTORY[0]['loss']"})),
        holder(64, "cycle", json!({"path": "", "cycle": ["Tensor", "Node"]})),
        holder(256, "graph", json!({"path": GRAPH, "node": "ReluBackward0", "saved_as": "result"})),
        holder(320, "c++", json!({"path": ""})),
    ]});
    value
}

/// Path of a tensor that autograd saved, as the recorder writes it.
const GRAPH: &str = "saved by ReluBackward0 .result of the graph behind __main__.y";

/// Holders by offset in MiB.
const HELD: [(u64, &str); 5] = [
    (0, "__main__.HISTORY[0]['loss']"),
    (64, "reference cycle: Tensor ← Node"),
    (128, "reference cycle: Tensor <- Node"),
    (256, GRAPH),
    (320, "C++"),
];

#[test]
fn holders_are_shown_for_live_allocations() {
    let value = with_holders();
    let mut opened = open(value.to_string().as_bytes()).unwrap();
    for id in 0..opened.summary.devices[0].allocations as u32 {
        let details = opened.details(0, id).unwrap();
        let offset = (details.address.unwrap() - BASE) / MIB;
        let held = HELD.iter().find(|(place, _)| *place == offset).map(|(_, text)| (*text).to_owned());
        // The address at 320 MiB was used before, by an allocation that is freed.
        assert_eq!(details.held_by, held.filter(|_| details.freed_event.is_none()), "{offset}");
    }
    let file = write("holders.json", &value);
    let file = file.to_str().unwrap();
    let query = "SELECT held_by FROM allocation WHERE held_by IS NOT NULL ORDER BY address";
    let rows = json_of(&["sql", file, query, "--json"])["rows"].take();
    assert_eq!(rows, json!(HELD.map(|(_, text)| [text])));
    // They are no facts about the process.
    assert_eq!(process_facts(file), process_facts(write("unobserved.json", &snapshot()).to_str().unwrap()));
}

#[test]
fn allocations_are_found_by_their_holder() {
    let file = write("search.json", &with_holders());
    let file = file.to_str().unwrap();
    for (query, count) in [
        ("held:history", 1),
        ("held:cycle", 2),
        ("held: /Relu.*result/", 1),
        ("held:\"history\"", 0),
        ("held:cycle & >=50MiB", 1),
        ("held:nothing", 0),
    ] {
        assert_eq!(json_of(&["allocations", "--json", file, query])["count"], count, "{query}");
    }
}

#[test]
fn leaks_name_holders_and_reference_cycles() {
    let file = write("leaks.json", &with_holders());
    let file = file.to_str().unwrap();
    let text = memscape(&["leaks", file]);
    assert!(
        text.contains("2 tensors (120 MiB) wait for the garbage collector: reference cycle: Tensor <- Node."),
        "{text}"
    );
    assert!(text.contains("gc.collect()"), "{text}");
    let leaks = json_of(&["leaks", "--json", file]).to_string();
    assert!(leaks.contains("\"held_by\":\"reference cycle: Tensor <- Node\""), "{leaks}");
    // Without holders, there is neither the statement nor the column.
    let plain = write("plain.json", &snapshot());
    let leaks = memscape(&["leaks", "--json", plain.to_str().unwrap()]);
    assert!(!leaks.contains("held_by") && !leaks.contains("garbage collector"), "{leaks}");
}

#[test]
fn leak_is_held_by_the_oldest_of_its_largest_tensors_with_a_holder() {
    let frames = json!([{"name": "train_step", "filename": "/home/user/train.py", "line": 7}]);
    let address = |step: u64| BASE + step * 64 * MIB;
    let event = |step: u64| {
        json!({"action": "alloc", "addr": address(step), "size": 8 * MIB, "stream": 0,
        "time_us": START_US + 1_000 * step + 500, "frames": frames})
    };
    let segment = |step: u64| {
        json!({"address": address(step), "total_size": 8 * MIB, "stream": 0, "device": 0,
        "segment_type": "large", "frames": [], "blocks": [{"address": address(step), "size": 8 * MIB,
        "requested_size": 8 * MIB, "state": "active_allocated", "frames": frames}]})
    };
    let holder = |step: u64, path: &str| {
        json!({"addr": address(step), "bytes": 8 * MIB, "device": 0, "root": "frame",
        "path": path, "length": 2})
    };
    let step = |step: u64| json!([step, START_US + 1_000 * step, START_US + 1_000 * step + 999]);
    let steps = 8;
    let value = json!({
        "segments": (0..steps).map(segment).collect::<Value>(),
        "device_traces": [(0..steps).map(event).collect::<Value>()],
        "memscape": {"schema": 1, "steps": (0..steps).map(step).collect::<Value>(), "holders": {"of": [
            // The tensor of the last step is held by a local variable as well, which is not where it leaks.
            holder(7, "local output of train_step (train.py:7)"),
            holder(3, "local history of main (train.py:30)[3]"),
        ]}},
    });
    let file = write("leak.json", &value);
    let file = file.to_str().unwrap();
    let text = memscape(&["leaks", file]);
    let expected = "(likely a leak). Held by local history of main (train.py:30)[3].";
    assert!(text.contains(" grew 8.00 MiB in each of the ") && text.contains(expected), "{text}");
    let leaks = memscape(&["leaks", "--json", file]);
    assert!(leaks.contains(r#""held_by": "local history of main (train.py:30)[3]""#), "{leaks}");
}

#[test]
fn crop_has_no_holders() {
    let file = write("whole.json", &with_holders());
    let crop = file.with_file_name("crop.pickle");
    memscape(&["crop", file.to_str().unwrap(), "--from", "0", "--to", "4", "-o", crop.to_str().unwrap()]);
    let query = "SELECT count(*) FROM allocation WHERE held_by IS NOT NULL";
    assert_eq!(json_of(&["sql", crop.to_str().unwrap(), query, "--json"])["rows"], json!([[0]]));
}

#[test]
fn memory_outside_the_allocator_is_known_without_nvml() {
    let opened = open(without_nvml(snapshot()).to_string().as_bytes()).unwrap();
    let device = &opened.summary.devices[0];
    // Of 256 MiB, 180 MiB are reserved and 2 MiB free.
    assert_eq!(device.recorder_value(OUTSIDE_OR_OTHERS), Some(74 * MIB));
    assert_eq!((device.recorder_value(OUTSIDE_ALLOCATOR), device.available_bytes()), (None, Some(182 * MIB)));
    let file = write("without-nvml.json", &without_nvml(snapshot()));
    let text = memscape(&["summary", file.to_str().unwrap()]);
    assert!(text.contains("used outside or by other processes  74.0 MiB"), "{text}");
    // With NVML, the two are known.
    let opened = open(snapshot().to_string().as_bytes()).unwrap();
    assert_eq!(opened.summary.devices[0].recorder_value(OUTSIDE_OR_OTHERS), None);
}

fn with_paused(mut value: Value, more: Value) -> Value {
    let mut paused = json!({"begin_us": START_US + 1, "tag": "weights", "by": "torch_memory_saver", "bytes": 40 * MIB,
        "ranges": [[BASE, 40 * MIB]], "backup": "cpu"});
    paused.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    value["memscape"]["paused"] = json!([paused]);
    value
}

#[test]
fn paused_memory_is_not_on_the_gpu() {
    let of = |value: &Value| open(value.to_string().as_bytes()).unwrap().summary.devices[0].clone();
    let device = of(&with_paused(snapshot(), json!({})));
    assert_eq!((device.recorder_value(PAUSED), device.peak_reserved), (Some(40 * MIB), 180 * MIB as i64));
    // The process uses 200 MiB; 140 MiB are reserved and not paused.
    assert_eq!(device.recorder_value(OUTSIDE_ALLOCATOR), Some(60 * MIB));
    let device = of(&with_paused(without_nvml(snapshot()), json!({})));
    assert_eq!(device.recorder_value(OUTSIDE_OR_OTHERS), Some(114 * MIB));
    // Resumed before the save, and on another device.
    for more in [json!({"end_us": START_US + 5}), json!({"device": 1})] {
        assert_eq!(of(&with_paused(snapshot(), more.clone())).recorder_value(PAUSED), None, "{more}");
    }
}

#[test]
fn oom_report_says_what_is_paused() {
    let file = write("paused.json", &with_paused(without_nvml(snapshot()), json!({})));
    let oom = memscape(&["oom", file.to_str().unwrap()]);
    assert!(oom.contains("Of the reserved bytes, 40.0 MiB are paused (not on the GPU)."), "{oom}");
    assert!(oom.contains("114 MiB of device memory was in use outside the allocator"), "{oom}");
    // Paused only before the OOM.
    let file = write("resumed.json", &with_paused(without_nvml(snapshot()), json!({"end_us": START_US + 5})));
    let oom = memscape(&["oom", file.to_str().unwrap()]);
    assert!(!oom.contains("paused") && oom.contains("74.0 MiB of device memory was in use outside"), "{oom}");
}

#[test]
fn library_that_pauses_memory_is_reported_if_pauses_are_unknown() {
    let mut value = snapshot();
    value["device_traces"][0][0]["frames"][0]["filename"] = json!("/site-packages/torch_memory_saver/entrypoint.py");
    let oom = |value: &Value| memscape(&["oom", write("library.json", value).to_str().unwrap()]);
    assert!(oom(&value).contains("Parts of the reserved memory may be paused"), "{}", oom(&value));
    assert!(!oom(&with_paused(value, json!({}))).contains("may be paused"));
    assert!(!oom(&snapshot()).contains("may be paused"));
}

/// Adds samples of the recorder: outside of the allocator there are 16, 76 and 80 MiB.
fn with_samples(mut value: Value) -> Value {
    let columns =
        ["time_us", "free_bytes", "reserved_bytes", "live_bytes", "rss_bytes", "shared_bytes", "pinned_bytes"];
    let row = |us: u64, free: u64, reserved: u64| {
        json!([START_US + us, free * MIB, reserved * MIB, MIB, 7 * MIB, 3 * MIB, 0])
    };
    value["memscape"]["samples"] = json!({"columns": columns, "device": 0, "every": 1,
        "rows": [row(1_500, 200, 40), row(4_500, 20, 160), row(5_500, 16, 160)],
        "events": [[START_US + 100, "too early"], [START_US + 4_000, "process group tp of 8 ranks was made"]]});
    value
}

#[test]
fn samples_are_a_table_and_their_growth_a_finding() {
    let file = write("samples.json", &with_samples(without_nvml(snapshot())));
    let file = file.to_str().unwrap();
    let query = "SELECT time_us, outside_bytes, resident_bytes, event FROM sample ORDER BY time_us";
    // The event before the sample. The first event is 1,000 µs after the start.
    let expected = [(1_500, 16, 0), (4_500, 76, 3), (5_500, 80, 4)]
        .map(|(us, mib, event)| json!([START_US + us, mib * MIB, 7 * MIB, event]));
    assert_eq!(json_of(&["sql", file, query, "--json"])["rows"], json!(expected));
    let leaks = memscape(&["leaks", file]);
    let finding = "Memory outside the allocator grew by 64.0 MiB to 80.0 MiB. Largest rise between two samples: 60.0 MiB \
                   (process group tp of 8 ranks was made).";
    assert!(leaks.contains(finding), "{leaks}");
    assert_eq!(
        process_facts(file),
        process_facts(write("unsampled.json", &without_nvml(snapshot())).to_str().unwrap())
    );
}

fn curves(opened: &mut Opened, view: View) -> Curves {
    let question = Question::Curves { view, only: MemoryFilter::default(), with_stranded: false };
    match opened.reply(Request::Ask(Ask { serial: 1, device: 0, question })) {
        Reply::Answer { answer: Answer::Curves(curves), .. } => *curves,
        other => panic!("expected curves, got {other:?}"),
    }
}

/// Returns the maximum of a step function in each column: `changes` are positions on the axis and values from then on.
fn maxima(view: &View, edge_px: &[i32], changes: &[(f64, u64)]) -> Vec<u64> {
    let column = |edges: &[i32]| {
        let [from, to] = [edges[0], edges[1]].map(|edge| view.x_from_column(f64::from(edge)));
        let before = changes.iter().rev().find(|(x, _)| *x < from).map_or(0, |(_, bytes)| *bytes);
        changes.iter().filter(|(x, _)| (from..to).contains(x)).map(|(_, bytes)| *bytes).fold(before, u64::max)
    };
    edge_px.windows(2).map(column).collect()
}

#[test]
fn samples_and_pauses_are_curves() {
    let pause = json!({"begin_us": START_US + 2_200, "end_us": START_US + 3_700});
    let value = with_paused(with_samples(without_nvml(snapshot())), pause);
    let mut opened = open(value.to_string().as_bytes()).unwrap();
    let events = opened.summary.devices[0].events;
    let (outside, resident) = ([(1_500, 16), (4_500, 76), (5_500, 80)], [(1_500, 7), (4_500, 7), (5_500, 7)]);
    let paused = [(2_200, 40), (3_700, 0)];
    // Events are 1,000 µs apart, the first at 1,000 µs. On the axis of events, a time is in the moment after those
    // until then. Windows of different widths: columns with several moments, with one, and with parts of one.
    let margin = time_axis_margin(8_000) as f64;
    let [by_event, by_time]: [fn(u64, f64) -> f64; 2] =
        [|us, _| (us / 1_000) as f64 + 0.5, |us, margin| us as f64 - 1_000.0 + margin];
    for (axis, length, position) in
        [(Axis::Events, events as f64 + 1.0, by_event), (Axis::Time, 8_000.0 + 2.0 * margin, by_time)]
    {
        for width_px in [3, 10, 499] {
            let view = View { axis, x_per_px: length / f64::from(width_px), width_px, ..View::fit(1, 1, 1, 1) };
            let found = curves(&mut opened, view);
            let expected = |changes: &[(u64, u64)]| {
                let changes: Vec<_> = changes.iter().map(|&(us, mib)| (position(us, margin), mib * MIB)).collect();
                maxima(&view, &found.edge_px, &changes)
            };
            assert!(found.edge_px.len() > 3, "{axis:?} {width_px}");
            assert_eq!(found.outside, expected(&outside), "{axis:?} {width_px}");
            assert_eq!(found.resident, expected(&resident), "{axis:?} {width_px}");
            assert_eq!(found.paused, expected(&paused), "{axis:?} {width_px}");
            assert_eq!(found.pinned, vec![0; found.edge_px.len() - 1]);
        }
    }
    let mut plain = open(without_nvml(snapshot()).to_string().as_bytes()).unwrap();
    let found = curves(&mut plain, View::fit(10, 1, 10, 1));
    assert!([&found.outside, &found.resident, &found.pinned, &found.paused].iter().all(|curve| curve.is_empty()));
}

#[test]
fn plan_leaves_out_paused_memory() {
    // Paused before the first event, and never resumed.
    let value = with_paused(without_nvml(snapshot()), json!({}));
    let file = write("plan.json", &value);
    let file = file.to_str().unwrap();
    let words = ["plan", file, "--capacity", "150MiB"];
    let plan = json_of(&[&words[..], &["--json"]].concat());
    // Of the peak of 184 MiB, 40 MiB are paused.
    assert_eq!(plan["planned"]["peak_live_bytes"], json!(184 * MIB));
    assert_eq!((&plan["planned_on_gpu_bytes"], &plan["headroom_bytes"]), (&json!(144 * MIB), &json!(6 * MIB)));
    assert_eq!(plan["planned_reserved"]["oom_event"], Value::Null);
    let text = memscape(&words);
    assert!(text.contains("150 MiB: 6.00 MiB left; without paused memory the peak is ≤ 144 MiB"), "{text}");
    let plain = write("plan-plain.json", &without_nvml(snapshot()));
    let plan = json_of(&["plan", plain.to_str().unwrap(), "--capacity", "150MiB", "--json"]);
    let too_much = i64::try_from(34 * MIB).unwrap();
    assert_eq!((&plan["planned_on_gpu_bytes"], &plan["headroom_bytes"]), (&Value::Null, &json!(-too_much)));
}

#[test]
fn most_paused_at_once_is_known_after_it_was_resumed() {
    let of = |more: Value| {
        let value = with_paused(without_nvml(snapshot()), more);
        open(value.to_string().as_bytes()).unwrap().summary.devices[0].recorder_value(PEAK_PAUSED)
    };
    assert_eq!(of(json!({"end_us": START_US + 5})), Some(40 * MIB));
    assert_eq!(of(json!({"device": 1})), None);
}

#[test]
fn maxima_of_samples_are_those_in_the_trace() {
    let row = |us: i64, free: u64, resident: u64| {
        json!([(START_US + 1_000).saturating_add_signed(us), free * MIB, 100 * MIB, resident * MIB])
    };
    let mut value = without_nvml(snapshot());
    value["memscape"]["samples"] = json!({"columns": ["time_us", "free_bytes", "reserved_bytes", "rss_bytes"], "device": 0,
        "every": 1, "events": [],
        "rows": [row(-90, 10, 990), row(-50, 50, 500), row(3, 90, 300), row(4, 70, 350)]});
    let opened = open(value.to_string().as_bytes()).unwrap();
    let device = &opened.summary.devices[0];
    let capacity = device.recorder_value(CAPACITY).unwrap();
    let peaks = SAMPLED_PEAKS.map(|key| device.recorder_value(key));
    // Before the trace, only the last sample counts.
    assert_eq!(peaks, [Some(capacity - 150 * MIB), Some(500 * MIB), None]);
}

#[test]
fn file_with_any_observation_opens() {
    let number = i64::MAX;
    let odd = [
        json!(null),
        json!(7),
        json!([[[]], {}, "x"]),
        json!({"of": 7}),
        json!({"of": [7, {}, {"addr": -1}, {"addr": u64::MAX, "root": {}, "cycle": "x"}, {"addr": BASE, "root": "\u{1b}[2J"}]}),
        json!({"of": [{"addr": BASE, "root": "cycle", "cycle": [[[1]], {}]}, {"addr": BASE, "device": number, "root": 5}]}),
        json!([{"begin_us": number, "bytes": number}, {"begin_us": -number, "end_us": number, "bytes": number}]),
        json!([{"begin_us": 5, "end_us": 1, "bytes": -1, "ranges": [[-1, number], [], 7, [[1], 2]]}]),
        json!({"columns": 7, "rows": {}, "events": 1}),
        json!({"columns": ["time_us", "free_bytes", "reserved_bytes", []], "device": 0,
            "rows": [[], [1], [1, 2], [number, -5, number], [-number, number, 0], "x", [[1], {}, 3]],
            "events": [[], [1], ["a", "b"], [1, [2]], [[1], "x"], 7, [1, "\u{1b}"]]}),
        json!([{"columns": ["time_us"], "rows": [[1]]}, 7]),
    ];
    for (at, value) in odd.iter().enumerate() {
        let mut whole = without_nvml(snapshot());
        for key in ["holders", "paused", "samples"] {
            whole["memscape"][key] = value.clone();
        }
        let file = write(&format!("odd{at}.json"), &whole);
        let columns = file.with_extension("columns");
        memscape(&["convert", file.to_str().unwrap(), "-o", columns.to_str().unwrap()]);
        for file in [&file, &columns] {
            let file = file.to_str().unwrap();
            for words in [&["summary", file][..], &["leaks", file], &["oom", file], &["allocations", file, "held:x"]] {
                assert!(!memscape(words).contains('\u{1b}'), "{words:?}");
            }
            memscape(&["sql", file, "SELECT * FROM sample, allocation", "--json"]);
            let mut opened = open(&std::fs::read(file).unwrap()).unwrap();
            for axis in [Axis::Events, Axis::Time] {
                curves(&mut opened, View { axis, ..View::fit(10, 1, 10, 1) });
            }
        }
    }
}
