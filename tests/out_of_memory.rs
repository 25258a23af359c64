//! The out-of-memory report: failed requests in the middle of a trace, the reasons they failed, and malformed files.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests may panic")]

use crate::generate;
use crate::opened;
use crate::reported;

use memscape::protocol::{Cell, Query, Report, Tone, Topic};
use opened::{Opened, open};
use proptest::prelude::*;
use reported::{cell, number, report, report_of, report_request, sheet, text};
use serde_json::{Value, json};

const MIB: u64 = 1 << 20;

fn event(action: &str, addr: u64, size: u64) -> Value {
    let frame = json!({"name": action, "filename": "/home/me/train.py", "line": 7});
    json!({"action": action, "addr": addr, "size": size, "stream": 0, "frames": [frame]})
}

fn oom_event(asked: u64, device_free: u64) -> Value {
    let frame = json!({"name": "attention", "filename": "/home/me/model.py", "line": 31});
    json!({"action": "oom", "device_free": device_free, "size": asked, "stream": 0, "frames": [frame]})
}

fn segment(address: u64, size: u64, expandable: bool, blocks: &[(u64, u64, &str)]) -> Value {
    let block = |&(address, size, state): &(u64, u64, &str)| json!({"address": address, "size": size, "requested_size": size, "state": state, "frames": []});
    json!({"device": 0, "address": address, "total_size": size, "stream": 0, "segment_type": "large",
           "is_expandable": expandable, "blocks": blocks.iter().map(block).collect::<Vec<Value>>()})
}

fn open_snapshot(segments: &[Value], trace: &[Value]) -> Opened {
    let value = json!({"segments": segments, "device_traces": [trace]});
    open(&serde_pickle::to_vec(&value, serde_pickle::SerOptions::new()).unwrap()).unwrap()
}

fn oom_report(opened: &mut Opened, at: Option<u32>) -> Report {
    report_of(opened.reply(report_request(0, Topic::OutOfMemory, at, &[("big", 1)])))
}

/// Largest free block, free bytes, free blocks, reserved bytes and empty segments of each pool.
fn pool_room(report: &Report) -> Vec<[i128; 5]> {
    let sheet = sheet(report, "room");
    let keys = ["largest_free_bytes", "free_bytes", "free_blocks", "reserved_bytes", "empty_segments"];
    sheet.rows.iter().map(|row| keys.map(|key| number(sheet, row, key))).collect()
}

fn mib<const N: usize>(numbers: [u64; N]) -> [i128; N] {
    numbers.map(|number| i128::from(number * MIB))
}

/// Two segments of 20 MiB at the time of the request. One more is allocated after the failure, and one is gone by the
/// end.
fn fragmented() -> Opened {
    let [a, b, c] = [100 * MIB, 200 * MIB, 300 * MIB];
    let trace = [
        event("segment_alloc", a, 20 * MIB),
        event("segment_alloc", b, 20 * MIB),
        event("alloc", a, 8 * MIB),
        event("alloc", a + 12 * MIB, 4 * MIB),
        event("alloc", b, 20 * MIB),
        event("free_requested", b, 20 * MIB),
        event("alloc", a + 8 * MIB, 4 * MIB),
        event("free_requested", a + 8 * MIB, 4 * MIB),
        event("free_completed", a + 8 * MIB, 4 * MIB),
        oom_event(7 * MIB, MIB),
        event("free_completed", b, 20 * MIB),
        event("segment_free", b, 20 * MIB),
        event("segment_alloc", c, 20 * MIB),
        event("alloc", c, 7 * MIB),
        oom_event(900 * MIB, 3 * MIB),
    ];
    let blocks = [
        (a, 8 * MIB, "active_allocated"),
        (a + 8 * MIB, 4 * MIB, "inactive"),
        (a + 12 * MIB, 4 * MIB, "active_allocated"),
        (a + 16 * MIB, 4 * MIB, "inactive"),
    ];
    let rest = [(c, 7 * MIB, "active_allocated"), (c + 7 * MIB, 13 * MIB, "inactive")];
    open_snapshot(&[segment(a, 20 * MIB, false, &blocks), segment(c, 20 * MIB, false, &rest)], &trace)
}

#[test]
fn earlier_oom_is_reported_with_state_at_that_event() {
    let mut opened = fragmented();
    let newest = oom_report(&mut opened, None);
    let requests = sheet(&newest, "requests");
    let keys = [
        "event",
        "requested_bytes",
        "device_free_bytes",
        "reserved_bytes",
        "live_bytes",
        "awaiting_free_bytes",
        "free_bytes",
    ];
    let rows: Vec<[i128; 7]> = requests.rows.iter().map(|row| keys.map(|key| number(requests, row, key))).collect();
    let [mut last, mut first] = [mib([0, 900, 3, 40, 19, 0, 21]), mib([0, 7, 1, 40, 32, 20, 8])];
    (last[0], first[0]) = (14, 9);
    assert_eq!(rows, [last, first], "newest first");
    assert_eq!(text(requests, &requests.rows[0], "call_site"), "model.py:31 attention");
    let both = [13 * MIB, 21 * MIB, 3, 40 * MIB, 0].map(i128::from);
    assert_eq!(pool_room(&newest), [both], "at the end");
    let lacks = newest.statements.iter().any(|it| it.text.contains("Not fragmentation: "));
    assert!(lacks, "{:?}", newest.statements);

    let middle = oom_report(&mut opened, Some(10));
    assert_eq!(pool_room(&middle), [[4 * MIB, 8 * MIB, 2, 40 * MIB, 0].map(i128::from)], "event 9");
    let shown: Vec<(Tone, &str)> = middle.statements.iter().map(|it| (it.tone, it.text.as_str())).collect();
    for (tone, part) in [
        (
            Tone::Alarm,
            "Out of memory at event 9: model.py:31 attention requested 7.00 MiB, the device had 1.00 MiB free.",
        ),
        (Tone::Fact, "Live at the OOM: 32.0 MiB in 3 allocations, of 40.0 MiB reserved."),
        (Tone::Fact, "Largest request that would have fitted: ≤ 4.00 MiB, in the largest free block of this pool."),
        (Tone::Alarm, "Fragmentation: ≤ 8.00 MiB free (cached) in this pool, in 2 blocks, none large enough."),
        (Tone::Fact, "Awaiting free: 20.0 MiB, freed by the program and still in use by another stream"),
        (Tone::Alarm, "2 OOMs in this trace."),
    ] {
        assert!(shown.iter().any(|(of, text)| *of == tone && text.contains(part)), "{part}: {shown:#?}");
    }
    let fix = middle.statements.iter().find(|it| it.text.starts_with("Fragmentation")).map(|it| it.fix.as_str());
    assert_eq!(fix, Some(""), "no setting is recommended that was not simulated");
    let before = sheet(&middle, "before");
    let rows: Vec<[i128; 3]> = before
        .rows
        .iter()
        .map(|row| ["requested_bytes", "allocated_at", "events_before"].map(|key| number(before, row, key)))
        .collect();
    assert_eq!(rows[0], [i128::from(4 * MIB), 6, 3]);
    assert_eq!((rows.len(), cell(before, &before.rows[0], "freed_at")), (4, &Cell::Event(8)));
    let live = sheet(&middle, "live");
    assert_eq!(live.total[0], Cell::Bytes(32 * MIB));
    // An event before all failed requests selects the newest.
    assert_eq!(oom_report(&mut opened, Some(2)), newest);
}

/// Request sizes that are not multiples of 512 bytes. In the tables and in the text, only bytes outside all blocks are
/// free.
#[test]
fn headline_is_the_failed_request() {
    let report = oom_report(&mut fragmented(), None);
    let headline = report.headline.unwrap();
    assert!(headline.text.starts_with("Out of memory at event 14: "), "{}", headline.text);
    assert_eq!(report.statements[headline.statement as usize].text, headline.text);
}

#[test]
fn largest_call_sites_are_found_by_their_evidence() {
    let frame = |line: u64| json!([{"name": "f+g", "filename": "/home/me/model.py", "line": line}]);
    let alloc = |at: u64, line: u64| {
        let mut event = event("alloc", at << 30, (4 - line) * MIB);
        event["frames"] = frame(line);
        event
    };
    let trace = [alloc(1, 1), alloc(2, 2), alloc(3, 3), oom_event(MIB, MIB)];
    let report = oom_report(&mut open_snapshot(&[], &trace), None);
    let largest = report.statements.iter().find(|it| it.text.starts_with("Largest call sites")).unwrap();
    let query = largest.evidence.as_ref().and_then(|evidence| evidence.find.clone()).unwrap();
    assert_eq!(query, r"@/model\.py\:1 f\+g|model\.py\:2 f\+g|model\.py\:3 f\+g/");
    let Ok(Query::Site(matcher)) = Query::parse(&query) else { panic!("{query}") };
    assert!((1..=3).all(|line| matcher.matches(&format!("/home/me/model.py:{line} f+g"))));
    assert!(!matcher.matches("/home/me/model.py:4 f+g"));
}

#[test]
fn free_bytes_at_oom_exclude_rounding() {
    let a = 100 * MIB;
    let trace = [
        event("segment_alloc", a, 20 * MIB),
        event("alloc", a, 8 * MIB - 100),
        event("alloc", a + 12 * MIB, 4 * MIB - 300),
        oom_event(7 * MIB, MIB),
        event("free_requested", a, 8 * MIB - 100),
        event("free_completed", a, 8 * MIB - 100),
        oom_event(30 * MIB, MIB),
    ];
    let blocks =
        [(a, 12 * MIB, "inactive"), (a + 12 * MIB, 4 * MIB, "active_allocated"), (a + 16 * MIB, 4 * MIB, "inactive")];
    let mut segment = segment(a, 20 * MIB, false, &blocks);
    segment["blocks"][1]["requested_size"] = json!(4 * MIB - 300);
    let mut opened = open_snapshot(&[segment], &trace);
    for (at, free) in [(4, [16 * MIB, 8 * MIB]), (7, [16 * MIB, 8 * MIB])] {
        let oom = oom_report(&mut opened, Some(at));
        let requests = sheet(&oom, "requests");
        let rows: Vec<i128> = requests.rows.iter().map(|row| number(requests, row, "free_bytes")).collect();
        assert_eq!(rows, free.map(i128::from), "newest first");
        let all: i128 = pool_room(&oom).iter().map(|pool| pool[1]).sum();
        assert_eq!(all, i128::from(free[usize::from(at == 4)]), "event {}", at - 1);
    }
}

/// The driver gives memory in multiples of 2 MiB. The report says so if that is why less fits than the driver has free.
#[test]
fn largest_fitting_request_mentions_rounding_to_2_mib() {
    let base = 1 << 40;
    let taken = [(base, 20 * MIB, "active_allocated")];
    for (driver, is_said) in [(123 * MIB, true), (122 * MIB, false), (MIB, true)] {
        let trace =
            [event("segment_alloc", base, 20 * MIB), event("alloc", base, 20 * MIB), oom_event(500 * MIB, driver)];
        let oom = oom_report(&mut open_snapshot(&[segment(base, 20 * MIB, false, &taken)], &trace), None);
        let shown = oom.statements.iter().find(|it| it.text.contains("would have fitted")).unwrap();
        let begins = if driver < 2 * MIB { "≤ 0 B" } else { "≤ 122 MiB, in a new segment" };
        assert!(shown.text.contains(begins), "{shown:?}");
        assert_eq!(shown.text.contains("multiples of 2 MiB"), is_said && driver > 2 * MIB, "{shown:?}");
    }
}

/// Memory that neither the allocator nor the driver accounts for is used by others. Its size follows from another
/// failed request, or from the device's capacity.
#[test]
fn memory_outside_allocator_is_reported_when_known() {
    let mut opened = fragmented();
    let outside = |oom: &Report| {
        let requests = sheet(oom, "requests");
        let rows: Vec<i128> = requests.rows.iter().map(|row| number(requests, row, "outside_bytes")).collect();
        let shown: Vec<String> =
            oom.statements.iter().map(|it| it.text.clone()).filter(|it| it.contains("NCCL")).collect();
        (rows, shown)
    };
    let (rows, shown) = outside(&oom_report(&mut opened, None));
    assert_eq!(rows, mib([0, 2]), "41 MiB are accounted for at the first failure, 43 MiB at the newest");
    assert!(shown.len() == 1 && shown[0].contains("43.0 MiB"), "{shown:?}");
    let (_, shown) = outside(&oom_report(&mut opened, Some(10)));
    assert!(shown.len() == 1 && shown[0].starts_with("At least 2.00 MiB of device memory"), "{shown:?}");
    let known = report_of(opened.reply(report_request(0, Topic::OutOfMemory, None, &[("capacity", 50 * MIB)])));
    let (rows, shown) = outside(&known);
    assert_eq!(rows, mib([7, 9]));
    assert!(shown.len() == 1 && shown[0].starts_with("7.00 MiB of device memory"), "{shown:?}");
}

#[test]
fn empty_segments_are_released_before_oom() {
    // Three segments of 20 MiB: half used, unused, and unused in a private pool.
    let [a, b, c] = [100 * MIB, 200 * MIB, 300 * MIB];
    let half = [(a, 10 * MIB, "active_allocated"), (a + 10 * MIB, 10 * MIB, "inactive")];
    let mut private = segment(c, 20 * MIB, false, &[(c, 20 * MIB, "inactive")]);
    private["segment_pool_id"] = json!([1, 0]);
    let segments =
        [segment(a, 20 * MIB, false, &half), segment(b, 20 * MIB, false, &[(b, 20 * MIB, "inactive")]), private];
    let trace = |asked| [event("alloc", a, 10 * MIB), oom_event(asked, 4 * MIB)];
    let shown = |asked| oom_report(&mut open_snapshot(&segments, &trace(asked)), None).statements;
    let holds = |shown: &[memscape::protocol::Statement], part: &str| {
        shown.iter().any(|statement| statement.text.contains(part))
    };
    let large = shown(30 * MIB);
    assert!(
        holds(&large, "would have fitted: ≤ 24.0 MiB, in a new segment: the device had 4.00 MiB free"),
        "{large:?}"
    );
    assert!(holds(&large, "PyTorch first releases ≤ 20.0 MiB in empty segments."), "{large:?}");
    assert!(holds(&large, "Fragmentation: ≤ 30.0 MiB"), "free halves together are large enough: {large:?}");
    let small = shown(22 * MIB);
    assert!(holds(&small, "The request may have fitted") && !holds(&small, "Fragmentation"), "{small:?}");
}

#[test]
fn segments_mapped_after_oom_are_ignored() {
    let base = 1 << 40;
    let page = 20 * MIB;
    let trace = [
        event("segment_map", base, 2 * page),
        event("alloc", base, 10 * MIB),
        event("alloc", base + 30 * MIB, 10 * MIB),
        oom_event(50 * MIB, 0),
        event("segment_map", base + 2 * page, page),
        event("free_requested", base + 30 * MIB, 10 * MIB),
        event("free_completed", base + 30 * MIB, 10 * MIB),
        event("segment_unmap", base + page, page),
    ];
    let first = [(base, 10 * MIB, "active_allocated"), (base + 10 * MIB, 10 * MIB, "inactive")];
    let second = [(base + 2 * page, page, "inactive")];
    let segments = [segment(base, page, true, &first), segment(base + 2 * page, page, true, &second)];
    let oom = oom_report(&mut open_snapshot(&segments, &trace), None);
    assert_eq!(pool_room(&oom), [[20 * MIB, 20 * MIB, 1, 40 * MIB, 0].map(i128::from)]);
    assert!(
        !oom.statements.iter().any(|it| it.text.contains("expandable_segments:True")),
        "expandable segments are already enabled"
    );
}

#[test]
fn oom_report_without_oom_events_or_segments_is_shorter() {
    let none = report(&mut open_snapshot(&[], &[event("alloc", 512, 512)]), 0, Topic::OutOfMemory, &[]);
    assert_eq!((none.statements.len(), none.statements[0].tone, none.sheets.len()), (1, Tone::Good, 0));
    // Without events the answer is unknown.
    let early = segment(1 << 40, MIB, false, &[(1 << 40, MIB, "active_allocated")]);
    let unknown = report(&mut open_snapshot(&[early], &[]), 0, Topic::OutOfMemory, &[]);
    assert_eq!((unknown.statements.len(), unknown.statements[0].tone), (1, Tone::Fact));
    let mut bare = open_snapshot(&[], &[event("alloc", 512, 512), oom_event(MIB, 9 * MIB)]);
    let oom = oom_report(&mut bare, None);
    assert!(!oom.statements.iter().any(|it| it.text.contains("Largest request")), "{:?}", oom.statements);
    assert!(oom.statements.iter().any(|it| suspects_limit(&it.text)));
}

fn suspects_limit(text: &str) -> bool {
    text.contains("The device had enough free for this request")
}

/// The allocator requests 20 MiB from the driver for any size from 1 to 10 MiB, and expandable segments grow by as
/// much.
#[test]
fn memory_limit_is_suspected_only_if_driver_had_enough_free() {
    let base = 1 << 40;
    for (asked, driver, expandable, is_odd) in [
        (MIB, 2 * MIB, false, true),
        (MIB, 2 * MIB - 1, false, false),
        (5 * MIB, 8 * MIB, false, false),
        (5 * MIB, 20 * MIB, false, true),
        (11 * MIB, 12 * MIB, false, true),
        (11 * MIB, 12 * MIB, true, false),
        (21 * MIB, 40 * MIB, true, true),
        (u64::MAX >> 1, 40 * MIB, true, false),
    ] {
        let map = if expandable { "segment_map" } else { "segment_alloc" };
        let trace = [event(map, base, 20 * MIB), event("alloc", base, 20 * MIB), oom_event(asked, driver)];
        let segments = [segment(base, 20 * MIB, expandable, &[(base, 20 * MIB, "active_allocated")])];
        let oom = oom_report(&mut open_snapshot(&segments, &trace), None);
        let shown: Vec<&str> = oom.statements.iter().map(|it| it.text.as_str()).collect();
        assert_eq!(shown.iter().any(|text| suspects_limit(text)), is_odd, "{asked} {driver} {expandable}: {shown:#?}");
        let is_said_first =
            shown[0].starts_with("Out of memory at event 2 (a memory fraction likely limits the process): ");
        assert_eq!(is_said_first, is_odd, "{asked} {driver} {expandable}: {shown:#?}");
    }
}

/// PyTorch requests whole pages of 2 MiB from the driver, so less fits than the device has free.
#[test]
fn largest_fitting_request_counts_whole_2_mib_segments() {
    let base = 1 << 40;
    let shown = |device_free: u64| {
        let trace =
            [event("segment_alloc", base, 20 * MIB), event("alloc", base, 20 * MIB), oom_event(200 * MIB, device_free)];
        let segments = [segment(base, 20 * MIB, false, &[(base, 20 * MIB, "active_allocated")])];
        let statements = oom_report(&mut open_snapshot(&segments, &trace), None).statements;
        statements.into_iter().map(|it| it.text).find(|text| text.contains("would have fitted")).unwrap()
    };
    let fit = "Largest request that would have fitted: ≤ 122 MiB, in a new segment: the device had";
    assert_eq!(shown(123 * MIB), format!("{fit} 123 MiB free; segments are multiples of 2 MiB."));
    assert_eq!(shown(122 * MIB), format!("{fit} 122 MiB free."));
}

/// A request in MemPool (0, 1), which has 4 MiB free, beside an empty segment of another pool.
fn oom_in_pool(pool: Option<[u64; 2]>, empty_pool: [u64; 2], empty: u64) -> Report {
    let in_pool = |mut value: Value, key: &str, pool: [u64; 2]| {
        value[key] = json!(pool);
        value
    };
    let full = [(100 * MIB, 20 * MIB, "active_allocated")];
    let mixed = [(200 * MIB, 16 * MIB, "active_allocated"), (216 * MIB, 4 * MIB, "inactive")];
    let free = [(300 * MIB, empty * MIB, "inactive")];
    let segments = [
        segment(100 * MIB, 20 * MIB, false, &full),
        in_pool(segment(200 * MIB, 20 * MIB, false, &mixed), "segment_pool_id", [0, 1]),
        in_pool(segment(300 * MIB, empty * MIB, false, &free), "segment_pool_id", empty_pool),
    ];
    let oom = oom_event(12 * MIB, MIB);
    let oom = pool.map_or_else(|| oom.clone(), |pool| in_pool(oom.clone(), "pool_id", pool));
    oom_report(&mut open_snapshot(&segments, &[oom]), None)
}

#[test]
fn pool_of_the_request_is_named() {
    let texts = |report: &Report| report.statements.iter().map(|it| it.text.clone()).collect::<Vec<String>>();
    let serves = |report: &Report| {
        let sheet = sheet(report, "room");
        let row = |row| [text(sheet, row, "pool"), text(sheet, row, "serves_request")].map(str::to_owned);
        sheet.rows.iter().map(row).collect::<Vec<[String; 2]>>()
    };
    let report = oom_in_pool(Some([0, 1]), [0, 2], 24);
    let has = |wanted: &str| texts(&report).iter().any(|text| text == wanted);
    assert!(
        has("Pool of the request: MemPool (0, 1), large blocks, default stream: 20.0 MiB reserved."),
        "{:#?}",
        texts(&report)
    );
    let empty = "Empty segments that this request cannot use would have been large enough: 24.0 MiB in 1 segment of \
                 MemPool (0, 2).";
    let fix = report.statements.iter().find(|it| it.text == empty).map(|it| it.fix.as_str());
    let delete = "Delete the MemPool, or reset the CUDA graph, that owns them when it is no longer used.";
    assert_eq!(fix, Some(delete), "{:#?}", texts(&report));
    let wanted = [
        ["MemPool (0, 2), large blocks", "no"],
        ["MemPool (0, 1), large blocks", "yes"],
        ["default, large blocks", "no"],
    ];
    assert_eq!(serves(&report), wanted.map(|row| row.map(str::to_owned)));

    // 10 MiB and the 1 MiB that the device had free are less than a segment for 12 MiB.
    let report = oom_in_pool(Some([0, 1]), [0, 2], 10);
    assert!(!texts(&report).iter().any(|text| text.starts_with("Empty segments")), "{:#?}", texts(&report));

    let report = oom_in_pool(Some([0, 1]), [0, 0], 24);
    let fix = report.statements.iter().find(|it| it.text.starts_with("Empty segments")).map(|it| it.fix.as_str());
    assert_eq!(fix, Some("Call torch.cuda.empty_cache() before this request."), "{:#?}", texts(&report));
    // PyTorch releases no cached memory while allocations go to a private pool.
    let fit = "Largest request that would have fitted: ≤ 4.00 MiB, in the largest free block of this pool.";
    assert!(texts(&report).iter().any(|text| text == fit), "{:#?}", texts(&report));

    // Without a recorded pool of the request.
    let report = oom_in_pool(None, [0, 2], 24);
    let assumed = "Pool of the request: default, large blocks, default stream (assumed: the file does not record it): \
                   20.0 MiB reserved.";
    assert!(texts(&report).iter().any(|text| text == assumed), "{:#?}", texts(&report));
    assert!(serves(&report).iter().all(|row| row[1] == "not known"), "{:?}", serves(&report));

    // The frame of the request is also that of the newest block of MemPool (0, 1).
    let [a, b, c] = [100 * MIB, 200 * MIB, 300 * MIB];
    let mut segments = [(a, "active_allocated"), (b, "active_allocated"), (c, "inactive")]
        .map(|(address, state)| segment(address, 20 * MIB, false, &[(address, 20 * MIB, state)]));
    segments[1]["segment_pool_id"] = json!([0, 1]);
    let oom = oom_event(12 * MIB, MIB);
    let mut same = event("alloc", b, 20 * MIB);
    same["frames"] = oom["frames"].clone();
    let report = oom_report(&mut open_snapshot(&segments, &[event("alloc", a, 20 * MIB), same, oom]), None);
    let inferred = "Pool of the request: MemPool (0, 1), large blocks, default stream (inferred: it holds the last allocation \
                    by the same call stack): 20.0 MiB reserved.";
    assert!(texts(&report).iter().any(|text| text == inferred), "{:#?}", texts(&report));
    let fix = report.statements.iter().find(|it| it.text.starts_with("Empty segments")).map(|it| it.fix.as_str());
    assert_eq!(fix, Some("Call torch.cuda.empty_cache() before this request."), "{:#?}", texts(&report));

    // One pool needs no name.
    let report = oom_report(&mut fragmented(), None);
    assert!(!texts(&report).iter().any(|text| text.starts_with("Pool of the request")), "{:#?}", texts(&report));
}

#[test]
fn negative_free_memory_is_unknown() {
    for free in [json!(-1), json!(i64::MIN + 1), Value::Null] {
        let oom = json!({"action": "oom", "device_free": free, "size": MIB, "stream": 0, "frames": []});
        let report = oom_report(&mut open_snapshot(&[], &[oom]), None);
        let requests = sheet(&report, "requests");
        assert_eq!(cell(requests, &requests.rows[0], "device_free_bytes"), &Cell::Empty, "{free}");
        assert_eq!(number(requests, &requests.rows[0], "requested_bytes"), i128::from(MIB));
    }
}

#[test]
fn generated_oom_is_reported() {
    let words = "--steps 2 --layers 3 --oom --pending".split_whitespace().map(str::to_owned);
    let (options, _) = generate::Options::parse(words).unwrap();
    let (bytes, truth) = generate::generate(&options, Vec::new()).unwrap();
    let truth = &truth.devices[0];
    let mut opened = open(&bytes).unwrap();
    let oom = oom_report(&mut opened, None);
    let requests = sheet(&oom, "requests");
    let row = &requests.rows[0];
    let keys = ["event", "requested_bytes", "device_free_bytes", "reserved_bytes", "live_bytes", "awaiting_free_bytes"];
    // All cached memory was returned to the driver first, and no block is awaiting free.
    let free = 123 * MIB + truth.peak_reserved - truth.reserved_end;
    let known = [truth.events - 1, 16 << 30, free, truth.reserved_end, truth.end_requested, 0];
    assert_eq!(truth.pending_requested, 0);
    assert_eq!(keys.map(|key| number(requests, row, key)), known.map(i128::from));
    // The trace ends there, so all blocks are recorded.
    let room = sheet(&oom, "room");
    let free: i128 = room.rows.iter().map(|row| number(room, row, "free_bytes")).sum();
    assert_eq!(free, i128::from(truth.reserved_end - truth.end_rounded));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Adjacent addresses, sizes of all magnitudes, and actions in any order give a report that does not depend on
    /// slicing.
    #[test]
    fn oom_report_of_any_file_does_not_panic(
        events in prop::collection::vec((0usize..9, 0u64..6, prop_oneof![0u64..4, Just(u64::MAX >> 2), Just(1 << 21)]), 0..40),
        segments in prop::collection::vec((0u64..6, 0u64..5, any::<bool>(), 0u64..3), 0..5),
    ) {
        let actions = ["alloc", "free_requested", "free_completed", "segment_alloc", "segment_free", "segment_map",
                       "segment_unmap", "oom", "snapshot"];
        let place = |at: u64| match at {
            5 => u64::MAX - 600,
            at => at * 512,
        };
        let trace: Vec<Value> = events
            .iter()
            .map(|&(action, address, size)| match actions[action] {
                "oom" => oom_event(size, address),
                action => event(action, place(address), if size > 1 << 40 { size } else { size * 512 }),
            })
            .collect();
        let segments: Vec<Value> = segments
            .iter()
            .map(|&(address, size, expandable, blocks)| {
                let states = ["active_allocated", "inactive", "active_pending_free"];
                let block = |at: u64| (place(address).saturating_add(512 * at), 512, states[at as usize % 3]);
                segment(place(address), size * 512, expandable, &(0..blocks).map(block).collect::<Vec<_>>())
            })
            .collect();
        let mut opened = open_snapshot(&segments, &trace);
        for device in opened.summary.devices.clone() {
            for topic in [Topic::Peak, Topic::OutOfMemory, Topic::Leaks] {
                for at in [None, Some(0), Some(7), Some(u32::MAX)] {
                    let thresholds = [("late", 0), ("alive", 0), ("lost", 0), ("unused", 0), ("steps", 0), ("recent", u64::MAX)];
                    let ask = || report_request(device.device, topic, at, &thresholds);
                    let whole = report_of(opened.reply(ask()));
                    let sliced = report_of(opened::reply(&mut opened.engine, ask()));
                    prop_assert_eq!(&whole, &sliced);
                    for sheet in &whole.sheets {
                        let columns = sheet.columns.len();
                        prop_assert!(sheet.rows.iter().all(|row| row.cells.len() == columns), "{}", sheet.key);
                        prop_assert!(sheet.total.is_empty() || sheet.total.len() == columns, "{}", sheet.key);
                    }
                }
            }
        }
    }
}

/// Savings do not say that no change lowers the peak if the report on OOMs advises one.
#[test]
fn savings_refer_to_advice_of_oom_report() {
    let a = 100 * MIB;
    let frames = json!([{"name": "forward", "filename": "/home/me/model.py", "line": 31}]);
    let alloc = json!({"action": "alloc", "addr": a, "size": 80 * MIB, "stream": 0, "frames": frames});
    let trace = [event("segment_alloc", a, 80 * MIB), alloc, oom_event(60 * MIB, 40 * MIB)];
    let segments = [segment(a, 80 * MIB, false, &[(a, 80 * MIB, "active_allocated")])];
    let mut opened = open_snapshot(&segments, &trace);
    let savings = report(&mut opened, 0, Topic::Savings, &[]);
    let wanted =
        "See Out of memory for half the batch size. No other common change lowers peak live bytes by 819 KiB or more.";
    assert!(savings.statements[0].text.starts_with(wanted), "{:#?}", savings.statements);
    assert!(savings.statements.iter().all(|it| it.tone != Tone::Good), "{:#?}", savings.statements);
}

#[test]
fn request_larger_than_the_device_is_the_cause() {
    let report = oom_report(&mut fragmented(), None);
    let wanted =
        "This request alone is larger than all known device memory (43.0 MiB): no allocator setting makes room for it.";
    let second = &report.statements[1];
    assert_eq!((second.text.as_str(), second.tone), (wanted, Tone::Alarm));
}

/// Memory without a category may not become smaller with the batch.
#[test]
fn half_the_batch_is_not_advised_for_memory_without_category() {
    let a = 100 * MIB;
    let trace = [event("segment_alloc", a, 80 * MIB), event("alloc", a, 80 * MIB), oom_event(60 * MIB, 40 * MIB)];
    let segments = [segment(a, 80 * MIB, false, &[(a, 80 * MIB, "active_allocated")])];
    let report = oom_report(&mut open_snapshot(&segments, &trace), None);
    let half = report.statements.iter().find(|it| it.text.starts_with("With half the batch size, 40.0 MiB instead of"));
    let half = half.unwrap_or_else(|| panic!("{:#?}", report.statements));
    let assumed = " Only assumed: 100 % of the difference is memory of unknown category, which may not shrink.";
    assert!(half.text.ends_with(assumed), "{}", half.text);
    assert_eq!(half.fix, "");
}
