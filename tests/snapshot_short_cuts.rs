//! What is read of a snapshot is the same with the decoder's short cuts on and off, in any chunks: real files and generated ones.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may fail")]

#[path = "generate/mod.rs"]
#[allow(dead_code, reason = "each test file uses its part")]
mod generate;
#[path = "support/opened.rs"]
#[allow(dead_code, reason = "each test file uses its part")]
mod opened;

use generate::Options;
use memscape::pickle::{Limits, Machine};
use memscape::snapshot::{Event, EventSink, Reader};
use opened::snapshots;

#[derive(Default)]
struct Events(Vec<(u32, Event)>);

impl EventSink for Events {
    fn event(&mut self, trace: u32, event: &Event) {
        self.0.push((trace, *event));
    }
}

/// All events with their ids, and everything else that was read.
fn read(bytes: &[u8], limits: Limits, chunk: usize) -> Result<(Vec<(u32, Event)>, String), String> {
    let mut machine = Machine::new(Reader::new(Events::default()), limits);
    for piece in bytes.chunks(chunk) {
        machine.feed(piece).map_err(|error| error.to_string())?;
    }
    let (reader, root) = machine.finish().map_err(|error| error.to_string())?;
    let (snapshot, events) = reader.finish(root).map_err(|error| error.to_string())?;
    let lengths = [snapshot.strings.len(), snapshot.frames.len(), snapshot.stacks.len(), snapshot.labels.len()];
    let warnings: Vec<_> = snapshot.warnings.iter().collect();
    let rest = (&snapshot.segments, &snapshot.blocks, &snapshot.marks, &snapshot.traces, &snapshot.settings);
    Ok((events.0, format!("{lengths:?} {warnings:?} {rest:?} {:?}", snapshot.torch)))
}

fn same_on_and_off(name: &str, bytes: &[u8]) {
    let plain = read(bytes, Limits { slice_bytes: 0, whole_pairs: 0, ..Limits::default() }, usize::MAX);
    let cases = [
        (Limits::default(), usize::MAX),
        (Limits::default(), 4096),
        (Limits::default(), 101),
        (Limits { slice_bytes: 0, ..Limits::default() }, 65_536),
        (Limits { slice_bytes: 1000, ..Limits::default() }, 65_536),
    ];
    for (limits, chunk) in cases {
        assert!(read(bytes, limits, chunk) == plain, "{name} in chunks of {chunk}, {limits:?}");
    }
}

#[test]
fn real_files() {
    let Some(folder) = snapshots() else { return };
    for file in std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()) {
        if file.extension().is_some_and(|extension| extension == "pickle") {
            same_on_and_off(&file.display().to_string(), &std::fs::read(&file).unwrap());
        }
    }
}

#[test]
fn generated_files() {
    for words in [
        "--events 6000 --frames 12 --protocol 2 --pending --oom",
        "--events 6000 --frames 12 --protocol 4 --compile-contexts --devices 2",
        "--events 6000 --frames 12 --style cpp --compile-contexts --expandable",
        "--events 3000 --frames 3 --no-time --ring 1500",
    ] {
        let (options, _) = Options::parse(words.split_whitespace().map(str::to_owned)).unwrap();
        let (bytes, _) = generate::generate(&options, Vec::new()).unwrap();
        same_on_and_off(words, &bytes);
    }
}
