//! Categories assigned by the default rules to real and generated files, as shown in legend, search, details, timeline
//! and report.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may fail")]

use crate::opened;

use crate::trained;

use memscape::engine::{Answer, Ask, Question, Reply, Request};
use memscape::protocol::{
    CategoryRule, CategorySet, Cell, Grouping, LegendEntry, PlotSettings, Report, ReportQuestion, Tally, Topic, Weight,
};
use opened::{Opened, open, real_pickles, reply};
use serde_json::json;
use trained::generated;

/// Files of the corpus that contain a training step.
const TRAINING: &[&str] = &[
    "adam-35-events.pickle",
    "deep-stacks-no-time.pickle",
    "no-time-expandable.pickle",
    "no-time-segments-freed.pickle",
    "tiny-97-events.pickle",
    "torch-2.10-annotated.pickle",
    "torch-2.10-small.pickle",
    "train-annotated-100.pickle",
    "train-annotated-mixed-precision.pickle",
    "train-fp32-1185-segments.pickle",
    "train-ring-buffer-wrapped.pickle",
];

fn legend(opened: &mut Opened, device: i64, at: Option<u32>) -> Vec<LegendEntry> {
    match reply(
        &mut opened.engine,
        Request::Ask(Ask { serial: 1, device, question: Question::Legend { colouring: Grouping::Category, at } }),
    ) {
        Reply::Answer { answer: Answer::Legend(entries), .. } => entries,
        other => panic!("expected a legend, got {other:?}"),
    }
}

#[test]
fn training_files_have_under_ten_percent_unknown_at_peak() {
    let Some(files) = real_pickles() else { return };
    let mut trained = 0;
    for path in files {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let mut opened = open(&std::fs::read(&path).unwrap()).unwrap_or_else(|error| panic!("{name}: {error}"));
        let devices: Vec<(i64, u64)> =
            opened.summary.devices.iter().map(|device| (device.device, device.peak_requested as u64)).collect();
        for (device, peak) in devices {
            let entries = legend(&mut opened, device, None);
            let parts: Vec<(&str, u64)> =
                entries.iter().map(|entry| (entry.label.as_str(), entry.peak_requested)).collect();
            let unknown = parts.iter().find(|(label, _)| *label == "unknown").unwrap().1;
            println!("{name}: {:.1} % unknown", 100.0 * unknown as f64 / peak.max(1) as f64);
            for (label, bytes) in parts.iter().filter(|(_, bytes)| *bytes > 0) {
                println!("    {:5.1} % {label}", 100.0 * *bytes as f64 / peak.max(1) as f64);
            }
            if TRAINING.contains(&name.as_str()) {
                trained += 1;
                assert!(unknown <= peak / 10, "{name}: {unknown} of {peak} bytes are unknown");
            }
        }
    }
    assert_eq!(trained, TRAINING.len(), "each training file is found and has one device");
}

/// SGD allocates its momentum in the first step, in the same function as the temporaries of each step. These are freed
/// there or on return, after any number of events.
#[test]
fn momentum_of_sgd_is_optimizer_state_and_its_temporaries_are_not() {
    let mut events = Vec::new();
    let mut event = |action: &str, block: u64, function: &str| {
        let frames = json!([{"name": function, "filename": "/x/torch/optim/sgd.py", "line": 7}, {"name": "step", "filename": "/x/torch/optim/sgd.py", "line": 9}]);
        events.push(json!({"action": action, "addr": block << 20, "size": 1024, "stream": 0, "frames": frames}));
    };
    (1..=40).for_each(|block| event("alloc", block, "_multi_tensor_sgd"));
    for step in 1..3 {
        (0..100).for_each(|block| event("alloc", step * 100 + block, "_multi_tensor_sgd"));
        (0..99).for_each(|block| event("free_completed", step * 100 + block, "_multi_tensor_sgd"));
        event("free_completed", step * 100 + 99, "sgd");
    }
    (1..=40).for_each(|block| event("free_completed", block, "main"));
    let value = json!({"segments": [], "device_traces": [events]});
    let mut opened = open(&serde_pickle::to_vec(&value, serde_pickle::SerOptions::new()).unwrap()).unwrap();
    let entries = legend(&mut opened, 0, None);
    let kib = |label: &str| entries.iter().find(|entry| entry.label == label).unwrap().peak_requested / 1024;
    assert_eq!([kib("optimizer state"), kib("temporary")], [40, 100], "{entries:?}");
}

/// `torch.optim.swa_utils` copies the model. The copies are weights, which no optimizer state replaces.
#[test]
fn averaged_weights_are_parameters() {
    let frames = json!([
        {"name": "__deepcopy__", "filename": "/x/torch/nn/parameter.py", "line": 7},
        {"name": "__init__", "filename": "/x/torch/optim/swa_utils.py", "line": 9},
        {"name": "main", "filename": "/w/train.py", "line": 3},
    ]);
    let event = json!({"action": "alloc", "addr": 1 << 20, "size": 1024, "stream": 0, "frames": frames});
    let value = json!({"segments": [], "device_traces": [[event]]});
    let mut opened = open(&serde_pickle::to_vec(&value, serde_pickle::SerOptions::new()).unwrap()).unwrap();
    let bytes = |(label, bytes, _): (String, u64, u64)| (label == "parameter").then_some(bytes);
    assert_eq!(at_peak(&mut opened).into_iter().find_map(bytes), Some(1024));
}

fn set_rules(opened: &mut Opened, set: CategorySet) {
    opened.engine.request(Request::Categories(Box::new(set)));
}

fn find(opened: &mut Opened, query: &str) -> Tally {
    match reply(
        &mut opened.engine,
        Request::Ask(Ask { serial: 1, device: 0, question: Question::Find(query.to_owned()) }),
    ) {
        Reply::Answer { answer: Answer::Find(tally), .. } => tally,
        other => panic!("expected a search result, got {other:?}"),
    }
}

fn report(opened: &mut Opened, device: i64) -> Report {
    let question = ReportQuestion { topic: Topic::Categories, at: None, rows: 9, ..ReportQuestion::default() };
    match reply(&mut opened.engine, Request::Ask(Ask { serial: 1, device, question: Question::Report(question) })) {
        Reply::Answer { answer: Answer::Report(report), .. } => *report,
        other => panic!("expected a report, got {other:?}"),
    }
}

/// Returns label, live bytes and count at the peak of each category.
fn at_peak(opened: &mut Opened) -> Vec<(String, u64, u64)> {
    let entries = legend(opened, 0, None).into_iter();
    entries.map(|entry| (entry.label, entry.peak_requested, entry.peak_count)).collect()
}

#[test]
fn generated_training_has_expected_category_sizes() {
    for words in
        ["--events 9000 --layers 6", "--events 9000 --layers 6 --record-from-start", "--events 9000 --ring 6000"]
    {
        let (mut opened, _) = generated(words);
        let of = |name: &str, parts: &[(String, u64, u64)]| parts.iter().find(|part| part.0 == name).unwrap().1;
        let parts = at_peak(&mut opened);
        // Adam keeps two states per parameter, and each parameter has a gradient.
        let parameters = of("parameter", &parts);
        assert!(parameters > 0, "{words}: {parts:?}");
        assert_eq!(
            (of("optimizer state", &parts), of("gradient", &parts)),
            (2 * parameters, parameters),
            "{words}: {parts:?}"
        );
        assert_eq!(of("unknown", &parts), 0, "{words}: {parts:?}");
    }
}

#[test]
fn category_totals_agree_in_legend_search_report_and_details() {
    let (mut opened, _) = generated("--events 9000 --layers 6");
    let events = opened.summary.devices[0].events as u32;
    let entries = legend(&mut opened, 0, Some(events / 2));
    let report = report(&mut opened, 0);
    let sheet = report.sheets.iter().find(|sheet| sheet.key == "categories").unwrap();
    let mut sum = Weight::default();
    for entry in &entries {
        let tally = find(&mut opened, &format!("@category \"{}\"", entry.label.to_uppercase()));
        assert_eq!(
            (tally.peak_requested, u64::from(tally.peak_count)),
            (entry.peak_requested, entry.peak_count),
            "{}",
            entry.label
        );
        let row = sheet.rows.iter().find(|row| row.cells[0] == Cell::Text(entry.label.clone()));
        assert_eq!(row.is_some(), tally.count > 0, "{}", entry.label);
        let Some(row) = row else { continue };
        assert_eq!(row.cells[1], Cell::Bytes(entry.peak_requested), "{}", entry.label);
        let evidence = row.evidence.as_ref().unwrap();
        assert_eq!(
            find(&mut opened, evidence.find.as_ref().unwrap()),
            tally,
            "the search of a row finds what the row counts"
        );
        sum = Weight { bytes: sum.bytes + entry.at.bytes, count: sum.count + entry.at.count };
    }
    let at = vec![memscape::protocol::MomentSpec::Moment(events / 2)];
    let Reply::Answer { answer: Answer::Moments(moments), .. } =
        opened.reply(Request::Ask(Ask { serial: 1, device: 0, question: Question::Moments(at) }))
    else {
        panic!("no moment")
    };
    assert_eq!(
        (sum.bytes, sum.count),
        (moments[0].requested, moments[0].count),
        "every live allocation has a category"
    );
    let parameter = opened.details(0, 0).unwrap().category.unwrap();
    assert_eq!((parameter.name.as_str(), parameter.rule.is_some()), ("parameter", true));
    assert!(parameter.reason.contains("same size as a gradient"), "{}", parameter.reason);
}

#[test]
fn new_rules_apply_to_timeline_search_and_report() {
    let (mut opened, _) = generated("--events 4000 --layers 3");
    let plot_settings =
        PlotSettings { stacking: Some(Grouping::Category), colouring: Grouping::Category, ..PlotSettings::default() };
    let moment = opened.summary.devices[0].peak_event as u32 + 1;
    let hit = |opened: &mut Opened| match opened.reply(Request::Ask(Ask {
        serial: 1,
        device: 0,
        question: Question::Hit { plot_settings, moment, byte: 0 },
    })) {
        Reply::Answer { answer: Answer::Hit { hit, .. }, .. } => hit.unwrap().allocation,
        other => panic!("{other:?}"),
    };
    let of = |opened: &mut Opened, id: u32| opened.details(0, id).unwrap().category.unwrap().name;
    let bottom = hit(&mut opened);
    assert_eq!(of(&mut opened, bottom), "parameter", "the longest-lived category is at the bottom");
    // Only frames of the model match now, so its category is at the bottom.
    let rule = |category: &str, name: &str| CategoryRule {
        category: category.to_owned(),
        name: Some(name.to_owned()),
        ..CategoryRule::default()
    };
    set_rules(
        &mut opened,
        CategorySet { name: "mine".to_owned(), rules: vec![rule("mine", "forward")], ..CategorySet::default() },
    );
    let bottom = hit(&mut opened);
    assert_eq!(of(&mut opened, bottom), "mine");
    assert_eq!(at_peak(&mut opened).len(), 2);
    assert_eq!(find(&mut opened, "@category parameter").count, 0);
    // A category is found by its name in the rules and by its label on the page.
    set_rules(
        &mut opened,
        CategorySet { name: "mine".to_owned(), rules: vec![rule("network", "forward")], ..CategorySet::default() },
    );
    let found = ["network", "communication (NCCL)", "\"Communication (nccl)\""]
        .map(|name| find(&mut opened, &format!("@category {name}")));
    assert!(found[0].count > 0 && found.iter().all(|tally| *tally == found[0]), "{found:?}");
    set_rules(
        &mut opened,
        CategorySet { name: "mine".to_owned(), rules: vec![rule("mine", "forward")], ..CategorySet::default() },
    );
    assert!(report(&mut opened, 0).statements[0].text.contains("rules: mine"));
    // The rules apply to every device. A device that does not exist has no report.
    assert!(report(&mut opened, 7).sheets.is_empty());
    // An invalid set classifies nothing.
    set_rules(&mut opened, CategorySet { rules: vec![rule("x", "(")], ..CategorySet::default() });
    assert_eq!(at_peak(&mut opened).iter().map(|part| part.1).filter(|&bytes| bytes > 0).count(), 1);
}

#[test]
fn recorded_category_overrides_rules() {
    let event = |action: &str, addr: u64, category: Option<&str>| {
        let mut event = serde_json::json!({"action": action, "addr": addr, "size": 512, "stream": 0, "frames": [
            {"name": "forward", "filename": "model.py", "line": 1}]});
        category.into_iter().for_each(|category| event["category"] = category.into());
        event
    };
    let categories = [Some("parameter"), Some("optimizer_state"), Some("autograd_detail"), Some("unknown"), None];
    let events: Vec<_> =
        (0u64..).zip(categories).map(|(at, category)| event("alloc", 4096 + 512 * at, category)).collect();
    let text = serde_json::json!({"segments": [], "device_traces": [events]}).to_string();
    let mut opened = open(text.as_bytes()).unwrap();
    let first = opened.summary.devices[0].allocations as u32 - 5;
    let labels: Vec<String> =
        (first..first + 5).map(|id| opened.details(0, id).unwrap().category.unwrap().name).collect();
    assert_eq!(labels, ["parameter", "optimizer state", "temporary", "activation", "activation"]);
}

#[test]
fn many_rules_and_long_names_check_clock_regularly() {
    let name = "x".repeat(1 << 20);
    let frames: Vec<_> =
        (0..12).map(|line| serde_json::json!({"name": name, "filename": name, "line": line})).collect();
    let event = serde_json::json!({"action": "alloc", "addr": 512, "size": 512, "stream": 0, "frames": frames});
    let mut opened =
        open(serde_json::json!({"segments": [], "device_traces": [[event]]}).to_string().as_bytes()).unwrap();
    let rule = |number: usize| CategoryRule {
        category: format!("c{}", number % 50),
        name: Some(format!("[a-w]{{2}}{number}$")),
        ..CategoryRule::default()
    };
    set_rules(&mut opened, CategorySet { rules: (0..1000).map(rule).collect(), ..CategorySet::default() });
    let colouring = Grouping::Category;
    opened.engine.request(Request::Ask(Ask {
        serial: 1,
        device: 0,
        question: Question::Legend { colouring, at: None },
    }));
    let mut asked = 0;
    while opened.engine.next_reply().is_none() {
        opened.engine.step(&mut || {
            asked += 1;
            false
        });
    }
    // 12,000 patterns over 8 KiB each: the clock is checked at least after every second one.
    assert!(asked > 6_000, "the clock was checked {asked} times");
}

fn custom_rules() -> CategorySet {
    let rule = |name: &str| CategoryRule {
        category: "mine".to_owned(),
        name: Some(name.to_owned()),
        ..CategoryRule::default()
    };
    CategorySet { name: "mine".to_owned(), rules: vec![rule("forward"), rule("never")], ..CategorySet::default() }
}

#[test]
fn unmatched_rules_are_counted() {
    let (mut opened, _) = generated("--events 4000 --layers 3");
    set_rules(&mut opened, custom_rules());
    let report = report(&mut opened, 0);
    let rules = report.sheets.iter().find(|sheet| sheet.key == "rules").unwrap();
    assert_eq!(rules.rows.len(), 2, "one matching rule, and the row for no rule");
    assert!(rules.note.ends_with("Rules without a match: 1 of 2."), "{}", rules.note);
}

#[test]
fn rule_change_restarts_running_report() {
    for topic in [Topic::Categories, Topic::Savings, Topic::Peak] {
        let (mut opened, _) = generated("--events 9000 --layers 3");
        let ask = || {
            let question = ReportQuestion { topic, at: None, rows: 99, ..ReportQuestion::default() };
            Request::Ask(Ask { serial: 1, device: 0, question: Question::Report(question) })
        };
        set_rules(&mut opened, custom_rules());
        let expected = opened.reply(ask());
        let mut overtaken = 0;
        for slices in 0..30 {
            // Opens the file again, because steps and other data shared by reports are computed once per file.
            (opened, _) = generated("--events 9000 --layers 3");
            set_rules(&mut opened, CategorySet::standard());
            // Classifies the allocations first, so that this takes no slices of the report.
            legend(&mut opened, 0, None);
            opened.engine.request(ask());
            (0..slices).for_each(|_| _ = opened.engine.step(&mut || false));
            if opened.engine.next_reply().is_some() {
                break;
            }
            overtaken += 1;
            set_rules(&mut opened, custom_rules());
            let reply = loop {
                if let Some(reply) = opened.engine.next_reply() {
                    break reply;
                }
                opened.engine.step(&mut || false);
            };
            assert!(reply == expected, "{topic:?}, overtaken after {slices} slices");
        }
        assert!(overtaken > 3, "{topic:?}: {overtaken}");
    }
}
