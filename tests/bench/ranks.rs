//! Native time to survey many ranks, beside the time to open the same files in turn: `cargo bench --bench memscape --
//! ranks`.

use crate::cases::Case;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// Number of measurements; the fastest counts.
const RUNS: usize = 3;

pub(crate) fn run(_: &[String]) {
    for (name, files, words) in [
        ("64 files of 20 MB", 64, "--events 131000 --frames 60 --layers 48"),
        ("512 files of 2 MB", 512, "--events 12800 --frames 60 --layers 48"),
    ] {
        match measure(name, files, words) {
            Ok(text) => print!("{text}"),
            Err(reason) => println!("{name}: skipped, {reason}"),
        }
    }
}

/// Links a generated file as often as there are ranks and returns a line of measurements.
fn measure(name: &'static str, files: usize, words: &'static str) -> Result<String, String> {
    let one = Case::new(name, words, 60_000_000).generate()?;
    let folder = one.path.with_extension("ranks");
    // Left over from an interrupted run.
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("target/ is writable");
    let paths: Vec<PathBuf> = (0..files).map(|rank| folder.join(format!("rank{rank}.pickle"))).collect();
    for path in &paths {
        std::fs::hard_link(&one.path, path)
            .or_else(|_| std::fs::copy(&one.path, path).map(|_| ()))
            .expect("the disk has space");
    }
    let surveyed =
        fastest(|| run_command(Command::new(env!("CARGO_BIN_EXE_memscape")).arg("ranks").arg(&folder).arg("--json")));
    let opened =
        fastest(|| run_command(Command::new(env!("CARGO_BIN_EXE_memscape")).arg("summary").args(&paths).arg("--json")));
    remove(&folder);
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    Ok(format!(
        "{name} ({:.1} MB, {} events each): surveyed in {:.2} s on {cores} cores, opened one after the other in {:.2} s; {:.2} of it\n",
        one.bytes as f64 / 1e6,
        one.events,
        surveyed.as_secs_f64(),
        opened.as_secs_f64(),
        surveyed.as_secs_f64() / opened.as_secs_f64(),
    ))
}

fn run_command(command: &mut Command) {
    let output = command.output().expect("the binary is built");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

fn fastest(mut work: impl FnMut()) -> Duration {
    let took = (0..RUNS).map(|_| {
        let started = Instant::now();
        work();
        started.elapsed()
    });
    took.min().unwrap_or_default()
}

fn remove(folder: &Path) {
    std::fs::remove_dir_all(folder).expect("the folder was created here");
}
