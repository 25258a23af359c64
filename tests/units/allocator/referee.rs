//! Real files under other settings, against the independent prototype in Python.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may fail")]

use crate::conf::parse;
use crate::files::{folder, names, recordings, whole};
use crate::{Inference, Limits, Plan, Run, Settings};
use std::collections::BTreeMap;
use std::process::Command;

/// What the prototype calls these settings; each changes what was recorded by one thing.
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
fn real_files_come_out_as_in_the_prototype_under_other_settings() {
    let Some(tool) = folder().map(|folder| folder.join("../tools/allocator_sim.py")).filter(|tool| tool.is_file())
    else {
        println!("SKIPPED: no ../shared/tools/allocator_sim.py: no referee for real files");
        return;
    };
    let files: Vec<_> = names().into_iter().filter(|name| !name.starts_with("anonymised")).collect();
    let mut command = Command::new("python3");
    command.arg(&tool).args(files.iter().map(|name| folder().unwrap().join(name)));
    for name in CHANGES {
        command.args(["--set", name]);
    }
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
            let mut inference = Inference::default();
            let proof = whole(|slice| inference.step(&recording, slice));
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
    println!("{compared} peaks are those of the prototype");
    assert_eq!(compared, judged.len());
}
