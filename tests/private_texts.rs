//! `--leave-out`: no written file contains the texts that are left out, and all totals stay.

use crate::recorded;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use flate2::read::GzDecoder;
use memscape::protocol::ExportFormat;
use serde_json::{Value, json};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Private texts by the kind that leaves them out. Every text contains `zq`, which is in no other text.
const PLANTED: [(&str, &[&str]); 6] = [
    (
        "paths",
        &[
            "zqhome",
            "zqproject",
            "zqwindows",
            "zqpackage",
            "zqtrace",
            "zqsourcefolder",
            "zqnative",
            "zqnotebook",
            "zqdeep",
            "zqmount",
        ],
    ),
    ("source", &["zqdef", "zqcomment", "zqpassword", "zqcodeline"]),
    ("annotations", &["zqphase", "zqcustomer", "zqexperiment", "zqsweep"]),
    ("metadata", &["zqrun", "zqtensor", "zqweight", "zqprompt", "zqnested"]),
    ("host", &["zqhost"]),
    ("recorder", &["zqscript", "zqerror", "zqjob", "zqgit", "zqbranch", "zqcoord"]),
];

fn memscape(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_memscape")).args(arguments).env("MEMSCAPE_CACHE", "off").output().unwrap()
}

fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

/// Returns a snapshot with all planted texts.
fn snapshot() -> Value {
    let mut snapshot = recorded::snapshot();
    let files = [
        "/zqhome/zqproject/train.py",
        "C:\\zqwindows\\zqdeep\\model.py",
        "/env/lib/python3.11/site-packages/zqpackage/layers.py",
        "/zqmount/lib/libzq_free.so",
        "/tmp/zqnotebook/17.py",
        "/opt/zqnative/lib/python3.11/site-packages/torch/nn/modules/linear.py",
    ];
    let trace = snapshot["device_traces"][0].as_array_mut().unwrap();
    for (index, event) in trace.iter_mut().enumerate() {
        event["frames"] = json!([
            { "name": "forward", "filename": files[index % files.len()], "line": index + 1,
              "fx_node_name": "relu", "fx_original_trace": "File \"/zqtrace/x.py\", line 1, in f\n    zqcodeline" },
            { "name": "main", "filename": files[0], "line": 7 },
        ]);
        event["user_metadata"] = match index % 3 {
            0 => json!("zqrun"),
            1 => json!({ "prompt": "zqprompt", "more": { "deep": "zqnested" } }),
            _ => json!("zqrun 2"),
        };
        event["forward_frames"] =
            json!(["  File \"/zqtrace/y.py\", line 2, in g\n    zqpassword = 1\n", "    zqcomment"]);
    }
    for segment in snapshot["segments"].as_array_mut().unwrap() {
        segment["blocks"][0]["frames"] = json!([{ "name": "forward", "filename": files[0], "line": 1 }]);
    }
    let mark = |stage: &str, name: &str, time: u64| json!({ "stage": stage, "name": name, "device": 0, "time_us": 1_700_000_000_000_000 + time });
    let names = ["zqphase", "## zqcustomer ##", "train/zqexperiment", "zqsweep 3"];
    let marks = names.iter().enumerate().flat_map(|(index, name)| {
        let start = index as u64 * 2_000;
        [mark("START", name, start + 600), mark("END", name, start + 1_900)]
    });
    snapshot["external_annotations"] = marks.collect();
    let facts = &mut snapshot["memscape"];
    facts["host"] = json!("zqhost");
    facts["program"] = json!("zqscript.py");
    facts["error"] = json!("ValueError: zqerror");
    facts["job"] = json!("zqjob");
    facts["git"] = json!({ "commit": "zqgit", "branch": "zqbranch" });
    facts["coords"] = json!({ "zqcoord": 1 });
    facts["tensors"][0]["name"] = json!("zqtensor.weight");
    facts["tensors"][1]["name"] = json!("zqweight");
    facts["source"] = json!({ "/zqsourcefolder/train.py": "def zqdef():\n    pass\n" });
    snapshot
}

fn written_snapshot(name: &str) -> String {
    let file = path(name);
    std::fs::write(&file, snapshot().to_string()).unwrap();
    file.to_str().unwrap().to_owned()
}

/// Returns the bytes of a file, followed by what its compressed and base64 parts contain.
fn all_bytes(bytes: &[u8]) -> Vec<u8> {
    let mut all = bytes.to_vec();
    if bytes.starts_with(&[0x1f, 0x8b]) {
        let mut inner = Vec::new();
        GzDecoder::new(bytes).read_to_end(&mut inner).unwrap();
        all.extend(all_bytes(&inner));
    }
    let text = String::from_utf8_lossy(bytes);
    for part in text.split(['>', '<', '"']).filter(|part| part.len() > 200) {
        let compact: String = part.split_whitespace().collect();
        if let Ok(inner) = BASE64_STANDARD.decode(compact) {
            all.extend(all_bytes(&inner));
        }
    }
    if bytes.starts_with(b"PK") {
        let mut archive = zip::ZipArchive::new(std::io::Cursor::new(bytes)).unwrap();
        for index in 0..archive.len() {
            let mut inner = Vec::new();
            archive.by_index(index).unwrap().read_to_end(&mut inner).unwrap();
            all.extend(inner);
        }
    }
    all
}

fn has(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|window| window == text.as_bytes())
}

/// Writes the snapshot by every command that writes a file. Returns the name and the content of each.
fn outputs(file: &str, tag: &str, leave_out: &[&str]) -> Vec<(String, Vec<u8>)> {
    let mut commands: Vec<Vec<String>> = Vec::new();
    let mut add = |command: &str, extension: &str, more: &[&str]| {
        let out = path(&format!("private-{tag}-{}-{command}.{extension}", more.join("-").replace('/', "")));
        let words = [&[command, file], more, &["-o", out.to_str().unwrap()], leave_out].concat();
        commands.push(words.into_iter().map(str::to_owned).collect());
    };
    for extension in ["pickle", "pickle.gz", "json", "zip", "columns"] {
        add("convert", extension, &[]);
    }
    add("crop", "pickle", &["--from", "0", "--to", "6"]);
    add("plot", "svg", &[]);
    for format in ExportFormat::ALL {
        add("export", format.extension(), &["--to", format.name()]);
    }
    let mut written = Vec::new();
    for words in commands {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let done = memscape(&words);
        assert!(done.status.success(), "{words:?}: {}", String::from_utf8_lossy(&done.stderr));
        let out = words[words.iter().position(|word| *word == "-o").unwrap() + 1];
        written.push((words.join(" "), all_bytes(&std::fs::read(out).unwrap())));
    }
    for words in
        [&["summary", "--json"][..], &["insights", "--json"], &["allocations", "--json"], &["events", "--json"]]
    {
        let words = [&[words[0], file], &words[1..], leave_out].concat();
        let done = memscape(&words);
        assert!(done.status.success(), "{words:?}: {}", String::from_utf8_lossy(&done.stderr));
        written.push((words.join(" "), done.stdout));
    }
    written
}

#[test]
fn no_output_contains_texts_that_are_left_out() {
    let file = written_snapshot("private-all.json");
    let outputs = outputs(&file, "all", &["--leave-out", "all"]);
    for (command, bytes) in &outputs {
        for text in PLANTED.iter().flat_map(|(_, texts)| *texts) {
            assert!(!has(bytes, text), "{text} is in the output of {command}");
        }
    }
}

#[test]
fn each_kind_leaves_out_its_texts_and_keeps_the_others() {
    let file = written_snapshot("private-kinds.json");
    for (kind, texts) in PLANTED {
        let out = path(&format!("private-{kind}.json"));
        let out = out.to_str().unwrap();
        assert!(memscape(&["convert", &file, "-o", out, "--leave-out", kind]).status.success());
        let bytes = std::fs::read(out).unwrap();
        texts.iter().for_each(|text| assert!(!has(&bytes, text), "{kind}: {text} was not left out"));
        for (other, texts) in PLANTED.iter().filter(|(other, _)| *other != kind) {
            // The recorder's facts include the host and source texts, which are listed by path.
            let is_included = matches!(
                (kind, *other),
                ("recorder", "host" | "source" | "paths") | ("paths", "source") | ("source", "paths")
            );
            let kept = texts.iter().filter(|text| has(&bytes, text)).count();
            assert!(is_included || kept == texts.len(), "{kind}: only {kept} texts of {other} were kept");
        }
    }
}

#[test]
fn planted_texts_are_in_the_file_without_the_option() {
    let file = written_snapshot("private-none.json");
    let out = path("private-none.pickle");
    assert!(memscape(&["convert", &file, "-o", out.to_str().unwrap()]).status.success());
    let bytes = std::fs::read(out).unwrap();
    for text in PLANTED.iter().flat_map(|(_, texts)| *texts) {
        assert!(has(&bytes, text), "{text}");
    }
}

#[test]
fn totals_stay_and_file_says_what_was_left_out() {
    let file = written_snapshot("private-totals.json");
    let out = path("private-totals.pickle");
    let out = out.to_str().unwrap();
    assert!(memscape(&["convert", &file, "-o", out, "--leave-out", "all"]).status.success());
    let summary = |file: &str| -> Value {
        serde_json::from_slice::<Vec<Value>>(&memscape(&["summary", file, "--json"]).stdout).unwrap().remove(0)
    };
    let (before, after) = (summary(&file), summary(out));
    assert_eq!(before["devices"], after["devices"]);
    assert_eq!(before["devices"][0]["peak_requested"], recorded::PEAK);
    let left_out = after["recorder"].to_string();
    for kind in ["paths", "source", "annotations", "metadata", "host", "recorder"] {
        assert!(left_out.contains(kind), "{kind}: {left_out}");
    }
}

#[test]
fn general_commands_and_unknown_kinds_are_rejected() {
    let file = written_snapshot("private-wrong.json");
    let error = |words: &[&str]| {
        let done = memscape(words);
        assert_eq!(done.status.code(), Some(2), "{words:?}");
        String::from_utf8(done.stderr).unwrap()
    };
    assert!(error(&["summary", &file, "--leave-out", "paths,faces"]).contains("expected all, or some of paths,source"));
    assert!(error(&["ranks", &file, "--leave-out", "all"]).contains("write one without these texts with convert"));
}
