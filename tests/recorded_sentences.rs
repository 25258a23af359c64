//! Sentences about recordings of PyTorch's allocator that a user reads first: why a request failed and what to change,
//! which settings help, and what grows.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests may panic")]

use crate::opened;
use crate::reported;

use memscape::protocol::{Report, Tone, Topic};
use opened::{open, real_pickles, recordings_folder};
use reported::report;
use std::path::PathBuf;

fn report_on(path: &PathBuf, topic: Topic) -> Report {
    let mut opened = open(&std::fs::read(path).unwrap()).unwrap();
    let device = opened.summary.devices[0].device;
    report(&mut opened, device, topic, &[])
}

fn lines(report: &Report) -> Vec<String> {
    report.statements.iter().map(|it| [&*it.text, " | ", &it.fix].concat()).collect()
}

#[test]
fn reports_say_the_cause_and_the_change() {
    let Some(folder) = recordings_folder("sentences about recordings") else { return };
    let mut failures = Vec::new();
    for (name, topic, wanted) in [
        (
            "torch-2.11/oom.split128",
            Topic::OutOfMemory,
            "Fragmentation: ≤ 489 MiB free (cached) and 572 MiB free on the device, enough together, but not in one block. | ",
        ),
        (
            "torch-2.11/train.fraction",
            Topic::OutOfMemory,
            "Out of memory at event 6,902 (per_process_memory_fraction:0.2056 likely limits the process): the program requested 128 MiB, the device had 18.6 GiB free. | ",
        ),
        (
            "torch-2.11/train.fraction",
            Topic::OutOfMemory,
            "The device had enough free for this request: per_process_memory_fraction:0.2056 limits the process, or the driver's memory is fragmented. | Raise per_process_memory_fraction (recorded: 0.2056), if no other process needs the memory.",
        ),
        (
            "torch-2.11/pools.fraction",
            Topic::OutOfMemory,
            "Free (cached) in this pool: ≤ 11.8 MiB, largest block ≤ 5.00 MiB, but these are upper bounds. | ",
        ),
        (
            "torch-2.11/pools.fraction",
            Topic::OutOfMemory,
            "Pool of the request: default, large blocks, default stream (assumed: the file does not record it): 206 MiB reserved. A free block of ≤ 5.00 MiB there suggests that the request was in another pool. | ",
        ),
        (
            "torch-2.15/pools.fraction",
            Topic::OutOfMemory,
            "Pool of the request: MemPool (0, 1), large blocks, default stream: 380 MiB reserved. | ",
        ),
        (
            "torch-2.15/pools.fraction",
            Topic::OutOfMemory,
            "Empty segments that this request cannot use would have been large enough: 222 MiB in 7 segments of MemPool (0, 2). | Delete the MemPool, or reset the CUDA graph, that owns them when it is no longer used.",
        ),
        (
            "torch-2.11/mixed.nonsplit",
            Topic::Settings,
            "The default settings: −4.96 GiB peak reserved (simulated): 18.9 GiB → 13.9 GiB (−26.3 %). | Unset PYTORCH_CUDA_ALLOC_CONF.",
        ),
        (
            "torch-2.11/mixed.nonsplit",
            Topic::Settings,
            "expandable_segments:True: −7.20 GiB peak reserved (simulated): 18.9 GiB → 11.7 GiB (−38.2 %). | Set PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True (without max_split_size_mb:64,max_non_split_rounding_mb:64).",
        ),
        (
            "torch-2.11/mixed.nonsplit",
            Topic::Settings,
            "Changed from the default: max_split_size = 64.0 MiB, max_non_split_rounding_mb = 64. | ",
        ),
        (
            "torch-2.15/mixed.expandable_div4",
            Topic::Fragmentation,
            "expandable_segments:True without roundup_power2_divisions:4: −402 MiB peak reserved (simulated): 12.1 GiB → 11.7 GiB (−3.3 %). | Set PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True (without roundup_power2_divisions:4).",
        ),
        (
            "torch-2.15/mixed.expandable_div4",
            Topic::Fragmentation,
            "Peak reserved: 12.1 GiB at event 11,462. The driver was asked for 420 MiB for a block of 512 MiB, with ≤ 3.58 GiB free (cached) in 35 blocks, largest ≤ 432 MiB in that pool (default, large blocks, expandable). Enough in total, but not in one block. | ",
        ),
        (
            "torch-2.11/train.split128",
            Topic::Fragmentation,
            "Peak reserved: 5.32 GiB at event 7,006. The driver was asked for 64.0 MiB for a block of 64.0 MiB, with ≤ 788 MiB free (cached) in 40 blocks, largest ≤ 136 MiB in that pool (default, large blocks). max_split_size_mb does not split large blocks. | ",
        ),
        (
            "torch-2.11/pools.nonsplit",
            Topic::Fragmentation,
            "Peak reserved: 1.13 GiB at event 3,189. The driver was asked for 20.0 MiB for a block of 8.00 MiB, with nothing free (cached) in that pool (default, large blocks). Too little in total. | ",
        ),
        (
            "programs-2.11/mlp.default.b2",
            Topic::Savings,
            "Optimizer state: 136 MiB at the peak (28.3 %), all by xrecord.py:179 mlp.",
        ),
    ] {
        let report = report_on(&folder.join([name, ".pickle.gz"].concat()), topic);
        if !lines(&report).iter().any(|line| line.starts_with(wanted)) {
            failures.push(format!("{name} does not say {wanted:?}: {:#?}", lines(&report)));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// A list whose entries are partly removed in each round. It grows until as many are removed as added.
#[test]
fn growth_with_frees_of_older_allocations_is_possibly_a_leak() {
    let Some(folder) = recordings_folder("the grade of a leak") else { return };
    let leaks = report_on(&folder.join("torch-2.15/pools_kept.div4.pickle.gz"), Topic::Leaks);
    let wanted = " grew in each of the 5 steps, 47.5 MiB on average, though older ones are freed: 238 MiB in all (possibly a leak).";
    assert!(leaks.statements[0].text.ends_with(wanted), "{:?}", leaks.statements[0]);
    assert!(leaks.headline.unwrap().text.starts_with("Possible leak: "));
}

/// Low fragmentation at the peak is no good news if a setting saves more than a tenth of peak reserved.
#[test]
fn low_fragmentation_beside_a_warning_is_a_fact() {
    let Some(folder) = recordings_folder("tones") else { return };
    for (name, tone) in [("torch-2.11/train.split128", Tone::Fact), ("torch-2.11/train.default", Tone::Good)] {
        let report = report_on(&folder.join([name, ".pickle.gz"].concat()), Topic::Fragmentation);
        assert_eq!(report.statements[0].tone, tone, "{:?}", lines(&report));
    }
}

#[test]
fn call_site_without_a_stack_is_not_that_of_the_free() {
    let Some(files) = real_pickles() else { return };
    for name in ["torch-2.0-block-history-b.pickle", "state-only-one-event.pickle"] {
        let Some(path) = files.iter().find(|path| path.ends_with(name)) else { continue };
        let peak = format!("{:?}", report_on(path, Topic::Peak));
        assert!(peak.contains("no stack recorded") && !peak.contains("freed at no") && !peak.contains("recorded (1"));
    }
}

/// An allocation without a stack has no call site that a sentence could name.
#[test]
fn allocations_without_a_stack_are_no_call_site() {
    let Some(files) = real_pickles() else { return };
    for (name, topic, wanted) in [
        (
            "torch-2.10-small.pickle",
            Topic::Leaks,
            "942 of 1,950 allocations freed within 10 events. Most were recorded without a call stack. | ",
        ),
        (
            "empty-trace.pickle",
            Topic::Fragmentation,
            "47 segments pinned by one block: 577 MiB free (cached) cannot be released. Most were recorded without a call stack (577 MiB in 47 segments). | ",
        ),
    ] {
        let Some(path) = files.iter().find(|path| path.ends_with(name)) else { continue };
        let lines = lines(&report_on(path, topic));
        assert!(lines.iter().any(|line| line == wanted), "{name}: {lines:#?}");
    }
}
