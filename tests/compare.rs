//! Comparisons of two snapshots: with themselves, swapped, against the brute-force implementation in
//! brute_force_compare.py, and generated files with known differences.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may fail")]

use crate::generate;
use crate::opened;

use generate::Options;
use memscape::compare::{
    Align, CompareOptions, Comparer, Comparison, Key, Outcome, PerSide, Row, factor_of, peaks_in, report,
};
use memscape::engine::{Engine, Side, Work};
use memscape::slice::TimeSlice;
use memscape::units::{Bytes, Moment};
use opened::{open, snapshots};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Ten pairs of real files.
const PAIRS: [[&str; 2]; 10] = [
    ["forward-bf16", "forward-only-100"],
    ["train-annotated-100", "train-annotated-mixed-precision"],
    ["torch-2.10-annotated", "torch-2.10-bf16-expandable"],
    ["torch-2.10-small", "torch-2.10-bf16-expandable"],
    ["forward-only-100", "train-annotated-100"],
    ["no-time-expandable", "no-time-segments-freed"],
    ["torch-2.0-block-history", "torch-2.0-block-history-b"],
    ["train-fp32-1185-segments", "train-ring-buffer-wrapped"],
    ["infer-compile-context", "infer-fp32-786-segments"],
    ["deep-stacks-no-time", "adam-35-events"],
];
/// Label of the node for stacks whose frames are all internal.
const ALL_INTERNAL: &str = "backward and library frames";
/// Number of positions per pair that are compared with Python.
const MOMENTS: u32 = 100;

/// An open file and the device to compare.
struct File {
    engine: Engine,
    device: i64,
}

impl File {
    fn from_bytes(bytes: &[u8]) -> File {
        let mut opened = open(bytes).unwrap();
        while opened.engine.step(&mut || true) == Work::More {}
        let device = opened.summary.devices[opened.summary.default_device()].device;
        File { engine: opened.engine, device }
    }

    fn real(name: &str) -> Option<File> {
        Some(File::from_bytes(&std::fs::read(path(name)?).unwrap()))
    }

    fn generated(words: &str) -> File {
        let (options, others) = Options::parse(words.split_whitespace().map(str::to_owned)).unwrap();
        assert!(others.is_empty());
        File::from_bytes(&generate::generate(&options, Vec::new()).unwrap().0)
    }

    fn side(&self) -> Side<'_> {
        self.engine.side(self.device).unwrap()
    }
}

fn path(name: &str) -> Option<PathBuf> {
    Some(snapshots()?.join(format!("{name}.pickle")))
}

/// Runs a comparison to its end, in the shortest possible slices.
fn run(comparing: &mut Comparer, a: &File, b: &File) -> Comparison {
    loop {
        if let Ok(comparison) = comparing.step(&a.side(), &b.side(), &mut TimeSlice::new(&mut || false)) {
            return comparison;
        }
    }
}

fn compared(a: &File, b: &File, wanted: CompareOptions) -> Comparison {
    run(&mut Comparer::new(&a.side(), &b.side(), wanted), a, b)
}

fn swapped(two: PerSide) -> PerSide {
    PerSide { a: two.b, b: two.a }
}

/// Returns bytes and counts of all rows, sorted.
fn numbers(rows: &[Row]) -> Vec<[u64; 4]> {
    let mut numbers: Vec<_> = rows.iter().map(|row| [row.bytes.a, row.bytes.b, row.count.a, row.count.b]).collect();
    numbers.sort_unstable();
    numbers
}

/// Checks that rows and allocations sum to the totals of both sides.
fn check_sums(comparison: &Comparison) {
    let all = &comparison.allocations;
    if comparison.alignment != "share" && all.count as usize == all.rows.len() {
        let sum = |of: fn(PerSide) -> u64| {
            all.rows.iter().map(|row| of(row.bytes)).sum::<u64>() + of(all.equal) + of(all.early)
        };
        assert_eq!(sum(|two| two.a), comparison.a.live_bytes);
        assert_eq!(sum(|two| two.b), comparison.b.live_bytes);
    }
    assert!(all.rows.is_sorted_by_key(|row| std::cmp::Reverse(row.bytes.delta().unsigned_abs())));
    assert!(all.rows.iter().all(|row| row.bytes.delta() != 0 && !row.site.is_empty()));
    let sum = |of: fn(&Row) -> u64| comparison.rows.iter().map(of).sum::<u64>();
    assert_eq!(sum(|row| row.bytes.a), comparison.a.live_bytes);
    assert_eq!(sum(|row| row.bytes.b), comparison.b.live_bytes);
    let delta: i128 = comparison.rows.iter().map(|row| row.bytes.delta()).sum();
    assert_eq!(delta, i128::from(comparison.b.live_bytes) - i128::from(comparison.a.live_bytes));
}

#[test]
fn file_compared_with_itself_has_no_differences() {
    for name in PAIRS.as_flattened() {
        let Some(file) = File::real(name) else { return };
        let side = file.side();
        let mut comparing = Comparer::new(&side, &side, CompareOptions::default());
        let comparison = run(&mut comparing, &file, &file);
        assert!(comparison.rows.iter().all(|row| row.bytes.delta() == 0 && row.count.delta() == 0), "{name}");
        let moments = 0..=side.history.event_count();
        assert!(moments.clone().all(|moment| comparing.alignment().to_b(Moment(moment)) == Moment(moment)), "{name}");
        assert!(moments.clone().all(|moment| comparing.alignment().to_a(Moment(moment)) == Moment(moment)), "{name}");
        assert!(
            comparison.lifetimes.iter().all(|it| it.outcome == Outcome::Same),
            "{name}: {:?}",
            comparison.lifetimes
        );
        assert!(comparison.scaling.iter().all(|group| group.factor == 1.0), "{name}");
        assert_eq!((comparison.allocations.count, comparison.allocations.early), (0, PerSide::default()), "{name}");
        assert!(comparison.steps.iter().all(|step| step.peak.delta() == 0 && step.allocations.delta() == 0), "{name}");
        assert!(comparison.settings.is_empty() && comparison.warnings.is_empty(), "{name}: {:?}", comparison.warnings);
        check_sums(&comparison);
    }
}

#[test]
fn tree_hides_internal_frames_and_keeps_bytes() {
    let mut frames = 0;
    for [a, b] in PAIRS {
        let Some((one, other)) = File::real(a).zip(File::real(b)) else { return };
        let comparison = compared(&one, &other, CompareOptions::default());
        for rows in [&comparison.tree, &comparison.flame] {
            for (row, next) in rows.iter().zip(rows.iter().skip(1)) {
                assert!(next.depth <= row.depth + 1, "{a}, {b}: {next:?}");
            }
            let labels: Vec<&String> =
                rows.iter().flat_map(|row| std::iter::once(&row.label).chain(&row.frames)).collect();
            // Stacks without other frames are under a node of their own.
            let has_internal_stacks = labels.iter().any(|label| *label == ALL_INTERNAL);
            for label in &labels {
                let is_internal = label.ends_with("_call_impl") || label.starts_with("<frozen");
                assert!(!is_internal || has_internal_stacks, "{a}, {b}: {label}");
            }
            frames += labels.len();
            let top: u64 = rows.iter().filter(|row| row.depth == 0).map(|row| row.bytes.a).sum();
            assert!(top <= comparison.a.live_bytes, "{a}, {b}: bytes are not counted twice");
        }
        for row in &comparison.rows {
            assert!(row.callers.windows(2).all(|pair| pair[0] != pair[1]), "{a}, {b}: {row:?}");
        }
    }
    assert!(frames > 200, "{frames} frames");
}

#[test]
fn swapped_files_negate_differences() {
    for [a, b] in PAIRS {
        let (Some(a), Some(b)) = (File::real(a), File::real(b)) else { return };
        for key in Key::ALL {
            let wanted = CompareOptions { key: Some(key), ..CompareOptions::default() };
            let (there, back) = (compared(&a, &b, wanted), compared(&b, &a, wanted));
            let driver_traffic: Vec<Row> = there
                .rows
                .iter()
                .map(|row| Row { bytes: swapped(row.bytes), count: swapped(row.count), ..row.clone() })
                .collect();
            assert_eq!(numbers(&driver_traffic), numbers(&back.rows), "{key:?}");
            assert_eq!(swapped(there.matched.bytes), back.matched.bytes, "{key:?}");
            assert_eq!(swapped(there.out_of_memory), back.out_of_memory);
            check_sums(&there);
        }
    }
}

#[test]
fn alignment_is_monotonic() {
    for [a, b] in PAIRS {
        let (Some(a), Some(b)) = (File::real(a), File::real(b)) else { return };
        for align in [None, Some(Align::Steps), Some(Align::Sequence), Some(Align::Share)] {
            let mut comparing =
                Comparer::new(&a.side(), &b.side(), CompareOptions { align, ..CompareOptions::default() });
            run(&mut comparing, &a, &b);
            let ends = [&a, &b].map(|file| file.side().history.event_count());
            let there: Vec<u32> = (0..=ends[0]).map(|moment| comparing.alignment().to_b(Moment(moment)).0).collect();
            let back: Vec<u32> = (0..=ends[1]).map(|moment| comparing.alignment().to_a(Moment(moment)).0).collect();
            assert!(there.is_sorted() && back.is_sorted(), "{align:?}");
            assert_eq!((there.last(), back.last()), (Some(&ends[1]), Some(&ends[0])), "{align:?}");
        }
    }
}

/// Returns the rows that the Python script finds for each pair of moments.
fn python(files: [&Path; 2], devices: [i64; 2], moments: &[(u32, u32)]) -> Option<Vec<Vec<[u64; 4]>>> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/brute_force_compare.py");
    let mut command = Command::new("python3");
    command.arg("-B").arg(script).args(files).args(devices.map(|device| device.to_string()));
    let Ok(mut child) = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn() else {
        println!("SKIPPED: there is no python3 to ask for a second opinion");
        return None;
    };
    let lines: String = moments.iter().map(|(a, b)| format!("{a} {b}\n")).collect();
    child.stdin.take().unwrap().write_all(lines.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    let text = String::from_utf8(output.stdout).unwrap();
    let row = |line: &str| -> [u64; 4] {
        line.split(' ').map(|number| number.parse().unwrap()).collect::<Vec<_>>().try_into().unwrap()
    };
    Some(text.split("pair\n").skip(1).map(|pair| pair.lines().map(row).collect()).collect())
}

#[test]
fn rows_match_python_at_aligned_moments() {
    let mut agreed = 0;
    let written = |name: &str, words: &str| {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        let (options, _) = Options::parse(words.split_whitespace().map(str::to_owned)).unwrap();
        std::fs::write(&path, generate::generate(&options, Vec::new()).unwrap().0).unwrap();
        path
    };
    let generated =
        [("python-a.pickle", "--sequence 64"), ("python-b.pickle", "--sequence 128 --batch 8 --extra-leak 3")];
    let generated = generated.map(|(name, words)| written(name, &[STORY, " ", words].concat()));
    let real = PAIRS.iter().filter_map(|[a, b]| Some([path(a)?, path(b)?]));
    let pairs: Vec<[PathBuf; 2]> = real.chain([generated]).collect();
    for [path_a, path_b] in &pairs {
        let [a, b] = [path_a, path_b].map(|path| File::from_bytes(&std::fs::read(path).unwrap()));
        let wanted = CompareOptions { key: Some(Key::Stack), ..CompareOptions::default() };
        let mut comparing = Comparer::new(&a.side(), &b.side(), wanted);
        run(&mut comparing, &a, &b);
        let last = a.side().history.event_count();
        let at = |number: u32| Moment((u64::from(last) * u64::from(number) / u64::from(MOMENTS - 1)) as u32);
        let moments: Vec<(u32, u32)> =
            (0..MOMENTS).map(|number| (at(number).0, comparing.alignment().to_b(at(number)).0)).collect();
        let Some(from_python) = python([path_a, path_b], [a.device, b.device], &moments) else { return };
        assert_eq!(from_python.len(), moments.len());
        for (theirs, &(one, other)) in from_python.iter().zip(&moments) {
            comparing.set_moments(Some(Moment(one)), None);
            let comparison = run(&mut comparing, &a, &b);
            assert_eq!((comparison.a.moment, comparison.b.moment), (one, other));
            assert_eq!(numbers(&comparison.rows), *theirs, "{path_a:?} {path_b:?} at {one} and {other}");
            check_sums(&comparison);
            agreed += 1;
        }
    }
    println!("{agreed} pairs of moments agree");
    assert_eq!(agreed, pairs.len() * MOMENTS as usize);
}

const STORY: &str = "--steps 3 --layers 4 --hidden 256 --record-from-start --frames 12";

/// Returns the scaling factor of a call site, and the share of its bytes that scale by it.
fn factor(comparison: &Comparison, name: &str) -> (f64, f64) {
    let rows = comparison.scaling.iter().flat_map(|group| &group.rows);
    let row = rows.into_iter().find(|row| row.site.contains(name));
    let row = row.unwrap_or_else(|| panic!("{name} in {:#?}", comparison.scaling));
    (row.factor, row.share.0 as f64 / row.share.1 as f64)
}

#[test]
fn four_times_longer_sequence_scales_groups_by_1_4_and_16() {
    let a = File::generated(&format!("{STORY} --sequence 64"));
    let b = File::generated(&format!("{STORY} --sequence 256"));
    let comparison = compared(&a, &b, CompareOptions::default());
    assert_eq!(comparison.key, "stack");
    assert_eq!(comparison.alignment, "steps");
    assert_eq!(factor(&comparison, "attention_scores"), (16.0, 1.0));
    assert_eq!(factor(&comparison, "scaled_dot_product_attention").0, 4.0);
    let parameters = comparison.scaling.iter().find(|group| group.factor == 1.0).unwrap();
    assert!(parameters.bytes.a == parameters.bytes.b && parameters.sites >= 2);
    let verdict = comparison.verdict.join("\n");
    assert!(
        verdict.contains("Allocation sizes: ")
            && verdict.contains("quadratically (×16)")
            && verdict.contains("attention_scores"),
        "{verdict}"
    );
    assert!(comparison.lifetimes.iter().all(|it| !matches!(it.outcome, Outcome::OnlyInA | Outcome::OnlyInB)));
    check_sums(&comparison);
}

#[test]
fn batch_and_precision_scale_activations() {
    let a = File::generated(&format!("{STORY} --sequence 64"));
    for (words, expected) in [("--sequence 64 --batch 8", 2.0), ("--sequence 64 --precision 16", 0.5)] {
        let b = File::generated(&format!("{STORY} {words}"));
        let comparison = compared(&a, &b, CompareOptions::default());
        assert_eq!(factor(&comparison, "attention_scores"), (expected, 1.0), "{words}");
        assert_eq!(factor(&comparison, "scaled_dot_product_attention").0, expected, "{words}");
        check_sums(&comparison);
    }
}

#[test]
fn leak_in_b_is_reported_only_for_b() {
    let a = File::generated(&format!("{STORY} --sequence 64"));
    let b = File::generated(&format!("{STORY} --sequence 64 --extra-leak 16"));
    let end = Moment(b.side().history.event_count());
    let wanted = CompareOptions { b: Some(end), ..CompareOptions::default() };
    let comparison = compared(&a, &b, wanted);
    let largest = &comparison.rows[0];
    assert!(largest.label.contains("log_metrics"), "{largest:?}");
    assert_eq!((largest.bytes, largest.count), (PerSide { a: 0, b: 3 * (16 << 20) }, PerSide { a: 0, b: 3 }));
    assert!(comparison.rows[1..].iter().all(|row| row.bytes.delta() == 0), "{:#?}", comparison.rows);
    let only_in_b = comparison.lifetimes.iter().find(|it| it.outcome == Outcome::OnlyInB).unwrap();
    assert_eq!((only_in_b.allocations, only_in_b.bytes.b), (3, 3 * (16 << 20)));
    assert!(!largest.in_both && largest.relation() == "only in B");
    let rows: Vec<_> = comparison.allocations.rows.iter().map(|row| (row.bytes, row.relation())).collect();
    assert_eq!(rows, vec![(PerSide { a: 0, b: 16 << 20 }, "only in B".to_owned()); 3]);
    assert!(comparison.allocations.rows.iter().all(|row| row.ids.0.is_none() && row.site.contains("log_metrics")));
    assert!(comparison.verdict[1].contains("log_metrics (only in B)"), "{:?}", comparison.verdict);
}

#[test]
fn steps_have_peaks_and_allocation_counts() {
    let a = File::generated(&format!("{STORY} --sequence 64"));
    let b = File::generated(&format!("{STORY} --sequence 128 --extra-leak 16"));
    let mut comparing = Comparer::new(&a.side(), &b.side(), CompareOptions::default());
    let comparison = run(&mut comparing, &a, &b);
    assert_eq!(comparison.steps.len(), 3, "{:?}", comparison.steps);
    let ends = comparison.steps.iter().skip(1).map(|step| step.begins);
    let last = [&a, &b].map(|file| file.side().history.event_count());
    for (step, end) in comparison.steps.iter().zip(ends.chain([(last[0], last[1])])) {
        // A step may end before the next one begins.
        let most = |file: &File, from: u32, to: u32| {
            (from..=to).map(|moment| file.side().history.drawn_at(Moment(moment)) as u64).max().unwrap()
        };
        let seen = PerSide { a: most(&a, step.begins.0, end.0), b: most(&b, step.begins.1, end.1) };
        assert!(step.peak.a <= seen.a && step.peak.b <= seen.b && step.peak.b > step.peak.a, "{step:?} {seen:?}");
        // B leaks one block per step and is otherwise the same program.
        assert_eq!(step.allocations.b, step.allocations.a + 1, "{step:?}");
    }
    let highest = comparison.steps.iter().map(|step| step.peak.a).max();
    assert_eq!(highest, Some(a.side().history.live_peak().1));
}

#[test]
fn range_peaks_lie_in_aligned_range() {
    let a = File::generated(&format!("{STORY} --sequence 64"));
    let b = File::generated(&format!("{STORY} --sequence 128"));
    let mut comparing = Comparer::new(&a.side(), &b.side(), CompareOptions::default());
    run(&mut comparing, &a, &b);
    let last = a.side().history.event_count();
    for range in [[0, last], [last / 3, last / 2], [last / 2, last / 2]] {
        let range = range.map(Moment);
        let (Some(one), Some(other)) = peaks_in([&a.side(), &b.side()], comparing.alignment(), range) else { panic!() };
        let of_b = range.map(|moment| comparing.alignment().to_b(moment));
        for (file, [from, to], peak) in [(&a, range, one), (&b, of_b, other)] {
            let live = |moment: u32| file.side().history.drawn_at(Moment(moment));
            assert!((from.0..=to.0).contains(&peak.0));
            assert_eq!((from.0..=to.0).map(live).max(), Some(live(peak.0)));
        }
    }
}

#[test]
fn path_prefixes_are_replaced() {
    let file = File::generated(&format!("{STORY} --sequence 64"));
    let other = File::generated(&format!("{STORY} --sequence 64"));
    let side = (file.side(), other.side());
    let wanted = CompareOptions { key: Some(Key::Stack), ..CompareOptions::default() };
    let matched = |prefixes: &[(&str, &str)]| {
        let prefixes = prefixes.iter().map(|(old, new)| ((*old).to_owned(), (*new).to_owned())).collect();
        let mut comparing = Comparer::new(&side.0, &side.1, wanted).with_prefixes(prefixes);
        run(&mut comparing, &file, &other).matched
    };
    // The same prefix in both files changes nothing.
    assert_eq!(matched(&[("/", "/elsewhere/")]), matched(&[]));
}

#[test]
fn empty_trace_can_be_compared() {
    let a = File::generated("--events 3000 --layers 2 --hidden 128 --no-annotations --no-time");
    let b = File::real("empty-trace").unwrap_or_else(|| File::generated("--events 0"));
    let comparison = compared(&a, &b, CompareOptions::default());
    assert_eq!(comparison.alignment, "share");
    check_sums(&comparison);
    check_sums(&compared(&b, &a, CompareOptions::default()));
}

/// A snapshot of an optimizer's states, which `file` allocates.
fn snapshot_by(file: &str) -> File {
    let frames = [
        serde_json::json!({"name": "_init_group", "filename": "/usr/lib/python3/site-packages/torch/optim/adamw.py", "line": 100}),
        serde_json::json!({"name": "call", "filename": file, "line": 9}),
    ];
    let event = |at: u64| serde_json::json!({"action": "alloc", "addr": (at + 1) << 30, "size": 1 << 20, "stream": 0, "frames": frames});
    let trace: Vec<serde_json::Value> = (0..20).map(event).collect();
    let value = serde_json::json!({"segments": [], "device_traces": [trace]});
    File::from_bytes(&serde_pickle::to_vec(&value, serde_pickle::SerOptions::new()).unwrap())
}

/// The program is the same, so only the reserved bytes and the settings differ. PyTorch's own counters tell by how
/// much.
#[test]
fn verdict_names_other_settings_and_peak_reserved() {
    let Some(folder) = opened::recordings_folder("the verdict about settings") else { return };
    let file =
        |name: &str| File::from_bytes(&std::fs::read(folder.join(format!("torch-2.15/{name}.pickle.gz"))).unwrap());
    let peak = |name: &str| -> u64 {
        let text = std::fs::read(folder.join(format!("torch-2.15/{name}.json"))).unwrap();
        let recorded: serde_json::Value = serde_json::from_slice(&text).unwrap();
        recorded["end"]["reserved_bytes.all.peak"].as_u64().unwrap()
    };
    let [a, b] = ["mixed.default", "mixed.expandable"].map(peak);
    let comparison = compared(&file("mixed.default"), &file("mixed.expandable"), CompareOptions::default());
    let reserved = format!("B's peak reserved is {} lower: {} against {}.", Bytes(a - b), Bytes(b), Bytes(a));
    // It is beside the peaks of live bytes, which are equal.
    assert!(comparison.verdict[0].starts_with("B's peak equals A's: "), "{:?}", comparison.verdict);
    assert!(comparison.verdict[0].ends_with(&reserved), "{reserved} {:?}", comparison.verdict);
    let settings = "Allocator settings from A to B: not set → expandable_segments:True.".to_owned();
    assert!(comparison.verdict.contains(&settings), "{:?}", comparison.verdict);
    // The memory fraction is only in the environment variable.
    let comparison = compared(&file("oom.expandable"), &file("oom.fraction"), CompareOptions::default());
    let settings = "Allocator settings from A to B: expandable_segments:True → per_process_memory_fraction:0.8638.";
    assert!(comparison.verdict.iter().any(|sentence| sentence == settings), "{:?}", comparison.verdict);
    // PyTorch 2.15 records more settings.
    let older = File::from_bytes(&std::fs::read(folder.join("torch-2.11/mixed.default.pickle.gz")).unwrap());
    let comparison = compared(&older, &file("mixed.default"), CompareOptions::default());
    assert_eq!(comparison.settings, [], "{:?}", comparison.verdict);
    // With itself.
    let comparison = compared(&file("mixed.default"), &file("mixed.default"), CompareOptions::default());
    assert!(!comparison.verdict.join(" ").contains("reserved"), "{:?}", comparison.verdict);
}

/// An event of a fixed stack. `at` gives the address, in GiB.
fn event(action: &str, at: u64, bytes: u64) -> serde_json::Value {
    let frames = [serde_json::json!({"name": "step", "filename": "/home/me/train.py", "line": 7})];
    serde_json::json!({"action": action, "addr": at << 30, "size": bytes, "stream": 0, "frames": frames})
}

fn snapshot(segments: &[serde_json::Value], trace: &[serde_json::Value]) -> File {
    let value = serde_json::json!({"segments": segments, "device_traces": [trace]});
    File::from_bytes(&serde_json::to_vec(&value).unwrap())
}

#[test]
fn growth_below_equal_peaks_is_in_the_verdict() {
    let mib = |mib: u64| mib << 20;
    let both = [event("alloc", 1, mib(100)), event("free_completed", 1, mib(100)), event("alloc", 2, mib(1))];
    let [a, b] = [0, 1].map(|more| {
        let grown = (0..more).map(|_| event("alloc", 3, mib(10)));
        snapshot(&[], &both.iter().cloned().chain(grown).collect::<Vec<_>>())
    });
    let [more, less] = [compared(&a, &b, CompareOptions::default()), compared(&b, &a, CompareOptions::default())];
    assert_eq!(more.verdict[0], "B's peak equals A's: 100 MiB.");
    assert_eq!(more.verdict[1], "At the end, B has 10.0 MiB more live: 11.0 MiB against 1.00 MiB.");
    assert_eq!(less.verdict[1], "At the end, B has 10.0 MiB less live: 1.00 MiB against 11.0 MiB.");
    // The ends are what is compared.
    let end = |file: &File| Some(Moment(file.side().history.event_count()));
    let ends = compared(&a, &b, CompareOptions { a: end(&a), b: end(&b), ..CompareOptions::default() });
    assert!(!ends.verdict.iter().any(|it| it.starts_with("At the end")), "{:?}", ends.verdict);
}

#[test]
fn reserved_bytes_at_the_ends_are_in_the_verdict() {
    let mib = |mib: u64| mib << 20;
    let both = [
        event("segment_alloc", 1, mib(100)),
        event("alloc", 1, mib(100)),
        event("free_requested", 1, mib(100)),
        event("free_completed", 1, mib(100)),
    ];
    let kept = serde_json::json!({"device": 0, "address": 1_u64 << 30, "total_size": mib(100), "stream": 0,
        "segment_type": "large", "is_expandable": false, "frames": [], "blocks": [
            {"address": 1_u64 << 30, "size": mib(100), "requested_size": 0, "state": "inactive", "frames": []}]});
    let emptied = both.iter().cloned().chain([event("segment_free", 1, mib(100))]).collect::<Vec<_>>();
    let (a, b) = (snapshot(&[kept], &both), snapshot(&[], &emptied));
    let verdict = compared(&a, &b, CompareOptions::default()).verdict;
    assert_eq!(verdict[1], "At the end, B has 100 MiB less reserved: 0 B against 100 MiB.", "{verdict:?}");
    let verdict = compared(&b, &a, CompareOptions::default()).verdict;
    assert_eq!(verdict[1], "At the end, B has 100 MiB more reserved: 100 MiB against 0 B.", "{verdict:?}");
}

#[test]
fn bytes_awaiting_free_are_in_the_verdict_and_the_table() {
    let mib = |mib: u64| mib << 20;
    let start = [event("alloc", 1, mib(100)), event("free_requested", 1, mib(100))];
    let done = [event("free_completed", 1, mib(100))];
    let next = [event("alloc", 2, mib(100))];
    let [a, b] = [[&done[..], &next].concat(), [&next[..], &done].concat()]
        .map(|rest| snapshot(&[], &[&start[..], &rest].concat()));
    let comparison = compared(&a, &b, CompareOptions::default());
    let text = "Awaiting free (record_stream), peak with peak: 100 MiB in B against 0 B in A.";
    assert!(comparison.verdict.iter().any(|it| it == text), "{:?}", comparison.verdict);
    let columns = |comparison: &Comparison| {
        let report = report(comparison, 10);
        let moments = report.sheets.iter().find(|sheet| sheet.key == "moments").unwrap();
        assert!(moments.rows.iter().all(|row| row.cells.len() == moments.columns.len()));
        moments.columns.iter().filter(|column| column.key.ends_with("awaiting_free")).count()
    };
    assert_eq!(columns(&comparison), 2);
    let without = snapshot(&[], &next);
    let comparison = compared(&without, &without, CompareOptions::default());
    assert_eq!(columns(&comparison), 0);
    assert!(!comparison.verdict.iter().any(|it| it.contains("Awaiting free")), "{:?}", comparison.verdict);
}

#[test]
fn ratios_have_one_form() {
    let ratio = |a, b| factor_of(PerSide { a, b });
    let texts = [(1000, 1070), (1000, 130), (10_000, 9970), (10_000, 10_030), (100, 1600), (1000, 20), (5, 5)];
    let wanted = ["×1.07", "×0.13", "×0.997", "×1.003", "×16", "×0.0200", "×1"];
    assert_eq!(texts.map(|(a, b)| ratio(a, b)), wanted);
}

/// Older versions of PyTorch record the pool only in the list of segments, which lacks those that were freed.
#[test]
fn unknown_pool_is_named_and_not_the_first_cause() {
    let mib = |mib: u64| mib << 20;
    let side = |kept: [u64; 4], freed: u64| {
        let places = || (1_u64..).zip(kept);
        let segments = places().map(|(at, kept)| {
            let block = serde_json::json!({"address": at << 30, "size": kept, "requested_size": kept,
                "state": "active_allocated", "frames": []});
            serde_json::json!({"device": 0, "address": at << 30, "total_size": mib(20), "stream": 0,
                "segment_type": "large", "segment_pool_id": [0, at - 1], "is_expandable": false, "frames": [],
                "blocks": [block]})
        });
        let kept = places().map(|(at, kept)| event("alloc", at, kept));
        let freed = [event("alloc", 9, freed), event("free_completed", 9, freed)];
        snapshot(&segments.collect::<Vec<_>>(), &kept.chain(freed).collect::<Vec<_>>())
    };
    let [a, b] = [side([8, 7, 6, 5].map(mib), mib(64)), side([4, 4, 4, 4].map(mib), mib(32))];
    let comparison = compared(&a, &b, CompareOptions { key: Some(Key::Pool), ..CompareOptions::default() });
    assert_eq!(comparison.rows[0].label, "pool unknown: its segment was freed");
    let causes = &comparison.verdict[1];
    assert!(causes.starts_with("Largest differences by pool: −4.00 MiB default pool (×0.50), −3.00 MiB"), "{causes}");
    // It does not take the place of one of the three causes.
    assert!(causes.contains(" −2.00 MiB ") && !causes.contains(" −1.00 MiB "), "{causes}");
    assert!(causes.ends_with(", −32.0 MiB pool unknown: its segment was freed (×0.50)."), "{causes}");
}

#[test]
fn oom_comes_before_the_verdict() {
    let [without, with] = ["--steps 2 --layers 4", "--steps 2 --layers 4 --oom"].map(File::generated);
    let first = |a: &File, b: &File| {
        let report = report(&compared(a, b, CompareOptions::default()), 10);
        report.statements.into_iter().take(2).map(|it| it.text).collect::<Vec<_>>()
    };
    let [from, to] = [first(&without, &with), first(&with, &without)];
    assert_eq!([&*from[0], &*to[0]], ["B ran out of memory, A did not.", "A ran out of memory, B did not."]);
    assert!(from[1].starts_with("B's peak") && to[1].starts_with("B's peak"), "{from:?} {to:?}");
    assert_eq!(first(&with, &with)[0], "Both ran out of memory.");
}

#[test]
fn compiled_and_other_code_is_compared_by_category_only() {
    let compiled = snapshot_by("/tmp/torchinductor_me/ab/cab1.py");
    let [other, changed] = ["/home/me/model.py", "/home/me/changed.py"].map(snapshot_by);
    let says = |comparison: &Comparison, text: &str| comparison.verdict.iter().any(|it| it == text);
    let comparison = compared(&compiled, &other, CompareOptions::default());
    assert_eq!(comparison.key, Key::Category.name());
    assert!(says(&comparison, "A runs compiled code: compared by category only."), "{:?}", comparison.verdict);
    let comparison = compared(&other, &compiled, CompareOptions::default());
    assert!(says(&comparison, "B runs compiled code: compared by category only."), "{:?}", comparison.verdict);
    // A requested key is used.
    let wanted = CompareOptions { key: Some(Key::CallSite), ..CompareOptions::default() };
    let comparison = compared(&compiled, &other, wanted);
    assert_eq!(comparison.key, Key::CallSite.name());
    assert!(!comparison.verdict.iter().any(|it| it.contains("compiled")), "{:?}", comparison.verdict);
    // Two compiled programs, and two that are not.
    for [a, b] in [[&compiled, &compiled], [&other, &changed]] {
        let comparison = compared(a, b, CompareOptions::default());
        assert!(!comparison.verdict.iter().any(|it| it.contains("compiled")), "{:?}", comparison.verdict);
    }
    let comparison = compared(&other, &changed, CompareOptions::default());
    let text = "The code differs: call sites match for 0 % of the bytes, so compared by category only.";
    assert!(says(&comparison, text), "{:?}", comparison.verdict);
    let report = report(&comparison, 10);
    assert!(report.statements.iter().all(|it| it.chart.is_none()), "no flame graph of frames that do not match");
    assert!(report.sheets.iter().all(|sheet| sheet.key != "tree"));
}
