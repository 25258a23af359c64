//! Throughput of each stage, each on top of the one before: `cargo bench --bench memscape -- stages [FILTER]
//! [criterion's options]`.
//!
//! ```text
//! container ─▶ pickle, into a builder that keeps nothing ─▶ + snapshot ─▶ + replay ─▶ index ─▶ scene, hit, details
//!  MB/s         MB/s                                         MB/s          MB/s        events/s   time
//! ```

use crate::discard::Discard;
use crate::generate;
use crate::opened::{self, Opened};
use criterion::{BenchmarkGroup, Criterion, SamplingMode, Throughput, measurement::WallTime};
use flate2::{Compression, write::GzEncoder};
use memscape::container::Container;
use memscape::pickle::{Builder as PickleBuilder, Limits, Unpickler};
use memscape::replay::{Builder, Recorder};
use memscape::slice::TimeSlice;
use memscape::snapshot::{Event, EventSink, Reader, Snapshot};
use memscape::timeline::View;
use std::fmt::Debug;
use std::hint::black_box;
use std::io::Write;
use std::process::Command;
use std::time::Duration;

/// Options of the generator: large enough for steady figures, small enough for ten samples of each within a minute.
const OPTIONS: &str = "--events 200000 --frames 60";
const CHUNK: usize = 1 << 20;
const WINDOW_PX: (u32, u32) = (2000, 1000);

/// Environment variable of the process that runs criterion.
const CHILD_VAR: &str = "MEMSCAPE_BENCH_STAGES";

/// Runs criterion in a process of its own: it reads the arguments of its process, where the subcommand would be a
/// filter.
pub(crate) fn run(arguments: &[String]) {
    let program = std::env::current_exe().expect("the path of this program");
    // As Cargo does; without it criterion only tests each function.
    let status = Command::new(program).args(arguments).arg("--bench").env(CHILD_VAR, "1").status().expect("a process");
    if !status.success() {
        std::process::exit(status.code().unwrap_or(1));
    }
}

/// Runs criterion if this is the process for it; returns whether it is.
pub(crate) fn run_as_child() -> bool {
    let is_child = std::env::var_os(CHILD_VAR).is_some();
    if is_child {
        measure();
    }
    is_child
}

fn measure() {
    let mut criterion = Criterion::default().configure_from_args();
    let (options, _) = generate::Options::parse(OPTIONS.split(' ').map(str::to_owned)).expect("known options");
    let (pickle, _) = generate::generate(&options, Vec::new()).expect("writing to a Vec succeeds");
    reading(&mut criterion, &pickle);
    indexing(&mut criterion, &pickle);
    requests(&mut criterion, &pickle);
    criterion.final_summary();
}

fn group<'a>(criterion: &'a mut Criterion, name: &str) -> BenchmarkGroup<'a, WallTime> {
    let mut group = criterion.benchmark_group(name);
    group.sampling_mode(SamplingMode::Flat).sample_size(10).measurement_time(Duration::from_secs(3));
    group.warm_up_time(Duration::from_millis(500));
    group
}

/// Throughput of decoding, in bytes of the pickle.
fn reading(criterion: &mut Criterion, pickle: &[u8]) {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
    gzip.write_all(pickle).expect("writing to a Vec succeeds");
    let gzip = gzip.finish().expect("writing to a Vec succeeds");
    let mut group = group(criterion, "reading");
    group.throughput(Throughput::Bytes(pickle.len() as u64));
    for (name, file) in [("container, plain", pickle), ("container, gzip", &gzip)] {
        group.bench_function(name, |bencher| bencher.iter(|| unpack(file)));
    }
    group.bench_function("pickle", |bencher| bencher.iter(|| decode(pickle, Discard::default())));
    group.bench_function("pickle + snapshot", |bencher| bencher.iter(|| decode(pickle, Reader::new(NoEvents))));
    group.bench_function("pickle + snapshot + replay", |bencher| bencher.iter(|| record(pickle)));
    group.finish();
}

/// Throughput from the end of the file to the open file, in events.
fn indexing(criterion: &mut Criterion, pickle: &[u8]) {
    let (snapshot, recorder) = record(pickle);
    let mut group = group(criterion, "indexing");
    group.throughput(Throughput::Elements(recorder.events()));
    group.bench_function("index", |bencher| {
        bencher.iter_batched(
            || record(pickle).1,
            |recorder| {
                let mut builder = Builder::new(&snapshot, recorder);
                builder.step(&snapshot, &mut TimeSlice::new(&mut || true)).unwrap();
                builder.finish()
            },
            criterion::BatchSize::PerIteration,
        );
    });
    group.finish();
}

/// Time to answer requests that the page sends about an open file.
fn requests(criterion: &mut Criterion, pickle: &[u8]) {
    let mut file: Opened = opened::open(pickle).expect("a whole snapshot");
    let device = file.summary.devices[0].clone();
    let (ordinal, moments) = (device.device, device.events + 1);
    let (width, height) = WINDOW_PX;
    let whole = View::fit(moments, device.drawn_peak, width, height);
    let mut group = group(criterion, "looking");
    for zoom in [1.0, 100.0, 10_000.0] {
        let x_per_px = whole.x_per_px / zoom;
        // The middle of the trace lies within a step.
        let left_px = if zoom > 1.0 { (moments as f64 / 2.0 / x_per_px) as i64 } else { 0 };
        let view = View { x_per_px, left_px, ..whole };
        group.bench_function(format!("scene, birth order, {zoom}×"), |bencher| {
            bencher.iter(|| file.scene(ordinal, view));
        });
    }
    let mut step = 0u64;
    group.bench_function("hit", |bencher| {
        bencher.iter(|| {
            // A new position each time, so that nothing is cached.
            step = step.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            file.hit(ordinal, ((step >> 33) % moments) as u32, (step >> 20) % device.drawn_peak)
        });
    });
    group.bench_function("details", |bencher| {
        bencher.iter(|| {
            step = step.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            file.details(ordinal, ((step >> 33) % device.allocations) as u32)
        });
    });
    group.finish();
}

fn unpack(file: &[u8]) -> usize {
    let mut container = Container::default();
    let mut bytes = 0;
    for chunk in file.chunks(CHUNK) {
        container.feed(chunk.to_vec());
        while let Some(piece) = container.pull().expect("a whole file") {
            bytes += black_box(piece).len();
        }
    }
    container.finish_input();
    while let Some(piece) = container.pull().expect("a whole file") {
        bytes += piece.len();
    }
    bytes
}

fn decode<B: PickleBuilder<Error: Debug>>(pickle: &[u8], builder: B) -> (B, B::Value) {
    let mut machine = Unpickler::new(builder, Limits::default());
    for chunk in pickle.chunks(CHUNK) {
        assert!(machine.feed(chunk).is_ok());
    }
    let Ok(finished) = machine.finish() else { panic!("a whole pickle") };
    finished
}

fn record(pickle: &[u8]) -> (Snapshot, Recorder) {
    let (reader, root) = decode(pickle, Reader::new(Recorder::default()));
    reader.finish(root, 0).expect("a whole snapshot")
}

/// Sink that drops all events.
struct NoEvents;

impl EventSink for NoEvents {
    fn event_at(&mut self, _: u32, event: &Event) {
        black_box(event);
    }
}
