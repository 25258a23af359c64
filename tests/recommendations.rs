//! Effects of recommendations on real files, compared with the slow referee in recommendations.py: peaks by brute
//! force, settings and failed requests by the Python model of the allocator.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests may panic")]

use crate::cases::folder;
use crate::opened;
use crate::reported;

use memscape::engine::{Answer, Ask, Question, Reply, Request};
use memscape::protocol::{Report, Topic, WhatIf, WhatIfOrigin, WhatIfQuestion, WhatIfRun};
use memscape::units::Bytes;
use opened::{Opened, open, real_pickles, recordings_folder};
use reported::{number, report, report_of, report_request, sheet, text};
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Runs recommendations.py with these arguments. Returns one value per device.
fn referee(arguments: &[&str]) -> Vec<Value> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/recommendations.py");
    let output = Command::new("python3").arg(script).args(arguments).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Peak and its event without each change of a device, by label.
fn reported_savings(opened: &mut Opened, device: i64) -> BTreeMap<String, [i128; 2]> {
    let report = report(opened, device, Topic::Savings, &[]);
    if !report.sheets.iter().any(|sheet| sheet.key == "savings") {
        return BTreeMap::new();
    }
    let sheet = sheet(&report, "savings");
    let effect = |row| ["peak_without_bytes", "peak_without_event"].map(|key| number(sheet, row, key));
    sheet.rows.iter().map(|row| (text(sheet, row, "change").to_owned(), effect(row))).collect()
}

#[test]
fn effects_of_all_savings_match_referee_on_real_files() {
    let compared = real_pickles().map(|files| check_savings(&files));
    assert!(compared.is_none_or(|compared| compared > 30), "{compared:?} effects were compared");
}

#[test]
fn effects_of_savings_match_referee_on_small_files() {
    let Some(mut files) = real_pickles() else { return };
    files.retain(|path| std::fs::metadata(path).unwrap().len() < 1 << 20);
    let compared = check_savings(&files);
    assert!(compared > 5, "{compared} effects were compared");
}

/// Returns the path of the default categories.
fn default_set() -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src/analysis/category/default.json").to_str().unwrap().to_owned()
}

/// Compares the effects on these files, and returns their number.
fn check_savings(files: &[PathBuf]) -> usize {
    let mut compared = 0;
    for path in files {
        let mut opened = open(&std::fs::read(path).unwrap()).unwrap();
        for device in referee(&["savings", path.to_str().unwrap(), &default_set()]) {
            let number = device["device"].as_i64().unwrap();
            let reported = reported_savings(&mut opened, number);
            // Without events, nothing is recommended.
            if opened.summary.devices.iter().any(|it| it.device == number && it.events == 0) {
                assert!(reported.is_empty(), "{}", path.display());
                continue;
            }
            let effect = |it: &Value| [it[0].as_i64().unwrap().into(), i128::from(it[1].as_i64().unwrap()) - 1];
            let expected: BTreeMap<String, [i128; 2]> =
                device["savings"].as_object().unwrap().iter().map(|(name, it)| (name.clone(), effect(it))).collect();
            assert_eq!(reported, expected, "{}, device {number}", path.display());
            compared += reported.len();
        }
    }
    compared
}

/// Returns the folder of the Python model of the allocator. Prints a note if there is none.
fn tools() -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut places =
        ["../shared/tools", "../../shared/tools", "/work/shared/tools"].map(|place| root.join(place)).into_iter();
    let found = places.find(|place| place.join("whatif_sim.py").is_file());
    if found.is_none() {
        println!("SKIPPED: no model of the allocator (../shared/tools): effects of settings are not compared");
    }
    found
}

fn common_settings(opened: &mut Opened, device: i64) -> WhatIf {
    let question = Question::WhatIf(Box::new(WhatIfQuestion::common_settings(None)));
    match opened.reply(Request::Ask(Ask { serial: 9, device, question })) {
        Reply::Answer { answer: Answer::WhatIf(answer), .. } => *answer,
        other => panic!("expected a simulation, got {other:?}"),
    }
}

/// Returns what a run means for the request that failed first in the recording, at `event`.
fn outcome(run: &WhatIfRun, event: i64) -> &'static str {
    let low = run.low.map_or(run.avoided_oom, |low| low.avoided_oom);
    match run.fails() {
        _ if [run.avoided_oom, low].iter().all(|avoided| avoided.map(i64::from) == Some(event)) => "avoids",
        Some(true) => "fails",
        _ => "depends",
    }
}

/// Compares the peaks and outcomes of all settings of a file, and returns their number. The referee reads a plain
/// pickle at `plain`.
fn check_settings(tools: &Path, name: &str, plain: &Path) -> usize {
    let mut opened = open(&std::fs::read(plain).unwrap()).unwrap();
    let mut compared = 0;
    for device in opened.summary.devices.clone().into_iter().filter(|device| device.device >= 0) {
        let answer = common_settings(&mut opened, device.device);
        if answer.recorded().is_none() {
            continue;
        }
        // The referee does not know the total memory that a fraction refers to.
        let tried = answer.runs.iter().filter(|run| run.origin == WhatIfOrigin::Tried);
        let tried: Vec<_> = tried.filter(|run| !run.settings.contains("fraction")).collect();
        if tried.is_empty() {
            continue;
        }
        let lines: Vec<&str> = tried.iter().map(|run| run.settings.as_str()).collect();
        let lines = serde_json::to_string(&lines).unwrap();
        let results = referee(&["settings", tools.to_str().unwrap(), plain.to_str().unwrap(), &lines]);
        let Some(result) = results.into_iter().find(|it| it["device"] == device.device) else { continue };
        for run in tried {
            let mut peaks: Vec<u64> =
                result["peaks"][&run.settings].as_array().unwrap().iter().filter_map(Value::as_u64).collect();
            peaks.sort_unstable();
            peaks.dedup();
            let mut reported = run.peaks().to_vec();
            reported.sort_unstable();
            reported.dedup();
            if let Some(event) = answer.recorded().and_then(|run| run.oom_event) {
                let outcome = if answer.has_contradictory_limits { "depends" } else { outcome(run, event) };
                assert_eq!(outcome, result["outcomes"][&run.settings], "{name}: {}", run.settings);
                compared += 1;
            } else if run.fails() == Some(false) {
                assert_eq!(reported, peaks, "{name}, device {}: {}", device.device, run.settings);
                compared += 1;
            }
        }
    }
    compared
}

#[test]
fn effects_of_settings_match_referee_on_real_files() {
    let (Some(files), Some(tools)) = (real_pickles(), tools()) else { return };
    let compared: usize = files.iter().map(|path| check_settings(&tools, &path.display().to_string(), path)).sum();
    assert!(compared > 100, "{compared} effects were compared");
}

/// Returns the recordings, sorted by path. Prints a note if there are none.
fn recordings() -> Option<Vec<PathBuf>> {
    let folder = recordings_folder("recommendations are not compared with them")?;
    let entries = |folder: &Path| std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> =
        entries(&folder).filter(|path| path.is_dir()).flat_map(|path| entries(&path)).collect();
    files.retain(|path| path.to_string_lossy().ends_with(".pickle.gz"));
    files.sort();
    Some(files)
}

/// Calls `check` with the name and an unpacked copy of each of these files, and returns the sum of the results.
fn sum_over_unpacked(name: &str, files: &[PathBuf], check: impl Fn(&str, &Path) -> usize) -> usize {
    let plain = std::env::temp_dir().join(format!("memscape-{name}-{}.pickle", std::process::id()));
    let mut sum = 0;
    for path in files {
        let mut bytes = Vec::new();
        flate2::read::GzDecoder::new(std::fs::File::open(path).unwrap()).read_to_end(&mut bytes).unwrap();
        std::fs::write(&plain, bytes).unwrap();
        sum += check(&path.display().to_string(), &plain);
    }
    std::fs::remove_file(plain).unwrap();
    sum
}

#[test]
fn effects_of_settings_match_referee_on_recordings() {
    let (Some(files), Some(tools)) = (recordings(), tools()) else { return };
    let files: Vec<PathBuf> = files.into_iter().step_by(5).collect();
    let compared = sum_over_unpacked("settings", &files, |name, plain| check_settings(&tools, name, plain));
    assert!(compared > 200, "{compared} effects were compared");
}

/// Returns the part of a statement about a plan that says whether the request would have fitted.
fn verdict(plan: &str, outcome: Option<&str>) -> &'static str {
    match outcome {
        Some("avoids") => "this request would have fitted (simulated).",
        Some("fails") if plan == "half the batch size" => {
            "this request would not have fitted at its recorded size (simulated)."
        }
        Some("fails") => "this request would not have fitted (simulated).",
        _ => "not known whether this request would have fitted.",
    }
}

/// Compares the statements about plans at each OOM of a file, and returns their number.
fn check_ooms(tools: &Path, name: &str, plain: &Path) -> usize {
    let mut opened = open(&std::fs::read(plain).unwrap()).unwrap();
    let mut compared = 0;
    for device in referee(&["ooms", tools.to_str().unwrap(), plain.to_str().unwrap(), &default_set()]) {
        let number = device["device"].as_i64().unwrap();
        let numbers =
            |value: &Value| -> Vec<u64> { value.as_array().unwrap().iter().filter_map(Value::as_u64).collect() };
        let plans: Vec<_> =
            device["plans"].as_object().unwrap().iter().map(|(plan, it)| (plan, numbers(&it[0]), &it[1])).collect();
        for (index, (&event, &live)) in numbers(&device["events"]).iter().zip(&numbers(&device["live"])).enumerate() {
            let request = report_request(number, Topic::OutOfMemory, Some(event as u32), &[]);
            let report = report_of(opened.reply(request));
            let is_notable =
                |planned: u64| live - planned >= (64 << 20) || live > planned && (live - planned) * 100 >= live;
            // The referee's model reproduces fewer recordings exactly.
            let is_exact = index > 0 || plans.iter().all(|(.., outcome)| outcome.is_string());
            let sentence = |(plan, planned, outcome): &(&String, Vec<u64>, &Value)| {
                let (now, then) = (Bytes(live), Bytes(planned[index]));
                let start = format!("With {plan}, {then} instead of {now} live at the OOM (planned); ");
                let verdict = verdict(plan, outcome.as_str().filter(|_| index == 0));
                is_notable(planned[index]).then(|| if is_exact { start + verdict } else { start })
            };
            let mut expected: Vec<String> = plans.iter().filter_map(sentence).collect();
            let texts = report.statements.iter().filter_map(|it| it.text.split(" Only assumed: ").next());
            let end = |text: &str| text.find("(planned); ").map(|at| if is_exact { text.len() } else { at + 11 });
            let mut reported: Vec<String> = texts.filter_map(|text| Some(text[..end(text)?].to_owned())).collect();
            expected.sort();
            reported.sort();
            assert_eq!(reported, expected, "{name}, device {number}, event {event}");
            compared += expected.len();
        }
    }
    compared
}

/// Returns whether the recording ran out of memory, by the file beside it.
fn has_oom(path: &Path) -> bool {
    let facts = path.to_str().unwrap().replace(".pickle.gz", ".json");
    let facts: Value = serde_json::from_slice(&std::fs::read(facts).unwrap()).unwrap();
    !facts["oom"].is_null()
}

#[test]
fn plans_at_ooms_match_referee_on_recordings() {
    let (Some(mut files), Some(tools)) = (recordings(), tools()) else { return };
    files.retain(|path| has_oom(path));
    let files: Vec<PathBuf> = files.into_iter().step_by(4).collect();
    let compared = sum_over_unpacked("ooms", &files, |name, plain| check_ooms(&tools, name, plain));
    assert!(compared > 10, "{compared} effects were compared");
}

/// Compares the effects of leaks in a report, and returns their number.
fn check_leaks_in(report: &Report, name: &str, device: &Value) -> usize {
    let peak = device["peak"].as_u64().unwrap();
    let said = |fix: &str| fix.contains("recounted") && fix.starts_with("Free what this line keeps alive");
    let mut compared = 0;
    for leak in report.statements.iter().filter(|it| said(&it.fix)) {
        let is_same = |effect: &&Value| leak.text.starts_with(effect[0].as_str().unwrap());
        let end = |effect: &Value| match peak - effect[1].as_u64().unwrap() {
            0 => " The peak of this trace stays the same (recounted).".to_owned(),
            saved => format!(
                ", the peak is {} instead of {} (−{}, recounted).",
                Bytes(peak - saved),
                Bytes(peak),
                Bytes(saved)
            ),
        };
        let known: Vec<String> = device["leaks"].as_array().unwrap().iter().filter(is_same).map(end).collect();
        assert!(known.iter().any(|end| leak.fix.ends_with(end)), "{name}: {} {} {known:?}", leak.text, leak.fix);
        compared += 1;
    }
    compared
}

/// Compares the effects of all leaks of a file, in the reports that name them, and returns their number.
fn check_leaks(name: &str, plain: &Path) -> usize {
    let mut opened = open(&std::fs::read(plain).unwrap()).unwrap();
    let mut compared = 0;
    for device in referee(&["leaks", plain.to_str().unwrap(), &default_set()]) {
        let number = device["device"].as_i64().unwrap();
        for topic in [Topic::Leaks, Topic::Savings, Topic::Peak] {
            compared += check_leaks_in(&report(&mut opened, number, topic, &[]), name, &device);
        }
    }
    compared
}

#[test]
fn effects_of_leaks_match_referee_on_real_files_and_cases() {
    let cases = folder().into_iter().flat_map(|folder| std::fs::read_dir(folder).unwrap()).map(|it| it.unwrap().path());
    let cases = cases.filter(|path| ["loop", "leak"].iter().any(|part| path.to_string_lossy().contains(part)));
    let files = real_pickles().into_iter().flatten().chain(cases);
    let compared: usize = files.map(|path| check_leaks(&path.display().to_string(), &path)).sum();
    let has_files = folder().is_some() && real_pickles().is_some();
    assert!(compared > 8 || !has_files, "{compared} effects were compared");
}

#[test]
fn effects_of_leaks_match_referee_on_recordings() {
    let Some(files) = recordings() else { return };
    let files: Vec<PathBuf> = files.into_iter().step_by(7).collect();
    let compared = sum_over_unpacked("leaks", &files, check_leaks);
    println!("{compared} effects were compared");
}
