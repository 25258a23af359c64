//! The insight on savings: each change on a trace built for it, and its tables compared with brute force on real files.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests may panic")]

use crate::opened;
use crate::reported;
use crate::without::{curve, highest, histories};

use memscape::protocol::{Report, Topic};
use opened::{Opened, open};
use reported::{number, report, sheet, text};
use serde_json::{Value, json};

const MIB: u64 = 1 << 20;

/// Action, block, MiB and function of an event.
type TraceEvent<'a> = (&'a str, u64, u64, &'a str);

/// Opens a trace with one event per µs and steps that start before the events at the indices `begins`.
fn open_trace(steps: &[TraceEvent<'_>], begins: &[usize]) -> Opened {
    let event = |(place, &(action, block, mib, function)): (usize, &TraceEvent<'_>)| {
        let file = match function {
            _ if function.contains("::") => "??",
            _ if function.starts_with('_') => "/lib/torch/optim/adamw.py",
            _ => "/home/me/train.py",
        };
        let frames = json!([{"name": function, "filename": file, "line": 7}]);
        json!({"action": action, "addr": block << 40, "size": mib * MIB, "stream": 0, "frames": frames, "time_us": 1000 + 10 * place})
    };
    let trace: Vec<Value> = steps.iter().enumerate().map(event).collect();
    let mark = |stage: &str, number: usize, time: usize| json!({"stage": stage, "name": format!("step_{number}"), "device": 0, "time_us": time});
    let last = [steps.len()];
    let ends = begins.iter().skip(1).chain(&last);
    let marks: Vec<Value> = begins
        .iter()
        .zip(ends)
        .enumerate()
        .flat_map(|(number, (&from, &to))| {
            [mark("START", number, 1000 + 10 * from - 2), mark("END", number, 1000 + 10 * to - 4)]
        })
        .collect();
    let value = json!({"segments": [], "device_traces": [trace], "external_annotations": marks});
    open(&serde_pickle::to_vec(&value, serde_pickle::SerOptions::new()).unwrap()).unwrap()
}

fn savings_report(opened: &mut Opened) -> Report {
    report(opened, 0, Topic::Savings, &[])
}

/// Name, bytes in MiB (live at the peak, peak without, saved) and peak event of each change.
fn changes(report: &Report) -> Vec<(String, [u64; 3], i128)> {
    let sheet = sheet(report, "savings");
    let row = |row| {
        let mib = ["live_bytes", "peak_without_bytes", "saved_bytes"].map(|key| number(sheet, row, key) as u64 / MIB);
        (text(sheet, row, "change").to_owned(), mib, number(sheet, row, "peak_without_event"))
    };
    sheet.rows.iter().map(row).collect()
}

fn change(report: &Report, key: &str) -> Option<([u64; 3], i128)> {
    changes(report).into_iter().find(|(known, ..)| known == key).map(|(_, mib, event)| (mib, event))
}

#[test]
fn tensors_freed_after_next_step_starts_are_reported_as_held_over() {
    let mut steps: Vec<TraceEvent<'_>> = Vec::new();
    let mut begins = Vec::new();
    for step in 0..4u64 {
        begins.push(steps.len());
        steps.push(("alloc", 100 + step, 50, "forward"));
        steps.push(("alloc", 200 + step, 40, "forward"));
        if step > 0 {
            steps.push(("free_requested", 199 + step, 40, "forward"));
            steps.push(("free_completed", 199 + step, 40, "forward"));
        }
        steps.push(("free_requested", 100 + step, 50, "forward"));
        steps.push(("free_completed", 100 + step, 50, "forward"));
    }
    let report = savings_report(&mut open_trace(&steps, &begins));
    // 40 of the step before, 50 and 40 of this one.
    assert_eq!(
        change(&report, "tensors of a step freed at its end"),
        Some(([40, 90, 40], 1)),
        "{:#?}",
        report.statements
    );
    let finding =
        report.statements.iter().find(|it| it.text.starts_with("Held over from the step before: 40.0 MiB")).unwrap();
    assert!(
        finding.text.contains("Freed at the end of their step, the peak is 90.0 MiB (−40.0 MiB, recounted)"),
        "{}",
        finding.text
    );
    assert!(finding.fix.starts_with("Release them at the end of the step: del outputs"), "{}", finding.fix);

    // Freed within their step, nothing is held over.
    let steps: Vec<TraceEvent<'_>> = (0..8)
        .flat_map(|step| {
            [
                ("alloc", 100 + step, 50, "forward"),
                ("alloc", 200 + step, 40, "forward"),
                ("free_requested", 100 + step, 50, "forward"),
                ("free_completed", 100 + step, 50, "forward"),
                ("free_requested", 200 + step, 40, "forward"),
                ("free_completed", 200 + step, 40, "forward"),
            ]
        })
        .collect();
    let report = savings_report(&mut open_trace(&steps, &[0, 6, 12, 18, 24, 30, 36, 42]));
    assert_eq!(change(&report, "tensors of a step freed at its end"), None);
}

#[test]
fn each_saving_is_reported_for_matching_trace() {
    // A block is awaiting free while the next one is allocated.
    let steps =
        [("alloc", 1, 60, "f"), ("free_requested", 1, 60, "f"), ("alloc", 2, 50, "f"), ("free_completed", 1, 60, "f")];
    let report = savings_report(&mut open_trace(&steps, &[]));
    assert_eq!(changes(&report), [("frees that do not wait for other streams".to_owned(), [60, 60, 50], 0)]);
    assert_eq!(text(sheet(&report, "savings"), &sheet(&report, "savings").rows[0], "confidence"), "high: recorded");

    // Optimizer state in three variants, one finding.
    let steps = [("alloc", 1, 80, "_init_group"), ("alloc", 2, 20, "forward"), ("alloc", 3, 10, "cross_entropy")];
    let report = savings_report(&mut open_trace(&steps, &[]));
    let optimizer = [
        ("optimizer state on the CPU", [80, 30, 80]),
        ("optimizer state sharded over 8 devices", [80, 40, 70]),
        ("8-bit optimizer state", [80, 50, 60]),
    ];
    for (key, mib) in optimizer {
        assert_eq!(change(&report, key), Some((mib, 2)), "{key}");
    }
    assert_eq!(change(&report, "loss in chunks or fused, at most"), Some(([10, 100, 10], 1)));
    let about = |what: &str| report.statements.iter().filter(|it| it.text.starts_with(what)).count();
    assert_eq!((about("Optimizer state: 80.0 MiB at the peak (72.7 %)"), about("Optimizer state")), (1, 1));
    assert_eq!(
        (about("Temporaries"), about("Awaiting free"), about("Gradients")),
        (0, 0, 0),
        "no finding without evidence"
    );

    // Without allocations the report is empty.
    let mut nothing = open(&serde_pickle::to_vec(&json!({"segments": [], "device_traces": [[{"action": "snapshot", "addr": 0, "size": 0, "stream": 0, "frames": []}]]}), serde_pickle::SerOptions::new()).unwrap()).unwrap();
    assert!(savings_report(&mut nothing).statements.iter().all(|it| it.fix.is_empty()));
}

const GRADIENT: &str = "torch::autograd::AccumulateGrad::apply(std::vector<at::Tensor>&&)";
const BACKWARD: &str = "torch::autograd::generated::MmBackward0::apply(std::vector<at::Tensor>&&)";

#[test]
fn never_freed_gradients_count_from_backward_pass() {
    // Gradients of 30 from the first backward pass on. In each later step the forward pass has 60 and 50, the backward
    // pass 20.
    let mut steps: Vec<TraceEvent<'_>> = Vec::new();
    let mut begins = Vec::new();
    for step in 0..4u64 {
        begins.push(steps.len());
        steps.push(("alloc", 100 + step, 60, "forward"));
        let bytes = if step == 0 { 10 } else { 50 };
        steps.push(("alloc", 200 + step, bytes, "forward"));
        steps.push(("free_requested", 200 + step, bytes, "forward"));
        steps.push(("free_completed", 200 + step, bytes, "forward"));
        if step == 0 {
            steps.push(("alloc", 300, 30, GRADIENT));
        }
        steps.push(("alloc", 400 + step, 20, BACKWARD));
        steps.push(("free_requested", 400 + step, 20, BACKWARD));
        steps.push(("free_completed", 400 + step, 20, BACKWARD));
        steps.push(("free_requested", 100 + step, 60, "forward"));
        steps.push(("free_completed", 100 + step, 60, "forward"));
    }
    let report = savings_report(&mut open_trace(&steps, &begins));
    // 60 + 50 + 30. Without gradients in the forward pass it peaks at 110, as does the backward pass: 60 + 30 + 20.
    assert_eq!(
        change(&report, "gradients set to None after each step").map(|(mib, _)| mib),
        Some([30, 110, 30]),
        "{:#?}",
        changes(&report)
    );
    let finding = report.statements.iter().find(|it| it.text.starts_with("Gradients that are never freed: 30.0 MiB"));
    assert!(finding.unwrap().fix.starts_with("Call optimizer.zero_grad(set_to_none=True)"), "{finding:?}");

    // Without a backward pass in any stack, the report cannot know when gradients are needed.
    let unknown: Vec<TraceEvent<'_>> = steps
        .iter()
        .map(|&(action, block, mib, function)| {
            let function = if function == GRADIENT { "c10d::Reducer::initialize_buckets" } else { function };
            (action, block, mib, if function == BACKWARD { "c10d::all_reduce" } else { function })
        })
        .collect();
    assert_eq!(
        change(&savings_report(&mut open_trace(&unknown, &begins)), "gradients set to None after each step"),
        None
    );
}

/// Gradients that the forward pass finds live, because `zero_grad` comes after it. The first ones are from before
/// recording. No steps are annotated.
#[test]
fn gradients_of_last_step_are_recounted() {
    let mut events: Vec<TraceEvent<'_>> = Vec::new();
    let free = |block: u64, mib: u64, function: &'static str| {
        [("free_requested", block, mib, function), ("free_completed", block, mib, function)]
    };
    for step in 0..3u64 {
        events.extend([("alloc", 100 + step, 60, "forward"), ("alloc", 200 + step, 10, "forward")]);
        events.extend(free(200 + step, 10, "forward"));
        events.extend(free(299 + step, 30, "zero_grad"));
        events.push(("alloc", 300 + step, 30, GRADIENT));
        events.extend(free(100 + step, 60, BACKWARD));
        events.push(("alloc", 400 + step, 5, "_multi_tensor_adam"));
        events.extend(free(400 + step, 5, "_multi_tensor_adam"));
    }
    let report = savings_report(&mut open_trace(&events, &[]));
    // 60 + 10 + 30 in the forward pass, and 60 + 30 in the backward pass.
    let label = "gradients of the last step freed before the forward pass";
    assert_eq!(change(&report, label).map(|(mib, _)| mib), Some([30, 90, 10]), "{:#?}", report.statements);
    let wanted = "30.0 MiB of the last step's gradients are live at the peak: call zero_grad(set_to_none=True) before \
                  forward: 100 MiB → 90.0 MiB (recounted).";
    assert!(report.statements.iter().any(|it| it.text == wanted), "{:#?}", report.statements);

    // With zero_grad before the forward pass, or with accumulation over all steps, there is nothing to free earlier.
    let mut early: Vec<TraceEvent<'_>> = Vec::new();
    for step in 0..3u64 {
        early.extend(free(299 + step, 30, "zero_grad"));
        early.extend([("alloc", 100 + step, 60, "forward"), ("alloc", 300 + step, 30, GRADIENT)]);
        early.extend(free(100 + step, 60, BACKWARD));
    }
    assert_eq!(change(&savings_report(&mut open_trace(&early, &[])), label), None);
    let mut accumulated: Vec<TraceEvent<'_>> = Vec::new();
    for step in 0..3u64 {
        accumulated.extend([("alloc", 100 + step, 60, "forward"), ("alloc", 200 + step, 1, BACKWARD)]);
        accumulated.extend(free(200 + step, 1, BACKWARD));
        if step == 0 {
            accumulated.push(("alloc", 300, 30, GRADIENT));
        }
        accumulated.extend(free(100 + step, 60, BACKWARD));
    }
    accumulated.extend(free(300, 30, "zero_grad"));
    assert_eq!(change(&savings_report(&mut open_trace(&accumulated, &[])), label), None);
}

/// Without the last step's gradients, or without activations, the peak is in the optimizer's step.
#[test]
fn of_equal_savings_the_one_without_cost_comes_first() {
    let mut events: Vec<TraceEvent<'_>> = Vec::new();
    for step in 0..3u64 {
        events.extend([("alloc", 100 + step, 60, "forward"), ("alloc", 200 + step, 10, "forward")]);
        events.push(("free_completed", 200 + step, 10, "forward"));
        events.push(("free_completed", 299 + step, 30, "zero_grad"));
        events.extend([("alloc", 300 + step, 30, GRADIENT), ("free_completed", 100 + step, 60, BACKWARD)]);
        events.extend([("alloc", 400 + step, 65, "_single_tensor_adam"), ("free_completed", 400 + step, 65, "main")]);
    }
    let report = savings_report(&mut open_trace(&events, &[]));
    let saved: Vec<(String, u64)> = changes(&report).into_iter().map(|(label, mib, _)| (label, mib[2])).collect();
    let wanted = ["gradients of the last step freed before the forward pass", "activation checkpointing, at most"];
    assert_eq!(saved, wanted.map(|label| (label.to_owned(), 5)), "{:#?}", report.statements);
    assert!(report.statements[0].fix.starts_with("Call optimizer.zero_grad("), "{:#?}", report.statements);
}

/// An optimizer that updates a tensor at a time is not advised to do so.
#[test]
fn advice_on_temporaries_of_optimizer_depends_on_implementation() {
    for (function, other) in [
        ("_multi_tensor_adam", ", or one that updates a tensor at a time (foreach=False)"),
        ("_single_tensor_adam", ""),
    ] {
        let steps = [("alloc", 1, 60, "forward"), ("alloc", 2, 40, function), ("free_completed", 2, 40, function)];
        let report = savings_report(&mut open_trace(&steps, &[]));
        let wanted = format!("Use a fused optimizer (fused=True){other}. A part of the temporaries stays live.");
        let temporaries = report.statements.iter().find(|it| it.text.starts_with("Temporaries: ")).unwrap();
        assert_eq!(temporaries.fix, wanted);
    }
}

#[test]
fn checkpointing_is_not_recommended_without_backward_pass() {
    let checkpointing = |report: &Report| report.statements.iter().any(|it| it.fix.contains("Checkpoint"));
    // Everything is kept, and freed at the end.
    let kept: Vec<TraceEvent<'_>> = (0..12)
        .map(|block| ("alloc", 100 + block, 10, "forward"))
        .chain((0..12).map(|block| ("free_completed", 100 + block, 10, "main")))
        .collect();
    let report = savings_report(&mut open_trace(&kept, &[]));
    assert_eq!(
        change(&report, "activations not kept for a backward pass, at most").map(|(mib, _)| mib[0]),
        // All but the output.
        Some(110),
        "{:#?}",
        report.statements
    );
    assert!(!checkpointing(&report), "{:#?}", report.statements);
    // Each is freed once the next one exists.
    let mut freed: Vec<TraceEvent<'_>> = vec![("alloc", 100, 10, "forward")];
    for block in 101..112 {
        freed.extend([("alloc", block, 10, "forward"), ("free_completed", block - 1, 10, "main")]);
    }
    let report = savings_report(&mut open_trace(&freed, &[]));
    assert!(!checkpointing(&report) && changes(&report).is_empty(), "{:#?}", report.statements);
    // Without a forward pass in the stacks, nothing is known to be kept for it.
    let unknown: Vec<TraceEvent<'_>> =
        kept.iter().map(|&(action, block, mib, _)| (action, block, mib, "cross_entropy")).collect();
    assert!(changes(&savings_report(&mut open_trace(&unknown, &[]))).is_empty());
    // With a backward pass, checkpointing helps.
    let mut trained = kept.clone();
    trained.insert(12, ("alloc", 300, 1, BACKWARD));
    assert!(checkpointing(&savings_report(&mut open_trace(&trained, &[]))));
}

/// As with profile-grad.pickle: each output stays until the next one exists, and the workspace of the operation is
/// allocated after it.
#[test]
fn outputs_are_not_kept_activations() {
    let mut trace: Vec<TraceEvent<'_>> = Vec::new();
    for step in 0..6 {
        trace.extend([("alloc", 300 + step, 10, "main"), ("alloc", 100 + step, 60, "forward")]);
        trace.extend([("alloc", 200 + step, 1, "forward"), ("free_completed", 200 + step, 1, "main")]);
        if step > 0 {
            let before = step - 1;
            trace.extend([("free_completed", 300 + before, 10, "main"), ("free_completed", 100 + before, 60, "main")]);
        }
    }
    let report = savings_report(&mut open_trace(&trace, &[]));
    assert_eq!(change(&report, "activations not kept for a backward pass, at most"), None, "{:#?}", report.statements);
}

#[test]
fn softmax_of_attention_is_recounted() {
    let frame = |file: &str, name: &str| json!({"name": name, "filename": file, "line": 7});
    let alloc = |address: u64, mib: u64, frames: &[Value]| json!({"action": "alloc", "addr": address << 40, "size": mib * MIB, "stream": 0, "frames": frames});
    for name in ["softmax", "custom_softmax", "_safe_softmax"] {
        let attention = [frame("/w/functional.py", name), frame("/w/attention.py", "forward")];
        let loss = [frame("/w/functional.py", "log_softmax"), frame("/w/attention.py", "forward")];
        let trace = json!([alloc(1, 10, &attention[1..]), alloc(2, 40, &attention), alloc(3, 5, &loss)]);
        let value = json!({"segments": [], "device_traces": [trace]});
        let bytes = serde_pickle::to_vec(&value, serde_pickle::SerOptions::new()).unwrap();
        let report = savings_report(&mut open(&bytes).unwrap());
        assert_eq!(change(&report, "fused attention, at most"), Some(([40, 15, 40], 2)), "{:#?}", report.statements);
    }
}

/// On real files, the peak without each category, and without each call site that has a unique name.
#[test]
fn savings_tables_match_brute_force_on_real_files() {
    let Some(files) = opened::real_pickles() else { return };
    let (mut checked, mut checked_families) = (0, 0);
    for path in files {
        let name = path.display().to_string();
        let bytes = std::fs::read(&path).unwrap();
        let (_, histories) = histories(&name, &bytes);
        let mut opened = open(&bytes).unwrap();
        for history in histories.iter().filter(|history| history.numbers.drawn_peak > 0 && history.event_count() > 0) {
            // Only devices with a few thousand allocations, because details are requested one by one.
            if history.allocations.len() > 6000 {
                continue;
            }
            let report = report(&mut opened, history.device, Topic::Savings, &[("saved", 1)]);
            let categories: Vec<Option<String>> = (0..history.allocations.len() as u32)
                .map(|id| opened.details(history.device, id).unwrap().category.map(|category| category.name))
                .collect();
            let whole = curve(history, |_| true);
            let (at, peak) = highest(&whole);
            let table = sheet(&report, "categories");
            for row in &table.rows {
                let category = text(table, row, "category");
                let known = Some(category.to_owned()).filter(|it| it != "not explained by the file");
                let rest = curve(history, |id| categories[id.0 as usize] != known);
                let (moment, without) = highest(&rest);
                let expected = [whole[at as usize] - rest[at as usize], without, peak - without, i64::from(moment) - 1];
                let keys = ["live_bytes", "peak_without_bytes", "saved_bytes", "peak_without_event"];
                assert_eq!(keys.map(|key| number(table, row, key)), expected.map(i128::from), "{name}: {category}");
                checked += 1;
            }
            checked_families += check_other_tables(&mut opened, history, &report, &name, &whole);
            for row in &sheet(&report, "savings").rows {
                let table = sheet(&report, "savings");
                let saved = number(table, row, "saved_bytes");
                assert_eq!(saved + number(table, row, "peak_without_bytes"), i128::from(peak), "{name}");
                assert!(saved <= number(table, row, "live_bytes"), "{name}: saved at most the live bytes");
            }
        }
    }
    assert!(checked > 30 && checked_families > 100, "{checked} categories, {checked_families} of other families");
}

/// Compares the tables of call stacks, annotations and autograd nodes with the curve without each group. Returns the
/// number of rows.
fn check_other_tables(
    opened: &mut Opened,
    history: &memscape::replay::DeviceHistory,
    report: &Report,
    name: &str,
    whole: &[i64],
) -> usize {
    let details: Vec<_> =
        (0..history.allocations.len() as u32).map(|id| opened.details(history.device, id).unwrap()).collect();
    let keys = ["live_bytes", "peak_without_bytes", "saved_bytes", "peak_without_event"];
    let (at, peak) = highest(whole);
    let expected = |is_of: &dyn Fn(u32) -> bool| {
        let rest = curve(history, |id| !is_of(id.0));
        let (moment, without) = highest(&rest);
        [whole[at as usize] - rest[at as usize], without, peak - without, i64::from(moment) - 1].map(i128::from)
    };
    let node = |id: u32| {
        let frames = details[id as usize].frames.iter().filter(|_| !details[id as usize].is_free_stack);
        let mut names = frames.filter(|frame| frame.filename == "??" || frame.filename.is_empty()).map(|it| &it.name);
        let node = names.find(|name| name.starts_with("torch::autograd::") && name.contains("::apply("));
        node.map(|name| name.split("::apply(").next().unwrap().rsplit("::").next().unwrap().to_owned())
    };
    let mut seen = 0;
    let table = |key: &str| report.sheets.iter().find(|sheet| sheet.key == key);
    if let Some(sheet) = table("call_stacks") {
        // Rows have no stack id, so the set of all stacks must contain each of them.
        let mut stacks: Vec<Option<u32>> = details.iter().map(|it| it.stack).collect();
        stacks.sort_unstable();
        stacks.dedup();
        let all: Vec<[i128; 4]> =
            stacks.iter().map(|stack| expected(&|id| details[id as usize].stack == *stack)).collect();
        for row in &sheet.rows {
            assert!(all.contains(&keys.map(|key| number(sheet, row, key))), "{name}: {row:?}");
        }
        let live = all.iter().filter(|row| row[0] > 0).count();
        assert_eq!(sheet.rows.len() + sheet.left_out as usize, live, "{name}: rows cover all groups live at the peak");
        seen += sheet.rows.len();
    }
    if let Some(sheet) = table("autograd_nodes") {
        for row in &sheet.rows {
            let of = text(sheet, row, "autograd_node");
            let expected = expected(&|id| node(id).as_deref() == Some(of));
            assert_eq!(keys.map(|key| number(sheet, row, key)), expected, "{name}: {of}");
            seen += 1;
        }
    }
    if let Some(sheet) = table("annotations") {
        for row in &sheet.rows {
            let of = text(sheet, row, "name");
            let expected = expected(&|id| details[id as usize].annotations.last().is_some_and(|last| last == of));
            assert_eq!(keys.map(|key| number(sheet, row, key)), expected, "{name}: {of}");
            seen += 1;
        }
    }
    seen
}

/// A module counts with the modules inside it, even with other frames in between.
#[test]
fn module_saving_includes_inner_modules() {
    let frame = |file: &str, line: u64, name: &str| json!({"name": name, "filename": file, "line": line});
    let call = || frame("/lib/torch/nn/modules/module.py", 1532, "_call_impl");
    let outer = || vec![frame("/m/block.py", 20, "forward"), call(), frame("/m/train.py", 3, "main")];
    let inner = || [vec![frame("/m/linear.py", 9, "forward"), call()], outer()].concat();
    let alloc = |address: u64, mib: u64, frames: Vec<Value>| json!({"action": "alloc", "addr": address << 40, "size": mib * MIB, "stream": 0, "frames": frames});
    let trace =
        json!([alloc(1, 10, outer()), alloc(2, 20, inner()), alloc(3, 5, vec![frame("/m/train.py", 3, "main")])]);
    let value = json!({"segments": [], "device_traces": [trace]});
    let bytes = serde_pickle::to_vec(&value, serde_pickle::SerOptions::new()).unwrap();
    let report = savings_report(&mut open(&bytes).unwrap());
    let sheet = sheet(&report, "modules");
    let rows: Vec<(&str, &str, i128, i128)> = sheet
        .rows
        .iter()
        .map(|row| {
            let mib = |key| number(sheet, row, key) / i128::from(MIB);
            (text(sheet, row, "module"), text(sheet, row, "called_at"), mib("live_bytes"), mib("peak_without_bytes"))
        })
        .collect();
    assert_eq!(rows, [("block.py", "train.py:3 main", 30, 5), ("linear.py", "block.py:20 forward", 20, 15)]);
}

#[test]
fn largest_saving_above_5_percent_is_the_headline() {
    let headline = |optimizer: u64| {
        let steps = [("alloc", 1, optimizer, "_init_group"), ("alloc", 2, 100 - optimizer, "load")];
        savings_report(&mut open_trace(&steps, &[])).headline.map(|it| (it.text, it.statement))
    };
    let text = "Saving: optimizer state on the CPU, 80.0 MiB of the peak (80.0 %).";
    assert_eq!(headline(80), Some((text.to_owned(), 0)));
    let small = headline(5);
    assert!(small.as_ref().is_none_or(|(text, _)| !text.contains("optimizer")), "5 % is not more than 5 %: {small:?}");
}
