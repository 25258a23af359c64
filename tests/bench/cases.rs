//! Files to measure, which are generated if there is enough disk space.

use crate::generate;
use crate::machine;
use memscape::units::Bytes;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

/// A file to measure.
pub(crate) struct Case {
    /// Name in the report.
    pub(crate) name: &'static str,
    /// Options of the generator.
    pub(crate) options: &'static str,
    /// Number of measurements of each figure.
    pub(crate) runs: usize,
    /// Upper bound of its size, in bytes.
    max_bytes: u64,
}

/// Selection of the files to measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extent {
    /// Files of up to a million events.
    Quick,
    /// All files.
    Whole,
}

/// Files of the benchmark `open`, smallest first. All but the last have the same kind of content, so that costs per
/// event can be compared.
pub(crate) fn cases(extent: Extent) -> Vec<Case> {
    let case = |name, options, runs, max_bytes| Case { name, options, runs, max_bytes };
    let mut cases = vec![
        case("20 k events", "--events 20000 --frames 60", 3, 5_000_000),
        case("100 k events", "--events 100000 --frames 60", 3, 20_000_000),
        case("1 M events", "--events 1000000 --frames 60", 3, 200_000_000),
    ];
    if extent == Extent::Quick {
        cases.iter_mut().for_each(|case| case.runs = 1);
    }
    if extent == Extent::Whole {
        cases.push(case("10 M events", "--events 10000000 --frames 60", 3, 2_000_000_000));
        cases.push(case("over 5 GB", "--events 15000000 --frames 240 --style cpp", 1, 7_000_000_000));
    }
    cases
}

/// Files of the benchmarks `picture` and `offscreen`: typical and worst cases with equal numbers of events, and a large
/// one.
pub(crate) fn picture_cases(extent: Extent) -> Vec<Case> {
    let case = |name, options, max_bytes| Case { name, options, runs: 1, max_bytes };
    let mut cases = vec![
        case("44 k events", "--events 44000 --frames 20", 20_000_000),
        case("44 k events, worst", WORST, 20_000_000),
        case("1 M events", "--events 1000000 --frames 60", 200_000_000),
        case("1 M events, worst", WORST, 200_000_000),
    ];
    if extent == Extent::Whole {
        cases.push(case("10 M events", "--events 10000000 --frames 60", 2_000_000_000));
    }
    cases
}

/// Stands for the options of a worst case: two thousand live blocks of random lifetime, written by a script beside the
/// real snapshots.
pub(crate) const WORST: &str = "(worst_case.py)";

/// Runs the script that writes a worst case with this many events.
fn write_worst(path: &Path, events: u64) -> Result<(), String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let scripts = ["../shared", "../../shared"].map(|folder| root.join(folder).join("tools/worst_case.py"));
    let script = scripts.iter().find(|script| script.is_file()).ok_or("no ../shared/tools/worst_case.py here")?;
    let status = std::process::Command::new("python3").arg(script).arg(events.to_string()).arg(path).output();
    status.ok().filter(|output| output.status.success()).map(|_| ()).ok_or_else(|| "worst_case.py failed".to_owned())
}

/// A generated file, removed on drop.
pub(crate) struct Generated {
    pub(crate) path: PathBuf,
    pub(crate) bytes: u64,
    pub(crate) events: u64,
}

impl Case {
    /// Creates a case that is measured once.
    pub(crate) fn new(name: &'static str, options: &'static str, max_bytes: u64) -> Case {
        Case { name, options, runs: 1, max_bytes }
    }

    /// Writes the file under `target/`.
    ///
    /// # Errors
    /// If the disk has too little space, or the script of a worst case fails, as one sentence.
    pub(crate) fn generate(&self) -> Result<Generated, String> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/bench");
        std::fs::create_dir_all(&folder).expect("target/ is writable");
        let free = machine::free_space(&folder);
        // Leaves some space for other programs.
        if free < self.max_bytes + (2 << 30) {
            return Err(format!("the disk has {} free, the file needs up to {}", Bytes(free), Bytes(self.max_bytes)));
        }
        let path = folder.join(format!("{}.pickle", self.name.replace([' ', ','], "-")));
        if self.options == WORST {
            let events = if self.name.starts_with("44 k") { 44_000 } else { 1_000_000 };
            write_worst(&path, events)?;
            let bytes = path.metadata().expect("just written").len();
            return Ok(Generated { path, bytes, events });
        }
        let words = self.options.split_whitespace().map(str::to_owned);
        let (options, _) = generate::Options::parse(words).expect("known options");
        let mut generated = Generated { path, bytes: 0, events: 0 };
        let file = std::fs::File::create(&generated.path).expect("target/ is writable");
        let file = BufWriter::with_capacity(1 << 20, file);
        let (mut file, truth) = generate::generate(&options, file).expect("the disk has space");
        file.flush().expect("the disk has space");
        generated.bytes = generated.path.metadata().expect("just written").len();
        generated.events = truth.devices.iter().map(|device| device.events).sum();
        assert!(generated.bytes <= self.max_bytes, "{} is larger than its upper bound", self.name);
        Ok(generated)
    }
}

impl Generated {
    /// Divides a number by that of the events.
    pub(crate) fn per_event(&self, of_all: f64) -> f64 {
        of_all / self.events.max(1) as f64
    }
}

impl Drop for Generated {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}
