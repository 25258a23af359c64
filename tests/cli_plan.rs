//! `memscape plan`: factors, presets and the largest batch, as text and JSON, and errors.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may fail")]

use memscape::protocol::SCHEMA;
use serde_json::{Value, json};
use std::path::Path;
use std::process::{Command, Output};

const MIB: u64 = 1 << 20;

fn memscape(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_memscape")).args(arguments).output().unwrap()
}

fn text(arguments: &[&str]) -> String {
    let output = memscape(&[&["plan"], arguments].concat());
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!((output.status.code(), error.as_str()), (Some(0), ""), "{arguments:?}");
    String::from_utf8(output.stdout).unwrap()
}

fn json(arguments: &[&str]) -> Value {
    serde_json::from_str(&text(&[arguments, &["--json"]].concat())).unwrap()
}

/// Writes a snapshot with 100 MiB of optimizer state, then four layers with activations of 30 MiB (inner) and 10 MiB
/// (output) each, then a temporary of 80 MiB after two layers are freed.
fn snapshot(name: &str) -> String {
    let frame = |name: &str, file: &str, line: u32| json!({"name": name, "filename": file, "line": line});
    let event = |action: &str, addr: u64, size: u64, frames: Value| json!({"action": action, "addr": addr, "size": size, "stream": 0, "frames": frames});
    let optimizer = json!([
        frame("_init_group", "/lib/python3.11/site-packages/torch/optim/adamw.py", 9),
        frame("step", "/home/me/train.py", 50)
    ]);
    let layer =
        |line: u32| json!([frame("forward", "/home/me/model.py", line), frame("forward", "/home/me/model.py", 90)]);
    let backward = json!([
        frame("torch::autograd::generated::MulBackward0::apply", "??", 0),
        frame("backward", "/home/me/train.py", 60)
    ]);
    let mut events = vec![event("alloc", 1 << 40, 100 * MIB, optimizer)];
    for layer_number in 0..4u64 {
        events.push(event("alloc", (2 + 2 * layer_number) << 40, 30 * MIB, layer(7)));
        events.push(event("alloc", (3 + 2 * layer_number) << 40, 10 * MIB, layer(8)));
    }
    for place in [8, 9, 6, 7] {
        let size = if place % 2 == 0 { 30 * MIB } else { 10 * MIB };
        events.push(event("free_requested", place << 40, size, json!([])));
        events.push(event("free_completed", place << 40, size, json!([])));
    }
    events.push(event("alloc", 20 << 40, 80 * MIB, backward));
    // Memory that the backward pass keeps would count as a gradient.
    events.push(event("free_requested", 20 << 40, 80 * MIB, json!([])));
    events.push(event("free_completed", 20 << 40, 80 * MIB, json!([])));
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, json!({"segments": [], "device_traces": [events]}).to_string()).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn scaled_groups_change_planned_peak() {
    let path = snapshot("cli-plan.json");
    let same = json(&[&path]);
    assert_eq!((&same["schema"], &same["device"]), (&json!(SCHEMA), &json!(0)));
    let refused = json!("the file has no segments");
    assert_eq!(
        same["planned_reserved"],
        json!({"peak_reserved": null, "peak_reserved_bytes": null, "band": null, "band_bytes": null, "grade": null,
            "oom_event": null, "refused": refused})
    );
    assert!(text(&[&path]).contains("Reserved (simulated)  not predicted: the file has no segments\n"));
    // 100 + 4 × 40 after the forward pass, 100 + 2 × 40 + 80 at the end.
    let recorded = json!({"peak_live_bytes": 260 * MIB, "peak_event": 8});
    assert_eq!((&same["recorded"], &same["planned"]), (&recorded, &recorded));
    for (sets, peak, event) in [
        (&["activations=2x"][..], 420, 8),
        (&["activation=/2"], 220, 17),
        (&["optimizer state=/10"], 170, 8),
        (&["optimizer state=fp32->8bit"], 185, 8),
        (&["optimizer state=0", "activations=0"], 80, 17),
        (&["model.py:7=0"], 200, 17),
        (&[">=80MiB=0"], 160, 8),
        (&["activations=2", "model.py:7=/2"], 300, 8),
        (&["train.py:60 backward=50%"], 260, 8),
    ] {
        let arguments: Vec<&str> =
            std::iter::once(path.as_str()).chain(sets.iter().flat_map(|set| ["--set", set])).collect();
        let plan_json = json(&arguments);
        assert_eq!(plan_json["planned"], json!({"peak_live_bytes": peak * MIB, "peak_event": event}), "{sets:?}");
        assert_eq!(plan_json["recorded"], recorded, "{sets:?}");
        assert_eq!(plan_json["groups"].as_array().unwrap().len(), sets.len());
    }
    let plan_json = json(&[&path, "--set", "activations=1.5x"]);
    assert_eq!(
        plan_json["groups"],
        json!([{"group": "activations", "factor": 1.5, "count": 8, "peak_live_bytes": 160 * MIB}])
    );
}

#[test]
fn presets_give_expected_peaks() {
    let path = snapshot("cli-plan-presets.json");
    for (presets, peak, event) in [
        (&["batch=2"][..], 420, 8),
        (&["sequence=2", "batch=3/2"], 580, 8),
        (&["8bit-optimizer"], 185, 8),
        (&["offload-optimizer"], 160, 8),
        (&["zero1=4"], 185, 8),
        // A plan without gradients is valid.
        (&["zero2=4"], 185, 8),
        (&["zero1=4", "8bit-optimizer"], 166, 8),
        // Keeps the outputs of all four layers and the inner activations of one: 100 + 4 × 10 + 30. At the end 100 + 2
        // × 10 + 15 + 80.
        (&["checkpoint"], 215, 17),
    ] {
        let arguments: Vec<&str> =
            std::iter::once(path.as_str()).chain(presets.iter().flat_map(|preset| ["--preset", preset])).collect();
        let plan_json = json(&arguments);
        let rounded = plan_json["planned"]["peak_live_bytes"].as_u64().unwrap() / MIB;
        assert_eq!((rounded, &plan_json["planned"]["peak_event"]), (peak, &json!(event)), "{presets:?}");
        assert_eq!(plan_json["caveats"].as_array().unwrap().len(), presets.len(), "each preset has a caveat");
    }
}

#[test]
fn largest_batch_fits_capacity_exactly() {
    let path = snapshot("cli-plan-batch.json");
    // 100 + k × 160 after the forward pass and at the end, since activations and the temporary grow.
    for (capacity, factor, headroom) in [("260MiB", 1.0, 0), ("500MiB", 2.5, 240), ("150MiB", 0.312, -110)] {
        let plan_json = json(&[&path, "--capacity", capacity]);
        assert_eq!(plan_json["largest_batch"], json!({"factor": factor, "limited_by_event": 8}), "{capacity}");
        assert_eq!(plan_json["headroom_bytes"], json!(headroom * MIB as i64), "{capacity}");
    }
    let plan_json = json(&[&path, "--capacity", "500MiB", "--preset", "offload-optimizer"]);
    assert_eq!(plan_json["largest_batch"]["factor"], json!(3.125));
    let words = text(&[&path, "--capacity", "500MiB", "--preset", "batch=2"]);
    for part in [
        "Recorded peak         260 MiB after event 8\n",
        "Planned peak          420 MiB after event 8 (+160 MiB)\n",
        "Capacity              500 MiB: 80.0 MiB left, but an estimate may be 20 % off: this may or may not fit\n",
        "Largest batch         × 2.500 of the recorded one, limited by what is live after event 8\n",
        "Batch                 × 2: 160 MiB at the recorded peak\n",
    ] {
        assert!(words.contains(part), "{part}: {words}");
    }
    let words = text(&[&path, "--capacity", "99MiB", "--set", "optimizer state=/1"]);
    assert!(words.contains("161 MiB too little") && words.contains("none fits"), "{words}");
    assert!(words.contains("× 1                    100 MiB            1  optimizer state"), "{words}");
}

#[test]
fn activations_of_half_a_parameters_size_leave_the_largest_batch_unknown() {
    let frames = |name: &str, file: &str| json!([{"name": name, "filename": file, "line": 9}]);
    let event = |action: &str, addr: u64, size: u64, frames: &Value| json!({"action": action, "addr": addr << 40, "size": size * MIB, "stream": 0, "frames": frames});
    let (model, input) = (frames("_apply", "/lib/torch/nn/modules/module.py"), frames("get_batch", "/home/me/data.py"));
    let (layer, engine) =
        (frames("forward", "/home/me/model.py"), frames("torch::autograd::Engine::evaluate_function", "??"));
    let cast = json!([{"name": "at::autocast::cached_cast", "filename": "??", "line": 0}, layer[0]]);
    for (name, kept, inputs, least) in [
        ("half", &layer, &input, json!(4.376)),
        ("cast", &cast, &input, json!(null)),
        ("no-input", &layer, &model, json!(4.64)),
    ] {
        let mut events: Vec<Value> = (1..5).map(|number| event("alloc", number, 32, &model)).collect();
        events.push(event("alloc", 5, 4, inputs));
        events.extend((6..10).map(|number| event("alloc", number, 16, kept)));
        let temporary = if name == "no-input" { &model } else { &engine };
        events.push(event("alloc", 10, 1, temporary));
        events.extend([10, 9, 8, 7, 6, 5].map(|number| event("free_requested", number, 0, &engine)));
        events.extend([10, 9, 8, 7, 6, 5].map(|number| event("free_completed", number, 0, &engine)));
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(["cli-plan-", name, ".json"].concat());
        std::fs::write(&path, json!({"segments": [], "device_traces": [events]}).to_string()).unwrap();
        let path = path.to_str().unwrap();
        let plan_json = json(&[path, "--capacity", "430MiB"]);
        assert_eq!(plan_json["largest_batch"]["min_factor"], least, "{plan_json:#}");
        assert_eq!(plan_json["largest_batch"]["factor"].is_null(), name == "no-input", "{plan_json:#}");
        let words = text(&[path, "--capacity", "430MiB"]);
        assert_eq!(
            words.contains("if memory with the size of a parameter, or half of it, does not grow"),
            !least.is_null(),
            "{words}"
        );
    }
}

#[test]
fn plan_with_assumed_sequence_growth_is_never_reported_to_fit() {
    let path = snapshot("cli-plan-assumed.json");
    for capacity in ["1MiB", "500MiB", "80GiB"] {
        let arguments = [&path, "--preset", "sequence=2", "--capacity", capacity];
        let plan_json = json(&arguments);
        for key in ["fits", "headroom_bytes", "largest_batch"] {
            assert_eq!(plan_json[key], json!(null), "{capacity}, {key}");
        }
        let words = text(&arguments);
        assert!(words.contains("it cannot be known whether this fits") && !words.contains("Largest batch"), "{words}");
    }
    let plan_json = json(&[&path, "--preset", "batch=2", "--capacity", "500MiB"]);
    assert_eq!((&plan_json["fits"], &plan_json["headroom_bytes"]), (&json!(null), &json!(80 * MIB)));
    assert_eq!(json(&[&path, "--preset", "batch=2", "--capacity", "300MiB"])["fits"], json!(false));
}

/// The savings give the same upper bound for the file.
#[test]
fn checkpointing_without_repeating_blocks_has_a_bound() {
    let frame = |name: &str, file: &str| json!([{"name": name, "filename": file, "line": 9}]);
    let event = |action: &str, addr: u64, frames: &Value| json!({"action": action, "addr": addr << 40, "size": 100 * MIB, "stream": 0, "frames": frames});
    let (model, layer) = (frame("_apply", "/lib/torch/nn/modules/module.py"), frame("forward", "/home/me/model.py"));
    let engine = frame("torch::autograd::Engine::evaluate_function", "??");
    let events = [
        event("alloc", 1, &model),
        event("alloc", 2, &layer),
        event("free_requested", 2, &engine),
        event("free_completed", 2, &engine),
    ];
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cli-plan-one-block.json");
    std::fs::write(&path, json!({"segments": [], "device_traces": [events]}).to_string()).unwrap();
    let path = path.to_str().unwrap();
    let error = memscape(&["plan", path, "--preset", "checkpoint"]);
    let error = String::from_utf8(error.stderr).unwrap();
    assert!(error.ends_with("; at most, it saves what activations=0 saves\n"), "{error}");
    let most = json(&[path, "--set", "activations=0"]);
    assert_eq!(most["planned"]["peak_live_bytes"], json!(100 * MIB), "{most:#}");
}

#[test]
fn invalid_plan_reports_error() {
    let path = snapshot("cli-plan-refused.json");
    for (arguments, cause) in [
        (&["--set", "kv cache=2"][..], "no allocation is in the group “kv cache”"),
        (&["--set", "gradient=2"], "no allocation is in the group “gradient”"),
        (&["--set", "#x=2"], "the group “#x”: "),
        (&["--device", "7"], "no such device; available: 0"),
        (&["--set", "a=1/999983", "--set", "b=1/999979", "--set", "c=1/999961"], "too large"),
    ] {
        let output = memscape(&[&["plan", &path], arguments].concat());
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!((output.status.code(), output.stdout.len(), error.lines().count()), (Some(1), 0, 1), "{error}");
        assert!(error.contains(cause), "{error}");
    }
    for arguments in [
        &["--set", "activations"][..],
        &["--set", "activations=much"],
        &["--set", "=2"],
        &["--preset", "magic"],
        &["--preset", "batch"],
        &["--preset", "batch=0"],
        &["--preset", "checkpoint=2"],
        &["--capacity", "much"],
    ] {
        assert_eq!(memscape(&[&["plan", &path], arguments].concat()).status.code(), Some(2), "{arguments:?}");
    }
}

/// Writes a generated training run with the given sequence length.
fn generated_with_sequence(length: u32) -> String {
    let words = format!("--steps 3 --layers 3 --hidden 256 --batch 4 --record-from-start --sequence {length}");
    let (options, _) = crate::generate::Options::parse(words.split(' ').map(str::to_owned)).unwrap();
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("plan-sequence-{length}.pickle"));
    std::fs::write(&path, crate::generate::generate(&options, Vec::new()).unwrap().0).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn sequence_plan_uses_measured_scaling() {
    let [short, double, long] = [128, 256, 1024].map(generated_with_sequence);
    let peak = |path: &str| json(&[path])["recorded"]["peak_live_bytes"].as_u64().unwrap();
    let planned = |plan_json: &Value| plan_json["planned"]["peak_live_bytes"].as_u64().unwrap();
    // The expected value is the peak of the same training recorded with the longer sequence.
    let (truth, measured) = (peak(&long), json(&[&short, "--scaling-from", &double, "--preset", "sequence=8"]));
    let off = |bytes: u64| bytes.abs_diff(truth) as f64 / truth as f64;
    assert!(off(planned(&measured)) < 0.01, "{} of {truth}: {measured:#}", planned(&measured));
    // Scaling everything in proportion is far off.
    let assumed = json(&[&short, "--preset", "sequence=8"]);
    assert!(off(planned(&assumed)) > 0.1, "{} of {truth}", planned(&assumed));
    let scaling = &measured["scaling"];
    assert_eq!(scaling["growth"], json!(2.0));
    let exponents: Vec<f64> =
        scaling["exponents"].as_array().unwrap().iter().map(|class| class["exponent"].as_f64().unwrap()).collect();
    assert!([0.0, 1.0, 2.0].iter().all(|exponent| exponents.contains(exponent)), "{exponents:?}");
    assert_eq!(assumed["scaling"], json!(null));

    // Without a preset, the plan is for the other file's sequence length, whether longer or shorter.
    for (from, to) in [(&short, &double), (&double, &short)] {
        let plan_json = json(&[from, "--scaling-from", to]);
        let truth = peak(to);
        assert!(planned(&plan_json).abs_diff(truth) as f64 / (truth as f64) < 0.01, "{plan_json:#} {truth}");
    }
    let text = text(&[&short, "--scaling-from", &double, "--preset", "sequence=8"]);
    assert!(text.contains("Measured from A to B (×2): "), "{text}");
    assert!(text.contains("measured to grow with the square"), "{text}");
    // The simulated allocator uses the same sizes.
    assert!(measured["planned_reserved"]["peak_reserved"].as_u64().unwrap() > planned(&measured));
    // Equal lengths give no measurement.
    let same = memscape(&["plan", &short, "--scaling-from", &short]);
    let error = String::from_utf8(same.stderr).unwrap();
    assert!(!same.status.success() && error.contains("nothing is measured"), "{error}");
}

/// A selected segment stands for all allocations at its addresses, at any time.
#[test]
fn plan_without_segment_matches_brute_force() {
    let path = generated_with_sequence(128);
    let bytes = std::fs::read(&path).unwrap();
    let (snapshot, mut histories) = crate::without::histories("segment", &bytes);
    let history = histories.remove(0);
    let ranges = snapshot
        .segments
        .iter()
        .map(|segment| [segment.address.unwrap(), segment.address.unwrap() + segment.total_size]);
    let mut lower = 0;
    for [from, to] in ranges.take(12) {
        let is_outside = |id| {
            let (address, size) = (history.allocations.address(id), history.allocations.size(id));
            address >= to || address + size <= from
        };
        let (_, peak) = crate::without::highest(&crate::without::curve(&history, is_outside));
        let group = format!("0x{from:x}..0x{to:x}=0");
        let plan_json = json(&[&path, "--set", &group]);
        assert_eq!(plan_json["planned"]["peak_live_bytes"], json!(peak), "{group}");
        lower += usize::from(plan_json["planned"]["peak_live_bytes"] != plan_json["recorded"]["peak_live_bytes"]);
    }
    assert!(lower > 0, "no segment lowers the peak");
}
