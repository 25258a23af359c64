//! What opening takes natively: decode, replay, index. Each run is a process of its own, so that its memory is known.

use crate::machine;
use memscape::engine::protocol::DeviceSummary;
use memscape::engine::{Engine, Reply, Request, Want};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

/// The first argument of a process that opens one file and tells what it took.
pub(crate) const OPEN: &str = "--open-once";

/// As [`OPEN`], asking the tables for their bytes all the while: slower.
pub(crate) const WEIGH: &str = "--weigh-once";

const CHUNK: u64 = 1 << 20;

/// Bytes on the heap.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Memory {
    /// By table: when their sum was largest while the file was decoded, and when it was open.
    pub(crate) tables: BTreeMap<String, [u64; 2]>,
    /// By how much the process grew at most, whatever it was for.
    pub(crate) resident: u64,
}

impl Memory {
    /// Of all tables.
    pub(crate) fn sums(&self) -> [u64; 2] {
        self.tables.values().fold([0, 0], |sum, bytes| [sum[0] + bytes[0], sum[1] + bytes[1]])
    }
}

/// Seconds that opening the file takes.
pub(crate) fn open(path: &Path) -> f64 {
    serde_json::from_str(&child(OPEN, path)).expect("what a child says")
}

/// What the file takes in memory.
pub(crate) fn weigh(path: &Path) -> Memory {
    serde_json::from_str(&child(WEIGH, path)).expect("what a child says")
}

fn child(what: &str, path: &Path) -> String {
    let program = std::env::current_exe().expect("a program knows where it is");
    let output = Command::new(program).arg(what).arg(path).output().expect("it runs already");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

/// The child: opens the file and prints what `what` asks for.
pub(crate) fn run_child(what: &str, path: &Path) {
    let mut memory = Memory::default();
    let grown = machine::peak_resident("self").unwrap_or(0);
    let started = Instant::now();
    let mut heaviest = Vec::new();
    let (engine, _) = open_with(path, |engine| {
        if what == WEIGH {
            let tables = engine.heap_bytes();
            if sum(&tables) > sum(&heaviest) {
                heaviest = tables;
            }
        }
    });
    if what == OPEN {
        println!("{}", started.elapsed().as_secs_f64());
        return;
    }
    memory.resident = machine::peak_resident("self").unwrap_or(0).saturating_sub(grown);
    for (at, tables) in [heaviest, engine.heap_bytes()].into_iter().enumerate() {
        for (name, bytes) in tables {
            memory.tables.entry(name.to_owned()).or_default()[at] += bytes as u64;
        }
    }
    println!("{}", serde_json::to_string(&memory).expect("plain data"));
}

fn sum(tables: &[(&str, usize)]) -> usize {
    tables.iter().map(|(_, bytes)| bytes).sum()
}

/// Opens a file; `each` sees the engine before every chunk. What is said of its first device comes with it.
pub(crate) fn open_with(path: &Path, mut each: impl FnMut(&Engine)) -> (Engine, DeviceSummary) {
    let mut file = File::open(path).expect("just written");
    let mut engine = Engine::new();
    let mut device = DeviceSummary::default();
    engine.request(Request::open("bench", None));
    while engine.is_loading() {
        if engine.wants() == Some(Want::Next) {
            each(&engine);
            let mut chunk = Vec::with_capacity(CHUNK as usize);
            match file.by_ref().take(CHUNK).read_to_end(&mut chunk).expect("readable") {
                0 => engine.request(Request::EndOfFile),
                _ => engine.feed(chunk),
            }
        }
        engine.step(&mut || true);
        while let Some(reply) = engine.next_reply() {
            match reply {
                Reply::Failed { message } => panic!("{message}"),
                Reply::Opened(summary) => device = summary.devices.into_iter().next().unwrap_or_default(),
                _ => {}
            }
        }
    }
    (engine, device)
}
