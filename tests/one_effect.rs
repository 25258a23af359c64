//! One effect, one number: what an insight says about a change is the same in JSON, Markdown, text and for agents, and
//! equals the numbers of `memscape plan` and `memscape whatif`.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests may panic")]

use crate::opened::real_pickles;

use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};

const TOPICS: [&str; 5] = ["oom", "savings", "leaks", "fragmentation", "settings"];

fn run(arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_memscape")).args(arguments).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn json_of(arguments: &[&str]) -> Value {
    serde_json::from_str(&run(&[arguments, &["--json"]].concat())).unwrap()
}

/// Texts of the statements in the JSON of insights, and what to do.
fn statements(insights: &Value) -> Vec<String> {
    let all = insights["insights"].as_array().unwrap().iter();
    let all = all.flat_map(|insight| insight["statements"].as_array().unwrap());
    all.flat_map(|it| ["text", "fix"].map(|key| it[key].as_str().unwrap_or_default().to_owned())).collect()
}

/// Returns what the MCP server's tool answers about all topics.
fn ask_agent_tool(path: &str) -> String {
    let mut server = Command::new(env!("CARGO_BIN_EXE_memscape"))
        .args(["mcp", path])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = server.stdin.take().unwrap();
    let mut lines = BufReader::new(server.stdout.take().unwrap()).lines();
    let mut send = |message: Value| writeln!(input, "{message}").unwrap();
    let client =
        json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
    send(json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": client}));
    lines.next().unwrap().unwrap();
    send(json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    let call = json!({"name": "insights", "arguments": {"file": path}});
    send(json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}));
    let answer: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
    drop(input);
    server.wait().unwrap();
    answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
}

/// Removes what formats differ in: line breaks, indentation, and escapes of Markdown and JSON.
fn plain(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ").replace('\\', "")
}

#[test]
fn statements_are_equal_in_all_formats() {
    let Some(files) = real_pickles() else { return };
    for name in ["adam-35-events.pickle", "deep-stacks-no-time.pickle", "no-time-expandable.pickle"] {
        let Some(path) = files.iter().find(|path| path.ends_with(name)) else { continue };
        let path = path.to_str().unwrap();
        let insights = json_of(&["insights", path]);
        let said = statements(&insights);
        assert!(said.iter().any(|text| text.contains(" (simulated)")), "{name}: {said:#?}");
        let formats = [
            ("Markdown", run(&["insights", path, "--markdown"])),
            ("text", run(&["insights", path])),
            ("MCP", ask_agent_tool(path)),
        ];
        for (format, output) in formats {
            let output = plain(&output);
            for text in &said {
                assert!(output.contains(&plain(text)), "{name}, {format} lacks {text:?}: {output}");
            }
        }
        for topic in TOPICS {
            let alone = statements(&json_of(&["insights", path, "--topic", topic]));
            let all: BTreeSet<&String> = said.iter().collect();
            assert!(alone.iter().all(|text| all.contains(text)), "{name}, {topic}: {alone:#?}");
        }
    }
}

/// The same change to the optimizer, as a saving and as a plan.
#[test]
fn savings_of_optimizer_state_equal_plans() {
    let Some(files) = real_pickles() else { return };
    let presets = [
        ("8bit-optimizer", "8-bit optimizer state"),
        ("zero1=8", "optimizer state sharded over 8 devices"),
        ("offload-optimizer", "optimizer state on the CPU"),
    ];
    let mut compared = 0;
    for path in files {
        let path = path.to_str().unwrap();
        let report = json_of(&["insights", path, "--topic", "savings", "--top", "20"]);
        let rows = report["insights"][0]["sheets"]["savings"]["rows"].as_array().cloned().unwrap_or_default();
        for (preset, change) in presets {
            let Some(row) = rows.iter().find(|row| row["change"] == change) else { continue };
            let plan = json_of(&["plan", path, "--preset", preset]);
            assert_eq!(plan["planned"]["peak_live_bytes"], row["peak_without_bytes"], "{path}: {change}");
            compared += 1;
        }
    }
    assert!(compared >= 15, "{compared} effects were compared");
}

/// The smallest memory that `memscape whatif` finds is enough, and a page less is not.
#[test]
fn smallest_memory_that_fits_is_enough_when_it_is_the_limit() {
    let Some(files) = real_pickles() else { return };
    for name in ["adam-35-events.pickle", "forward-only-100.pickle", "train-annotated-100.pickle"] {
        let Some(path) = files.iter().find(|path| path.ends_with(name)) else { continue };
        let searched = json_of(&["whatif", path.to_str().unwrap(), "--search"]);
        let fits = searched["devices"][0]["fits_in"].as_array().unwrap().clone();
        assert!(!fits.is_empty(), "{name}: {searched}");
        for fit in fits.iter().take(3) {
            check_limit(path, fit);
        }
    }
}

fn check_limit(path: &Path, fit: &Value) {
    let (settings, bytes) = (fit["settings"].as_str().unwrap(), fit["capacity_bytes"].as_u64().unwrap());
    // The recording comes first, without this limit.
    let fails = |capacity: u64| {
        let capacity = capacity.to_string();
        let answer = json_of(&["whatif", path.to_str().unwrap(), "--set", settings, "--capacity", &capacity]);
        let runs = answer["devices"][0]["runs"].as_array().unwrap();
        let run = runs.iter().rfind(|run| run["settings"] == settings).unwrap_or_else(|| panic!("{answer}"));
        !run["oom_event"].is_null()
    };
    assert!(!fails(bytes), "{}, {settings}: {bytes} bytes are not enough", path.display());
    assert!(fails(bytes - (2 << 20)), "{}, {settings}: {bytes} bytes are too many", path.display());
}
