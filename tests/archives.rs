//! Opening zip archives through the engine: members open as plain files do, whatever the chunk size, and damaged,
//! encrypted or foreign archives give a one-sentence error.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may fail")]

use crate::opened;
use crate::snapviewer;
use crate::zip;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use flate2::{Compression, write::GzEncoder};
use memscape::engine::{Engine, NeededBytes, Reply, Request};
use memscape::protocol::{Access, DeviceSummary};
use opened::{OpenOptions, Opened, open, open_with};
use serde_json::{Value, json};
use std::io::Write;
use zip::{Member, member, zip, zip_of, zip64};

/// Builds a snapshot with the given number of allocations of `size` bytes each.
fn snapshot(allocations: u64, size: u64) -> Value {
    let event =
        |at: u64| json!({"action": "alloc", "addr": at << 20, "size": size, "stream": 0, "time_us": at, "frames": []});
    let events: Vec<Value> = (0..allocations).map(event).collect();
    let block = |at: u64| json!({"address": at << 20, "size": 512, "requested_size": size, "state": "active_allocated", "frames": []});
    let blocks: Vec<Value> = (0..allocations).map(block).collect();
    let segment = json!({"device": 0, "address": 0, "total_size": 1u64 << 30, "stream": 0, "segment_type": "large", "blocks": blocks});
    json!({"segments": [segment], "device_traces": [events]})
}

fn pickled(value: &Value) -> Vec<u8> {
    serde_pickle::to_vec(value, serde_pickle::SerOptions::new()).unwrap()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn devices(opened: Result<Opened, String>) -> Vec<DeviceSummary> {
    opened.unwrap().summary.devices
}

fn peak(opened: &Opened) -> i64 {
    opened.summary.devices[0].peak_requested
}

#[test]
fn zipped_snapshot_equals_plain_snapshot() {
    let value = snapshot(300, 100);
    let plain = pickled(&value);
    let expected = devices(open(&plain));
    let stored = Member { method: 0, ..member("a.pickle", &plain) };
    let json = serde_json::to_vec(&value).unwrap();
    let archives = [
        (zip_of(&[("a.pickle", &plain)]), "zip, pickle 3 (Python)"),
        (zip(std::slice::from_ref(&stored)), "zip, pickle 3 (Python)"),
        (zip64(&[stored, member("note.txt", b"hello")]), "zip, pickle 3 (Python)"),
        (zip_of(&[("x/", b""), ("x/y/a", &gzip(&plain)), ("__MACOSX/._a", &plain)]), "zip, gzip, pickle 3 (Python)"),
        (zip_of(&[("meta.json", b"{\"lr\": 0.1}"), ("a.json", &json)]), "zip, JSON"),
    ];
    for (archive, format) in archives {
        for chunk in [1, 7, 1000, 1 << 20] {
            for (access, slice) in [(Access::Random, 1), (Access::Sequential, usize::MAX)] {
                let way = OpenOptions { chunk, slice, access, member: None };
                let opened = open_with(&archive, way).unwrap();
                assert_eq!(opened.summary.devices, expected, "{format}, {way:?}");
                assert_eq!((opened.summary.format.as_str(), opened.summary.file.as_str()), (format, "test.pickle"));
                assert!(opened.members.is_empty(), "{:?}", opened.members);
            }
        }
    }
}

/// A deflate64 archive made by 7-Zip. Its JSON has 50,000 spaces between two events of one file name, so it uses
/// lengths and distances that deflate lacks.
const DEFLATE64: &str = "\
    UEsDBBUAAAAJAIptdl2BTb5KXAIAADjHAAANAAAAc25hcHNob3QuanNvbuXfTa6bMBSG4a1EjK8qEiCQbuUqQg6YBDAEbPOXKHsvkNxGulKlDj\
    qo9D5MMLa/Ix9W4Ltj5LmStTXOz83n3Ullnydyfnc/No5IUy2NeY3s1QoVm/y2TG/d0Av9bbTz5xljtRTVc9lXXmynZlnoKKHP0pknTuqalM8y\
    35JfmcF2Nw+0bDtprEzfpdY1Vtg1TyQ272Us1Bw3f0qX6EyLSq7Rx8fH5nf8utmPgnD/r4vMz/zl2azYapE8Jz7v685rvWSsm51XG18nfVf73j\
    abVzLuXh1515oTs1zJeh4ume0QnrwmLS+j30zROW5E7Wo1lTLf5bkQdV2WpquiWlWTPY1uWbSyt6KXdrB+p3xfpe1puJ0O7jiJXaKqS+MN+yFs\
    vfNokm1W9/ux6HWU2c6qrLB+mWbRLWmG1nOLNAn6Oo9z91xuxyJ1TeGVoRd0vjb+rbhMkQp6lQV6f9iPckjseNBBa3ol/EPbac/sh0EP7qB2Yx\
    /+aKalMyqv13bMr18nzJzH8g/x8PDw8PDw8PDw8PDw8PDw8PDw8PDw8PDw8PDw8PDw8PDw8PDw8PDw8PDw8PDw8PDw8PDw8PDw8PDw8PDw8PDw\
    8PDw8PDw8PDw8PDw8PDw8PDw8PDw8PDw8PDw8PDw8PDw8PDw8PDw8PDw8PDw8PDw8PDw8PDw8PDw8PDw8PDw8PDw8PDw8PDw8PDw8PDw8PDw8P\
    Dw8PDw8PDw8PDw8PDw8PDw8PDw8PDw8PDw8PDw8PDw8PDw8PDw8PDw8PDw8PDw8P4vf7yYxPuOFH95PYkt/noSj+Px8QtQSwECPwMVAAAACQCK\
    bXZdgU2+SlwCAAA4xwAADQAkAAAAAAAAACCApIEAAAAAc25hcHNob3QuanNvbgoAIAAAAAAAAQAYAKEdzJKHet0BAAAAAAAAAAAAAAAAAAAAAF\
    BLBQYAAAAAAQABAF8AAACHAgAAAAA=";

#[test]
fn deflate64_member_opens() {
    let archive = BASE64_STANDARD.decode(DEFLATE64).unwrap();
    for chunk in [1, 7, 1 << 20] {
        let opened = open_with(&archive, OpenOptions { chunk, ..OpenOptions::default() }).unwrap();
        assert_eq!((peak(&opened), opened.summary.format.as_str()), (200, "zip, JSON"));
    }
    for at in 0..archive.len() {
        let mut broken = archive.clone();
        broken[at] ^= 0x55;
        let _ = open(&broken);
    }
}

#[test]
fn archive_members_are_listed_with_likely_snapshots_first() {
    let (small, large) = (pickled(&snapshot(3, 100)), pickled(&snapshot(5, 1000)));
    let json = serde_json::to_vec_pretty(&snapshot(2, 7)).unwrap();
    let archive = zip_of(&[
        ("readme.md", b"# What this is"),
        ("logs/first.json", &json),
        ("rank0/snapshot.pickle", &small),
        ("rank1/snapshot.pickle.gz", &gzip(&large)),
        ("trace.png", b"\x89PNG\r\n\x1a\n and the rest"),
    ]);
    let names = ["rank0/snapshot.pickle", "rank1/snapshot.pickle.gz", "logs/first.json"];
    for (member, peak_requested) in [(None, 300), (Some(0), 300), (Some(1), 5000), (Some(2), 14)] {
        let opened = open_with(&archive, OpenOptions { member, ..OpenOptions::default() }).unwrap();
        let listed: Vec<&str> = opened.members.iter().map(|member| member.name.as_str()).collect();
        assert_eq!(listed, names);
        assert_eq!(peak(&opened), peak_requested);
        let name = names[member.unwrap_or(0) as usize];
        assert_eq!(opened.summary.file, format!("test.pickle › {name}"));
    }
    let error = open_with(&archive, OpenOptions { member: Some(3), ..OpenOptions::default() }).err();
    assert_eq!(error.as_deref(), Some("the zip archive has no snapshot 3. Has the file changed?"));
}

/// The engine must not read through a large member just to skip it.
#[test]
fn unopened_members_are_not_read() {
    let noise: Vec<u8> = (0..8u32 << 20).map(|at| (at.wrapping_mul(at) >> 11) as u8).collect();
    let ballast = Member { method: 0, ..member("weights.bin", &noise) };
    let archive = zip(&[ballast, member("a.pickle", &pickled(&snapshot(3, 100)))]);
    let mut engine = Engine::new();
    let total_bytes = Some(archive.len() as u64);
    engine.request(Request::Open { name: String::new(), total_bytes, access: Access::Random, member: None });
    let (mut at, mut fed) = (0, 0);
    let opened = loop {
        if let Some(want) = engine.wants() {
            if let NeededBytes::At(offset) = want {
                at = offset as usize;
            }
            let end = archive.len().min(at + (64 << 10));
            engine.feed(archive[at..end].to_vec());
            fed += end - at;
            at = end;
        }
        engine.step(&mut || true);
        if let Some(Reply::Opened(opened)) = std::iter::from_fn(|| engine.next_reply()).last() {
            break opened;
        }
    };
    assert_eq!(opened.devices[0].peak_requested, 300);
    assert!(fed < 1 << 20, "{fed} bytes were read of {}", archive.len());
}

#[test]
fn unsupported_archives_report_error() {
    let plain = pickled(&snapshot(30, 100));
    let whole = zip_of(&[("a.pickle", &plain)]);
    let one = |change: fn(&mut Member)| {
        let mut only = member("a.pickle", &plain);
        change(&mut only);
        zip(&[only])
    };
    let none = "no PyTorch memory snapshot in the zip archive:";
    let cases = [
        (zip(&[]), format!("{none} it is empty")),
        (zip_of(&[("notes.txt", b"hello, this is no snapshot")]), format!("{none} notes.txt is not a snapshot")),
        (
            zip_of(&[("x.png", b"\x89PNG\r\n\x1a\n and so on"), ("y", b"hello, this is no snapshot")]),
            format!("{none} x.png is a PNG image (and 1 more)"),
        ),
        (
            zip_of(&[("x.png", b"\x89PNG\r\n\x1a\n and so on"), ("meta.json", b"{\"learning rate\": 0.125}")]),
            "this is not a PyTorch memory snapshot: no 'segments' or 'device_traces' at the top level, only 'learning rate'"
                .to_owned(),
        ),
        (zip_of(&[("inner.zip", &whole)]), format!("{none} inner.zip is a zip archive")),
        (one(|it| it.flags = 1), format!("{none} a.pickle is encrypted: unpack the archive first")),
        (
            one(|it| it.method = 14),
            format!(
                "{none} a.pickle uses zip method 14; supported are stored (0), deflate (8), deflate64 (9) and zstd (93)"
            ),
        ),
        (
            zip_of(&[("model/data.pkl", b"\x80\x02}."), ("model/data/0", b"0000")]),
            "this is a torch.save checkpoint, not a PyTorch memory snapshot".to_owned(),
        ),
        (
            whole[..whole.len() - 30].to_vec(),
            "no directory at the end of the zip archive. Is the file complete?".to_owned(),
        ),
    ];
    for (archive, message) in cases {
        assert_eq!(open(&archive).err(), Some(message));
    }
    for lie in [one(|it| it.crc = Some(7)), one(|it| it.length = Some(70)), one(|it| it.length = Some(1 << 30))] {
        let error = open(&lie).err().expect("wrong metadata is detected");
        assert!(error.contains("the zip stream is damaged near byte"), "{error}");
    }
}

/// The directory is read in slices, without comparing each row with all others.
#[test]
fn long_directory_is_read_in_slices() {
    let rows = vec![Member { method: 0, ..member("allocations.json", b"") }; 60_000];
    let archive = zip(&rows);
    let mut engine = Engine::new();
    let total_bytes = Some(archive.len() as u64);
    engine.request(Request::Open { name: String::new(), total_bytes, access: Access::Random, member: None });
    let mut steps = 0;
    while engine.is_loading() {
        match engine.wants() {
            Some(NeededBytes::At(offset)) => engine.feed(archive[offset as usize..].to_vec()),
            Some(_) => engine.feed(archive.clone()),
            None => {}
        }
        steps += u32::from(engine.step(&mut || false) == memscape::engine::Work::More);
    }
    let failed = std::iter::from_fn(|| engine.next_reply()).last();
    let Some(Reply::Failed { message }) = failed else { panic!("{failed:?}") };
    assert_eq!(message, "no PyTorch memory snapshot in the zip archive: it is empty");
    assert!(steps > 50, "{steps} steps");
}

/// Control characters in a member's name are replaced, and long names are cut.
#[test]
fn control_characters_in_member_name_are_replaced() {
    let long = "a".repeat(5000) + "\u{1b}[2J\n.png";
    let error = open(&zip_of(&[(&long, b"\x89PNG\r\n\x1a\n and so on")])).err().unwrap();
    assert!(error.ends_with("aaa\u{fffd}[2J\u{fffd}.png is a PNG image"), "{error:?}");
    assert!(error.len() < 4200, "{}", error.len());
}

#[test]
fn error_starts_with_member_name() {
    let broken = b"\x80\x02}q\x00(X\x03\x00\x00\x00abcR.";
    let archive = zip_of(&[("good.pickle", &pickled(&snapshot(3, 100))), ("bad.pickle", broken)]);
    let error = open_with(&archive, OpenOptions { member: Some(1), ..OpenOptions::default() }).err().unwrap();
    assert!(error.starts_with("bad.pickle: "), "{error}");
}

/// Truncated or corrupted archives give an error or a snapshot. They never hang, panic or request bytes past the end.
#[test]
fn broken_archives_do_not_hang() {
    let plain = pickled(&snapshot(3, 100));
    let archives = [zip_of(&[("a.pickle", &plain), ("b.json", b"{\"segments\": []}")]), zip64(&[member("a", &plain)])];
    for archive in &archives {
        for length in 0..archive.len() {
            assert!(open(&archive[..length]).is_err(), "{length} bytes of {}", archive.len());
        }
        for at in 0..archive.len() {
            for flip in [0x01, 0x80, 0xff] {
                let mut broken = archive.clone();
                broken[at] ^= flip;
                let _ = open(&broken);
            }
        }
    }
}

/// The file is truncated after its length was read.
#[test]
fn file_truncated_while_loading_reports_error() {
    let noise: Vec<u8> = (0..1u32 << 20).map(|at| (at.wrapping_mul(at) >> 11) as u8).collect();
    let archive = zip(&[Member { method: 0, ..member("noise", &noise) }, member("a", &pickled(&snapshot(3, 100)))]);
    let mut engine = Engine::new();
    let total_bytes = Some(archive.len() as u64);
    engine.request(Request::Open { name: String::new(), total_bytes, access: Access::Random, member: None });
    engine.feed(archive[..100].to_vec());
    while engine.is_loading() {
        if engine.wants().is_some() {
            engine.request(Request::EndOfFile);
        }
        engine.step(&mut || true);
    }
    let failed = std::iter::from_fn(|| engine.next_reply()).last();
    let Some(Reply::Failed { message }) = failed else { panic!("{failed:?}") };
    assert!(message.ends_with("inside the zip archive. Has the file changed?"), "{message}");
}

/// Generates random allocs and frees. Some of them free memory from before recording, and each alloc has its own stack.
fn trace(seed: u64) -> Vec<Value> {
    let mut random = seed;
    let mut next = move |below: u64| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) % below
    };
    let mut live: Vec<(u64, u64)> = (1..6).map(|at| (at << 30, at * 1000)).collect();
    let mut events = Vec::new();
    for at in 0..400u64 {
        let frames = json!([{"filename": "train.py", "line": at, "name": format!("step{at}")}]);
        if live.is_empty() || next(5) > 1 {
            let (address, size) = (at << 12, 1 + next(1 << 20));
            live.push((address, size));
            events.push(
                json!({"action": "alloc", "addr": address, "size": size, "stream": 0, "time_us": at, "frames": frames}),
            );
        } else {
            let (address, size) = live.swap_remove(next(live.len() as u64) as usize);
            let event = json!({"action": "free_completed", "addr": address, "size": size, "stream": 0, "time_us": at, "frames": frames});
            events.push(event);
        }
    }
    events
}

#[test]
fn snapviewer_archive_keeps_peak_and_stacks() {
    for seed in 1..20 {
        let events = trace(seed);
        let drawn = snapviewer::export(&events);
        let archive = zip_of(&[("elements.json", &drawn.elements), ("allocations.json", &drawn.allocations)]);
        let chunk = 1 + (seed as usize * 997) % 5000;
        let mut opened = open_with(&archive, OpenOptions { chunk, slice: 3, ..OpenOptions::default() }).unwrap();
        let device = opened.summary.devices[0].clone();
        assert_eq!(device.peak_requested as u64, drawn.peak, "seed {seed}");

        // Everything but the segments equals a snapshot of the same events.
        let whole = pickled(&json!({"device_traces": [events.clone()]}));
        let expected = devices(open(&whole)).remove(0);
        assert_eq!((device.events, &device.actions), (expected.events, &expected.actions));
        assert_eq!(
            (device.base_requested, device.peak_event, device.end_requested, device.median_requested),
            (expected.base_requested, expected.peak_event, expected.end_requested, expected.median_requested)
        );
        assert!(device.base_requested >= 0 && device.identity, "{device:?}");
        assert_eq!((device.segments, device.peak_reserved, device.static_blocks), (0, 0, 0));

        for id in 0..device.allocations as u32 {
            let details = opened.details(0, id).unwrap();
            let event = details.allocated_event.or(details.freed_event).unwrap() as usize;
            assert_eq!(details.address, events[event]["addr"].as_u64());
            assert_eq!(details.requested, events[event]["size"].as_u64().unwrap());
            assert_eq!(details.frames[0].name, events[event]["frames"][0]["name"].as_str().unwrap());
        }
        let kinds: Vec<&str> = opened.summary.warnings.iter().map(|warning| warning.kind.as_str()).collect();
        assert_eq!(kinds, ["no_segments", "from_a_drawing"]);
        assert_eq!(opened.summary.format, "zip, SnapViewer");
    }
}

#[test]
fn mismatched_snapviewer_files_report_error() {
    let drawn = snapviewer::export(&trace(3));
    let elements: Vec<Value> = serde_json::from_slice(&drawn.elements).unwrap();
    let fewer = serde_json::to_vec(&elements[1..]).unwrap();
    let twice = br#"[{"elem": 0, "timesteps": [0, 1], "size": 3}, {"elem": 0, "timesteps": [1, 2], "size": 3}]"#;
    let alone = "SnapViewer's allocations.json, but its elements.json is missing";
    type Members<'a> = &'a [(&'a str, &'a [u8])];
    let cases: [(Members<'_>, String); 5] = [
        (
            &[("allocations.json", &drawn.allocations), ("elements.json", &fewer)],
            format!(
                "allocations.json has {} allocations, but elements.json has {} events",
                elements.len(),
                elements.len() - 1
            ),
        ),
        (&[("allocations.json", b"[]"), ("elements.json", b"[{}]")], "elements[0].action: is missing".to_owned()),
        (&[("allocations.json", twice), ("elements.json", b"[]")], "allocations.json: elem 0 occurs twice".to_owned()),
        (
            &[("allocations.json", b"[{\"elem\": 0}]"), ("elements.json", b"[]")],
            "allocations.json: [0] is not a SnapViewer allocation".to_owned(),
        ),
        (
            &[("allocations.json", &drawn.allocations), ("elements.db", b"SQLite format 3\0")],
            format!("no PyTorch memory snapshot in the zip archive: allocations.json is {alone} (and 1 more)"),
        ),
    ];
    for (members, message) in cases {
        let error = open(&zip_of(members)).err().unwrap();
        assert!(error.contains(&message), "{error}\n{message}");
    }
    let error = open(&drawn.allocations).err().unwrap();
    assert!(error.starts_with("this is SnapViewer's allocations.json without its elements.json"), "{error}");
}
