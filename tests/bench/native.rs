//! Native time to open a file: decode, replay, index. Each run has its own process, so that its memory is known.

use crate::machine;
use memscape::engine::{Engine, NeededBytes, Reply, Request};
use memscape::protocol::DeviceSummary;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

/// First argument of the process that opens a file and prints the seconds.
pub(crate) const OPEN: &str = "--open-once";

/// First argument of the process that opens a file and prints its [`Memory`]; slower, since it sums up the tables
/// before each chunk.
pub(crate) const WEIGH: &str = "--weigh-once";

const CHUNK: u64 = 1 << 20;

/// Memory of an open file, in bytes.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Memory {
    /// Heap bytes by table: at the peak of decoding, and once the file is open.
    pub(crate) tables: BTreeMap<String, [u64; 2]>,
    /// Growth of the largest resident set of the process.
    pub(crate) resident: u64,
}

impl Memory {
    /// Sums over all tables.
    pub(crate) fn sums(&self) -> [u64; 2] {
        self.tables.values().fold([0, 0], |sum, bytes| [sum[0] + bytes[0], sum[1] + bytes[1]])
    }
}

/// Opens the file in a new process; returns the seconds.
pub(crate) fn open(path: &Path) -> f64 {
    serde_json::from_str(&child(OPEN, path)).expect("the child prints JSON")
}

/// Opens the file in a new process; returns its memory.
pub(crate) fn weigh(path: &Path) -> Memory {
    serde_json::from_str(&child(WEIGH, path)).expect("the child prints JSON")
}

/// Runs this program with these arguments in a new process; returns what it prints.
pub(crate) fn child(what: &str, path: &Path) -> String {
    let program = std::env::current_exe().expect("the path of this program");
    let output = Command::new(program).arg(what).arg(path).output().expect("this program can be started");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

/// Opens a file and prints the measurement if this process was started by [`open`] or [`weigh`]; returns whether it
/// was.
pub(crate) fn run_as_child(arguments: &[String]) -> bool {
    let is_child = matches!(arguments, [what, _] if [OPEN, WEIGH].contains(&what.as_str()));
    if is_child {
        measure(&arguments[0], Path::new(&arguments[1]));
    }
    is_child
}

fn measure(what: &str, path: &Path) {
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

/// Opens a file and calls `each` before every chunk; returns the engine and the summary of the first device.
pub(crate) fn open_with(path: &Path, each: impl FnMut(&Engine)) -> (Engine, DeviceSummary) {
    open_in(Engine::new(), path, each)
}

/// Opens a file in this engine, as [`open_with`].
pub(crate) fn open_in(mut engine: Engine, path: &Path, mut each: impl FnMut(&Engine)) -> (Engine, DeviceSummary) {
    let mut file = File::open(path).expect("just written");
    let mut device = DeviceSummary::default();
    engine.request(Request::open("bench", None));
    while engine.is_loading() {
        if engine.wants() == Some(NeededBytes::Next) {
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
