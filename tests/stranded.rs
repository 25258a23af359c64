//! Stranded bytes: the worked example of the specification, the reasons, the blocks that pin holes, and the sum at
//! driver requests of real and generated files.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may fail")]

use crate::generate;
use crate::opened;
use crate::reported;

use generate::Options;
use memscape::engine::{Answer, Ask, Question, Reply, Request, Side};
use memscape::protocol::{Cell, MemoryFilter, Report, ReportQuestion, Sheet, SheetRow, Topic};
use memscape::replay::{AllocationId, DeviceHistory, Rounding, SegmentKind, SegmentLifetimes};
use memscape::snapshot::Snapshot;
use memscape::timeline::View;
use memscape::units::Moment;
use opened::{Opened, open, real_pickles, recordings_folder, reply};
use reported::{cell, number, sheet, text};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

const MIB: u64 = 1 << 20;
/// Number of driver requests of each file whose sum is checked.
const CHECKED_REQUESTS: usize = 12;
/// Every n-th recording is checked.
const RECORDING_STEP: usize = 4;
const REASONS: [&str; 4] = [
    "stranded_another_pool_bytes",
    "stranded_size_class_bytes",
    "stranded_another_stream_bytes",
    "stranded_too_small_bytes",
];

/// Trace under construction. Each event has a call site with its number as the line.
#[derive(Default)]
struct Trace(Vec<Value>);

impl Trace {
    fn add(&mut self, action: &str, addr: u64, size: u64) {
        let frame = json!({"filename": "/home/me/train.py", "name": "step", "line": self.0.len()});
        self.0.push(json!({"action": action, "addr": addr, "size": size, "stream": 0, "frames": [frame]}));
    }

    fn free(&mut self, addr: u64, size: u64) {
        self.add("free_requested", addr, size);
        self.add("free_completed", addr, size);
    }
}

/// Builds a segment with live blocks, given as address and size.
fn segment(address: u64, size: u64, blocks: &[[u64; 2]]) -> Value {
    let block = |&[address, size]: &[u64; 2]| json!({"address": address, "size": size, "requested_size": size, "state": "active_allocated", "frames": []});
    json!({"device": 0, "address": address, "total_size": size, "stream": 0, "segment_type": "large",
           "segment_pool_id": [0, 0], "is_expandable": false, "blocks": blocks.iter().map(block).collect::<Vec<Value>>()})
}

fn with(mut segment: Value, key: &str, value: Value) -> Value {
    segment[key] = value;
    segment
}

fn file(segments: &[Value], trace: Trace) -> Opened {
    let value = json!({"segments": segments, "device_traces": [trace.0]});
    open(&serde_pickle::to_vec(&value, serde_pickle::SerOptions::new()).unwrap()).unwrap()
}

fn request(device: i64) -> Request {
    let question =
        ReportQuestion { topic: Topic::Fragmentation, rows: 100_000, only_stranded: true, ..ReportQuestion::default() };
    Request::Ask(Ask { serial: 7, device, question: Question::Report(question) })
}

fn stranded(opened: &mut Opened, device: i64) -> Report {
    reported::report_of(opened.reply(request(device)))
}

/// Returns the curve of stranded bytes at `moments` moments, from `first` on.
fn curve(opened: &mut Opened, device: i64, first: u32, moments: u32) -> Vec<u64> {
    let view = View { x_per_px: 1.0, width_px: moments, left_px: i64::from(first), ..View::fit(1, 1, 1, 1) };
    let question = Question::Curves { view, only: MemoryFilter::default(), with_stranded: true };
    match opened.reply(Request::Ask(Ask { serial: 3, device, question })) {
        Reply::Answer { answer: Answer::Curves(curves), .. } => curves.stranded,
        other => panic!("expected curves, got {other:?}"),
    }
}

/// Returns numbers of the rows of a sheet, in ascending order of the first.
fn numbers(sheet: &Sheet, keys: &[&str]) -> Vec<Vec<i128>> {
    let mut rows: Vec<Vec<i128>> =
        sheet.rows.iter().map(|row| keys.iter().map(|key| number(sheet, row, key)).collect()).collect();
    rows.sort();
    rows
}

/// Returns the row with this text.
fn row_of<'a>(sheet: &'a Sheet, key: &str, wanted: &str) -> &'a SheetRow {
    let found = sheet.rows.iter().find(|row| text(sheet, row, key).contains(wanted));
    found.unwrap_or_else(|| panic!("no row {wanted}: {:?}", sheet.rows))
}

const A: u64 = 0x7f00_0000_0000;
const B: u64 = A + 12 * MIB;
const D: u64 = A + 32 * MIB;
const F: u64 = A + 46 * MIB;

/// Worked example of the specification: A 12 MiB in a segment of 12; B 8 and C 8 in one of 20; A and B are freed; D 14
/// and F 13 MiB need new segments, and E 8 MiB takes the place of B.
fn worked_example() -> Opened {
    let mut trace = Trace::default();
    trace.add("segment_alloc", A, 12 * MIB);
    trace.add("alloc", A, 12 * MIB);
    trace.add("segment_alloc", B, 20 * MIB);
    trace.add("alloc", B, 8 * MIB);
    trace.add("alloc", B + 8 * MIB, 8 * MIB);
    trace.free(A, 12 * MIB);
    trace.free(B, 8 * MIB);
    trace.add("segment_alloc", D, 14 * MIB);
    trace.add("alloc", D, 14 * MIB);
    trace.add("alloc", B, 8 * MIB);
    trace.add("segment_alloc", F, 14 * MIB);
    trace.add("alloc", F, 13 * MIB);
    let mut tail = segment(F, 14 * MIB, &[[F, 14 * MIB]]);
    tail["blocks"][0]["requested_size"] = json!(13 * MIB);
    let shared = segment(B, 20 * MIB, &[[B, 8 * MIB], [B + 8 * MIB, 8 * MIB]]);
    file(&[segment(A, 12 * MIB, &[]), shared, segment(D, 14 * MIB, &[[D, 14 * MIB]]), tail], trace)
}

#[test]
fn worked_example_is_exact_to_the_byte() {
    let mut opened = worked_example();
    let report = stranded(&mut opened, 0);
    let requests = numbers(sheet(&report, "driver_requests"), &["event", "grown_bytes", "stranded_bytes", REASONS[3]]);
    let mib =
        |row: [i128; 4]| vec![row[0], row[1] * i128::from(MIB), row[2] * i128::from(MIB), row[3] * i128::from(MIB)];
    let expected = [[0, 12, 0, 0], [2, 20, 0, 0], [9, 14, 24, 24], [12, 14, 16, 16]].map(mib);
    assert_eq!(requests, expected, "the driver is asked just before the allocation at events 1, 3, 10 and 13");

    let frees = sheet(&report, "stranded_by_free");
    let actual = ["train.py:5", "train.py:7", "no recorded free"].map(|site| {
        let row = row_of(frees, "call_site", site);
        ["stranded_bytes", "stranded_byte_events"].map(|key| number(frees, row, key) / i128::from(MIB))
    });
    assert_eq!(actual, [[12, 84], [0, 16], [4, 40]], "12 · (13 − 6), 8 · (10 − 8) and 4 · (13 − 3) MiB·events");
    let row = row_of(frees, "call_site", "train.py:5");
    assert_eq!(["freed_at", "exposed_at"].map(|key| number(frees, row, key)), [6, 9]);

    let pins = sheet(&report, "stranded_by_block");
    assert_eq!(numbers(pins, &["pinned_bytes", "blocks"]), [[4 * i128::from(MIB), 1]], "C pins the rest behind it");
    assert!(text(pins, &pins.rows[0], "call_site").contains("train.py:4"), "{pins:?}");
    let kinds = sheet(&report, "stranded");
    let keys = ["stranded_bytes", "holes", "largest_hole_bytes", "unpinned_bytes"];
    assert_eq!(numbers(kinds, &keys), [[16, 2, 12, 12].map(|it| if it == 2 { 2 } else { it * i128::from(MIB) })]);
    assert_eq!(text(kinds, &kinds.rows[0], "reason"), "too small or not allowed");
}

#[test]
fn bytes_are_stranded_from_free_to_last_driver_request_that_found_them() {
    let mut opened = worked_example();
    let expected = [0, 0, 0, 0, 4, 4, 4, 16, 16, 24, 16, 16, 16, 0, 0].map(|mib| mib * MIB);
    assert_eq!(curve(&mut opened, 0, 0, 15), expected);
    let view = View::fit(15, 1, 3, 1);
    let mut query = |with_stranded| {
        let question = Question::Curves { view, only: MemoryFilter::default(), with_stranded };
        match opened.reply(Request::Ask(Ask { serial: 3, device: 0, question })) {
            Reply::Answer { answer: Answer::Curves(curves), .. } => curves.stranded,
            other => panic!("expected curves, got {other:?}"),
        }
    };
    assert_eq!(query(true), [4, 24, 16].map(|mib| mib * MIB), "columns of five moments show their maximum");
    assert_eq!(query(false), [0_u64; 0]);
}

#[test]
fn statements_lead_from_growth_to_the_pinning_block() {
    let report = stranded(&mut worked_example(), 0);
    let texts: Vec<&str> = report.statements.iter().map(|it| it.text.as_str()).collect();
    assert_eq!(
        texts,
        [
            "Stranded at peak reserved: 16.0 MiB of 46.0 MiB (34.8 %). At event 13, train.py:13 step requested 13.0 MiB and reserved grew by 14.0 MiB.",
            "Not usable for this request: 16.0 MiB too small or not allowed.",
            "In free segments and pages, pinned by no block: 12.0 MiB.",
            "Pinned at event 13: 4.00 MiB by 1 block of train.py:4 step. Largest pin: 4.00 MiB by the block of 8.00 MiB allocated at event 4.",
        ]
    );
    let last = report.statements.last().unwrap();
    assert_eq!(last.fix, "", "only simulated settings are recommended");
    let evidence = last.evidence.as_ref().unwrap();
    assert_eq!((evidence.allocation, evidence.moment), (Some(2), Some(12)), "block C, at the request");
}

#[test]
fn report_with_shortest_slices_equals_report_without_slices() {
    let expected = stranded(&mut worked_example(), 0);
    assert_eq!(reported::report_of(reply(&mut worked_example().engine, request(0))), expected);
}

#[test]
fn stranded_bytes_are_reported_when_trace_has_no_driver_requests() {
    let report = reported::report(&mut worked_example(), 0, Topic::Fragmentation, &[]);
    let keys: Vec<&str> = report.sheets.iter().map(|sheet| sheet.key.as_str()).collect();
    assert!(["stranded", "stranded_by_block", "stranded_by_free"].iter().all(|key| keys.contains(key)), "{keys:?}");
    assert!(!keys.contains(&"driver_requests"));
    assert!(report.statements.iter().any(|it| it.text.starts_with("Stranded at peak reserved: 16.0 MiB of 46.0 MiB")));
}

/// Free memory of another pool, size class and stream is listed by its first reason.
#[test]
fn reasons_are_tried_in_order() {
    let other = |at: u64| (at << 30, 20 * MIB);
    let places = [1, 2, 3, 4].map(other);
    let mut trace = Trace::default();
    for (address, size) in places {
        trace.add("segment_alloc", address, size);
    }
    trace.add("segment_alloc", 5 << 30, 20 * MIB);
    trace.add("alloc", 5 << 30, 20 * MIB);
    let empty = |place: usize| segment(places[place].0, places[place].1, &[]);
    let segments = [
        with(with(empty(0), "segment_pool_id", json!([0, 1])), "stream", json!(9)),
        with(with(empty(1), "segment_type", json!("small")), "stream", json!(9)),
        with(empty(2), "stream", json!(9)),
        empty(3),
        segment(5 << 30, 20 * MIB, &[[5 << 30, 20 * MIB]]),
    ];
    let report = stranded(&mut file(&segments, trace), 0);
    let requests = sheet(&report, "driver_requests");
    let row = requests.rows.iter().find(|row| number(requests, row, "event") == 4).unwrap();
    assert_eq!(REASONS.map(|key| number(requests, row, key)), [20 * i128::from(MIB); 4]);
    let kinds = sheet(&report, "stranded");
    let pairs = [
        ("another pool", "(0, 1)"),
        ("another size class", "default, small"),
        ("another stream", "default, large"),
        ("too small", "default, large"),
    ];
    for (reason, pool) in pairs {
        let row = row_of(kinds, "reason", reason);
        assert!(text(kinds, row, "pool").contains(pool), "{reason}: {}", text(kinds, row, "pool"));
        assert_eq!(number(kinds, row, "stranded_bytes"), 20 * i128::from(MIB));
    }
    assert!(sheet(&report, "stranded_by_block").rows.is_empty(), "no block pins whole free segments");
}

/// In an expandable segment with pages of 20 MiB, blocks pin only the rest of their own pages.
#[test]
fn blocks_pin_pages_of_expandable_segments() {
    let start = 1 << 40;
    let last = start + 75 * MIB;
    let mut trace = Trace::default();
    trace.add("segment_map", start, 80 * MIB);
    trace.add("alloc", start, 4 * MIB);
    trace.add("alloc", start + 4 * MIB, 71 * MIB);
    trace.add("alloc", last, 5 * MIB);
    trace.free(start + 4 * MIB, 71 * MIB);
    trace.add("segment_map", start + 80 * MIB, 20 * MIB);
    let blocks = [[start, 4 * MIB], [last, 5 * MIB]];
    let expandable = with(segment(start, 100 * MIB, &blocks), "is_expandable", json!(true));
    let report = stranded(&mut file(&[expandable], trace), 0);
    let pins = sheet(&report, "stranded_by_block");
    let pinned = |site| number(pins, row_of(pins, "call_site", site), "pinned_bytes") / i128::from(MIB);
    assert_eq!([pinned("train.py:1"), pinned("train.py:3")], [16, 15], "up to the end, and from the start, of a page");
    assert_eq!(numbers(sheet(&report, "stranded"), &["unpinned_bytes"]), [[40 * i128::from(MIB)]]);
}

/// A hole of a plain segment is pinned by both neighbours, half each, and a block awaiting its free is not stranded.
#[test]
fn hole_between_two_blocks_is_pinned_half_each() {
    let mut trace = Trace::default();
    trace.add("segment_alloc", A, 40 * MIB);
    trace.add("alloc", A, 10 * MIB);
    trace.add("alloc", A + 10 * MIB, 10 * MIB);
    trace.add("alloc", A + 20 * MIB, 20 * MIB);
    trace.free(A + 10 * MIB, 10 * MIB);
    trace.add("free_requested", A, 10 * MIB);
    trace.add("segment_alloc", 2 << 40, 60 * MIB);
    trace.add("alloc", 2 << 40, 60 * MIB);
    trace.add("free_completed", A, 10 * MIB);
    let segments =
        [segment(A, 40 * MIB, &[[A + 20 * MIB, 20 * MIB]]), segment(2 << 40, 60 * MIB, &[[2 << 40, 60 * MIB]])];
    let report = stranded(&mut file(&segments, trace), 0);
    let pins = numbers(sheet(&report, "stranded_by_block"), &["pinned_bytes"]);
    assert_eq!(pins, [[5 * i128::from(MIB)]; 2]);
    let requests = sheet(&report, "driver_requests");
    assert_eq!(number(requests, &requests.rows[0], "stranded_bytes"), 10 * i128::from(MIB));
}

#[test]
fn file_without_driver_requests_says_so() {
    let report = stranded(&mut file(&[segment(A, 20 * MIB, &[[A, 8 * MIB]])], Trace::default()), 0);
    assert!(report.statements[0].text.contains("No recorded driver request"), "{:?}", report.statements);
    assert!(sheet(&report, "driver_requests").rows.is_empty());
}

/// Slow calculation of stranded bytes at one moment, from the lifetimes of blocks and segments.
struct Referee<'a> {
    snapshot: &'a Snapshot,
    history: &'a DeviceHistory,
    lives: &'a SegmentLifetimes,
    rounding: Rounding,
    splits_all: bool,
    max_split_size: u64,
    /// All allocations with an address, in address order.
    by_address: Vec<(u64, AllocationId)>,
}

impl<'a> Referee<'a> {
    fn new(side: &Side<'a>) -> Referee<'a> {
        let (snapshot, history, lives) = (side.snapshot(), side.history, side.segment_lives().unwrap());
        let setting = |name: &str| snapshot.settings.iter().find(|(key, _)| key == name).map(|(_, value)| value);
        let ids = (0..history.allocations.len() as u32).map(AllocationId);
        let ids = ids.filter(|&id| !history.allocations.is_unexplained(id));
        let mut by_address: Vec<_> = ids.map(|id| (history.allocations.address(id), id)).collect();
        by_address.sort_unstable();
        Referee {
            snapshot,
            history,
            lives,
            rounding: Rounding::from_settings(&snapshot.settings),
            splits_all: setting("expandable_segments").is_some_and(|on| on.eq_ignore_ascii_case("true")),
            max_split_size: setting("max_split_size").and_then(|it| it.parse().ok()).unwrap_or(u64::MAX),
            by_address,
        }
    }

    fn is_live(&self, id: AllocationId, moment: u32) -> bool {
        let (from, to, _) = self.history.allocations.span(id);
        from <= moment && moment < to
    }

    /// Start of the next block at or above `address`, or the end of the mapped memory there, at a moment.
    fn hole_end(&self, address: u64, end: u64, moment: u32) -> u64 {
        let from = self.by_address.partition_point(|&(other, _)| other < address);
        let above = self.by_address[from..].iter().take_while(|&&(other, _)| other < end);
        above.filter(|&&(_, id)| self.is_live(id, moment)).map(|&(other, _)| other).next().unwrap_or(end)
    }

    /// Size of a block with its tail. `range` is the mapped range that it is in.
    fn block_size(&self, id: AllocationId, range: AllocationId) -> u64 {
        let allocations = &self.history.allocations;
        if let Some(row) = self.history.end_block(id) {
            return self.snapshot.blocks.get(row as usize).unwrap().size;
        }
        let size = self.rounding.rounded(allocations.size(id));
        let is_plain = matches!(self.lives.kind(range), Some(SegmentKind { small: false, expandable: false, .. }));
        if self.splits_all || !is_plain {
            return size;
        }
        let address = allocations.address(id) + size;
        let end = self.lives.ranges.address(range) + self.lives.ranges.size(range);
        let (allocated_at, freed_at, _) = allocations.span(id);
        let hole_end = self.hole_end(address, end, allocated_at.saturating_sub(1)).max(address);
        let hole = hole_end - address;
        if hole <= MIB || size >= self.max_split_size {
            return size + hole;
        }
        if allocated_at > 0 {
            return size;
        }
        // The first allocation in the hole shows where it begins.
        let from = self.by_address.partition_point(|&(other, _)| other < address);
        let inside = self.by_address[from..].iter().take_while(|&&(other, _)| other < hole_end);
        let first = inside.map(|&(other, id)| (allocations.allocated_at(id).0, other)).filter(|it| it.0 > 0).min();
        first.filter(|&(at, other)| at < freed_at && other - address <= MIB).map_or(size, |(_, at)| size + at - address)
    }

    /// Reserved bytes minus the blocks that are live or await their free, at a moment.
    fn stranded(&self, moment: u32) -> u64 {
        let mut ranges: Vec<AllocationId> = self.lives.live.live_at(&self.lives.ranges, Moment(moment)).collect();
        ranges.sort_unstable_by_key(|&id| self.lives.ranges.address(id));
        let address = |id: AllocationId| self.lives.ranges.address(id);
        let end = |id: AllocationId| address(id) + self.lives.ranges.size(id);
        let reserved: u64 = ranges.iter().map(|&id| self.lives.ranges.size(id)).sum();
        let live: Vec<_> = self.by_address.iter().filter(|&&(_, id)| self.is_live(id, moment)).collect();
        let mut used = 0;
        for (place, &&(at, id)) in live.iter().enumerate() {
            let Some(range) = ranges.partition_point(|&range| address(range) <= at).checked_sub(1) else { continue };
            if at >= end(ranges[range]) {
                continue;
            }
            // Blocks of expandable segments span several ranges.
            let mut last = range;
            while last + 1 < ranges.len() && self.lives.is_same_segment(ranges[last], ranges[last + 1]) {
                last += 1;
            }
            let next = live.get(place + 1).map_or(u64::MAX, |it| it.0);
            used += self.block_size(id, ranges[range]).min(next - at).min(end(ranges[last]) - at);
        }
        reserved - used
    }
}

/// Checks the sums at driver requests of all devices of a file. Returns the number of requests that were checked.
fn check_sums(name: &str, bytes: &[u8]) -> usize {
    let mut opened = open(bytes).unwrap_or_else(|error| panic!("{name}: {error}"));
    let devices: Vec<i64> = opened.summary.devices.iter().map(|device| device.device).collect();
    let mut checked = 0;
    for device in devices {
        let report = stranded(&mut opened, device);
        let Some(requests) = report.sheets.iter().find(|sheet| sheet.key == "driver_requests") else { continue };
        let mut rows: Vec<&SheetRow> = requests.rows.iter().collect();
        rows.sort_by_key(|row| number(requests, row, "event"));
        if rows.is_empty() {
            continue;
        }
        let side = opened.engine.side(device).unwrap();
        let referee = Referee::new(&side);
        for row in rows.iter().step_by(rows.len().div_ceil(CHECKED_REQUESTS)) {
            let event = number(requests, row, "event") as u32;
            let sum = number(requests, row, "stranded_bytes");
            let reasons: i128 = REASONS.iter().map(|key| number(requests, row, key)).sum();
            assert_eq!(reasons, sum, "{name}, device {device}: reasons at event {event}");
            assert_eq!(sum, i128::from(referee.stranded(event)), "{name}, device {device}: sum at event {event}");
            checked += 1;
        }
        for row in rows.iter().step_by(rows.len().div_ceil(CHECKED_REQUESTS)) {
            let event = number(requests, row, "event") as u32;
            let stranded = number(requests, row, "stranded_bytes") as u64;
            assert_eq!(curve(&mut opened, device, event, 1), [stranded], "{name}, device {device}: curve at {event}");
        }
        check_headline(name, &report, requests);
    }
    checked
}

/// The tables of the headline add up to its sum.
fn check_headline(name: &str, report: &Report, requests: &Sheet) {
    let Some(kinds) = report.sheets.iter().find(|sheet| sheet.key == "stranded") else { return };
    let sum = |sheet: &Sheet, key: &str| sheet.rows.iter().map(|row| number(sheet, row, key)).sum::<i128>();
    let total = sum(kinds, "stranded_bytes");
    assert!(requests.rows.iter().any(|row| number(requests, row, "stranded_bytes") == total), "{name}");
    assert_eq!(sum(sheet(report, "stranded_by_free"), "stranded_bytes"), total, "{name}");
    let pinned = sum(sheet(report, "stranded_by_block"), "pinned_bytes");
    assert_eq!(pinned + sum(kinds, "unpinned_bytes"), total, "{name}: pinned by a block or by nothing");
    let column = kinds.columns.iter().position(|column| column.key == "stranded_bytes").unwrap();
    assert_eq!(kinds.total[column], Cell::Bytes(total as u64), "{name}");
    assert!(kinds.rows.iter().all(|row| matches!(cell(kinds, row, "reason"), Cell::Text(_))));
}

#[test]
fn stranded_bytes_by_reason_sum_to_total_on_generated_traces() {
    let options = [
        "--steps 4 --pending --seed 3",
        "--steps 4 --expandable --seed 4",
        "--steps 4 --private-pools --oom --seed 5",
        "--steps 3 --record-from-start --devices 2 --seed 6",
        "--sample out-of-memory",
        "--steps 6 --ring 9000 --seed 7",
    ];
    for line in options {
        let (options, _) = Options::parse(line.split_whitespace().map(str::to_owned)).unwrap();
        let checked = check_sums(line, &generate::generate(&options, Vec::new()).unwrap().0);
        assert!(checked > 0, "{line}: no driver request");
    }
}

#[test]
fn stranded_bytes_by_reason_sum_to_total_on_real_snapshots() {
    let Some(files) = real_pickles() else { return };
    let checked: usize =
        files.iter().map(|path| check_sums(&path.display().to_string(), &std::fs::read(path).unwrap())).sum();
    assert!(checked > 0);
}

/// Returns a sample of the recordings of PyTorch's allocator. Prints a note if the folder is missing.
fn recordings() -> Option<Vec<PathBuf>> {
    let folder = recordings_folder("stranded bytes are not checked with them")?;
    let entries = |folder: &Path| std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> =
        entries(&folder).filter(|path| path.is_dir()).flat_map(|path| entries(&path)).collect();
    files.retain(|path| path.to_string_lossy().ends_with(".pickle.gz"));
    files.sort();
    Some(files.into_iter().step_by(RECORDING_STEP).collect())
}

#[test]
fn stranded_bytes_by_reason_sum_to_total_on_recordings() {
    let Some(files) = recordings() else { return };
    let checked: usize =
        files.iter().map(|path| check_sums(&path.display().to_string(), &std::fs::read(path).unwrap())).sum();
    assert!(checked > 0);
}
