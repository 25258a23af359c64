//! Effects of recommendations on real files, compared with the slow referee in recommendations.py: peaks by brute force,
//! settings by the Python model of the allocator.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests may panic")]

use crate::opened;
use crate::reported;

use memscape::engine::{Answer, Ask, Question, Reply, Request};
use memscape::protocol::{Topic, WhatIf, WhatIfOrigin, WhatIfQuestion};
use opened::{Opened, open, real_pickles, recordings_folder};
use reported::{number, report, sheet, text};
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

/// Compares the effects on these files, and returns their number.
fn check_savings(files: &[PathBuf]) -> usize {
    let set = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/analysis/category/default.json");
    let mut compared = 0;
    for path in files {
        let mut opened = open(&std::fs::read(path).unwrap()).unwrap();
        for device in referee(&["savings", path.to_str().unwrap(), set.to_str().unwrap()]) {
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

/// Compares the peaks of all settings of a file, and returns their number. The referee reads a plain pickle at `plain`.
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
                result["runs"][&run.settings].as_array().unwrap().iter().filter_map(Value::as_u64).collect();
            peaks.sort_unstable();
            peaks.dedup();
            let mut reported = run.peaks().to_vec();
            reported.sort_unstable();
            reported.dedup();
            if run.fails() == Some(false) {
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

#[test]
fn effects_of_settings_match_referee_on_recordings() {
    let (Some(folder), Some(tools)) = (recordings_folder("settings are not compared with them"), tools()) else {
        return;
    };
    let entries = |folder: &Path| std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> =
        entries(&folder).filter(|path| path.is_dir()).flat_map(|path| entries(&path)).collect();
    files.retain(|path| path.to_string_lossy().ends_with(".pickle.gz"));
    files.sort();
    let plain = std::env::temp_dir().join(format!("memscape-recommendations-{}.pickle", std::process::id()));
    let mut compared = 0;
    for path in files.iter().step_by(5) {
        let mut bytes = Vec::new();
        flate2::read::GzDecoder::new(std::fs::File::open(path).unwrap()).read_to_end(&mut bytes).unwrap();
        std::fs::write(&plain, bytes).unwrap();
        compared += check_settings(&tools, &path.display().to_string(), &plain);
    }
    std::fs::remove_file(plain).unwrap();
    assert!(compared > 200, "{compared} effects were compared");
}
