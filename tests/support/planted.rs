//! A snapshot with private texts of every kind, and a search for them in written files.

use crate::recorded;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use flate2::read::GzDecoder;
use ruzstd::decoding::StreamingDecoder;
use ruzstd::io::Read as _;
use serde_json::{Value, json};
use std::io::Read;

/// Private texts by the kind that leaves them out. Every text contains `zq`, which is in no other text.
pub(crate) const PLANTED: [(&str, &[&str]); 6] = [
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
    ("metadata", &["zqrun", "zqtensor", "zqweight", "zqprompt", "zqnested", "zqremark"]),
    ("host", &["zqhost"]),
    ("recorder", &["zqscript", "zqerror", "zqjob", "zqgit", "zqbranch", "zqcoord", "zqreason"]),
];

/// Returns a snapshot with all planted texts.
pub(crate) fn snapshot() -> Value {
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
    facts["reason"] = json!("zqreason");
    facts["host"] = json!("zqhost");
    facts["program"] = json!("zqscript.py");
    facts["error"] = json!("ValueError: zqerror");
    facts["job"] = json!("zqjob");
    facts["git"] = json!({ "commit": "zqgit", "branch": "zqbranch" });
    facts["coords"] = json!({ "zqcoord": 1 });
    facts["tensors"][0]["name"] = json!("zqtensor.weight");
    facts["tensors"][0]["note"] = json!("zqremark");
    facts["tensors"][1]["name"] = json!("zqweight");
    facts["source"] = json!({ "/zqsourcefolder/train.py": "def zqdef():\n    pass\n" });
    snapshot
}

/// First bytes of a zstd frame.
const ZSTD: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// Returns the bytes of a file, followed by what its compressed and base64 parts contain.
pub(crate) fn all_bytes(bytes: &[u8]) -> Vec<u8> {
    let mut all = bytes.to_vec();
    if bytes.starts_with(&[0x1f, 0x8b]) {
        let mut inner = Vec::new();
        GzDecoder::new(bytes).read_to_end(&mut inner).unwrap();
        all.extend(all_bytes(&inner));
    }
    // Parquet files hold compressed pages.
    if bytes.starts_with(&ZSTD) || bytes.starts_with(b"PAR1") {
        for start in (0..bytes.len()).filter(|&at| bytes[at..].starts_with(&ZSTD)) {
            let mut inner = Vec::new();
            if let Ok(mut frames) = StreamingDecoder::new(&bytes[start..]) {
                let _ = frames.read_to_end(&mut inner);
            }
            all.extend(inner);
        }
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

pub(crate) fn has(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|window| window == text.as_bytes())
}
