//! Events per second of the native simulated allocator, by settings, beside a bare table of the live allocations for
//! the same requests: `cargo bench --bench memscape -- simulate`.
//!
//! It reads a generated trace of a million events and, if it is there, the largest real one, repeated up to a million
//! events.

use crate::generate;
use memscape::allocator::answer::WhatIfQuestion;
use memscape::allocator::conf::parse;
use memscape::allocator::reading::Reading;
use memscape::allocator::recording::{Step, What};
use memscape::allocator::simulation::Simulation;
use memscape::allocator::transfer::{Writing, read as read_columns};
use memscape::allocator::{Check, Inference, Limits, Plan, Recording, Run, StartState};
use memscape::pickle::{Limits as Bounds, Unpickler};
use memscape::replay::{Builder, Recorder, SegmentLifetimes};
use memscape::slice::TimeSlice;
use memscape::snapshot::Reader;
use memscape::units::group_digits;
use std::collections::HashMap;
use std::hint::black_box;
use std::path::PathBuf;
use std::time::Instant;

const EVENTS: u64 = 1_000_000;
const REAL: &str = "train-fp32-1185-segments.pickle";
const SETTINGS: [&str; 7] = [
    "",
    "expandable_segments:True",
    "roundup_power2_divisions:8",
    "max_split_size_mb:128",
    "large_segment_size_mb:64",
    "expandable_segments:True,max_split_size_mb:128",
    "garbage_collection_threshold:0.8,per_process_memory_fraction:0.9",
];
/// Number of measurements of each; the median counts.
const ROUNDS: usize = 5;

pub(crate) fn run(_: &[String]) {
    let words = format!("--events {EVENTS} --frames 60");
    let (options, _) = generate::Options::parse(words.split(' ').map(str::to_owned)).expect("known options");
    let (pickle, _) = generate::generate(&options, Vec::new()).expect("writing to a Vec succeeds");
    measure("generated", &pickle);
    let folder =
        std::env::var_os("MEMSCAPE_SNAPSHOTS").map_or_else(|| PathBuf::from("../shared/snapshots"), PathBuf::from);
    match std::fs::read(folder.join(REAL)) {
        Ok(pickle) => measure(REAL, &pickle),
        Err(error) => println!("SKIPPED: {}: {error}", folder.join(REAL).display()),
    }
}

/// Prints the lines for a recording.
fn measure(name: &str, pickle: &[u8]) {
    let started = Instant::now();
    let recording = read(pickle);
    println!(
        "{name}: {} events; opened and read in {} ms",
        group_digits(recording.events.into()),
        started.elapsed().as_millis()
    );
    let repeated = repeat(&recording);
    let steps = repeated.steps.len() as u64;
    println!("  {} steps", group_digits(steps));
    measure_and_print("a bare table of what is live", steps, || peak_of_live_table(&repeated));
    measure_and_print("the columns of the recording to bytes", steps, || {
        let mut writing = Writing::new(repeated.clone());
        let started = Instant::now();
        let bytes = writing.step(&mut TimeSlice::new(&mut || true)).unwrap();
        println!(
            "            {:8.1} ms without the copy, {} bytes",
            started.elapsed().as_secs_f64() * 1e3,
            group_digits(bytes.len() as u64)
        );
        bytes.len() as u64
    });
    let bytes = Writing::new(repeated.clone()).step(&mut TimeSlice::new(&mut || true)).unwrap();
    measure_and_print("and back", steps, || read_columns(&bytes).unwrap().0.steps.len() as u64);
    let mut peak = 0;
    for line in SETTINGS {
        let settings = parse(line).expect("a line").0;
        // Garbage collection needs a memory limit: nine tenths of the highest peak so far.
        let limits =
            if settings.collects() { Limits::new(Some(peak), Some(peak), &settings) } else { Limits::default() };
        let plan = Plan { settings, limits, start: StartState::Fresh, ..Plan::default() };
        let run = || {
            let mut run = Run::new(&repeated, &plan);
            run.step(&repeated, &mut TimeSlice::new(&mut || true)).unwrap();
            run.outcome().peak_reserved
        };
        peak = peak.max(run());
        measure_and_print(&plan.settings.to_string(), steps, run);
    }
    let mut inference = Inference::default();
    let proof = inference.step(&recording, &mut TimeSlice::new(&mut || true)).unwrap();
    measure_and_print("check under the recorded settings", recording.steps.len() as u64, || {
        let mut check = Check::new(&recording, &proof.settings, proof.backend);
        check.step(&recording, &mut TimeSlice::new(&mut || true)).unwrap().addresses_equal
    });
    let all = Instant::now();
    let mut simulation = Simulation::new(0, recording);
    let question = WhatIfQuestion { tries: true, ..WhatIfQuestion::default() };
    let answer = simulation.answer(&question, &mut |_| {}, &mut TimeSlice::new(&mut || true)).unwrap();
    println!(
        "  {} settings with bands, and what they are proved with: {:.1} s",
        answer.runs.len(),
        all.elapsed().as_secs_f64()
    );
    let verdict = &proof.verdict;
    println!("  {} of {} addresses; refused: {:?}", verdict.addresses_equal, verdict.addresses, proof.refused);
}

/// Measures the work and prints its events per second.
fn measure_and_print(name: &str, steps: u64, mut work: impl FnMut() -> u64) {
    let mut seconds: Vec<f64> = (0..ROUNDS)
        .map(|_| {
            let started = Instant::now();
            black_box(work());
            started.elapsed().as_secs_f64()
        })
        .collect();
    seconds.sort_by(f64::total_cmp);
    let median = seconds[ROUNDS / 2];
    println!("  {:7.2} M events/s  {:8.1} ms  {name}", steps as f64 / median / 1e6, median * 1e3);
}

/// Baseline of a replay: keeps the live allocations and returns their peak in bytes.
fn peak_of_live_table(recording: &Recording) -> u64 {
    let (mut live, mut bytes, mut peak) = (HashMap::new(), 0u64, 0);
    for step in recording.steps.iter() {
        match step.what {
            What::Alloc(number) => {
                let size = recording.allocations.at(number as usize).size;
                live.insert(number, size);
                bytes += size;
                peak = peak.max(bytes);
            }
            What::FreeCompleted(number) => bytes -= live.remove(&number).unwrap_or(0),
            _ => {}
        }
    }
    peak
}

/// Repeats the recording up to a million events; allocations live at the end of a round are freed before the next.
fn repeat(recording: &Recording) -> Recording {
    let mut all = Recording { steps: Default::default(), allocations: Default::default(), ..recording.clone() };
    let (mut event, mut base) = (0, 0);
    let count = recording.allocations.len() as u32;
    while all.steps.is_empty() || (all.steps.len() as u64) < EVENTS.min(u64::from(recording.events) * 1000) {
        recording.allocations.iter().for_each(|allocation| all.allocations.push(allocation));
        let mut live = vec![false; count as usize];
        if base > 0 {
            for early in &recording.early {
                live[early.allocation as usize] = true;
                all.steps.push(Step { event, what: What::Alloc(base + early.allocation) });
                event += 1;
            }
        }
        recording.early.iter().for_each(|early| live[early.allocation as usize] = true);
        for step in recording.steps.iter() {
            let what = match step.what {
                What::Alloc(number) => {
                    live[number as usize] = true;
                    What::Alloc(base + number)
                }
                What::FreeRequested(number) => What::FreeRequested(base + number),
                What::FreeCompleted(number) => {
                    live[number as usize] = false;
                    What::FreeCompleted(base + number)
                }
                What::Oom(_) => continue,
                what => what,
            };
            all.steps.push(Step { event, what });
            event += 1;
        }
        for (number, _) in (0..count).zip(&live).filter(|(_, live)| **live) {
            all.steps.push(Step { event, what: What::FreeCompleted(base + number) });
            event += 1;
        }
        base += count;
    }
    all.events = event;
    all
}

/// Decodes the recording of the first device.
fn read(pickle: &[u8]) -> Recording {
    let mut machine = Unpickler::new(Reader::new(Recorder::default()), Bounds::default());
    for chunk in pickle.chunks(1 << 20) {
        assert!(machine.feed(chunk).is_ok());
    }
    let Ok((reader, root)) = machine.finish() else { panic!("a whole pickle") };
    let (snapshot, recorder) = reader.finish(root, 0).expect("a snapshot");
    let mut always = || true;
    let mut slice = TimeSlice::new(&mut always);
    let mut builder = Builder::new(&snapshot, recorder);
    builder.step(&snapshot, &mut slice).unwrap();
    let (histories, _) = builder.finish();
    let history = histories.first().expect("a device");
    let mut lives = SegmentLifetimes::default();
    lives.step(&snapshot, history, &mut slice).unwrap();
    Reading::default().step(&snapshot, history, &lives, &mut slice).unwrap().with_settings()
}
