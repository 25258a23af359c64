//! zip archives through the engine: what is inside opens as it does by itself, however the bytes arrive, and what is broken,
//! locked or no snapshot is named in one sentence.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may fail")]

#[path = "support/opened.rs"]
#[allow(dead_code, reason = "each test file uses its part")]
mod opened;
#[path = "support/zip.rs"]
mod zip;

use flate2::{Compression, write::GzEncoder};
use memscape::engine::protocol::{Access, DeviceSummary};
use memscape::engine::{Engine, Reply, Request, Want};
use opened::{Opened, Way, open, open_as};
use serde_json::{Value, json};
use std::io::Write;
use zip::{Member, member, zip, zip_of, zip64};

/// A snapshot of so many allocations of `size` bytes.
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
fn what_is_inside_opens_as_it_does_by_itself() {
    let value = snapshot(300, 100);
    let plain = pickled(&value);
    let expected = devices(open(&plain));
    let stored = Member { method: 0, ..member("a.pickle", &plain) };
    let json = serde_json::to_vec(&value).unwrap();
    let archives = [
        (zip_of(&[("a.pickle", &plain)]), "zip, pickle 3 (Python)"),
        (zip(&[stored.clone()]), "zip, pickle 3 (Python)"),
        (zip64(&[stored, member("note.txt", b"hello")]), "zip, pickle 3 (Python)"),
        (zip_of(&[("x/", b""), ("x/y/a", &gzip(&plain)), ("__MACOSX/._a", &plain)]), "zip, gzip, pickle 3 (Python)"),
        (zip_of(&[("meta.json", b"{\"lr\": 0.1}"), ("a.json", &json)]), "zip, JSON"),
    ];
    for (archive, format) in archives {
        for chunk in [1, 7, 1000, 1 << 20] {
            for (access, slice) in [(Access::Anywhere, 1), (Access::Forward, usize::MAX)] {
                let way = Way { chunk, slice, access, member: None };
                let opened = open_as(&archive, way).unwrap();
                assert_eq!(opened.summary.devices, expected, "{format}, {way:?}");
                assert_eq!((opened.summary.format.as_str(), opened.summary.file.as_str()), (format, "test.pickle"));
                assert!(opened.members.is_empty(), "{:?}", opened.members);
            }
        }
    }
}

#[test]
fn several_snapshots_are_listed_the_likeliest_first_and_each_can_be_opened() {
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
        let opened = open_as(&archive, Way { member, ..Way::default() }).unwrap();
        let listed: Vec<&str> = opened.members.iter().map(|member| member.name.as_str()).collect();
        assert_eq!(listed, names);
        assert_eq!(peak(&opened), peak_requested);
        let name = names[member.unwrap_or(0) as usize];
        assert_eq!(opened.summary.file, format!("test.pickle › {name}"));
    }
    let error = open_as(&archive, Way { member: Some(3), ..Way::default() }).err();
    assert_eq!(error.as_deref(), Some("the zip archive has no snapshot number 3: was it changed meanwhile?"));
}

/// What the file holds is not passed over byte by byte: a large member that is not opened is not read.
#[test]
fn members_that_are_not_opened_are_not_read() {
    let noise: Vec<u8> = (0..8u32 << 20).map(|at| (at.wrapping_mul(at) >> 11) as u8).collect();
    let ballast = Member { method: 0, ..member("weights.bin", &noise) };
    let archive = zip(&[ballast, member("a.pickle", &pickled(&snapshot(3, 100)))]);
    let mut engine = Engine::new();
    let total_bytes = Some(archive.len() as u64);
    engine.request(Request::Open { name: String::new(), total_bytes, access: Access::Anywhere, member: None });
    let (mut at, mut fed) = (0, 0);
    let opened = loop {
        if let Some(want) = engine.wants() {
            if let Want::At(offset) = want {
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
fn what_can_not_be_opened_is_named() {
    let plain = pickled(&snapshot(30, 100));
    let whole = zip_of(&[("a.pickle", &plain)]);
    let one = |change: fn(&mut Member)| {
        let mut only = member("a.pickle", &plain);
        change(&mut only);
        zip(&[only])
    };
    let none = "no member of the zip archive is a PyTorch memory snapshot:";
    let cases = [
        (zip(&[]), format!("{none} it is empty")),
        (zip_of(&[("notes.txt", b"hello, this is no snapshot")]), format!("{none} notes.txt is some other file")),
        (
            zip_of(&[("x.png", b"\x89PNG\r\n\x1a\n and so on"), ("y", b"hello, this is no snapshot")]),
            format!("{none} x.png is a PNG image (and 1 more)"),
        ),
        (zip_of(&[("inner.zip", &whole)]), format!("{none} inner.zip is a zip archive")),
        (one(|it| it.flags = 1), format!("{none} a.pickle is encrypted: unpack the archive first")),
        (
            one(|it| it.method = 14),
            format!(
                "{none} a.pickle is packed with method 14: of zip's methods, stored (0), deflate (8) and zstd (93) are read"
            ),
        ),
        (
            zip_of(&[("model/data.pkl", b"\x80\x02}."), ("model/data/0", b"0000")]),
            "this is a checkpoint of torch.save, not a PyTorch memory snapshot".to_owned(),
        ),
        (
            whole[..whole.len() - 30].to_vec(),
            "the zip archive has no directory at its end: was it copied whole?".to_owned(),
        ),
    ];
    for (archive, message) in cases {
        assert_eq!(open(&archive).err(), Some(message));
    }
    for lie in [one(|it| it.crc = Some(7)), one(|it| it.length = Some(70)), one(|it| it.length = Some(1 << 30))] {
        let error = open(&lie).err().expect("a lie is found");
        assert!(error.contains("the zip stream is damaged near byte"), "{error}");
    }
}

#[test]
fn an_error_names_the_member_it_is_in() {
    let broken = b"\x80\x02}q\x00(X\x03\x00\x00\x00abcR.";
    let archive = zip_of(&[("good.pickle", &pickled(&snapshot(3, 100))), ("bad.pickle", broken)]);
    let error = open_as(&archive, Way { member: Some(1), ..Way::default() }).err().unwrap();
    assert!(error.starts_with("bad.pickle: "), "{error}");
}

/// Whatever is cut or flipped: an error or a snapshot, never a hang, a panic, or bytes wanted that are not there.
#[test]
fn broken_archives_end() {
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

/// The file became shorter after its length was read.
#[test]
fn a_file_cut_meanwhile_is_told() {
    let noise: Vec<u8> = (0..1u32 << 20).map(|at| (at.wrapping_mul(at) >> 11) as u8).collect();
    let archive = zip(&[Member { method: 0, ..member("noise", &noise) }, member("a", &pickled(&snapshot(3, 100)))]);
    let mut engine = Engine::new();
    let total_bytes = Some(archive.len() as u64);
    engine.request(Request::Open { name: String::new(), total_bytes, access: Access::Anywhere, member: None });
    engine.feed(archive[..100].to_vec());
    while engine.is_loading() {
        if engine.wants().is_some() {
            engine.request(Request::EndOfFile);
        }
        engine.step(&mut || true);
    }
    let failed = std::iter::from_fn(|| engine.next_reply()).last();
    let Some(Reply::Failed { message }) = failed else { panic!("{failed:?}") };
    assert!(message.ends_with("inside its zip archive: was it changed meanwhile?"), "{message}");
}
