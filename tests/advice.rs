//! Advice about allocator settings: every statement quotes the simulation, with the same number in all reports and in
//! `memscape whatif`, and none recommends a setting that was not simulated.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests may panic")]

use crate::generate;
use crate::opened;
use crate::reported;

use memscape::engine::{Answer, Ask, Question, Reply, Request};
use memscape::protocol::{
    Cell, LoadRange, Report, ReportQuestion, Simulations, Statement, Tone, Topic, WhatIf, WhatIfOrigin, WhatIfQuestion,
};
use memscape::units::{Bytes, percent};
use opened::{OpenOptions, Opened, open, open_range, real_pickles, recordings_folder};
use reported::{cell, number, report, report_of, sheet, text};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

const MIB: u64 = 1 << 20;

/// Topics with statements about settings.
const TOPICS: [Topic; 5] = [Topic::Settings, Topic::Fragmentation, Topic::OutOfMemory, Topic::Savings, Topic::Leaks];

fn what_if(opened: &mut Opened, device: i64, question: WhatIfQuestion) -> WhatIf {
    let question = Question::WhatIf(Box::new(question));
    match opened.reply(Request::Ask(Ask { serial: 9, device, question })) {
        Reply::Answer { answer: Answer::WhatIf(answer), .. } => *answer,
        other => panic!("expected a simulation, got {other:?}"),
    }
}

/// Returns the change of peak reserved that a statement names, in its own words: `−530 MiB`.
fn named_change(statement: &str) -> Option<&str> {
    let before = statement.split(" peak reserved (simulated)").next().filter(|before| *before != statement)?;
    before.rsplit(": ").next()
}

fn signed(change: i64) -> String {
    let sign = if change < 0 { "−" } else { "+" };
    format!("{sign}{}", Bytes(change.unsigned_abs()))
}

/// Settings as named in a sentence: the default ones, and what is left of the recorded ones.
fn named_settings(text: &str) -> String {
    let text = text.split(" without ").next().unwrap();
    text.replace("The default settings", "expandable_segments:False")
}

/// Checks the statements of a device, and returns the number of effects that were compared.
fn check_statements(name: &str, opened: &mut Opened, device: i64) -> usize {
    let answer = what_if(opened, device, WhatIfQuestion::common_settings(None));
    let recorded = answer.recorded().map(|run| run.peak_reserved);
    let mut compared = 0;
    for topic in TOPICS {
        let report = report(opened, device, topic, &[]);
        for Statement { text, fix, .. } in &report.statements {
            let place = format!("{name}, device {device}, {}: {text} / {fix}", topic.name());
            let variables = ["PYTORCH_CUDA_ALLOC_CONF=", "PYTORCH_NPU_ALLOC_CONF="];
            let words = fix.split_once(' ').filter(|(verb, _)| ["Set", "Try"].contains(verb));
            let set = words.and_then(|(verb, rest)| {
                Some((verb, variables.iter().find_map(|variable| rest.strip_prefix(variable))?))
            });
            if let Some((verb, line)) = set {
                assert!(text.contains("(simulated)"), "{place}");
                let line = line.split(". ").next().unwrap().trim_end_matches('.');
                let line = line.split(" (without ").next().unwrap();
                assert!(text.contains(line), "{place}");
                let run = answer.runs.iter().find(|run| run.settings == line).unwrap_or_else(|| panic!("{place}"));
                // A setting that may also raise the peak is not advised as if it were certain.
                assert_eq!(verb == "Try", run.possible_excess(recorded.unwrap()).is_some(), "{place}");
            } else {
                for option in
                    ["expandable_segments", "max_split_size", "roundup_power2", "garbage_collection", "empty_cache"]
                {
                    assert!(!fix.contains(option), "not simulated: {place}");
                }
            }
            let Some(change) = named_change(text) else { continue };
            let text = named_settings(text);
            let setting = text.split([':', ' ']).take(2).collect::<Vec<_>>().join(":");
            let line = answer
                .runs
                .iter()
                .find(|run| text.starts_with(&*run.settings))
                .unwrap_or_else(|| panic!("{setting}: {place}"));
            let longest =
                answer.runs.iter().filter(|run| text.starts_with(&*run.settings)).max_by_key(|run| run.settings.len());
            let run = longest.unwrap_or(line);
            let change_of = |peak: u64| signed(peak.cast_signed() - recorded.unwrap().cast_signed());
            let [one, other] = run.peaks().map(change_of);
            assert!(change.contains(&one) && change.contains(&other), "{one} {other}: {place}");
            compared += 1;
        }
        let fixed = |words: &str| report.statements.iter().any(|it| it.text.contains(words));
        if topic == Topic::Settings && device >= 0 {
            match recorded {
                None => assert!(fixed("Effect of other settings not known: "), "{name}: {:?}", report.statements),
                Some(recorded) => {
                    let simulated = sheet(&report, "simulated");
                    assert_eq!(simulated.rows.len(), answer.runs.len() - 1, "{name}");
                    for row in &simulated.rows {
                        let settings = text(simulated, row, "setting");
                        let run = answer.runs.iter().skip(1).find(|run| run.settings == settings).unwrap();
                        assert_eq!(cell(simulated, row, "peak_reserved_bytes"), &Cell::Bytes(run.peak_reserved));
                        let change = run.peak_reserved.cast_signed() - recorded.cast_signed();
                        let shown = cell(simulated, row, "change_bytes");
                        assert!(*shown == Cell::Empty || *shown == Cell::Change(change), "{name}: {shown:?}");
                    }
                    let lowers = |run: &memscape::protocol::WhatIfRun| {
                        let saved = recorded.saturating_sub(run.peak_reserved);
                        saved >= 64 * MIB || saved > 0 && saved * 100 >= recorded
                    };
                    let helps = answer.runs.iter().skip(1).any(lowers);
                    assert!(!(helps && fixed("No change suggested")), "{name}: {:?}", report.statements);
                    assert!(helps || recorded == 0 || !fixed(" peak reserved (simulated): "), "{name}");
                }
            }
        }
    }
    compared
}

#[test]
fn effects_of_settings_are_equal_in_all_reports_on_real_files() {
    let Some(files) = real_pickles() else { return };
    let mut compared = 0;
    for path in files {
        let mut opened = open(&std::fs::read(&path).unwrap()).unwrap();
        for device in opened.summary.devices.clone() {
            compared += check_statements(&path.display().to_string(), &mut opened, device.device);
        }
    }
    assert!(compared > 30, "{compared}");
}

#[test]
fn setting_that_saves_more_than_5_percent_is_the_headline() {
    let Some(folder) = recordings_folder("the headline about settings") else { return };
    for (name, is_large) in [("torch-2.12/tight.default", true), ("torch-2.12/tight.expandable", false)] {
        let mut opened = open(&std::fs::read(folder.join(name.to_owned() + ".pickle.gz")).unwrap()).unwrap();
        let device = opened.summary.devices[0].device;
        let answer = what_if(&mut opened, device, WhatIfQuestion::common_settings(None));
        let recorded = answer.recorded().unwrap().peak_reserved;
        let lowest = answer.runs.iter().min_by_key(|run| run.peak_reserved).unwrap();
        let saved = recorded - lowest.peak_reserved;
        assert_eq!(saved > recorded / 20, is_large, "{name}: {saved} of {recorded}");
        let headline = report(&mut opened, device, Topic::Savings, &[]).headline;
        let text =
            format!("Saving: {}, {} of peak reserved ({}).", lowest.settings, Bytes(saved), percent(saved, recorded));
        assert_eq!(headline.map(|it| it.text), is_large.then_some(text), "{name}");
    }
}

#[test]
fn setting_that_may_not_avoid_an_oom_is_tried_instead_of_set() {
    let Some(folder) = recordings_folder("the advice after an OOM") else { return };
    let bytes = std::fs::read(folder.join("torch-2.11/oom.half_fraction.pickle.gz")).unwrap();
    for (from, verb) in [(0, "Set "), (500, "Try ")] {
        let load = LoadRange { from, ..LoadRange::default() };
        let mut opened = open_range(&bytes, OpenOptions::default(), load).unwrap();
        let device = opened.summary.devices[0].device;
        let report = report(&mut opened, device, Topic::OutOfMemory, &[]);
        let first = &report.statements[0].text;
        assert!(first.contains(" (per_process_memory_fraction:0.8357 likely limits the process): "), "{first}");
        let advised: Vec<&Statement> = report.statements.iter().filter(|it| it.fix.contains("ALLOC_CONF=")).collect();
        let [Statement { text, fix, .. }] = advised.as_slice() else { panic!("{advised:?}") };
        assert!(fix.starts_with(verb), "from event {from}: {fix}");
        assert_eq!(verb == "Try ", text.contains("Depends on what was allocated before recording"), "{text}");
    }
}

/// A process with a memory fraction gets no more than the fraction leaves, however much the device has free.
#[test]
fn largest_fitting_request_is_bounded_by_memory_limit() {
    let Some(folder) = recordings_folder("the largest request that would have fitted") else { return };
    let mut compared = 0;
    for name in ["gc80", "half_fraction", "nonsplit", "expandable", "split128"] {
        let file = std::fs::read(folder.join(format!("torch-2.11/oom.{name}.pickle.gz"))).unwrap();
        let mut opened = open(&file).unwrap();
        let device = opened.summary.devices[0].device;
        let limit = what_if(&mut opened, device, WhatIfQuestion::common_settings(None)).limit;
        let Some(limit) = limit.filter(|limit| limit.is_fraction) else { continue };
        let report = report(&mut opened, device, Topic::OutOfMemory, &[]);
        let requests = sheet(&report, "requests");
        let bytes = |key: &str| number(requests, &requests.rows[0], key) as u64;
        let is_bounded = limit.high - bytes("reserved_bytes") < bytes("device_free_bytes");
        for text in
            report.statements.iter().map(|it| &it.text).filter(|it| it.starts_with("Largest request that would"))
        {
            assert!(!is_bounded || !text.contains("the device had"), "{name}: {text}");
            compared += u32::from(is_bounded);
        }
    }
    assert!(compared > 0, "no limit bounds a request");
}

#[test]
fn effects_in_insights_json_equal_those_of_whatif_json() {
    let Some(files) = real_pickles() else { return };
    let json_of = |arguments: &[&str]| -> Value {
        let output = Command::new(env!("CARGO_BIN_EXE_memscape")).args(arguments).output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice(&output.stdout).unwrap()
    };
    for name in ["train-fp32-1185-segments.pickle", "deep-stacks-no-time.pickle", "forward-only-100.pickle"] {
        let Some(path) = files.iter().find(|path| path.ends_with(name)) else { continue };
        let path = path.to_str().unwrap();
        let device = &json_of(&["whatif", path, "--json"])["devices"][0];
        let runs = device["runs"].as_array().unwrap();
        let recorded = runs[0]["peak_reserved_bytes"].as_i64().unwrap();
        let changes: BTreeMap<String, i64> = runs[1..]
            .iter()
            .map(|run| {
                let change = run["peak_reserved_bytes"].as_i64().unwrap() - recorded;
                (run["settings"].as_str().unwrap().to_owned(), change)
            })
            .collect();
        let settings = json_of(&["settings", path, "--json", "--top", "100"]);
        let tables = settings.to_string();
        assert!(tables.contains("change_bytes"), "{tables}");
        for (setting, change) in &changes {
            assert!(tables.contains(&format!("\"change_bytes\":{change}")), "{name}: {setting} {change}");
        }
        let change = signed(changes["expandable_segments:True"]);
        for topic in ["settings", "fragmentation", "savings"] {
            let text = json_of(&[topic, path, "--json"]).to_string();
            let words = format!("expandable_segments:True: {change} peak reserved (simulated)");
            assert!(text.contains(&words), "{name}, {topic}: no {words}");
        }
    }
}

/// The row "recorded" of a simulation is the recording, to the byte, or is left out.
fn check_baseline(path: &Path, question: &WhatIfQuestion) -> usize {
    let mut opened = open(&std::fs::read(path).unwrap()).unwrap();
    let mut rows = 0;
    for device in opened.summary.devices.clone().into_iter().filter(|device| device.device >= 0) {
        let answer = what_if(&mut opened, device.device, question.clone());
        let is_recorded = |origin| origin == WhatIfOrigin::Recorded;
        let place = format!("{}, device {}", path.display(), device.device);
        match answer.recorded() {
            Some(run) => {
                assert_eq!(run.peak_reserved.cast_signed(), device.peak_reserved, "{place}");
                let proof = &answer.proof;
                assert!(proof.is_exact && proof.largest_reserved_error == 0, "{place}: {proof:?}");
                assert_eq!(answer.runs.iter().filter(|run| is_recorded(run.origin)).count(), 1, "{place}");
                rows += 1;
            }
            None => assert!(answer.runs.iter().all(|run| !is_recorded(run.origin)), "{place}"),
        }
    }
    rows
}

#[test]
fn recorded_row_equals_recording_on_real_files() {
    let Some(files) = real_pickles() else { return };
    let lines = vec!["expandable_segments:True".to_owned()];
    let questions = [
        WhatIfQuestion { lines, ..WhatIfQuestion::default() },
        WhatIfQuestion { never_empties: true, ..WhatIfQuestion::default() },
    ];
    let rows: usize = files.iter().flat_map(|path| questions.iter().map(|it| check_baseline(path, it))).sum();
    assert!(rows > 20, "{rows}");
}

fn recordings() -> Option<Vec<PathBuf>> {
    let folder = recordings_folder("the row of the recording is not compared with them")?;
    let entries = |folder: &Path| std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> =
        entries(&folder).filter(|path| path.is_dir()).flat_map(|path| entries(&path)).collect();
    files.retain(|path| path.to_string_lossy().ends_with(".pickle.gz"));
    files.sort();
    Some(files)
}

#[test]
fn recorded_row_equals_recording_on_some_recordings() {
    let Some(files) = recordings() else { return };
    let question = WhatIfQuestion::default();
    let rows: usize = files.iter().step_by(11).map(|path| check_baseline(path, &question)).sum();
    assert!(rows > 10, "{rows}");
}

#[test]
fn recorded_row_equals_recording_on_all_recordings() {
    let Some(files) = recordings() else { return };
    let lines = vec!["expandable_segments:True".to_owned()];
    let question = WhatIfQuestion { lines, ..WhatIfQuestion::default() };
    let rows: usize = files.iter().map(|path| check_baseline(path, &question)).sum();
    assert!(rows > 150, "{rows}");
}

/// A page's engine has no simulator. It quotes the simulations in the question instead.
#[test]
fn given_simulations_give_same_report_as_own_simulator() {
    let words = "--events 20000".split(' ').map(str::to_owned);
    let (options, _) = generate::Options::parse(words).unwrap();
    let bytes = generate::generate(&options, Vec::new()).unwrap().0;
    let mut opened = open(&bytes).unwrap();
    let settings = what_if(&mut opened, 0, WhatIfQuestion::common_settings(None));
    for topic in TOPICS {
        let own = report(&mut opened, 0, topic, &[]);
        let simulations = Some(Box::new(Simulations { settings: settings.clone(), plans: Vec::new() }));
        let question = ReportQuestion { topic, rows: 10_000, simulations, ..ReportQuestion::default() };
        let ask = Request::Ask(Ask { serial: 7, device: 0, question: Question::Report(question) });
        assert_eq!(report_of(opened.reply(ask)), own, "{}", topic.name());
    }
}

fn event(action: &str, addr: u64, size: u64, name: &str) -> Value {
    let frame = json!({"name": name, "filename": "/home/me/train.py", "line": 7});
    json!({"action": action, "addr": addr, "size": size, "stream": 0, "frames": [frame]})
}

/// A failed request that a block awaiting its free would have served. `name` is the function that allocated the block.
fn waiting_oom(name: &str) -> Report {
    let base = 1 << 40;
    let waiting = base + 20 * MIB;
    let oom = json!({"action": "oom", "device_free": 6 * MIB, "size": 128 * MIB, "stream": 0,
                     "frames": [{"name": "logits", "filename": "/home/me/train.py", "line": 77}]});
    let trace = [
        event("segment_alloc", base, 160 * MIB, "model"),
        event("alloc", base, 20 * MIB, "model"),
        event("alloc", waiting, 128 * MIB, name),
        event("free_requested", waiting, 128 * MIB, name),
        oom,
        event("free_completed", waiting, 128 * MIB, name),
        event("alloc", waiting, 128 * MIB, "logits"),
    ];
    let block = |address: u64, size: u64, state: &str| json!({"address": address, "size": size, "requested_size": size, "state": state, "frames": []});
    let blocks = [
        block(base, 20 * MIB, "active_allocated"),
        block(waiting, 128 * MIB, "active_allocated"),
        block(waiting + 128 * MIB, 12 * MIB, "inactive"),
    ];
    let segment = json!({"device": 0, "address": base, "total_size": 160 * MIB, "stream": 0, "segment_type": "large",
                         "is_expandable": false, "blocks": blocks});
    let value = json!({"segments": [segment], "device_traces": [trace]});
    let mut opened = open(value.to_string().as_bytes()).unwrap();
    report(&mut opened, 0, Topic::OutOfMemory, &[])
}

#[test]
fn block_awaiting_its_free_that_would_have_fitted_comes_first() {
    let oom = waiting_oom("all_gather");
    let first = &oom.statements[0];
    assert_eq!(
        first.text,
        "128 MiB awaited their free on stream 0 and would have fitted; the same request succeeded at event 6."
    );
    assert!(first.tone == Tone::Alarm && first.fix.contains("record_stream()"), "{}", first.fix);
    assert!(!first.fix.contains("NCCL"), "{}", first.fix);
    let texts: Vec<&str> = oom.statements.iter().map(|it| it.text.as_str()).collect();
    assert!(texts.iter().any(|text| text.starts_with("Largest call sites at the OOM: ")), "{texts:?}");
    assert!(oom.statements.iter().all(|it| !it.fix.contains("Reduce what is live")));
    let nccl = waiting_oom("c10d::ProcessGroupNCCL::allgather");
    assert!(nccl.statements[0].fix.starts_with("Set TORCH_NCCL_AVOID_RECORD_STREAMS=1"), "{:?}", nccl.statements[0]);
}

/// Settings and plans state if a failed request would have fitted.
#[test]
fn oom_report_says_whether_request_would_have_fitted() {
    let words = "--steps 3 --layers 4 --oom".split(' ').map(str::to_owned);
    let (options, _) = generate::Options::parse(words).unwrap();
    let mut opened = open(&generate::generate(&options, Vec::new()).unwrap().0).unwrap();
    let answer = what_if(&mut opened, 0, WhatIfQuestion::common_settings(None));
    let oom = report(&mut opened, 0, Topic::OutOfMemory, &[]);
    let texts: Vec<&str> = oom.statements.iter().map(|it| it.text.as_str()).collect();
    let avoiding = answer.runs.iter().skip(1).filter(|run| run.avoided_oom.is_some()).count();
    let said = |part: &str| texts.iter().any(|text| text.contains(part));
    assert_eq!(said("this request would have fitted (simulated)"), avoiding > 0, "{texts:#?}");
    // It is larger than the memory of the device.
    assert!(!said("With expandable_segments:True"), "{texts:#?}");
    assert!(said("this request would not have fitted"), "{texts:#?}");
    let planned: Vec<&&str> = texts.iter().filter(|text| text.contains(" live at the OOM (planned); ")).collect();
    assert!(planned.iter().any(|text| text.starts_with("With half the batch size, ")), "{texts:#?}");
    // 16 GiB do not fit with half the activations either.
    assert!(planned.iter().all(|text| text.contains("this request would not have fitted")), "{planned:#?}");
}
