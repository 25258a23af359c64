//! Native time for windows of the plots of addresses and of reserved memory, through the engine: the first window with
//! its preparation, later ones near and far, hit tests, and the longest slice. Processor time in milliseconds.
//!
//! `cargo bench --bench memscape -- plots`; with `--quick` only the file of a million allocations.

use crate::cases::Case;
use crate::figure::Figure;
use crate::{native, windows};
use memscape::engine::{Answer, Ask, Engine, Question, Reply, Request, Work};
use memscape::protocol::{AddressMap, DeviceSummary, MemoryFilter, Plot, PlotSettings};
use memscape::timeline::{Axis, Extent};
use memscape::ui::state::navigate::Plane;
use std::time::{Duration, Instant};

pub(crate) fn run(arguments: &[String]) {
    let is_quick = arguments.iter().any(|word| word == "--quick");
    let mut cases = vec![Case::new("plots 1 M allocations", "--events 3000000 --frames 8", 800_000_000)];
    if !is_quick {
        cases.push(Case::new("plots 3 M allocations", "--events 9000000 --frames 8", 2_000_000_000));
    }
    println!(
        "| file | picture | prepared ms | first ms | later median | worst | longest slice | quads | θ | hits median | worst |"
    );
    println!("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |");
    for case in cases {
        match case.generate() {
            Ok(file) => measure(&case, &file.path),
            Err(reason) => println!("| {} | skipped: {reason} |", case.name),
        }
    }
}

/// Opens the file and prints a row for each plot.
fn measure(case: &Case, path: &std::path::Path) {
    let (mut engine, device) = native::open_with(path, |_| {});
    while engine.step(&mut || true) == Work::More {}
    let pool = MemoryFilter { pool: Some((0, 0)), ..MemoryFilter::default() };
    for (name, plot) in [
        ("stack", Plot::Stack),
        ("reserved", Plot::Reserved(MemoryFilter::default())),
        ("reserved, one pool", Plot::Reserved(pool)),
        ("addresses", Plot::Addresses(MemoryFilter::default())),
        ("addresses, one pool", Plot::Addresses(pool)),
    ] {
        let mut longest = Duration::ZERO;
        let (prepared, map) = request_map(&mut engine, &device, plot.filter(), &mut longest);
        let bytes = match plot {
            Plot::Stack => device.drawn_peak,
            Plot::Reserved(_) => device.peak_reserved.max(1) as u64,
            Plot::Addresses(_) => map.height,
        };
        let plane = Plane { axis: Axis::Events, start: 0, extent: Extent { width: device.events + 1, bytes } };
        let plot_settings = PlotSettings { plot, ..PlotSettings::default() };
        let mut ask = |view| {
            processor_time_of(|| {
                windows::request_scene(&mut engine, device.device, view, plot_settings, &mut longest).1
            })
        };
        let (first, scene) = ask(plane.fit(windows::CANVAS));
        let views = windows::later_views(plane, windows::CANVAS).into_iter();
        let later: Figure = views.map(|view| ask(view).0).collect();
        let mut chance = 1u64;
        let mut below = |end: u64| {
            chance = chance.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (chance >> 20) % end.max(1)
        };
        let hits: Figure = (0..200)
            .map(|_| {
                let (moment, byte) = (below(device.events + 1) as u32, below(bytes));
                let request = Request::Ask(Ask {
                    serial: 0,
                    device: device.device,
                    question: Question::Hit { plot_settings, moment, byte },
                });
                let (took, ()) = processor_time_of(|| engine.request(request));
                assert!(
                    matches!(engine.next_reply(), Some(Reply::Answer { answer: Answer::Hit { .. }, .. })),
                    "a hit is answered at once"
                );
                took
            })
            .collect();
        println!(
            "| {} | {name} | {prepared:.1} | {first:.1} | {:.1} | {:.1} | {:.1} | {} | {} | {:.2} | {:.2} |",
            case.name,
            later.median().unwrap_or_default(),
            later.worst().unwrap_or_default(),
            longest.as_secs_f64() * 1e3,
            scene.quads.len(),
            scene.band_px,
            hits.median().unwrap_or_default(),
            hits.worst().unwrap_or_default(),
        );
    }
}

/// Runs the work; returns its processor time in milliseconds and its result. Unlike elapsed time, it excludes other
/// processes.
fn processor_time_of<R>(work: impl FnOnce() -> R) -> (f64, R) {
    let nanoseconds = || {
        let statistics = std::fs::read_to_string("/proc/self/schedstat").unwrap_or_default();
        statistics.split(' ').next().and_then(|first| first.parse::<f64>().ok()).unwrap_or_default()
    };
    let before = nanoseconds();
    let result = work();
    ((nanoseconds() - before) / 1e6, result)
}

/// Requests the map of addresses; returns the processor time in milliseconds and the map.
fn request_map(
    engine: &mut Engine,
    device: &DeviceSummary,
    only: MemoryFilter,
    longest: &mut Duration,
) -> (f64, AddressMap) {
    engine.request(Request::Ask(Ask { serial: 0, device: device.device, question: Question::Map(only) }));
    processor_time_of(|| {
        loop {
            let slice = Instant::now();
            engine.step(&mut || slice.elapsed() < Duration::from_millis(8));
            *longest = slice.elapsed().max(*longest);
            if let Some(Reply::Answer { answer: Answer::Map(map), .. }) = engine.next_reply() {
                return *map;
            }
        }
    })
}
