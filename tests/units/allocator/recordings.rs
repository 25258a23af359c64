//! The model against recordings of the real allocator, with PyTorch's own counters beside them
//! (`../shared/recordings`).

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may fail")]

use crate::files::{proved, read_pickle, reserved_as_recorded, whole};
use crate::recording::What;
use crate::settings::Share;
use crate::{Order, Plan, Proof, Recording, Run, StartState};
use serde_json::Value;
use std::collections::BTreeSet;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Returns the folder of recordings. Prints a SKIPPED line if there is none.
pub(crate) fn folder() -> Option<PathBuf> {
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
pub(crate) struct Recorded {
    pub(crate) workload: String,
    pub(crate) setting: String,
    pub(crate) recording: Recording,
    proof: Proof,
    pub(crate) truth: Value,
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

    pub(crate) fn name(&self) -> String {
        format!("{}.{}", self.workload, self.setting)
    }

    pub(crate) fn conf(&self) -> &str {
        self.truth["environment"]["PYTORCH_CUDA_ALLOC_CONF"].as_str().unwrap_or("")
    }

    pub(crate) fn number(&self, key: &str) -> Option<u64> {
        self.truth["environment"][key].as_str()?.parse().ok()
    }

    /// Memory of the device, and what its driver can provide.
    pub(crate) fn memory(&self) -> [u64; 2] {
        let total = self.number("FAKE_CUDA_MEMORY").unwrap();
        [total, total - self.number("FAKE_CUDA_OVERHEAD").unwrap_or(512 << 20)]
    }
}

/// All recordings of a folder, by name.
pub(crate) fn all(folder: &str) -> Vec<Recorded> {
    some(folder, |_| true)
}

/// Some recordings of a folder, by name.
fn some(folder: &str, is_wanted: impl Fn(&str) -> bool) -> Vec<Recorded> {
    let Some(root) = self::folder() else { return Vec::new() };
    let files = std::fs::read_dir(root.join(folder)).unwrap().map(|entry| entry.unwrap().path());
    let is_wanted = |path: &PathBuf| {
        let name = path.file_name().unwrap().to_str().unwrap();
        name.ends_with(".pickle.gz") && is_wanted(name)
    };
    let mut files: Vec<PathBuf> = files.filter(is_wanted).collect();
    files.sort();
    files.iter().map(|path| Recorded::read(path)).collect()
}

/// Folders, with the number of recordings that are reproduced exactly. Of torch-2.11, 14 have private pools that are
/// gone at the end, which their files do not name.
const FOLDERS: [(&str, usize, usize); 5] = [
    ("torch-2.11", 64, 78),
    ("torch-2.11-descending", 12, 12),
    ("torch-2.12", 12, 12),
    ("torch-2.15", 78, 78),
    ("programs-2.11", 25, 25),
];

/// Returns true if a run under the recorded settings and limit reserves the recorded bytes after every request.
fn run_equals_recording(it: &Recorded, limit: Option<u64>) -> bool {
    let Recorded { recording, proof, .. } = it;
    let plan = Plan {
        settings: proof.settings.clone(),
        backend: proof.backend,
        limits: proof.verdict.implied.limits(limit, &proof.settings),
        order: Order::Recorded,
        start: StartState::Kept,
        keeps_curve: true,
        ..Plan::default()
    };
    let mut run = Run::new(recording, &plan);
    whole(|slice| run.step(recording, slice));
    let retries = run.outcome().totals.retries;
    let reserved = run.into_course().unwrap().reserved;
    let (mut now, (points, is_thinned)) = (reserved.at_start(), reserved.points());
    let mut points = points.into_iter().peekable();
    let mut is_equal = |(event, recorded): (u32, u64)| {
        while let Some((_, bytes)) = points.next_if(|point| point.0 <= event) {
            now = bytes;
        }
        now == recorded
    };
    let requests = recording.steps.iter().filter(|step| matches!(step.what, What::Alloc(_))).map(|step| step.event);
    let requests: BTreeSet<u32> = requests.collect();
    let recorded = reserved_as_recorded(recording).into_iter().filter(|(event, _)| requests.contains(event));
    !is_thinned && retries == proof.verdict.retries && recorded.into_iter().all(&mut is_equal)
}

/// Numbers of recordings: those that are reproduced exactly, those with a limit, and those that equal a run.
#[derive(Debug, Default, PartialEq)]
struct Reproduced {
    files: usize,
    exact: usize,
    limits: usize,
    limits_inside: usize,
    kinds: usize,
    runs: usize,
}

impl Reproduced {
    fn add(&mut self, folder: &str, it: &Recorded) {
        let Proof { verdict, assumed, refused, .. } = &it.proof;
        self.files += 1;
        if !verdict.is_exact() {
            println!("{folder}/{}: {verdict:?}, {assumed:?}, {refused:?}", it.name());
            return;
        }
        self.exact += 1;
        let limit = verdict.implied.limit();
        let is_equal = match limit {
            Some([low, high]) => [low, high].into_iter().all(|limit| run_equals_recording(it, Some(limit))),
            None => run_equals_recording(it, None),
        };
        self.runs += usize::from(is_equal);
        if !is_equal {
            println!("{folder}/{}: a run is not the recording, {:?}", it.name(), verdict.implied);
        }
        let Some([low, high]) = limit else { return };
        let settings = crate::conf::parse_leniently(it.conf());
        let is_fraction = settings.fraction < Share::ALL;
        let [total, capacity] = it.memory();
        let truth = if is_fraction { settings.fraction.of(total) } else { capacity };
        self.limits += 1;
        self.limits_inside += usize::from((low..=high).contains(&truth));
        self.kinds += usize::from(verdict.implied.is_fraction == is_fraction);
    }
}

#[test]
fn sample_of_recordings_is_reproduced() {
    for (folder, workload) in
        [("torch-2.11-descending", "tight"), ("torch-2.12", "tight"), ("torch-2.15", "tight"), ("torch-2.15", "pools")]
    {
        let mut found = Reproduced::default();
        some(folder, |name| name.starts_with(&format!("{workload}."))).iter().for_each(|it| found.add(folder, it));
        println!("{folder}, {workload}: {found:?}");
        let Reproduced { files, exact, limits, limits_inside, kinds, runs } = found;
        assert_eq!([files, files, limits, limits], [exact, runs, limits_inside, kinds], "{folder}, {workload}");
    }
}

#[test]
#[ignore = "takes a minute: ./run test --all"]
fn recordings_of_every_version_are_reproduced() {
    for (folder, exact, files) in FOLDERS {
        let recordings = all(folder);
        if recordings.is_empty() {
            return;
        }
        let mut found = Reproduced::default();
        recordings.iter().for_each(|it| found.add(folder, it));
        println!("{folder}: {found:?}");
        let Reproduced { limits, limits_inside, kinds, .. } = found;
        assert_eq!((found.files, found.exact, found.runs), (files, exact, exact), "{folder}");
        assert_eq!((limits_inside, kinds), (limits, limits), "{folder}");
    }
}
