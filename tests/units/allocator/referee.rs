//! Simulated peaks of real files against the Python prototype, under other settings and with other sizes.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may fail")]

use crate::conf::parse;
use crate::files::{folder, names, proved, recordings, whole};
use crate::{Limits, Plan, Run, Settings};
use std::collections::BTreeMap;
use std::process::Command;

/// Script that prints the peak of reserved bytes of each file under each of [`CHANGES`].
const CHANGED_SETTINGS_SCRIPT: &str = r#"
import os, sys
sys.path.insert(0, sys.argv[1])
from allocator_sim import INF, MB, Driver, Recording, fit, load
from whatif_sim import predict
changes = [("expandable", dict(expandable=True)), ("plain", dict(expandable=False)), ("div8", dict(round=(8,)*16)),
           ("split128", dict(max_split=128*MB)), ("segment64", dict(large_segment=64*MB))]
for path in sys.argv[2:]:
    snap = load(path)
    for device, trace in enumerate(snap.get("device_traces", [])):
        if not any(event["action"] == "alloc" for event in trace): continue
        replay = fit(Recording(snap, device))[0]
        print(os.path.basename(path))
        for name, change in changes:
            print("    %s: peak reserved %d" % (name, predict(replay, replay.cfg.copy(**change), Driver()).peak))
"#;

/// Names of the changed settings in the output of the prototype. Each differs from the recorded settings in one value.
const CHANGES: [&str; 5] = ["expandable", "plain", "div8", "split128", "segment64"];

fn changed(settings: &Settings, change: &str) -> Settings {
    let settings = settings.clone();
    match change {
        "expandable" => Settings { expandable: true, ..settings },
        "plain" => Settings { expandable: false, ..settings },
        "div8" => Settings { divisions: parse("roundup_power2_divisions:8").unwrap().0.divisions, ..settings },
        "split128" => Settings { max_split: Some(128 << 20), ..settings },
        "segment64" => Settings { large_segment: 64 << 20, ..settings },
        other => panic!("{other}"),
    }
}

#[test]
fn peaks_under_other_settings_match_python_prototype() {
    let Some(tool) = folder().map(|folder| folder.join("../tools/allocator_sim.py")).filter(|tool| tool.is_file())
    else {
        println!("SKIPPED: no ../shared/tools/allocator_sim.py: no referee for real files");
        return;
    };
    let files: Vec<_> = names().into_iter().filter(|name| !name.starts_with("anonymised")).collect();
    let mut command = Command::new("python3");
    command
        .args(["-c", CHANGED_SETTINGS_SCRIPT])
        .arg(tool.parent().unwrap())
        .args(files.iter().map(|name| folder().unwrap().join(name)));
    let output = command.output().expect("python3");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let (mut judged, mut file) = (BTreeMap::new(), String::new());
    for line in String::from_utf8(output.stdout).unwrap().lines() {
        match line.strip_prefix("    ").and_then(|line| line.split_once(": peak reserved ")) {
            Some((change, peak)) => {
                judged.insert((file.clone(), change.to_owned()), peak.parse::<u64>().unwrap());
            }
            None => file = line.split_whitespace().next().unwrap().to_owned(),
        }
    }
    let mut compared = 0;
    for name in files {
        for recording in recordings(&name).into_iter().flatten().filter(|recording| recording.requests > 0) {
            let (recording, proof) = proved(recording);
            for change in CHANGES {
                let settings = changed(&proof.settings, change);
                let plan = Plan { settings, backend: proof.backend, limits: Limits::default(), ..Plan::default() };
                let mut run = Run::new(&recording, &plan);
                whole(|slice| run.step(&recording, slice));
                let judged = judged.get(&(name.clone(), change.to_owned()));
                assert_eq!(Some(&run.outcome().peak_reserved), judged, "{name}, {change}");
                compared += 1;
            }
        }
    }
    println!("{compared} peaks equal those of the prototype");
    assert_eq!(compared, judged.len());
}

/// Script that prints the peak of reserved bytes of each file with the sizes of allocations scaled, as a plan does.
const SCALED_SIZES_SCRIPT: &str = r#"
import os, sys
sys.path.insert(0, sys.argv[1])
from allocator_sim import Driver, Recording, fit, load
from whatif_sim import predict
def scaled(size, seed):
    times, by = [(1, 1), (0, 1), (2, 1), (1, 8), (3, 2)][size // 512 * seed % 5]
    return -(-size * times // by)
for path in sys.argv[2:]:
    snap = load(path)
    for device, trace in enumerate(snap.get("device_traces", [])):
        if not any(event["action"] == "alloc" for event in trace): continue
        recording = Recording(snap, device)
        replay = fit(recording)[0]
        events, live, ids = recording.ev, recording.init_live, recording.init_ids
        for seed in (1, 7):
            sizes = {number: live[address][1] for number, address in ids.items()}
            sizes.update({event[1]: event[2] for event in events if event[0] == "alloc"})
            gone = {number for number, size in sizes.items() if scaled(size, seed) == 0}
            # Events keep their indices, because the replay refers to them.
            recording.ev = [("gone",) + event[1:] if event[1] is not None and event[1] in gone
                            else event[:2] + (scaled(event[2], seed),) + event[3:] if event[0] == "alloc" else event
                            for event in events]
            recording.init_ids = {number: address for number, address in ids.items() if number not in gone}
            recording.init_live = {address: (entry[0], scaled(entry[1], seed)) + tuple(entry[2:]) for address, entry in live.items()}
            for expandable in (False, True):
                result = predict(replay, replay.cfg.copy(expandable=expandable), Driver())
                print(os.path.basename(path), seed, expandable, result.peak)
"#;

/// Scales a size like `scaled` in [`SCALED_SIZES_SCRIPT`].
fn scaled(size: u64, seed: u64) -> u64 {
    let (times, by) = [(1, 1), (0, 1), (2, 1), (1, 8), (3, 2)][(size / 512 * seed % 5) as usize];
    (size * times).div_ceil(by)
}

#[test]
fn peaks_with_scaled_sizes_match_python_prototype() {
    let Some(tools) = folder().map(|folder| folder.join("../tools")).filter(|tools| tools.is_dir()) else {
        println!("SKIPPED: no ../shared/tools: no referee for planned sizes");
        return;
    };
    let files: Vec<_> = names().into_iter().filter(|name| !name.starts_with("anonymised")).collect();
    let paths = files.iter().map(|name| folder().unwrap().join(name));
    let output =
        Command::new("python3").args(["-c", SCALED_SIZES_SCRIPT]).arg(tools).args(paths).output().expect("python3");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    let mut judged = text.lines();
    let mut changed = 0;
    for name in files {
        for mut recording in recordings(&name).into_iter().flatten().filter(|recording| recording.requests > 0) {
            let (found, proof) = proved(recording);
            recording = found;
            for seed in [1, 7] {
                let sizes: Vec<u64> = recording.allocations.iter().map(|it| scaled(it.size, seed)).collect();
                recording.plan(sizes.into_iter());
                for expandable in [false, true] {
                    let settings = Settings { expandable, ..proof.settings.clone() };
                    let plan = Plan { settings, backend: proof.backend, is_planned: true, ..Plan::default() };
                    let mut run = Run::new(&recording, &plan);
                    whole(|slice| run.step(&recording, slice));
                    let expandable = if expandable { "True" } else { "False" };
                    let ours = format!("{name} {seed} {expandable} {}", run.outcome().peak_reserved);
                    assert_eq!(judged.next(), Some(ours.as_str()));
                    changed += u64::from(run.outcome().peak_reserved != proof.verdict.recorded_peak_reserved);
                }
            }
        }
    }
    assert_eq!(judged.next(), None);
    assert!(names().is_empty() || changed > 0);
}
