//! Recordings for tests, from real files and from lists of requests.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may fail")]

use crate::findings::Cause;
use crate::reading::Reading;
use crate::recording::{Allocation, Caller, Place, Recording, Release, Step, What};
use crate::{Inference, Proof};
use base::slice::TimeSlice;
use history::json;
use history::pickle::{Limits, Unpickler};
use history::replay::{Builder, Recorder, SegmentLifetimes};
use history::snapshot::{Reader, Value};
use std::path::{Path, PathBuf};

/// Returns the folder of real snapshots. Prints a SKIPPED line if there is none.
pub(crate) fn folder() -> Option<PathBuf> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let named = std::env::var_os("MEMSCAPE_SNAPSHOTS").map(PathBuf::from);
    let places = ["../../../shared/snapshots", "../../../../shared/snapshots"].map(|place| root.join(place));
    let found = named.into_iter().chain(places).find(|place| place.join("expected.json").is_file());
    if found.is_none() {
        println!("SKIPPED: no real snapshots (../shared/snapshots or MEMSCAPE_SNAPSHOTS): nothing is replayed");
    }
    found
}

/// Returns the sorted names of the real files.
pub(crate) fn names() -> Vec<String> {
    let Some(folder) = folder() else { return Vec::new() };
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = files.filter(|name| name.ends_with(".pickle")).collect();
    names.sort();
    assert!(!names.is_empty(), "no .pickle file in the folder of snapshots");
    names
}

/// Returns the recording with the findings of its check, and the proof.
pub(crate) fn proved(recording: Recording) -> (Recording, Proof) {
    let mut inference = Inference::default();
    let proof = whole(|slice| inference.step(&recording, slice));
    (recording.with_findings(proof.verdict.findings.clone()), proof)
}

/// Returns the recordings of a real file, one per device, or `None` without a folder of real files.
pub(crate) fn recordings(name: &str) -> Option<Vec<Recording>> {
    Some(read(&folder()?.join(name)))
}

fn read(path: &Path) -> Vec<Recording> {
    read_pickle(&std::fs::read(path).unwrap(), path)
}

/// The recordings of the devices in the bytes of a pickle.
pub(crate) fn read_pickle(bytes: &[u8], path: &Path) -> Vec<Recording> {
    let mut machine = Unpickler::new(Reader::new(Recorder::default()), Limits::default());
    for chunk in bytes.chunks(1 << 20) {
        assert!(machine.feed(chunk).is_ok());
    }
    let Ok((reader, root)) = machine.finish() else { panic!("{}: incomplete pickle", path.display()) };
    built(reader, root)
}

/// Returns the recordings of a snapshot given as JSON text.
pub(crate) fn written(text: &str) -> Vec<Recording> {
    let mut machine = json::Parser::new(Reader::new(Recorder::default()), json::Limits::default());
    assert!(machine.feed(text.as_bytes()).is_ok());
    let Ok((reader, root)) = machine.finish() else { panic!("incomplete JSON") };
    built(reader, root)
}

fn built(reader: Reader<Recorder>, root: Value) -> Vec<Recording> {
    let (snapshot, recorder) = reader.finish(root, 0).expect("valid snapshot");
    let mut always = || true;
    let mut slice = TimeSlice::new(&mut always);
    let mut builder = Builder::new(&snapshot, recorder);
    builder.step(&snapshot, &mut slice).unwrap();
    let (histories, _) = builder.finish();
    let recording = |history| {
        let mut lives = SegmentLifetimes::default();
        lives.step(&snapshot, history, &mut slice).unwrap();
        Reading::default().step(&snapshot, history, &lives, &mut slice).unwrap().with_settings()
    };
    histories.iter().map(recording).collect()
}

/// An event of a written trace, in MiB, at a multiple of 1 GiB. `more` is put into its dictionary.
pub(crate) fn event(action: &str, gib: u64, mib: u64, more: &str) -> String {
    let (address, size) = (gib << 30, mib << 20);
    format!(r#"{{"action":"{action}","addr":{address},"size":{size},"stream":0{more}}}"#)
}

/// The recording of a written trace: its segments at the end, and its events.
pub(crate) fn trace(segments: &[String], events: &[String]) -> Recording {
    let text = format!(r#"{{"segments":[{}],"device_traces":[[{}]]}}"#, segments.join(","), events.join(","));
    written(&text).remove(0)
}

/// A segment at the end of a written trace, in MiB, with one block.
pub(crate) fn segment(gib: u64, mib: u64, is_live: bool, more: &str) -> String {
    let (address, size) = (gib << 30, mib << 20);
    let state = if is_live { "active_allocated" } else { "inactive" };
    let block = format!(r#"{{"address":{address},"size":{size},"requested_size":{size},"state":"{state}"}}"#);
    format!(
        r#"{{"device":0,"address":{address},"total_size":{size},"stream":0,"segment_type":"large","blocks":[{block}]{more}}}"#
    )
}

/// One request of a program. Allocations are numbered from 0 in the order of their requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Request {
    Alloc {
        size: u64,
        place: Place,
    },
    Free(u32),
    /// Requests the free of this allocation while another stream still uses it.
    Wait(u32),
    EmptyCache,
}

/// Returns the recording of these requests, without addresses or segment operations.
pub(crate) fn program(requests: &[Request]) -> Recording {
    let mut recording = Recording { streams: vec![0, 1, 2], pools: vec![(0, 0), (0, 1)], ..Recording::default() };
    for (event, request) in (0..).zip(requests) {
        let what = match *request {
            Request::Alloc { size, place } => {
                let known = recording.places.iter().position(|it| *it == place);
                let at = known.unwrap_or(recording.places.len());
                if known.is_none() {
                    recording.places.push(place);
                }
                recording.allocations.push(Allocation { size, address: 0, place: at as u32 });
                recording.requests += 1;
                What::Alloc(recording.allocations.len() as u32 - 1)
            }
            Request::Free(number) => What::FreeCompleted(number),
            Request::Wait(number) => What::FreeRequested(number),
            Request::EmptyCache => {
                recording.releases.push(Release { caller: Caller::EmptyCache, ..Release::default() });
                recording.findings.causes.push(Cause::EmptyCache { unused_pools: [0, 0] });
                What::Release(recording.releases.len() as u32 - 1)
            }
        };
        recording.steps.push(Step { event, what });
        recording.events = event + 1;
    }
    recording
}

/// Runs sliced work to its end in one slice.
pub(crate) fn whole<T>(mut work: impl FnMut(&mut TimeSlice) -> base::slice::SliceResult<T>) -> T {
    work(&mut TimeSlice::new(&mut || true)).unwrap()
}

/// Returns (event, reserved bytes after it) for each recorded event of an allocation.
pub(crate) fn reserved_as_recorded(recording: &Recording) -> Vec<(u32, u64)> {
    let mut reserved = recording.reserved_at_start();
    let mut course = Vec::new();
    for step in recording.steps.iter() {
        let operations = match step.what {
            What::Grow(operation) => operation..operation + 1,
            What::Release(run) => {
                let [first, end] = recording.releases[run as usize].operations;
                first..end
            }
            What::Oom(_) => continue,
            _ => {
                course.push((step.event, reserved));
                continue;
            }
        };
        for operation in operations.map(|at| recording.operations.at(at as usize)) {
            reserved = if operation.kind.grows() { reserved + operation.size } else { reserved - operation.size };
        }
    }
    course
}
