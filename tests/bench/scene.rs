//! Processor time for scenes of 2000 × 1000 pixels, by kind of history and zoom: `cargo bench --bench memscape --
//! scene`.

use memscape::replay::{Allocations, Curve, LiveSets, Totals};
use memscape::slice::TimeSlice;
use memscape::timeline::{Order, Paint, SceneJob, Source, View, stack_at};
use memscape::units::{EventIdx, Moment};
use std::time::{Duration, Instant};

const EVENTS: u32 = 1_000_000;

pub(crate) fn run(_: &[String]) {
    println!(
        "{:<22} {:>8} {:>9} {:>9} {:>8} {:>7} {:>8}",
        "history", "zoom", "cpu ms", "slice ms", "quads", "band px", "hidden"
    );
    for (name, changes) in [
        ("random lifetimes", random_lifetimes()),
        ("training steps", training()),
        ("many that stay", mostly_never_freed()),
    ] {
        measure(name, &changes);
    }
    println!();
    for (name, changes) in [("random lifetimes", random_lifetimes()), ("100,000 live blocks", hundred_thousand())] {
        measure_hits(name, &changes);
    }
}

/// Processor time of this thread; zero outside Linux. Unlike elapsed time, it excludes other processes.
fn processor_time() -> Duration {
    let nanos = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    Duration::from_nanos(nanos.split(' ').next().and_then(|text| text.parse().ok()).unwrap_or(0))
}

/// Effect of an event: an allocation of this many bytes, or the free of the allocation with this index.
#[derive(Clone, Copy)]
enum Change {
    Alloc(u64),
    Free(usize),
}

/// Lifetimes and sizes of the allocations, and the change of the total at each event.
fn spans_and_steps(changes: &[Change]) -> (Vec<(u32, u32, u64)>, Vec<i64>) {
    let mut spans = Vec::new();
    let mut steps = Vec::new();
    for (event, change) in (1u32..).zip(changes) {
        match *change {
            Change::Alloc(size) => {
                steps.push(size as i64);
                spans.push((event, u32::MAX, size));
            }
            Change::Free(which) => {
                steps.push(-(spans[which].2 as i64));
                spans[which].1 = event;
            }
        }
    }
    (spans, steps)
}

/// Prints the time of a hit test in the stacked plot, for a thousand positions, in allocation order and in a grouped
/// one.
fn measure_hits(name: &str, changes: &[Change]) {
    let (spans, steps) = spans_and_steps(changes);
    let groups: Vec<u32> = (0..spans.len() as u32).map(|id| id.wrapping_mul(2_654_435_761) >> 26).collect();
    let (order, allocations) = (Order::grouped(&groups), Allocations::from_spans(spans));
    let change = |event: EventIdx| steps[event.0 as usize];
    let totals = Totals::build(steps.len() as u32, 0, change);
    let curve = Curve::new(&totals, &change);
    let mut live = LiveSets::default();
    while live.step(&allocations, steps.len() as u32 + 1, &mut TimeSlice::new(&mut || true)).is_err() {}
    for (by, order) in [("birth", None), ("64 groups", Some(&order))] {
        let source = Source {
            allocations: &allocations,
            live: &live,
            order,
            clock: None,
            requested: curve,
            reserved: curve,
            pending: curve,
            paint: &|_| Paint::NO_STACK,
            highlight: None,
        };
        let mut chance = Rng(7);
        let mut took: Vec<f64> = (0..1000)
            .map(|_| {
                let moment = Moment(steps.len() as u32 / 2 + chance.below(steps.len() as u32 / 2));
                let byte = (curve.at(moment).max(1) as f64 * f64::from(chance.below(1000)) / 1000.0) as u64;
                let start = Instant::now();
                let hit = stack_at(&source, moment, byte);
                let took = start.elapsed().as_secs_f64() * 1e3;
                assert!(hit.is_some(), "{moment:?}, byte {byte}");
                took
            })
            .collect();
        took.sort_by(f64::total_cmp);
        println!("hit, {name:<22} {by:>10}: {:.3} ms (median), {:.3} ms (99 in 100)", took[500], took[990]);
    }
}

/// Prints the time of a scene at each zoom.
fn measure(name: &str, changes: &[Change]) {
    let (spans, steps) = spans_and_steps(changes);
    let allocations = Allocations::from_spans(spans);
    let change = |event: EventIdx| steps[event.0 as usize];
    let totals = Totals::build(steps.len() as u32, 0, change);
    let curve = Curve::new(&totals, &change);
    let paint = |_| Paint::NO_STACK;
    let live = LiveSets::default();
    let source = Source {
        allocations: &allocations,
        live: &live,
        order: None,
        clock: None,
        requested: curve,
        reserved: curve,
        pending: curve,
        paint: &paint,
        highlight: None,
    };
    let peak = curve.max_in(0..u32::MAX).map_or(0, |(_, total)| total as u64);
    for zoom in [1.0, 10.0, 100.0, 10_000.0] {
        let fit = View::fit(steps.len() as u64 + 1, peak, 2000, 1000);
        let scale = fit.x_per_px / zoom;
        let view = View { x_per_px: scale, left_px: (steps.len() as f64 / 2.0 / scale) as i64, ..fit };
        let view = if zoom > 1.0 { view } else { fit };
        let start = processor_time();
        let mut job = SceneJob::new(&source, view);
        let mut longest = Duration::ZERO;
        let scene = loop {
            let started = Instant::now();
            let scene = job.step(&source, &mut TimeSlice::new(&mut || started.elapsed() < Duration::from_millis(6)));
            longest = longest.max(started.elapsed());
            if let Ok(scene) = scene {
                break scene;
            }
        };
        let ms = |time: Duration| time.as_secs_f64() * 1e3;
        println!(
            "{name:<22} {zoom:>8} {:>9.1} {:>9.1} {:>8} {:>7} {:>8}",
            ms(processor_time().saturating_sub(start)),
            ms(longest),
            scene.quads.len(),
            scene.band_px,
            scene.columns.hidden.iter().sum::<u32>()
        );
    }
}

/// Frees of random live allocations, with one to two thousand live at a time.
fn random_lifetimes() -> Vec<Change> {
    let mut chance = Rng(1);
    let mut live = Vec::new();
    let mut count = 0;
    (0..EVENTS)
        .map(|_| {
            if live.len() < 1000 || (live.len() < 2000 && chance.below(2) == 0) {
                live.push(count);
                count += 1;
                Change::Alloc(512 << chance.below(14))
            } else {
                Change::Free(live.swap_remove(chance.below(live.len() as u32) as usize))
            }
        })
        .collect()
}

/// Weights that stay, activations that accumulate and are freed in reverse order, and scratch memory in between.
fn training() -> Vec<Change> {
    let mut chance = Rng(2);
    let mut changes: Vec<Change> = (0..400).map(|_| Change::Alloc(u64::from(1 + chance.below(64)) << 20)).collect();
    let mut count = changes.len();
    while changes.len() < EVENTS as usize {
        let mut kept = Vec::new();
        for backward in [false, true] {
            for _ in 0..500 {
                for _ in 0..2 {
                    changes.push(Change::Alloc(u64::from(1 + chance.below(4000)) << 10));
                    changes.push(Change::Free(count));
                    count += 1;
                }
                if backward {
                    changes.extend(kept.pop().map(Change::Free));
                } else {
                    changes.push(Change::Alloc(u64::from(1 + chance.below(16)) << 20));
                    kept.push(count);
                    count += 1;
                }
            }
        }
    }
    changes
}

/// A hundred thousand live blocks, each with a lifetime of about as many events.
fn hundred_thousand() -> Vec<Change> {
    let mut chance = Rng(4);
    let mut live = Vec::new();
    let mut count = 0;
    (0..EVENTS)
        .map(|_| {
            if live.len() < 100_000 || (live.len() < 101_000 && chance.below(2) == 0) {
                live.push(count);
                count += 1;
                Change::Alloc(512 << chance.below(14))
            } else {
                Change::Free(live.swap_remove(chance.below(live.len() as u32) as usize))
            }
        })
        .collect()
}

/// Small blocks. Nine in ten are never freed.
fn mostly_never_freed() -> Vec<Change> {
    let mut chance = Rng(3);
    let mut changes = Vec::new();
    let mut count = 0;
    while changes.len() < EVENTS as usize {
        changes.push(Change::Alloc(u64::from(512 * (1 + chance.below(64)))));
        if chance.below(10) == 0 {
            changes.push(Change::Free(count));
        }
        count += 1;
    }
    changes
}

/// Random number generator with the same numbers on every machine.
struct Rng(u64);

impl Rng {
    fn below(&mut self, end: u32) -> u32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % u64::from(end)) as u32
    }
}
