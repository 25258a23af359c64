//! Size of snapshots as compact columns, and the time to open them: `cargo bench --bench memscape -- columns
//! [FILE...]`. Without files it measures those of the snapshots' folder and a generated one of 100 MB.
//!
//! A line has, for each file: the bytes of the pickle, of the gzipped pickle, of the columns and of the gzipped
//! columns; the last as a percentage of the second; then milliseconds to open the pickle, the gzipped pickle and the
//! gzipped columns, and to write the gzipped columns. Times are the best of three.

use crate::{generate, opened};
use flate2::{Compression, write::GzEncoder};
use std::io::Write;
use std::path::PathBuf;
use std::time::Instant;

/// Options of the generator for a file of 100 MB.
const OPTIONS: &str = "--events 870000";

pub(crate) fn run(arguments: &[String]) {
    let mut files: Vec<PathBuf> = arguments.iter().filter(|word| !word.starts_with("--")).map(Into::into).collect();
    let is_named = !files.is_empty();
    if !is_named && let Some(folder) = opened::snapshots() {
        let found = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        files.extend(found.filter(|file| file.extension().is_some_and(|extension| extension == "pickle")));
        files.sort();
    }
    println!("file bytes gzip columns packed part | ms: open, open gzip, open columns, write columns");
    let mut sums = [0; 4];
    for file in &files {
        let sizes = measure(&file.file_name().unwrap().to_string_lossy(), &std::fs::read(file).unwrap());
        sums.iter_mut().zip(sizes).for_each(|(sum, size)| *sum += size);
    }
    println!("together {sums:?} {:.1} %", 100.0 * sums[3] as f64 / sums[1] as f64);
    if !is_named {
        let (options, _) = generate::Options::parse(OPTIONS.split(' ').map(str::to_owned)).expect("known options");
        let (bytes, _) = generate::generate(&options, Vec::new()).expect("writing to a Vec succeeds");
        measure(OPTIONS, &bytes);
    }
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::best());
    gzip.write_all(bytes).unwrap();
    gzip.finish().unwrap()
}

/// Runs the work three times; returns its result and the shortest time in milliseconds.
fn timed<R>(mut work: impl FnMut() -> R) -> (R, f64) {
    let mut once = || {
        let started = Instant::now();
        (work(), started.elapsed().as_secs_f64() * 1e3)
    };
    let [first, second, third] = [once(), once(), once()];
    let best = first.1.min(second.1).min(third.1);
    (third.0, best)
}

/// Prints a line for the file; returns its bytes, plain and gzipped, as a pickle and as columns.
fn measure(name: &str, bytes: &[u8]) -> [usize; 4] {
    let packed_file = gzip(bytes);
    let (file, open) = timed(|| opened::open(bytes).unwrap());
    let (_, open_packed) = timed(|| opened::open(&packed_file).unwrap());
    let columns = file.engine.write_columns(Vec::new()).unwrap();
    let writer = || GzEncoder::new(Vec::new(), Compression::best());
    let (packed, write) = timed(|| file.engine.write_columns(writer()).unwrap().finish().unwrap());
    let (_, open_columns) = timed(|| opened::open(&packed).unwrap());
    let sizes = [bytes.len(), packed_file.len(), columns.len(), packed.len()];
    let part = 100.0 * packed.len() as f64 / packed_file.len() as f64;
    println!("{name} {sizes:?} {part:.1} % | {open:.1} {open_packed:.1} {open_columns:.1} {write:.1}");
    sizes
}
