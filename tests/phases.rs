//! Phases of training steps and peaks of streams, compared with the brute-force implementation in
//! brute_force_phases.py, and the rules for phases on small traces.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may fail")]

use crate::generate;
use crate::opened;
use crate::reported;

use memscape::engine::{Answer, Ask, Phase, PhaseFinder, Question, Reply, Request};
use memscape::protocol::{Cell, Marks, RangeSource, Report, StepPhase, Topic};
use memscape::slice::TimeSlice;
use opened::{Opened, open, real_pickles, recordings_folder};
use reported::{cell, number, sheet, text};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::Command;

fn phases(opened: &mut Opened, device: i64) -> Vec<Phase> {
    let side = opened.engine.complete_side(device).unwrap();
    let mut finder = PhaseFinder::default();
    // The shortest slices: each call continues where the last one stopped.
    while finder.step(&side, &mut TimeSlice::new(&mut || false)).is_err() {}
    finder.phases().to_vec()
}

fn marks(opened: &mut Opened, device: i64) -> Marks {
    match opened.reply(Request::Ask(Ask { serial: 7, device, question: Question::Phases })) {
        Reply::Answer { answer: Answer::Marks(marks), .. } => *marks,
        other => panic!("{other:?}"),
    }
}

/// Real files, and recordings whose backward pass has no Python stacks or that use several streams.
fn real_files() -> Vec<PathBuf> {
    let mut files = real_pickles().unwrap_or_default();
    if let Some(folder) = recordings_folder("phases") {
        for name in ["accumulate", "amp", "mlp", "streams"] {
            files.push(folder.join(format!("programs-2.11/{name}.default.base.pickle.gz")));
        }
    }
    files.retain(|path| path.is_file());
    files
}

fn generated_files() -> Vec<PathBuf> {
    let generate = |(number, words): (usize, &str)| {
        let (options, _) = generate::Options::parse(words.split_whitespace().map(str::to_owned)).unwrap();
        let (bytes, _) = generate::generate(&options, Vec::new()).unwrap();
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("phases-{number}.pickle"));
        std::fs::write(&path, bytes).unwrap();
        path
    };
    let words = [
        "--events 3000 --layers 3 --prerecord-mib 64 --layer-annotations --leak --pending",
        "--steps 9 --layers 2 --hidden 128 --record-from-start --no-annotations --expandable",
        "--events 2500 --layers 3 --devices 2 --no-time --ring 1500 --style cpp",
    ];
    words.into_iter().enumerate().map(generate).collect()
}

#[test]
fn phases_and_stream_peaks_of_real_files_match_python() {
    let files = real_files();
    let [phases, streams] = compare_with_python(&files);
    // Without the shared files, nothing is compared.
    assert!(files.is_empty() || phases > 30, "{phases} phases");
    assert!(recordings_folder("phases").is_none() || streams >= 4, "{streams} streams");
}

#[test]
fn phases_and_stream_peaks_of_generated_files_match_python() {
    let [phases, _] = compare_with_python(&generated_files());
    assert!(phases > 20, "{phases} phases");
}

/// Compares phases, marks and tables of files with the script. Returns the number of phases and of rows of streams.
fn compare_with_python(files: &[PathBuf]) -> [usize; 2] {
    let (mut found, mut streams) = (0, 0);
    for path in files {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/brute_force_phases.py");
        let output = Command::new("python3").arg(script).arg(path).output().unwrap();
        assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
        let devices: Value = serde_json::from_slice(&output.stdout).unwrap();
        let mut opened = open(&std::fs::read(path).unwrap()).unwrap_or_else(|error| panic!("{name}: {error}"));
        for expected in devices.as_array().unwrap() {
            let device = expected["device"].as_i64().unwrap();
            let place = format!("{name}, device {device}");
            let phases = phases(&mut opened, device);
            let shown = phases.iter().map(|phase| {
                let Phase { kind, span, annotation, peak, peak_moment } = phase;
                json!([kind.name(), span.from, span.to, annotation.is_none(), peak, peak_moment])
            });
            assert_eq!(shown.collect::<Value>(), expected["phases"], "{place}");
            check_marks(&place, &marks(&mut opened, device), &phases);
            let report = reported::report(&mut opened, device, Topic::Peak, &[]);
            check_phase_table(&place, &report, &phases);
            streams += check_stream_table(&place, &report, &expected["streams"]);
            found += phases.len();
        }
    }
    [found, streams]
}

/// The track has all phases if one of them is inferred, in the order of the trace, between the annotations.
fn check_marks(place: &str, marks: &Marks, phases: &[Phase]) {
    let shown: Vec<_> = marks.ranges.iter().filter(|mark| mark.source != RangeSource::Annotation).collect();
    let has_inferred = phases.iter().any(|phase| phase.annotation.is_none());
    assert_eq!(marks.has_phases, has_inferred, "{place}");
    assert_eq!(shown.len(), if has_inferred { phases.len() } else { 0 }, "{place}");
    for (mark, phase) in shown.into_iter().zip(phases) {
        assert_eq!((mark.name.as_str(), mark.span), (phase.kind.name(), phase.span), "{place}");
        assert_eq!(mark.source == RangeSource::InferredPhase, phase.annotation.is_none(), "{place}");
        let [from, to] = [phase.span.from, phase.span.to].map(|moment| f64::from(moment) + 1.0);
        assert_eq!([mark.start.events, mark.end.events], [from, to], "{place}");
    }
    assert!(marks.ranges.is_sorted_by_key(|mark| mark.start.events as u64), "{place}");
}

fn check_phase_table(place: &str, report: &Report, phases: &[Phase]) {
    if phases.is_empty() {
        assert!(report.sheets.iter().all(|sheet| sheet.key != "phases"), "{place}");
        return;
    }
    let table = sheet(report, "phases");
    let mut expected = Vec::new();
    for kind in StepPhase::ALL {
        let of_kind: Vec<_> = phases.iter().filter(|phase| phase.kind == kind).collect();
        if let Some(peak) = of_kind.iter().map(|phase| phase.peak).max() {
            let first = of_kind.iter().find(|phase| phase.peak == peak).unwrap();
            let event = i128::from(first.peak_moment) - 1;
            expected.push((kind.name().to_owned(), i128::from(peak), event, of_kind.len() as i128));
        }
    }
    let rows = table.rows.iter().map(|row| {
        let of = |key| number(table, row, key);
        (text(table, row, "phase").to_owned(), of("peak_live_bytes"), of("peak_event"), of("count"))
    });
    assert_eq!(rows.collect::<Vec<_>>(), expected, "{place}");
}

/// Returns the number of rows of the table of streams.
fn check_stream_table(place: &str, report: &Report, expected: &Value) -> usize {
    let expected = expected.as_object().unwrap();
    let Some(table) = report.sheets.iter().find(|sheet| sheet.key == "streams") else {
        assert!(expected.len() < 2, "{place}: {expected:?}");
        return 0;
    };
    assert_eq!(table.rows.len(), expected.len(), "{place}");
    for row in &table.rows {
        let name = match text(table, row, "stream") {
            "default stream" => "0".to_owned(),
            "not recorded" => "None".to_owned(),
            name => u64::from_str_radix(name.strip_prefix("stream 0x").unwrap(), 16).unwrap().to_string(),
        };
        let [peak, moment, at_peak] = [0, 1, 2].map(|index| i128::from(expected[&name][index].as_u64().unwrap()));
        let of = |key| number(table, row, key);
        assert_eq!([of("peak_live_bytes"), of("peak_event"), of("live_bytes")], [peak, moment - 1, at_peak], "{place}");
    }
    table.rows.len()
}

/// An event with frames, innermost first, as `name` or `file:name`. `None` if no stack is recorded.
fn event(action: &str, number: usize, frames: Option<&str>) -> Value {
    let frame = |text: &str| {
        let (file, name) = text.split_once(':').unwrap_or(("train.py", text));
        json!({"filename": file, "name": name, "line": 1})
    };
    let mut event =
        json!({"action": action, "addr": 4096 + 512 * number, "size": 512, "stream": 0, "time_us": 1000 + number});
    if let Some(frames) = frames {
        event["frames"] = frames.split_whitespace().map(frame).collect();
    }
    event
}

/// Opens a trace that allocates once with each stack.
fn opened_with(stacks: &[Option<&str>], annotations: &[(&str, usize, usize)]) -> Opened {
    let trace: Vec<Value> = stacks.iter().enumerate().map(|(number, stack)| event("alloc", number, *stack)).collect();
    let mark =
        |stage: &str, name: &str, at: usize| json!({"stage": stage, "name": name, "device": 0, "time_us": 1000 + at});
    let marks =
        annotations.iter().flat_map(|(name, from, last)| [mark("START", name, *from), mark("END", name, *last)]);
    let mut marks: Vec<Value> = marks.collect();
    marks.sort_by_key(|mark| mark["time_us"].as_u64());
    let value = json!({"segments": [], "device_traces": [trace], "external_annotations": marks});
    open(&serde_pickle::to_vec(&value, serde_pickle::SerOptions::new()).unwrap()).unwrap()
}

/// Returns the phases as text: the initial, the events, and `?` if it is inferred.
fn shown(opened: &mut Opened) -> String {
    let phase = |phase: Phase| {
        let initial = &phase.kind.name()[..1];
        format!(
            "{initial}{}-{}{}",
            phase.span.from,
            phase.span.to - 1,
            if phase.annotation.is_none() { "?" } else { "" }
        )
    };
    phases(opened, 0).into_iter().map(phase).collect::<Vec<_>>().join(" ")
}

const ADAM: &str = "adam.py:adam site-packages/torch/optim/adam.py:step main";

#[test]
fn phases_are_inferred_from_stacks() {
    let cases: [(&str, &[Option<&str>], &str); 12] = [
        (
            "a step, with loss and clipping",
            &[
                Some("main"),
                Some("Net.forward main"),
                Some("loss main"),
                Some("Tensor.backward main"),
                Some("clip main"),
                Some(ADAM),
            ],
            "f1-2? b3-3? o5-5?",
        ),
        (
            "the thread of the autograd engine has no Python stack",
            &[Some("forward main"), Some("backward main"), Some(""), None, Some(""), Some("main"), Some("")],
            "f0-0? b1-6?",
        ),
        ("an empty stack alone is no backward pass", &[Some(""), Some("forward main"), Some("")], ""),
        ("inference", &[Some("forward main"), Some("_call_impl main"), Some("main")], ""),
        ("only the optimizer step is recorded", &[Some(ADAM), Some("main")], "o0-0?"),
        ("only functions", &[Some("main"), Some("loss main")], ""),
        (
            "gradient accumulation",
            &[Some("forward main"), Some("backward main"), Some("forward main"), Some("backward main"), Some(ADAM)],
            "f0-0? b1-1? f2-2? b3-3? o4-4?",
        ),
        (
            "activations are computed again in the backward pass",
            &[Some("forward main"), Some("forward checkpoint.py:backward"), Some("forward unpack_hook"), Some(ADAM)],
            "f0-0? b1-2? o3-3?",
        ),
        (
            "the optimizer calls a closure",
            &[
                Some("forward closure torch/optim/lbfgs.py:step main"),
                Some("backward closure torch/optim/lbfgs.py:step main"),
                Some("add torch/optim/lbfgs.py:LBFGS.step main"),
            ],
            "f0-0? b1-1? o2-2?",
        ),
        (
            "schedulers and other steps are not optimizers",
            &[Some("backward main"), Some("torch/optim/lr_scheduler.py:step main"), Some("env.py:step main")],
            "b0-0?",
        ),
        (
            "C++ stacks",
            &[
                Some("??:at::empty forward main"),
                Some("??:torch::autograd::generated::MulBackward0::apply(x) ??:clone"),
            ],
            "f0-0? b1-1?",
        ),
        (
            "hooks of custom optimizers",
            &[Some("backward main"), Some("a.py:update torch/optim/optimizer.py:wrapper main")],
            "b0-0? o1-1?",
        ),
    ];
    for (case, stacks, expected) in cases {
        assert_eq!(shown(&mut opened_with(stacks, &[])), expected, "{case}");
    }
}

#[test]
fn annotated_phases_replace_inferred_ones_of_the_same_kind() {
    let stacks = [
        Some("main"),
        Some("forward main"),
        Some("main"),
        Some("backward main"),
        Some("main"),
        Some(ADAM),
        Some("main"),
    ];
    let of = |annotations: &[(&str, usize, usize)]| shown(&mut opened_with(&stacks, annotations));
    assert_eq!(of(&[]), "f1-2? b3-3? o5-5?");
    assert_eq!(of(&[("Optimizer.step#Adam.step", 4, 6)]), "f1-2? b3-3? o4-6");
    assert_eq!(of(&[("## forward ##", 0, 1)]), "f0-1 b3-3? o5-5?");
    assert_eq!(of(&[("FWD 3", 0, 2), ("bwd_step", 3, 4), ("optimizer", 5, 5)]), "f0-2 b3-4 o5-5");
    // Two annotations of one phase.
    assert_eq!(of(&[("backward", 3, 3), ("backward", 4, 4)]), "f1-2? b3-3 b4-4 o5-5?");
    assert_eq!(of(&[("optimizer", 4, 6), ("Optimizer.step#Adam.step", 5, 5)]), "f1-2? b3-3? o4-6");
    // Not the whole phase, several phases, or outside the trace.
    for name in ["layer 3 forward", "forward backward", "Optimizer.zero_grad#Adam.zero_grad", "step", "forwarded"] {
        assert_eq!(of(&[(name, 0, 1)]), "f1-2? b3-3? o5-5?", "{name}");
    }
    assert_eq!(of(&[("forward", 100, 200)]), "f1-2? b3-3? o5-5?");
    let mut all = opened_with(&stacks, &[("forward", 0, 2), ("backward", 3, 4), ("optimizer", 5, 5)]);
    assert!(!marks(&mut all, 0).has_phases, "annotations are enough");
    let mut only_forward = opened_with(&[Some("main")], &[("forward", 0, 0)]);
    assert_eq!(shown(&mut only_forward), "");
}

#[test]
fn peak_of_each_phase_is_named_with_its_source() {
    let stacks = [Some("forward main"), Some("backward main"), Some("main")];
    let mut opened = opened_with(&stacks, &[("optimizer", 2, 2)]);
    let report = reported::report(&mut opened, 0, Topic::Peak, &[]);
    let table = sheet(&report, "phases");
    let sources: Vec<&str> = table.rows.iter().map(|row| text(table, row, "source")).collect();
    assert_eq!(sources, ["inferred from call stacks", "inferred from call stacks", "annotations"]);
    let shares: Vec<Cell> = table.rows.iter().map(|row| cell(table, row, "share").clone()).collect();
    // All allocations stay live. The forward pass ends where the backward pass starts.
    assert_eq!(shares, [512, 1024, 1536].map(|part| Cell::Share { part, whole: 1536 }));
    let sentence = "Peak by phase: forward 512 B, backward 1.00 KiB, optimizer 1.50 KiB.";
    assert!(report.statements.iter().any(|it| it.text == sentence), "{:?}", report.statements);
}

fn memscape(arguments: &[&str]) -> (bool, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_memscape")).args(arguments).output().unwrap();
    let text = if output.status.success() { output.stdout } else { output.stderr };
    (output.status.success(), String::from_utf8(text).unwrap())
}

/// Writes a trace of two annotated steps with a forward pass, a backward pass and an optimizer step each. The second
/// step allocates more.
fn two_steps() -> PathBuf {
    let stacks = ["forward main", "backward main", ADAM];
    let event = |number: usize| {
        let mut event = event("alloc", number, Some(stacks[number % 3]));
        event["size"] = json!(if number < 3 { 512 } else { 1024 });
        event["addr"] = json!(4096 * (number + 1));
        event
    };
    let trace: Vec<Value> = (0..6).map(event).collect();
    let mark = |stage: &str, step: usize, at: usize| json!({"stage": stage, "name": format!("step_{step}"), "device": 0, "time_us": 1000 + at});
    let marks = json!([mark("START", 0, 0), mark("END", 0, 2), mark("START", 1, 3), mark("END", 1, 5)]);
    let blocks: Vec<Value> = (0..6)
        .map(|number| {
            json!({"address": 4096 * (number + 1), "size": 4096, "requested_size": if number < 3 { 512 } else { 1024 },
               "state": "active_allocated", "frames": []})
        })
        .collect();
    let segment = json!({"device": 0, "address": 4096, "total_size": 6 * 4096, "stream": 0, "segment_type": "small",
                         "segment_pool_id": [0, 0], "is_expandable": false, "frames": [], "blocks": blocks});
    let value = json!({"segments": [segment], "device_traces": [trace], "external_annotations": marks});
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("phases-cli.pickle");
    std::fs::write(&path, serde_pickle::to_vec(&value, serde_pickle::SerOptions::new()).unwrap()).unwrap();
    path
}

#[test]
fn range_and_crop_select_phase_of_step() {
    let path = two_steps();
    let path = path.to_str().unwrap();
    let range = |more: &[&str]| memscape(&[&["range", path], more].concat());
    for (more, events) in [
        (&["--phase", "forward"][..], "Event 3 (forward 2 of 2 with the highest peak, in step step_1):"),
        (&["--phase", "backward", "--step", "step_0"], "Event 1 (backward 1 of 2, in step step_0):"),
        (&["--phase", "optimizer", "--step", "1"], "Event 5 (optimizer 2 of 2 with the highest peak, in step step_1):"),
        (&["--step", "0"], "Events 0 – 2 (forward 33.3 %, "),
    ] {
        let (succeeded, text) = range(more);
        assert!(succeeded && text.contains(events), "{more:?}: {text}");
    }
    let (succeeded, error) = range(&["--phase", "backward", "--from", "1"]);
    assert!(!succeeded && error.contains("cannot be used with"), "{error}");
    let (succeeded, error) = range(&["--phase", "forward", "--step", "7"]);
    assert!(!succeeded && error.contains("no step “7”; there are 2"), "{error}");
    let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join("phases-cropped.pickle");
    let crop = |more: &[&str]| memscape(&[&["crop", path, "-o", out.to_str().unwrap()], more].concat());
    assert!(crop(&["--phase", "backward", "--step", "0"]).0);
    let cropped = open(&std::fs::read(&out).unwrap()).unwrap();
    assert_eq!((cropped.summary.devices[0].events, cropped.summary.devices[0].peak_requested), (2, 1024));
    let (succeeded, error) = crop(&["--phase", "backward", "--around", "peak"]);
    assert!(!succeeded && error.contains("cannot be used with"), "{error}");
}

#[test]
fn sql_table_has_phases_of_steps() {
    let path = two_steps();
    let query = "SELECT device, step, phase, inferred, first_event, last_event, begin_us, end_us, peak_bytes, peak_event FROM phase";
    let (succeeded, text) = memscape(&["sql", path.to_str().unwrap(), query, "--json"]);
    assert!(succeeded, "{text}");
    let rows = serde_json::from_str::<Value>(&text).unwrap()["rows"].take();
    let expected = [
        (0, "forward", 512),
        (0, "backward", 1024),
        (0, "optimizer", 1536),
        (1, "forward", 2560),
        (1, "backward", 3584),
        (1, "optimizer", 4608),
    ];
    let expected = (0..6).zip(expected).map(|(event, (step, phase, peak))| {
        json!([0, step, phase, 1, event, event, 1000 + event, 1000 + event, peak, event])
    });
    assert_eq!(rows, expected.collect::<Value>());
}

#[test]
fn trace_without_phases_says_so() {
    let mut inference = opened_with(&[Some("forward main"), Some("main")], &[]);
    assert_eq!((marks(&mut inference, 0).ranges, phases(&mut inference, 0)), (Vec::new(), Vec::new()));
    let report = reported::report(&mut inference, 0, Topic::Peak, &[]);
    let said = |report: &Report| report.statements.iter().any(|statement| statement.text.contains("inference"));
    assert!(said(&report), "{:?}", report.statements);
    for stacks in [&[Some("main")][..], &[Some("forward main"), Some("backward main")]] {
        assert!(!said(&reported::report(&mut opened_with(stacks, &[]), 0, Topic::Peak, &[])), "{stacks:?}");
    }
    let value = json!({"segments": [], "device_traces": [[event("alloc", 0, Some("forward main"))]]});
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("phases-inference.pickle");
    std::fs::write(&path, serde_pickle::to_vec(&value, serde_pickle::SerOptions::new()).unwrap()).unwrap();
    let (succeeded, error) = memscape(&["range", path.to_str().unwrap(), "--phase", "forward"]);
    assert!(
        !succeeded && error.contains("no phases found in this trace: it has no backward pass and no optimizer step"),
        "{error}"
    );
}
