//! Runs the fuzz targets on their seeds, on damaged copies of them, and on inputs found by `./run fuzz` in this
//! checkout.

#[path = "fuzz/targets/mod.rs"]
mod targets;

use crate::pickle_writer;
use std::fs;
use std::path::{Path, PathBuf};

/// Maximum size of a file that is also run in damaged copies. Larger ones take too long.
const MAX_DAMAGED_BYTES: usize = 8 << 10;
/// Number of damaged copies of each file.
const COPIES: u64 = 24;

/// Returns the corpus files in the source tree and those that `./run fuzz` keeps in `target/fuzz`.
fn corpus(target: &str) -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folders =
        [root.join("tests/fuzz/corpus").join(target), root.join("target/fuzz/run").join(target).join("corpus")];
    let entries = folders.iter().filter_map(|folder| fs::read_dir(folder).ok()).flatten().flatten();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    files.sort();
    files
}

/// Runs a target on each file of its corpus and on copies with changed, missing and repeated bytes.
fn replay(target: &str, run: fn(&[u8])) {
    let files = corpus(target);
    assert!(!files.is_empty(), "tests/fuzz/corpus/{target} is empty");
    for file in files {
        let bytes = fs::read(&file).unwrap();
        println!("{}", file.display());
        run(&bytes);
        if bytes.len() > MAX_DAMAGED_BYTES {
            continue;
        }
        for copy in 0..COPIES {
            let mut chance = copy.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
            // xorshift64, so that each run has the same copies.
            let mut next = |below: usize| {
                chance ^= chance << 13;
                chance ^= chance >> 7;
                chance ^= chance << 17;
                chance as usize % below.max(1)
            };
            let mut damaged = bytes.clone();
            for _ in 0..=next(4) {
                let at = next(damaged.len());
                match next(4) {
                    0 => damaged.truncate(at),
                    1 => drop(damaged.splice(at..at, bytes[at.min(bytes.len())..].iter().copied().take(9))),
                    _ => damaged.get_mut(at).into_iter().for_each(|byte| *byte = next(256) as u8),
                }
            }
            run(&damaged);
        }
    }
}

#[test]
fn pickle_corpus_does_not_panic() {
    replay("pickle", targets::pickle::run);
}

#[test]
fn json_corpus_does_not_panic() {
    replay("json", targets::json::run);
}

#[test]
fn containers_corpus_does_not_panic() {
    replay("containers", targets::containers::run);
}

#[test]
fn columns_corpus_does_not_panic() {
    replay("columns", targets::columns::run);
}

#[test]
fn open_corpus_does_not_panic() {
    replay("open", targets::open::run);
}
