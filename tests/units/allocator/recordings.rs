//! The model against recordings of the real allocator, with PyTorch's own counters beside them (`../shared/recordings`).

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may fail")]

use crate::files::{proved, read_pickle};
use crate::{Proof, Recording};
use serde_json::Value;
use std::io::Read;
use std::path::{Path, PathBuf};

/// The folder of recordings; says aloud where there is none.
fn folder() -> Option<PathBuf> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let named = std::env::var_os("MEMSCAPE_SNAPSHOTS").map(|folder| PathBuf::from(folder).join("../recordings"));
    let places = ["../../../shared/recordings", "../../../../shared/recordings"].map(|place| root.join(place));
    let found = named.into_iter().chain(places).find(|place| place.is_dir());
    if found.is_none() {
        println!("SKIPPED: no ../shared/recordings: the model is not compared with the real allocator");
    }
    found
}

/// A recording and what PyTorch says about it.
struct Recorded {
    workload: String,
    setting: String,
    recording: Recording,
    proof: Proof,
    truth: Value,
}

impl Recorded {
    fn read(path: &Path) -> Recorded {
        let mut bytes = Vec::new();
        flate2::read::GzDecoder::new(std::fs::File::open(path).unwrap()).read_to_end(&mut bytes).unwrap();
        let truth = path.to_str().unwrap().replace(".pickle.gz", ".json");
        let truth: Value = serde_json::from_slice(&std::fs::read(truth).unwrap()).unwrap();
        let recording = read_pickle(&bytes, path).into_iter().find(|recording| recording.requests > 0).unwrap();
        let (recording, proof) = proved(recording);
        let name = path.file_name().unwrap().to_str().unwrap().replace(".pickle.gz", "");
        let (workload, setting) = name.split_once('.').unwrap();
        Recorded { workload: workload.to_owned(), setting: setting.to_owned(), recording, proof, truth }
    }

    fn name(&self) -> String {
        format!("{}.{}", self.workload, self.setting)
    }

    fn conf(&self) -> &str {
        self.truth["environment"]["PYTORCH_CUDA_ALLOC_CONF"].as_str().unwrap_or("")
    }

    fn number(&self, key: &str) -> Option<u64> {
        self.truth["environment"][key].as_str()?.parse().ok()
    }

    /// Memory of the device, and what its driver can provide.
    fn memory(&self) -> [u64; 2] {
        let total = self.number("FAKE_CUDA_MEMORY").unwrap();
        [total, total - self.number("FAKE_CUDA_OVERHEAD").unwrap_or(512 << 20)]
    }
}

/// All recordings of a folder, by name.
fn all(folder: &str) -> Vec<Recorded> {
    let Some(root) = self::folder() else { return Vec::new() };
    let files = std::fs::read_dir(root.join(folder)).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> = files.filter(|path| path.to_str().unwrap().ends_with(".pickle.gz")).collect();
    files.sort();
    files.iter().map(|path| Recorded::read(path)).collect()
}

/// Folders, with the number of recordings that are reproduced exactly. Of torch-2.11, 14 have private pools that are gone
/// at the end, which their files do not name.
const FOLDERS: [(&str, usize, usize); 5] = [
    ("torch-2.11", 64, 78),
    ("torch-2.11-descending", 12, 12),
    ("torch-2.12", 12, 12),
    ("torch-2.15", 78, 78),
    ("programs-2.11", 25, 25),
];

#[test]
#[ignore = "takes a minute: ./run test --all"]
fn recordings_of_every_version_are_reproduced() {
    let mut wrong = Vec::new();
    for (folder, expected, count) in FOLDERS {
        let recordings = all(folder);
        if recordings.is_empty() {
            return;
        }
        let mut exact = 0;
        let (mut with_limit, mut inside, mut typed) = (0, 0, 0);
        for it in &recordings {
            let verdict = &it.proof.verdict;
            exact += usize::from(verdict.is_exact());
            if !verdict.is_exact() {
                println!(
                    "{folder}/{}: {} of {} addresses, {} of {} segment events, {} extra, error {}, departs at {:?}, {:?}, {:?}",
                    it.name(),
                    verdict.addresses_equal,
                    verdict.addresses,
                    verdict.segment_events_equal,
                    verdict.segment_events,
                    verdict.extra_segment_events,
                    verdict.largest_reserved_error,
                    verdict.departs_at,
                    it.proof.assumed,
                    it.proof.refused,
                );
                continue;
            }
            if let Some([low, high]) = verdict.implied.limit() {
                with_limit += 1;
                let [total, capacity] = it.memory();
                let settings = crate::conf::parse_leniently(it.conf());
                let allowed = settings.fraction.of(total);
                let is_fraction = settings.fraction < crate::settings::Share::ALL;
                let limit = if is_fraction { allowed } else { capacity };
                inside += usize::from((low..=high).contains(&limit));
                typed += usize::from(verdict.implied.is_fraction == is_fraction);
                if !(low..=high).contains(&limit) {
                    println!("{folder}/{}: limit {limit} is not in {low}..={high}, {:?}", it.name(), verdict.implied);
                }
            }
        }
        println!(
            "{folder}: {exact} of {} exact, {inside} of {with_limit} limits inside, {typed} of the right kind",
            recordings.len()
        );
        if (exact, recordings.len()) != (expected, count) || inside != with_limit {
            wrong.push(folder);
        }
    }
    assert!(wrong.is_empty(), "{wrong:?}");
}
