//! Native time of a comparison of two snapshots beside the time to open them, and the memory that its result keeps:
//! `cargo bench --bench memscape -- compare`.

use crate::cases::Case;
use crate::native;
use memscape::compare::{CompareOptions, Comparer};
use memscape::engine::Work;
use memscape::slice::TimeSlice;
use std::time::{Duration, Instant};

/// Maximum length of a slice of work, as in the page's worker.
const SLICE: Duration = Duration::from_millis(8);

pub(crate) fn run(_: &[String]) {
    let story = "--events 1000000 --frames 60 --layers 48";
    let words = |more: &str| -> &'static str { Box::leak(format!("{story} {more}").into_boxed_str()) };
    let pairs = [
        ("1 M events, batch 4 and 8", words("--sequence 128"), words("--sequence 128 --batch 8")),
        ("1 M events, other seed and leak", words("--no-annotations"), words("--no-annotations --seed 2 --leak")),
    ];
    for (name, a, b) in pairs {
        match measure(name, [a, b]) {
            Ok(text) => print!("{text}"),
            Err(reason) => println!("{name}: skipped, {reason}"),
        }
    }
}

/// Opens both files, compares them and returns a line of measurements.
fn measure(name: &'static str, words: [&'static str; 2]) -> Result<String, String> {
    let started = Instant::now();
    let mut engines = Vec::new();
    for words in words {
        let file = Case::new(name, words, 200_000_000).generate()?;
        let opening = Instant::now();
        let (mut engine, device) = native::open_with(&file.path, |_| {});
        while engine.step(&mut || true) == Work::More {}
        engines.push((engine, device, opening.elapsed()));
    }
    let opened: Duration = engines.iter().map(|(_, _, took)| *took).sum();
    let sides: Vec<_> = engines.iter().map(|(engine, device, _)| engine.side(device.device).unwrap()).collect();
    let comparing = Instant::now();
    let mut job = Comparer::new(&sides[0], &sides[1], CompareOptions::default());
    let (mut longest, mut slices) = (Duration::ZERO, 0);
    let comparison = loop {
        let slice = Instant::now();
        let result = job.step(&sides[0], &sides[1], &mut TimeSlice::new(&mut || slice.elapsed() < SLICE));
        longest = longest.max(slice.elapsed());
        slices += 1;
        if let Ok(comparison) = result {
            break comparison;
        }
    };
    let took = comparing.elapsed();
    let events: u64 = engines.iter().map(|(_, device, _)| device.events).sum();
    Ok(format!(
        "{name}: {events} events of both; opened in {:.0} ms, compared in {:.0} ms ({:.2} of opening), {slices} slices, the longest {:.1} ms, \
         {:.1} bytes an event kept; by {} and {}: {}\n(all of it {:.0} s)\n",
        ms(opened),
        ms(took),
        ms(took) / ms(opened),
        ms(longest),
        job.heap_bytes() as f64 / events as f64,
        comparison.alignment,
        comparison.key,
        comparison.alignment_detail,
        started.elapsed().as_secs_f64()
    ))
}

fn ms(took: Duration) -> f64 {
    took.as_secs_f64() * 1e3
}
