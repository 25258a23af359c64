//! Steps and leaks of generated training loops without annotations: at module level, in functions, in notebooks, with
//! few steps, with layers and iterations inside a step, and with frees that do not complete.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests may panic")]

use crate::cases::folder;
use crate::loop_program::{Frame, MIB, Place, Program, training};
use crate::opened;
use crate::reported;

use memscape::protocol::{Chart, Report, Statement, Tone, Topic};
use memscape::units::Bytes;
use opened::{Opened, open};
use reported::{number, report, sheet, text};
use serde_json::{Value, json};

fn steps_of(opened: &mut Opened) -> usize {
    let report = report(opened, 0, Topic::Steps, &[]);
    sheet(&report, "steps").rows.len()
}

fn leaks_of(opened: &mut Opened) -> Report {
    report(opened, 0, Topic::Leaks, &[])
}

fn growth_statements(report: &Report) -> Vec<&Statement> {
    report.statements.iter().filter(|statement| statement.text.contains(" grew ")).collect()
}

const PLACES: [Place; 5] = [
    Place::Module("/w/train.py"),
    Place::Module("/tmp/ipykernel_77/3921.py"),
    Place::Module("<ipython-input-4-2f>"),
    Place::Function,
    Place::CutOff,
];

#[test]
fn loops_at_module_level_and_in_functions_have_steps() {
    for place in PLACES {
        for steps in [2, 3, 4, 5, 7, 20, 33] {
            let mut opened = training(place, steps, &[], false).open();
            assert_eq!(steps_of(&mut opened), steps, "{:?}", place.at(1));
            let leaks = leaks_of(&mut opened);
            assert!(growth_statements(&leaks).is_empty(), "{:?}", leaks.statements);
        }
    }
}

/// Loops that free the gradients of the step before in front of the forward pass. The step that is inferred starts
/// after that, so the last one has none of what an iteration allocates before.
#[test]
fn last_iteration_of_loop_that_starts_with_zero_grad_is_a_step() {
    for (place, count) in PLACES.into_iter().flat_map(|place| [2, 3, 4, 10].map(|count| (place, count))) {
        let mut program = Program::default();
        let inside = |inner: &[Frame], line: u64| [inner, &place.at(line)].concat();
        for _ in 0..6 {
            program.alloc(40 * MIB, &inside(&[("/w/model.py", 3, "__init__")], 5));
        }
        let mut gradients: Vec<u64> = Vec::new();
        for _ in 0..count {
            let batch = [18, 19, 20].map(|line| program.alloc(5 * MIB, &inside(&[], line)));
            gradients.drain(..).for_each(|address| program.free(address));
            let forward = |layer: u64| inside(&[("/w/model.py", 40 + layer, "forward")], 21);
            let activations: Vec<u64> = (0..6).map(|layer| program.alloc(30 * MIB, &forward(layer))).collect();
            let engine = ("/x/torch/autograd/graph.py", 829, "_engine_run_backward");
            gradients.extend((0..6).map(|_| program.alloc(40 * MIB, &inside(&[engine], 22))));
            activations.into_iter().for_each(|address| program.free(address));
            let step = [("/x/torch/optim/sgd.py", 330, "_single_tensor_sgd"), ("/x/torch/optim/sgd.py", 120, "step")];
            let scratch = program.alloc(40 * MIB, &inside(&step, 24));
            program.free(scratch);
            program.alloc(25 * MIB, &inside(&[("/w/log.py", 12, "remember")], 26));
            batch.into_iter().for_each(|address| program.free(address));
        }
        let mut opened = program.open();
        assert_eq!(steps_of(&mut opened), count, "{:?}", place.at(1));
        let leaks = leaks_of(&mut opened);
        let [statement] = growth_statements(&leaks)[..] else { panic!("{:?}", leaks.statements) };
        let total = Bytes(25 * MIB * count as u64);
        let wanted = format!(" grew 25.0 MiB in each of the {count} steps, none freed: {total} in all");
        assert!(statement.text.contains(&wanted), "{}", statement.text);
    }
}

#[test]
fn leaks_are_described_and_graded() {
    for place in PLACES {
        for steps in [2usize, 3, 4, 5, 20] {
            let mut opened = training(place, steps, &[2 * MIB], steps % 2 == 1).open();
            let leaks = leaks_of(&mut opened);
            let [statement] = growth_statements(&leaks)[..] else { panic!("{steps}: {:?}", leaks.statements) };
            let total = 2 * steps;
            let total = if total < 10 { format!("{total}.00 MiB") } else { format!("{total}.0 MiB") };
            let grade = if steps == 2 { "possibly" } else { "likely" };
            let wanted =
                format!(" grew 2.00 MiB in each of the {steps} steps, none freed: {total} in all ({grade} a leak).");
            assert!(statement.text.starts_with("log.py:5 keep (called at "), "{}", statement.text);
            assert!(statement.text.ends_with(&wanted), "{}: {wanted}", statement.text);
            assert_eq!(statement.tone, if steps == 2 { Tone::Fact } else { Tone::Alarm });
            let Some(Chart::Line { values, ends }) = &statement.chart else { panic!("{:?}", statement.chart) };
            let expected: Vec<u64> = (0..=steps as u64).map(|step| step * 2 * MIB).collect();
            assert_eq!((values, ends[0].as_str()), (&expected, "start"), "the chart shows the steps of the sentence");
            let grows = sheet(&leaks, "grows");
            let [row] = grows.rows.as_slice() else { panic!("{:?}", grows.rows) };
            assert_eq!(text(grows, row, "call_site"), "log.py:5 keep");
            assert_eq!(number(grows, row, "growth_bytes_per_step"), i128::from(2 * MIB));
        }
    }
}

/// Two leaking lines have one call site. What is freed after the last step is said.
#[test]
fn growth_of_several_lines_is_added_up_by_call_site() {
    let mut program = training(Place::Function, 6, &[3 * MIB, 5 * MIB], true);
    let leaks = leaks_of(&mut program.open());
    let [statement] = growth_statements(&leaks)[..] else { panic!("{:?}", leaks.statements) };
    assert!(
        statement.text.contains(" grew 8.00 MiB in each of the 6 steps, none freed: 48.0 MiB in all"),
        "{}",
        statement.text
    );
    // The program frees everything at its end.
    let kept: Vec<u64> = program.live.iter().filter(|block| block.2 == "keep").map(|block| block.0).collect();
    kept.into_iter().for_each(|address| program.free(address));
    let leaks = leaks_of(&mut program.open());
    let [statement] = growth_statements(&leaks)[..] else { panic!("{:?}", leaks.statements) };
    assert!(statement.text.ends_with("48.0 MiB in all, freed after the last step."), "{}", statement.text);
    assert_eq!(statement.tone, Tone::Fact);
}

/// A list that gets three entries in each step and loses its oldest one.
#[test]
fn growth_with_frees_of_older_allocations_is_graded_lower() {
    let mut program = training(Place::Function, 2, &[], true);
    let mut kept = Vec::new();
    for step in 2..8 {
        program.mark("START", &format!("step_{step}"));
        kept.extend([0; 3].map(|_| program.alloc(2 * MIB, &[("/w/log.py", 5, "keep"), ("/w/run.py", 30, "main")])));
        if step > 2 {
            program.free(kept.remove(0));
        }
        program.mark("END", &format!("step_{step}"));
    }
    let leaks = leaks_of(&mut program.open());
    let [statement] = growth_statements(&leaks)[..] else { panic!("{:?}", leaks.statements) };
    assert!(
        statement.text.ends_with(", though older ones are freed: 26.0 MiB in all (possibly a leak)."),
        "{}",
        statement.text
    );
    assert_eq!(statement.tone, Tone::Alarm);
}

/// The program frees everything after its last step.
#[test]
fn step_that_ends_with_the_trace_is_left_out_of_sentence_chart_and_table() {
    let mut program = training(Place::Function, 6, &[2 * MIB], false);
    let kept = program.live.iter().filter(|block| block.2 == "keep").map(|block| block.0).collect::<Vec<u64>>();
    kept.into_iter().for_each(|address| program.free(address));
    let leaks = leaks_of(&mut program.open());
    let [statement] = growth_statements(&leaks)[..] else { panic!("{:?}", leaks.statements) };
    let wanted = " grew 2.00 MiB in each of the 5 steps before the last: 10.0 MiB in all, freed at the end.";
    assert!(statement.text.ends_with(wanted), "{}", statement.text);
    let Some(Chart::Line { values, ends }) = &statement.chart else { panic!("{:?}", statement.chart) };
    assert_eq!((values, &*ends[1]), (&(0..=5).map(|step| 2 * step * MIB).collect(), "step 4"));
    let grows = sheet(&leaks, "grows");
    let [row] = grows.rows.as_slice() else { panic!("{:?}", grows.rows) };
    let numbers = ["steps", "rises", "growth_bytes_per_step"].map(|key| number(grows, row, key));
    assert_eq!(numbers, [3, 3, i128::from(2 * MIB)]);
    assert!(grows.note.contains("Rows with one step fewer leave out the last step"), "{}", grows.note);
    let moment = |statement: &Statement| statement.evidence.as_ref().and_then(|evidence| evidence.moment);
    assert_eq!(moment(statement), row.evidence.as_ref().unwrap().span.map(|span| span.to));
}

#[test]
fn growth_below_one_percent_of_peak_is_only_in_table() {
    let mut program = Program::default();
    program.alloc(1 << 34, &[("/w/model.py", 3, "__init__")]);
    let mut rest = training(Place::Function, 8, &[MIB], false);
    rest.events.iter_mut().for_each(|event| event["addr"] = json!(event["addr"].as_u64().unwrap() + (1 << 45)));
    program.events.append(&mut rest.events);
    let leaks = leaks_of(&mut program.open());
    assert!(growth_statements(&leaks).is_empty(), "{:?}", leaks.statements);
    assert_eq!(sheet(&leaks, "grows").rows.len(), 1);
    let sentence =
        "1 call site grows over 6 steps after the first two, each by less than 1 % of the peak: see the table.";
    assert!(leaks.statements.iter().any(|it| it.text == sentence), "{:?}", leaks.statements);
}

/// Iterations inside a step repeat more often than the steps. Without a backward pass in each, they are not steps.
#[test]
fn iterations_inside_a_step_are_not_steps() {
    for (steps, iterations) in [(1, 39), (1, 28), (3, 13), (5, 39)] {
        let mut program = Program::default();
        for _ in 0..steps {
            let mut activations = Vec::new();
            activations.push(program.alloc(MIB, &[("/w/ca.py", 10, "train")]));
            for _ in 0..iterations {
                for line in 20..25 {
                    activations.push(program.alloc(MIB, &[("/w/ca.py", line, "update"), ("/w/ca.py", 11, "train")]));
                }
            }
            for line in 30..34 {
                let gradient = program.alloc(MIB, &[("/w/ca.py", line, "backward"), ("/w/ca.py", 13, "train")]);
                program.free(gradient);
            }
            activations.into_iter().for_each(|address| program.free(address));
        }
        let mut opened = program.open();
        let report = report(&mut opened, 0, Topic::Steps, &[]);
        let found = sheet(&report, "steps").rows.len();
        assert_eq!(found, if steps == 1 { 0 } else { steps }, "{:?}", report.statements);
        if steps == 1 {
            let wanted = format!("repeat at even intervals, {iterations} times, but within a step");
            assert!(report.statements[0].text.contains(&wanted), "{:?}", report.statements);
            assert!(growth_statements(&leaks_of(&mut opened)).is_empty());
        }
    }
}

/// The recording begins in a backward pass, and no stack repeats.
#[test]
fn optimizer_step_before_first_forward_pass_ends_no_step() {
    let main = ("/w/run.py", 90, "<module>");
    let engine = ("/x/torch/autograd/graph.py", 829, "_engine_run_backward");
    let mut program = Program::default();
    for step in 0..3u64 {
        // The first part has no forward pass.
        for layer in 0..3 * step {
            program.alloc(MIB, &[("/w/model.py", 100 * step + layer, "forward"), main]);
        }
        let gradient = program.alloc(4 * MIB, &[("/w/loss.py", 10 + step, "backward"), engine, main]);
        program.alloc(4 * MIB, &[("/x/torch/optim/adam.py", 10 + step, "step"), main]);
        program.free(gradient);
    }
    assert_eq!(steps_of(&mut program.open()), 2);
}

/// Only the growth is recounted, and the sentence says so. Without the call site, the peak would be 8 MiB.
#[test]
fn effect_of_late_growth_leaves_first_two_steps() {
    let mut program = Program::default();
    for step in 0..20 {
        program.mark("START", &format!("step_{step}"));
        let scratch = program.alloc(8 * MIB, &[("/w/model.py", 20, "forward"), ("/w/run.py", 12, "main")]);
        if step % 5 == 0 {
            program.alloc(2 * MIB, &[("/w/log.py", 5, "keep"), ("/w/run.py", 30, "main")]);
        }
        program.free(scratch);
        program.mark("END", &format!("step_{step}"));
    }
    let leaks = leaks_of(&mut program.open());
    let [statement] = growth_statements(&leaks)[..] else { panic!("{:?}", leaks.statements) };
    let wanted = " Without the growth after the first two steps, the peak is 10.0 MiB instead of 16.0 MiB (−6.00 MiB, \
                  recounted).";
    assert!(statement.fix.ends_with(wanted), "{}", statement.fix);
}

/// A list that a loop with a single allocation appends to.
#[test]
fn accumulation_without_steps_is_described() {
    for count in [3u64, 8, 50] {
        let mut program = Program::default();
        for _ in 0..count {
            program.alloc(10 * MIB, &[("/w/repro.py", 4, "<module>")]);
            let scratch = program.alloc(MIB, &[("/w/repro.py", 5, "<module>")]);
            program.free(scratch);
        }
        let mut opened = program.open();
        let wanted = format!("repro.py:4 <module> allocated {count} times at even intervals, none freed: ");
        for topic in [Topic::Leaks, Topic::Savings] {
            let report = report(&mut opened, 0, topic, &[]);
            let found = report.statements.iter().filter(|it| it.text.starts_with(&wanted)).count();
            assert_eq!(found, 1, "{:?}", report.statements);
            let has_no_change = report.statements.iter().any(|it| it.text.starts_with("No common change lowers"));
            assert!(!has_no_change, "{:?}", report.statements);
        }
    }
}

#[test]
fn requested_frees_are_not_never_freed() {
    for count in [1u64, 4] {
        let mut program = Program::default();
        program.alloc(10 * MIB, &[("/w/train.py", 1, "model")]);
        let whole = program.alloc(MIB, &[("/w/train.py", 2, "model")]);
        program.free(whole);
        for _ in 0..count {
            let address = program.alloc(16 * MIB, &[("/w/train.py", 8, "all_gather")]);
            program.request_free(address);
        }
        // The file lists the blocks, so that the requested frees are known to be incomplete.
        let block = |(address, bytes, name): &(u64, u64, String)| {
            let state = if name == "all_gather" { "active_pending_free" } else { "active_allocated" };
            json!({"device": 0, "address": address, "total_size": bytes, "stream": 0, "segment_type": "large",
                   "segment_pool_id": [0, 0], "is_expandable": false, "frames": [],
                   "blocks": [{"address": address, "size": bytes, "requested_size": bytes, "state": state, "frames": []}]})
        };
        let segments: Vec<Value> = program.live.iter().map(block).collect();
        let value = json!({"segments": segments, "device_traces": [program.events]});
        let mut opened = open(&serde_pickle::to_vec(&value, serde_pickle::SerOptions::new()).unwrap()).unwrap();
        let leaks = leaks_of(&mut opened);
        let wanted = format!("{} MiB await their free at the end", ["16.0", "64.0"][usize::from(count > 1)]);
        assert!(leaks.statements.iter().any(|it| it.text.starts_with(&wanted)), "{:?}", leaks.statements);
        let never =
            leaks.statements.iter().find(|it| it.text.starts_with("Allocated in the trace and never freed: 10.0 MiB"));
        assert!(never.is_some(), "{:?}", leaks.statements);
    }
}

/// `zero_grad` that only an annotation shows, as torch.profiler records it. An annotation in it may have such a name,
/// too.
#[test]
fn memory_freed_within_zero_grad_annotation_is_gradient() {
    for has_inner in [false, true] {
        let mut program = Program::default();
        let mut gradient = None;
        for _ in 0..3 {
            let activation = program.alloc(60 * MIB, &[("/w/model.py", 7, "forward")]);
            program.mark("START", "Optimizer.zero_grad#SGD.zero_grad");
            if has_inner {
                ["START", "END"].into_iter().for_each(|action| program.mark(action, "zero_grad of a child"));
            }
            gradient.into_iter().for_each(|address| program.free(address));
            program.mark("END", "Optimizer.zero_grad#SGD.zero_grad");
            gradient = Some(program.alloc(30 * MIB, &[("/w/kernels.py", 9, "launch")]));
            program.free(activation);
        }
        let mut opened = program.open();
        let categories = report(&mut opened, 0, Topic::Categories, &[]);
        let rows = sheet(&categories, "categories");
        let own_peak = |name: &str| {
            let row = rows.rows.iter().find(|row| text(rows, row, "category") == name);
            row.map(|row| number(rows, row, "own_peak_live_bytes") / i128::from(MIB))
        };
        // The last one is never freed.
        assert_eq!((own_peak("gradient"), own_peak("unknown")), (Some(30), Some(30)), "{:?}", categories.statements);
        let savings = report(&mut opened, 0, Topic::Savings, &[]);
        let wanted = "30.0 MiB of the last step's gradients are live at the peak: call zero_grad(set_to_none=True) before forward: ";
        assert!(!savings.statements.iter().any(|it| it.text.contains("Temporaries")), "{:?}", savings.statements);
        assert!(savings.statements.iter().all(|it| !it.text.starts_with(wanted) || it.text.ends_with("(recounted).")));
    }
}

/// The line that leaks has the same call site as activations, or comes after a call of the model.
#[test]
fn leaking_lines_are_not_activations() {
    for place in PLACES {
        let mut opened = training(place, 12, &[2 * MIB], false).open();
        let categories = report(&mut opened, 0, Topic::Categories, &[]);
        let rows = sheet(&categories, "categories");
        let bytes = |name: &str| {
            let row = rows.rows.iter().find(|row| text(rows, row, "category") == name);
            row.map_or(0, |row| number(rows, row, "peak_live_bytes"))
        };
        // All but the last, after which there is no other step.
        assert!(bytes("unknown") >= i128::from(2 * 11 * MIB), "{:?}", categories.statements);
        assert!(bytes("activation") < i128::from(8 * MIB), "{:?}", categories.statements);
    }
}

/// Opens a case. `None` if there is no folder of cases.
fn case(name: &str) -> Option<Opened> {
    Some(open(&std::fs::read(folder()?.join(name)).unwrap()).unwrap())
}

#[test]
fn shared_cases_have_steps_and_leaks() {
    for (name, site) in [
        ("flat-script-loop.pickle", "train.py:3 clone (called at train.py:13 <module>)"),
        ("main-function-loop.pickle", "train.py:3 clone (called at train.py:13 main)"),
        ("loss-history-leak.pickle", "train.py:41 step (called at train.py:100 <module>)"),
    ] {
        let Some(mut opened) = case(name) else { return };
        assert_eq!(steps_of(&mut opened), 20, "{name}");
        let leaks = leaks_of(&mut opened);
        let wanted =
            format!("{site} grew 2.00 MiB in each of the 20 steps, none freed: 40.0 MiB in all (likely a leak).");
        assert!(leaks.statements.iter().any(|it| it.text == wanted), "{name}: {:?}", leaks.statements);
        let categories = report(&mut opened, 0, Topic::Categories, &[]);
        let rows = sheet(&categories, "categories");
        let activations = rows.rows.iter().find(|row| text(rows, row, "category") == "activation").unwrap();
        assert!(number(rows, activations, "peak_live_bytes") < i128::from(12 * MIB), "{name}");
    }
    let mut pending = case("pending-frees-at-end.pickle").unwrap();
    let leaks = leaks_of(&mut pending);
    assert!(leaks.statements.iter().any(|it| it.text.starts_with("64.0 MiB await their free at the end")));
    let mut off = case("recording-never-enabled.pickle").unwrap();
    for topic in [Topic::Leaks, Topic::Savings, Topic::Steps] {
        let report = report(&mut off, 0, topic, &[]);
        let first = &report.statements[0].text;
        assert!(first.starts_with("No events: recording was not enabled."), "{topic:?}: {first}");
    }
    let mut stackless = case("recorded-with-context-none.pickle").unwrap();
    for topic in [Topic::Leaks, Topic::Savings, Topic::Peak, Topic::Categories] {
        let report = report(&mut stackless, 0, topic, &[]);
        let sentences = report.statements.iter().map(|it| format!("{} {}", it.text, it.fix));
        let texts: Vec<String> = sentences.collect();
        assert!(texts.iter().any(|it| it.contains("Recorded without call stacks (context=None)")), "{texts:?}");
        assert!(texts.iter().all(|it| !it.contains("no stack") && !it.contains("before recording")), "{texts:?}");
    }
}

/// Returns the statement that starts with a text.
fn statement<'a>(report: &'a Report, start: &str) -> &'a Statement {
    let found = report.statements.iter().find(|it| it.text.starts_with(start));
    found.unwrap_or_else(|| panic!("{:#?}", report.statements))
}

#[test]
fn leak_without_which_request_would_have_fitted_comes_first() {
    let leak = "log.py:5 keep (called at run.py:30 main) holds 120 MiB of the live memory at the OOM (";
    let oom = |bytes| training(Place::Function, 6, &[20 * MIB], false).oom(bytes, 4 * MIB);
    let report = oom(40 * MIB);
    let first = &report.statements[1];
    assert!(first.text.starts_with(leak) && first.text.contains(", likely a leak). Without it, "), "{first:?}");
    assert!(first.text.ends_with(" live (recounted); this request would have fitted."), "{first:?}");
    assert!(first.tone == Tone::Alarm && first.fix.contains("every step appends to"), "{first:?}");
    assert!(report.headline.as_ref().unwrap().text.starts_with("Out of memory at event "));
    assert!(report.statements.iter().filter(|it| !it.fix.is_empty()).count() <= 2, "{:#?}", report.statements);

    // Larger than the device.
    let report = oom(4096 * MIB);
    assert!(!report.statements[1].text.starts_with(leak), "{:?}", report.statements);
    let text = &statement(&report, leak).text;
    assert!(text.ends_with("this request would not have fitted."), "{text}");

    // Without known steps.
    let mut program = Program::default();
    for _ in 0..4 {
        program.alloc(10 * MIB, &[("/w/repro.py", 4, "<module>")]);
        let scratch = program.alloc(MIB, &[("/w/repro.py", 5, "<module>")]);
        program.free(scratch);
    }
    let text = &program.oom(20 * MIB, 4 * MIB).statements[1].text;
    let wanted = "repro.py:4 <module> holds 40.0 MiB of the live memory at the OOM (100 %, possibly a leak). Without it, 0 B \
                  instead of 40.0 MiB live (recounted); this request would have fitted.";
    assert_eq!(text, wanted);
}

#[test]
fn gradients_of_last_step_at_oom_in_forward_pass_are_stale() {
    let gradient = "torch::autograd::AccumulateGrad::apply(std::vector<at::Tensor>&&)";
    // With accumulation over two steps, gradients live in a forward pass are needed.
    for (steps_per_update, is_stale) in [(1, true), (2, false)] {
        let mut program = Program::default();
        let mut gradients: Vec<u64> = Vec::new();
        for step in 0..4 {
            let activation = program.alloc(60 * MIB, &[("/w/model.py", 7, "forward")]);
            if step % steps_per_update == 0 {
                gradients.drain(..).for_each(|address| program.free(address));
            }
            let scratch = program.alloc(MIB, &[("", 0, "torch::autograd::generated::MmBackward0::apply()")]);
            program.free(scratch);
            program.free(activation);
            if step % steps_per_update == 0 {
                gradients.push(program.alloc(30 * MIB, &[("", 0, gradient)]));
            }
        }
        program.alloc(60 * MIB, &[("/w/model.py", 7, "forward")]);
        let report = program.oom(20 * MIB, 4 * MIB);
        let found = report.statements.iter().find(|it| it.text.starts_with("30.0 MiB of the last step's gradients"));
        assert_eq!(found.is_some(), is_stale, "{:#?}", report.statements);
        if let Some(found) = found {
            let wanted = "30.0 MiB of the last step's gradients are live at the OOM. With zero_grad(set_to_none=True) before the \
                          forward pass, 60.0 MiB instead of 90.0 MiB live (recounted); this request would have fitted.";
            assert_eq!(found.text, wanted);
            assert!(found.fix.starts_with("Call optimizer.zero_grad(set_to_none=True)"), "{found:?}");
        }
        let savings = self::report(&mut program.open(), 0, Topic::Savings, &[]);
        let wanted = "30.0 MiB of the last step's gradients are live at the peak";
        let found = savings.statements.iter().any(|it| it.text.starts_with(wanted));
        assert_eq!(found, is_stale, "{:#?}", savings.statements);
    }
}

#[test]
fn temporaries_of_optimizer_step_at_oom_are_recounted() {
    let mut program = Program::default();
    let update = ("/x/torch/optim/adamw.py", 700, "_multi_tensor_adamw");
    for _ in 0..4 {
        program.alloc(40 * MIB, &[("/w/model.py", 3, "__init__"), ("/w/run.py", 6, "main")]);
    }
    for _ in 0..4 {
        program.alloc(40 * MIB, &[update, ("/w/run.py", 15, "main")]);
    }
    let report = program.oom(80 * MIB, 4 * MIB);
    let found = statement(&report, "Temporaries of the optimizer's step: ");
    let wanted = "Temporaries of the optimizer's step: 160 MiB at the OOM. Without them, 160 MiB instead of 320 MiB live \
                  (recounted); this request would have fitted.";
    assert_eq!(found.text, wanted);
    assert!(found.fix.contains("fused=True") && found.fix.contains("foreach=False"), "{found:?}");
}

#[test]
fn kv_cache_in_8_bits_is_planned_at_oom() {
    let mut program = Program::default();
    for layer in 0..4 {
        program.alloc(10 * MIB, &[("/x/transformers/cache_utils.py", 90 + layer, "update"), ("/w/run.py", 9, "main")]);
    }
    let report = program.oom(20 * MIB, 4 * MIB);
    statement(&report, "With the KV cache in 8 bits, 20.0 MiB instead of 40.0 MiB live at the OOM (planned); ");
}
