//! Runs the fuzz targets on their seeds, on damaged copies of them, and on what `./run fuzz` has learned in this checkout.

#[path = "fuzz/targets/mod.rs"]
mod targets;

use crate::pickle_writer;
use std::fs;
use std::path::{Path, PathBuf};

/// Files of a corpus up to this size are damaged as well: the others take too long.
const MAX_DAMAGED_BYTES: usize = 8 << 10;
/// Damaged copies of each such file.
const COPIES: u64 = 24;

/// Files of the corpus in the tree, and of the one that `./run fuzz` keeps in `target/fuzz`.
fn corpus(target: &str) -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folders =
        [root.join("tests/fuzz/corpus").join(target), root.join("target/fuzz/run").join(target).join("corpus")];
    let entries = folders.iter().filter_map(|folder| fs::read_dir(folder).ok()).flatten().flatten();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    files.sort();
    files
}

/// Runs `run` on each file of the corpus and on copies of it with changed, missing and repeated bytes.
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
            // xorshift64: the same copies in each run.
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
fn pickle() {
    replay("pickle", targets::pickle::run);
}

#[test]
fn json() {
    replay("json", targets::json::run);
}

#[test]
fn containers() {
    replay("containers", targets::containers::run);
}

#[test]
fn columns() {
    replay("columns", targets::columns::run);
}

#[test]
fn open() {
    replay("open", targets::open::run);
}
