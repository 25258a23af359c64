//! Files as people have them: every case of `../shared/cases` by its file name, and generated inputs of each kind, so
//! that the proof does not depend on that folder.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests may panic")]

use crate::opened;
use crate::packed;
use crate::plain_pickle;
use crate::tar::tar;
use crate::zip;

use flate2::{Compression, write::ZlibEncoder};
use memscape::protocol::DeviceSummary;
use opened::{OpenOptions, Opened, open, open_in_chunks, open_with};
use plain_pickle::{Types, pickle};
use serde_json::{Value, json};
use std::io::Write;
use std::path::{Path, PathBuf};

const MIB: u64 = 1 << 20;

/// Returns the folder of cases. Prints a note if there is none.
pub(crate) fn folder() -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut places =
        ["../shared/cases", "../../shared/cases", "/work/shared/cases"].map(|place| root.join(place)).into_iter();
    let found = places.find(|place| place.join("expected.json").is_file());
    if found.is_none() {
        println!("SKIPPED: no cases (../shared/cases): only generated inputs are checked");
    }
    found
}

fn device(opened: &Opened) -> DeviceSummary {
    opened.summary.devices.first().expect("a device").clone()
}

fn warned(opened: &Opened, kind: &str) -> bool {
    opened.summary.warnings.iter().any(|warning| warning.kind == kind)
}

/// Part of the error for a case that does not open.
fn expected_error(name: &str) -> Option<&'static str> {
    Some(match name {
        "memory-timeline.json" => "a memory timeline of torch.profiler",
        "memory-timeline-grouped.json" => "only 'device', 'max_memory_allocated'",
        "timeline-picture.html" => "a picture of a memory timeline, written by torch.profiler",
        _ if name.ends_with("0-bytes.pickle") => "the file is empty",
        _ if name.ends_with("half.pickle.gz") => "bytes, inside the gzip stream",
        _ => return None,
    })
}

#[test]
fn shared_cases_open_with_expected_numbers() {
    let Some(folder) = folder() else { return };
    let expected = std::fs::read(folder.join("expected.json")).unwrap();
    let expected: serde_json::Map<String, Value> = serde_json::from_slice(&expected).unwrap();
    let mut failures = Vec::new();
    for (name, wanted) in &expected {
        let bytes = std::fs::read(folder.join(name)).unwrap();
        let whole = open(&bytes);
        let small = open_in_chunks(&bytes, 7, 3).map(|opened| opened.summary.devices).map_err(drop);
        if small != whole.as_ref().map(|opened| opened.summary.devices.clone()).map_err(drop) {
            failures.push(format!("{name}: chunks of 7 bytes give another result"));
        }
        match (expected_error(name), whole) {
            (Some(part), Err(error)) if error.contains(part) => {}
            (Some(part), Err(error)) => failures.push(format!("{name}: {error:?} does not contain {part:?}")),
            (Some(_), Ok(_)) => failures.push(format!("{name}: opens")),
            (None, Err(error)) => failures.push(format!("{name}: {error}")),
            (None, Ok(opened)) => {
                let device = device(&opened);
                let wanted = wanted.get("alt").unwrap_or(wanted);
                let ooms = device.actions.iter().find(|(action, _)| action == "oom").map_or(0, |(_, count)| *count);
                let numbers = [
                    ("peak", device.peak_requested),
                    ("events", device.events as i64),
                    ("end", device.end_requested as i64),
                    ("base", device.base_requested),
                    ("peak_reserved", device.peak_reserved),
                    ("reserved", device.reserved_end as i64),
                    ("ooms", ooms as i64),
                ];
                for (key, found) in numbers {
                    if wanted.get(key).and_then(Value::as_i64).is_some_and(|wanted| wanted != found) {
                        failures.push(format!("{name}: {key} is {found}, not {}", wanted[key]));
                    }
                }
                if device.base_requested < 0 || device.reserved_start < 0 {
                    failures.push(format!("{name}: negative bytes at the start"));
                }
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn shared_cases_say_what_they_are() {
    let Some(folder) = folder() else { return };
    for (name, kind) in [
        ("mlx-no-segments.pickle", "missing_segments"),
        ("recorded-with-context-none.pickle", "no_stacks"),
        ("recording-never-enabled.pickle", "not_recorded"),
        ("ring-overflow-flag.pickle", "events_overwritten"),
        ("torch-profiler-trace.json", "from_the_profiler"),
        ("same-address-twice.pickle", "allocated_twice"),
        ("time-goes-back.pickle", "time_steps_back"),
    ] {
        let opened = open(&std::fs::read(folder.join(name)).unwrap()).unwrap();
        assert!(warned(&opened, kind), "{name}: {:?}", opened.summary.warnings);
    }
    let overflow = open(&std::fs::read(folder.join("ring-overflow-flag.pickle")).unwrap()).unwrap();
    assert!(!overflow.summary.settings.iter().any(|(key, _)| key.starts_with("trace_alloc")));
    let ranks = open(&std::fs::read(folder.join("memory_snapshot.tar.gz")).unwrap()).unwrap();
    assert_eq!(ranks.members.len(), 3);
    assert!(ranks.members[2].name.ends_with("rank2_memory_snapshot.pickle"));
    assert_eq!(open(&std::fs::read(folder.join("list-of-ranks.pickle")).unwrap()).unwrap().members.len(), 2);
}

/// A snapshot with `count` live allocations of 1 MiB, and one that is freed.
fn snapshot(count: u64) -> Value {
    let frames = json!([{"filename": "train.py", "line": 7, "name": "step"}]);
    let event = |action: &str, at: u64| json!({"action": action, "addr": (1 << 40) + at * MIB, "size": MIB, "stream": 0, "time_us": at, "frames": frames});
    let mut events: Vec<Value> = (0..count).map(|at| event("alloc", at)).collect();
    events.extend(["alloc", "free_requested", "free_completed"].map(|action| event(action, count)));
    let block = |at: u64| {
        json!({"address": (1u64 << 40) + at * MIB, "size": MIB, "requested_size": MIB, "state": "active_allocated",
               "frames": frames})
    };
    let blocks: Vec<Value> = (0..count).map(block).collect();
    let segment = json!({"device": 0, "address": 1u64 << 40, "total_size": 1u64 << 30, "stream": 0,
        "segment_type": "large", "segment_pool_id": [0, 0], "is_expandable": false, "frames": [], "blocks": blocks});
    json!({"segments": [segment], "device_traces": [events]})
}

fn python(value: &Value) -> Vec<u8> {
    pickle(value, Types::default())
}

/// Checks that the bytes open as `snapshot(count)`.
fn assert_snapshot(what: &str, bytes: &[u8], count: u64) -> Opened {
    for chunk in [1 << 20, 1] {
        let opened = open_in_chunks(bytes, chunk, usize::MAX).unwrap_or_else(|error| panic!("{what}: {error}"));
        let device = device(&opened);
        let found = (device.events, device.peak_requested as u64, device.end_requested, device.base_requested);
        assert_eq!(found, (count + 3, (count + 1) * MIB, count * MIB, 0), "{what}, chunks of {chunk}");
    }
    open(bytes).unwrap()
}

#[test]
fn known_constructors_are_read_as_plain_values() {
    let value = snapshot(3);
    let types = [
        ("plain", Types::default()),
        ("OrderedDict", Types { dict: b"ccollections\nOrderedDict\n)R", ..Types::default() }),
        (
            "defaultdict of list",
            Types { dict: b"ccollections\ndefaultdict\ncbuiltins\nlist\n\x85R", ..Types::default() },
        ),
        ("defaultdict without function", Types { dict: b"ccollections\ndefaultdict\nN\x85R", ..Types::default() }),
        ("Counter", Types { dict: b"ccollections\nCounter\n)R", ..Types::default() }),
        ("dict by name", Types { dict: b"c__builtin__\ndict\n)\x81", ..Types::default() }),
        ("STACK_GLOBAL", Types { dict: b"\x8c\x0bcollections\x8c\x0bOrderedDict\x93)R", ..Types::default() }),
        ("deque", Types { list: b"ccollections\ndeque\n)R", ..Types::default() }),
        ("deque with length", Types { list: b"ccollections\ndeque\n)K\x63\x86R", ..Types::default() }),
        ("list by name", Types { list: b"cbuiltins\nlist\n)R", ..Types::default() }),
        ("tuples", Types { tuples: true, ..Types::default() }),
        ("NumPy integers", Types { numbers: b"cnumpy.core.multiarray\nscalar\n", ..Types::default() }),
        ("NumPy 2 integers", Types { numbers: b"cnumpy._core.multiarray\nscalar\n", ..Types::default() }),
        ("floats", Types { floats: true, ..Types::default() }),
        ("bytes", Types { bytes: true, ..Types::default() }),
    ];
    for (what, types) in types {
        assert_snapshot(what, &pickle(&value, types), 3);
    }
}

#[test]
fn numpy_and_codec_values_have_their_numbers() {
    let number = |kind: &[u8], bytes: &[u8]| {
        let dtype = [
            b"cnumpy\ndtype\n\x8c\x02",
            kind,
            b"\x89\x88\x87R(K\x03\x8c\x01<NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb",
        ]
        .concat();
        [b"cnumpy.core.multiarray\nscalar\n", dtype.as_slice(), b"C", &[bytes.len() as u8], bytes, b"\x86R"].concat()
    };
    let setting = |value: &[u8]| {
        let key = |text: &str| [b"\x8c", [text.len() as u8].as_slice(), text.as_bytes()].concat();
        let settings = [b"}".as_slice(), &key("x"), value, b"s"].concat();
        let file =
            [b"\x80\x04}(".as_slice(), &key("segments"), b"]", &key("allocator_settings"), &settings, b"u."].concat();
        open(&file).map(|opened| opened.summary.settings[0].1.clone())
    };
    assert_eq!(setting(&number(b"i8", &(-5i64).to_le_bytes())).as_deref(), Ok("-5"));
    assert_eq!(setting(&number(b"u2", &[0xff, 0xff])).as_deref(), Ok("65535"));
    assert_eq!(setting(&number(b"f4", &0.5f32.to_le_bytes())).as_deref(), Ok("0.5"));
    assert_eq!(setting(&number(b"b1", &[1])).as_deref(), Ok("True"));
    assert_eq!(setting(b"c_codecs\nencode\n\x8c\x05ab\xc3\xbfc\x8c\x06latin1\x86R").as_deref(), Ok("ab\u{fffd}c"));
    assert_eq!(
        setting(b"ccopyreg\n_reconstructor\n(c__main__\nAttrDict\ncbuiltins\ndict\n}\x8c\x01kK\x01stR").as_deref(),
        Ok("1")
    );
    assert_eq!(setting(b"\x8f(K\x01K\x02\x90").as_deref(), Ok("[1, 2]"));
    assert_eq!(setting(b"(K\x01K\x02\x91").as_deref(), Ok("[1, 2]"));
    assert_eq!(setting(b"cbuiltins\nset\n](K\x01K\x02e\x85R").as_deref(), Ok("[1, 2]"));
    for (refused, part) in [
        (b"cos\nsystem\n\x8c\x02ls\x85R".as_slice(), "names os.system: a snapshot contains no code"),
        (b"\x8c\x08builtins\x8c\x04eval\x93\x8c\x011\x85R", "names builtins.eval:"),
        (b"c__main__\nAttrDict\n)\x81", "names __main__.AttrDict:"),
        (b"cbuiltins\nlist\n\x85R", "imports or calls code"),
        (b"K\x01)R", "imports or calls code"),
        (b"ccopyreg\n_reconstructor\n(c__main__\nC\ncbuiltins\nobject\nNtR", "imports or calls code"),
        (&number(b"i8", &[1, 2]), "imports or calls code"),
        (b"cos\nsystem\x1b[2J\n)R", "names os.system\\u{1b}[2J"),
    ] {
        let error = setting(refused).expect_err("refused");
        assert!(error.contains(part), "{error}");
    }
}

#[test]
fn none_in_place_of_a_value_is_as_if_absent() {
    let mut value = snapshot(3);
    let none = Value::Null;
    value["external_annotations"] = none.clone();
    value["host_traces"] = none.clone();
    value["host_segments"] = none.clone();
    value["allocator_settings"] = none.clone();
    value["device_traces"].as_array_mut().unwrap().push(none.clone());
    for key in ["stream", "segment_type", "segment_pool_id", "is_expandable", "frames"] {
        value["segments"][0][key] = none.clone();
    }
    for block in value["segments"][0]["blocks"].as_array_mut().unwrap() {
        block["frames"] = json!([{"filename": null, "line": null, "name": null}]);
    }
    for event in value["device_traces"][0].as_array_mut().unwrap() {
        for key in ["time_us", "stream", "frames", "pool_id", "compile_context", "user_metadata"] {
            event[key] = none.clone();
        }
    }
    assert_snapshot("None everywhere", &python(&value), 3);
    let off = json!({"segments": snapshot(3)["segments"], "device_traces": [null, null]});
    assert!(warned(&open(&python(&off)).unwrap(), "not_recorded"));
    let mut by_device = snapshot(3);
    by_device["device_traces"] = json!({"0": by_device["device_traces"][0]});
    assert_snapshot("traces by device", &python(&by_device), 3);
}

fn zlib(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn utf16(text: &str, unit: fn(u16) -> [u8; 2]) -> Vec<u8> {
    text.encode_utf16().flat_map(unit).collect()
}

#[test]
fn zlib_and_utf_16_open() {
    let mut value = snapshot(3);
    value["note"] = json!("𝄞 ü");
    let (plain, json) = (python(&value), value.to_string());
    let little = utf16(&format!("\u{feff}{json}"), u16::to_le_bytes);
    let big = utf16(&format!("\u{feff}{json}"), u16::to_be_bytes);
    for (what, bytes) in [
        ("zlib", zlib(&plain)),
        ("UTF-16 LE", little.clone()),
        ("UTF-16 BE", big.clone()),
        ("UTF-16 LE without mark", utf16(&json, u16::to_le_bytes)),
        ("UTF-16 BE without mark", utf16(&json, u16::to_be_bytes)),
        ("UTF-16 in gzip", packed::gzip(&little)),
        ("UTF-16 in zlib", zlib(&big)),
    ] {
        assert_snapshot(what, &bytes, 3);
    }
    let cut = zlib(&plain);
    let error = open(&cut[..cut.len() - 9]).err().unwrap();
    assert!(error.ends_with(" bytes, inside the zlib stream"), "{error}");
    for (magic, name) in [
        (b"BZh91AY&SY".as_slice(), "a bzip2 stream"),
        (b"\xfd7zXZ\0\0", "an xz stream"),
        (b"]\0\0\x80\0\xff", "an LZMA stream"),
    ] {
        let error = open(&[magic, &[0; 64]].concat()).err().unwrap();
        assert_eq!(error, format!("this is {name}, not a PyTorch memory snapshot: unpack it first"));
    }
}

#[test]
fn torch_save_opens_in_both_formats() {
    let value = snapshot(3);
    let saved =
        |pickle: &[u8]| zip::zip_of(&[("run/data.pkl", pickle), ("run/version", b"3\n"), ("run/data/0", &[0; 64])]);
    assert_snapshot("torch.save", &saved(&python(&value)), 3);
    let before: &[u8] = b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19.\x80\x02M\xe9\x03.\x80\x02}q\x00(X\x10\x00\x00\x00protocol_versionq\x01M\xe9\x03u.";
    let legacy = [before, &python(&value), b"\x80\x02]."].concat();
    assert!(!warned(&assert_snapshot("torch.save before 1.6", &legacy, 3), "bytes_behind"));
    let wrapped = json!({"epoch": 3, "snapshot": value});
    assert_snapshot("torch.save of a dict", &saved(&python(&wrapped)), 3);
    // {"w": a tensor} and, with a snapshot, {"w": a tensor, "snapshot": the snapshot}.
    let tensor = b"ctorch._utils\n_rebuild_tensor_v2\n((X\x07\x00\x00\x00storagectorch\nFloatStorage\nX\x01\x00\x00\x000X\x03\x00\x00\x00cpuK\ntQK\x00K\x02K\x05\x86K\x05K\x01\x86\x89ccollections\nOrderedDict\n)RtR";
    let weights = [b"\x80\x02}X\x01\x00\x00\x00w", tensor.as_slice(), b"s."].concat();
    let bare = python(&value);
    let beside = [
        b"\x80\x04}(X\x01\x00\x00\x00w",
        tensor.as_slice(),
        b"X\x08\x00\x00\x00snapshot",
        bare.strip_prefix(b"\x80\x04").unwrap().strip_suffix(b".").unwrap(),
        b"u.",
    ]
    .concat();
    assert_snapshot("torch.save beside a tensor", &saved(&beside), 3);
    assert_snapshot("torch.save before 1.6, beside a tensor", &[before, &beside, b"\x80\x02]."].concat(), 3);
    let model = b"\x80\x02c__main__\nModel\n)\x81.";
    for (file, end) in [
        (saved(model), ": it holds __main__.Model"),
        (saved(&weights), ": it holds 'w'"),
        ([before, &*weights].concat(), ": it holds 'w'"),
        (saved(&python(&json!({"epoch": 3, "lr": 0.5}))), ": it holds 'epoch', 'lr'"),
    ] {
        let error = open(&file).err().unwrap();
        assert_eq!(error, format!("this is a torch.save checkpoint, not a PyTorch memory snapshot{end}"));
    }
}

#[test]
fn tar_archives_list_their_snapshots() {
    let pickles: Vec<Vec<u8>> = (1..4).map(|count| python(&snapshot(count))).collect();
    let long = format!("{}/rank2.json", "folder".repeat(30));
    let json = snapshot(4).to_string();
    let members: Vec<(&str, &[u8])> = vec![
        ("notes.txt", b"hello"),
        ("config.json", b"{\"lr\": 0.1}"),
        ("rank0.pickle", &pickles[0]),
        ("empty", b""),
        ("rank1.pickle.gz", &pickles[1]),
        (&long, json.as_bytes()),
    ];
    for is_pax in [false, true] {
        let plain = tar(&members, is_pax);
        for file in [plain.clone(), packed::gzip(&plain), packed::zstd(&plain)] {
            let opened = assert_snapshot("tar", &file, 1);
            let names: Vec<&str> = opened.members.iter().map(|member| member.name.as_str()).collect();
            assert_eq!(names, ["rank0.pickle", "rank1.pickle.gz", long.as_str()]);
            assert_eq!(opened.members[0].bytes, pickles[0].len() as u64);
            assert_eq!(opened.summary.file, "test.pickle › rank0.pickle");
            for (member, count) in [(1, 2), (2, 4)] {
                let opened = open_with(&file, OpenOptions { member: Some(member), ..OpenOptions::default() }).unwrap();
                assert_eq!(device(&opened).end_requested, count * MIB);
            }
            let error = open_with(&file, OpenOptions { member: Some(3), ..OpenOptions::default() }).err().unwrap();
            assert!(error.contains("a tar archive without such a snapshot"), "{error}");
        }
        let error = open(&plain[..2000]).err().unwrap();
        assert!(error.contains("the file is cut off"), "{error}");
    }
    let error = open(&tar(&[("notes.txt", b"hello")], false)).err().unwrap();
    assert!(error.contains("a tar archive without such a snapshot"), "{error}");
    let mut damaged = tar(&members, false);
    let at = damaged.len() - 1024 - 512 - json.len().next_multiple_of(512);
    damaged[at + 7] ^= 1;
    assert!(open(&damaged).err().unwrap().contains("the tar stream is damaged"));
}

#[test]
fn snapshots_in_lists_and_under_keys_are_found() {
    let [one, two] = [1, 2].map(snapshot);
    let lists = [
        (json!([one, two]), ["[0]", "[1]"]),
        (json!({"rank0": one, "rank1": two, "step": 100}), ["rank0", "rank1"]),
        (json!({"ranks": [{"memory": one}, {"memory": two}]}), ["ranks[0].memory", "ranks[1].memory"]),
    ];
    for (value, names) in lists {
        for file in [python(&value), value.to_string().into_bytes(), packed::gzip(&python(&value))] {
            let opened = assert_snapshot("list", &file, 1);
            let found: Vec<&str> = opened.members.iter().map(|member| member.name.as_str()).collect();
            assert_eq!(found, names);
            let second = open_with(&file, OpenOptions { member: Some(1), ..OpenOptions::default() }).unwrap();
            assert_eq!(device(&second).end_requested, 2 * MIB);
            assert_eq!(second.summary.file, format!("test.pickle › {}", names[1]));
            assert!(open_with(&file, OpenOptions { member: Some(2), ..OpenOptions::default() }).is_err());
        }
    }
    let wrapped = [
        json!({"rank": 3, "snapshot": one, "step": 100}),
        json!({"a": {"b": {"c": [one]}}}),
        json!([one]),
        json!({"memory": one["segments"], "x": {"snapshot": one}})["x"].clone(),
    ];
    for value in wrapped {
        assert!(assert_snapshot("wrapped", &python(&value), 1).members.is_empty());
    }
    assert_eq!(device(&open(&python(&json!({"memory": one["segments"]}))).unwrap()).end_requested, MIB);
    let bare = open(&python(&one["device_traces"])).unwrap();
    assert_eq!((device(&bare).events, device(&bare).peak_requested as u64), (4, 2 * MIB));
    let error = open(&python(&json!({"epoch": 3, "model": {"x": []}}))).err().unwrap();
    assert!(error.ends_with("at the top level, only 'epoch', 'model'"), "{error}");
    let mut broken = json!([one, two]);
    broken[1]["device_traces"][0][2]["size"] = json!("big");
    let second = OpenOptions { member: Some(1), ..OpenOptions::default() };
    let error = open_with(&python(&broken), second).err().unwrap();
    assert!(error.contains("[1].device_traces[0][2].size"), "{error}");
    assert_snapshot("broken neighbor", &python(&broken), 1);
}

#[test]
fn memory_outside_listed_segments_is_live() {
    let whole = snapshot(3);
    let reserve = |value: &mut Value| {
        let segment =
            json!({"action": "segment_alloc", "addr": 1u64 << 40, "size": 8 * MIB, "stream": 0, "time_us": 0});
        value["device_traces"][0].as_array_mut().unwrap().insert(0, segment);
    };
    let mut none = whole.clone();
    none["segments"] = json!([]);
    let mut other_pool = whole.clone();
    other_pool["segments"] = json!([{"device": 0, "address": 1u64 << 50, "total_size": 2 * MIB, "stream": 0,
        "segment_type": "large", "segment_pool_id": [0, 1], "blocks": [{"address": 1u64 << 50, "size": 2 * MIB,
        "requested_size": 2 * MIB, "state": "active_allocated", "frames": []}]}]);
    for (mut value, base) in [(none, 0), (other_pool, 2 * MIB)] {
        reserve(&mut value);
        let opened = open(&python(&value)).unwrap();
        let device = device(&opened);
        let found =
            (device.base_requested as u64, device.peak_requested as u64, device.end_requested, device.drawn_peak);
        assert_eq!(found, (base, base + 4 * MIB, base + 3 * MIB, base + 4 * MIB));
        assert_eq!(
            (device.reserved_start as u64, device.peak_reserved as u64, device.reserved_end),
            (base, base + 8 * MIB, base + 8 * MIB)
        );
        assert!(warned(&opened, "missing_segments") && !warned(&opened, "negative_remainder"));
        assert!(!warned(&opened, "requested_beyond_reserved"));
    }
    let mut absent = whole;
    absent.as_object_mut().unwrap().remove("segments");
    reserve(&mut absent);
    let device = device(&open(&python(&absent)).unwrap());
    assert_eq!((device.base_requested, device.end_requested, device.peak_reserved as u64), (0, 3 * MIB, 8 * MIB));
}

#[test]
fn ring_overflow_is_a_warning_and_not_a_setting() {
    let mut value = snapshot(3);
    value["allocator_settings"] =
        json!({"expandable_segments": false, "trace_alloc_overflowed": true, "trace_alloc_max_entries": 6});
    let flagged = |value: &Value| {
        let opened = open(&python(value)).unwrap();
        assert!(
            !opened.summary.settings.iter().any(|(key, _)| key.contains("trace_alloc")),
            "{:?}",
            opened.summary.settings
        );
        assert!(!warned(&opened, "unknown_key"));
        warned(&opened, "events_overwritten")
    };
    assert!(flagged(&value));
    value["allocator_settings"]["trace_alloc_overflowed"] = json!([false, true]);
    assert!(flagged(&value));
    value["allocator_settings"]["trace_alloc_overflowed"] = json!(false);
    assert!(!flagged(&value));
    value["trace_alloc_overflowed"] = json!(true);
    assert!(flagged(&value));
}

#[test]
fn user_defined_actions_are_annotations() {
    let mut value = snapshot(3);
    let mark = |stage: &str, time: u64| {
        json!({"action": "user_defined", "addr": 0, "size": 0, "stream": 0, "time_us": time,
               "frames": [{"name": stage, "filename": "ProfilerStep#0", "line": 0}]})
    };
    let events = value["device_traces"][0].as_array_mut().unwrap();
    events.insert(0, mark("START", 0));
    events.push(mark("END", 9));
    let opened = open(&python(&value)).unwrap();
    assert_eq!((device(&opened).annotations, device(&opened).events), (2, 8));
    assert!(!warned(&opened, "unknown_action") && !warned(&opened, "annotation_without_start"));
}

#[test]
fn profiler_timelines_open_without_stacks() {
    let memory = |ts: f64, addr: u64, bytes: i64, total: u64, device: i64| {
        json!({"ph": "i", "name": "[memory]", "ts": ts, "args": {"Addr": addr, "Bytes": bytes, "Total Allocated": total,
               "Total Reserved": 1 << 30, "Device Type": i64::from(device >= 0), "Device Id": device}})
    };
    // 500 bytes were allocated before the trace, and 100 of them are freed in it. Events are out of order.
    let events = json!([
        {"ph": "X", "name": "aten::mm", "ts": 1.5, "dur": 2, "args": {"Bytes": 7}},
        memory(30.5, 4096, -1000, 400, 0),
        memory(10.25, 4096, 1000, 1500, 0),
        memory(20.0, 64, -100, 1400, 0),
        memory(12.0, 77, 1 << 20, 1 << 20, -1),
    ]);
    for trace in [json!({"schemaVersion": 1, "traceEvents": events}), events.clone()] {
        let opened = open(trace.to_string().as_bytes()).unwrap();
        let device = device(&opened);
        assert_eq!(
            (device.events, device.base_requested, device.peak_requested, device.end_requested),
            (3, 500, 1500, 400)
        );
        assert!(
            warned(&opened, "from_the_profiler") && !warned(&opened, "no_segments") && !warned(&opened, "no_stacks")
        );
    }
    let raw = json!([
        [-1, 0, 100, 0],
        [5000, 1, 40, 4],
        [6000, 2, -40, 4],
        [6000, 2, 40, 5],
        [7000, 3, -40, 5],
        [8000, 3, -9, 7]
    ]);
    let named = json!([
        [0, "create", [1, 0], "ACTIVATION", 40],
        [1000, "create", [2, 0], "PARAMETER", 60],
        [2000, "increment_version", [1, 0], "ACTIVATION", 40],
        [3000, "destroy", [1, 1], "ACTIVATION", 40]
    ]);
    for (value, numbers) in [(raw, (6, 9, 149, 100)), (named, (3, 0, 100, 60))] {
        let opened = open(&packed::gzip(value.to_string().as_bytes())).unwrap();
        let device = device(&opened);
        assert_eq!((device.events, device.base_requested, device.peak_requested, device.end_requested), numbers);
        assert!(warned(&opened, "from_the_profiler"));
    }
    for (value, part) in [
        (
            json!([[1, 2], [[0, 5], [0, 7]]]),
            "a memory timeline of torch.profiler, which has only the sum of each category",
        ),
        (json!({"traceEvents": [{"ph": "X", "name": "aten::mm"}]}), "a trace of torch.profiler without memory events"),
        (json!([[1, 0, 5, 0], [2, 0]]), "[1]: expected [time, action, bytes, category]"),
    ] {
        let error = open(value.to_string().as_bytes()).err().unwrap();
        assert!(error.contains(part), "{error}");
    }
}

#[test]
fn recording_without_stacks_or_events_is_said() {
    let mut value = snapshot(3);
    for event in value["device_traces"][0].as_array_mut().unwrap() {
        event.as_object_mut().unwrap().remove("frames");
    }
    for block in value["segments"][0]["blocks"].as_array_mut().unwrap() {
        block["frames"] = json!([]);
    }
    assert!(warned(&open(&python(&value)).unwrap(), "no_stacks"));
    assert!(!warned(&open(&python(&snapshot(3))).unwrap(), "no_stacks"));
    value["device_traces"] = json!([[], []]);
    let off = open(&python(&value)).unwrap();
    assert!(warned(&off, "not_recorded") && !warned(&off, "no_stacks"));
}

#[test]
fn hostile_archives_and_constructors_fail_clearly() {
    // A header that promises more than there is, an endless chain of headers, and a bomb in each packing.
    // Instructions that do nothing: FRAME with a length of 0.
    let frames = [b"\x80\x04".as_slice(), &b"\x95\0\0\0\0\0\0\0\0".repeat(33 << 20)].concat();
    let bomb = zlib(&frames);
    let error = open(&bomb).err().unwrap();
    assert!(error.contains("decompress to more than 200 times as many"), "{error}");
    let bomb = packed::gzip(&tar(&[("rank0.pickle", &frames)], false));
    let error = open(&bomb).err().unwrap();
    assert!(error.contains("decompress to more than 200 times as many"), "{error}");
    let mut chain = Vec::new();
    for _ in 0..20_000 {
        chain.extend_from_slice(&tar(&[("empty", b"")], false)[..512]);
    }
    assert!(open(&chain).is_err());
    let nested = (0..6).fold(python(&snapshot(1)), |bytes, _| zlib(&bytes));
    assert!(open(&nested).err().unwrap().contains("more than 4 nested layers"));
    // Deep nesting of constructors, and of dicts around a snapshot.
    let deep = [b"\x80\x04".as_slice(), &b"ccollections\nOrderedDict\n)R\x8c\x01k".repeat(70_000), b"."].concat();
    assert!(open(&deep).err().unwrap().contains("more than 65,536 open containers"));
    let buried = (0..40).fold(snapshot(1), |value, _| json!({"x": value}));
    assert!(open(&python(&buried)).err().unwrap().contains("only 'x'"));
    let many: Vec<Value> = (0..5000).map(|_| json!({"segments": []})).collect();
    assert!(open(&python(&json!(many))).is_ok_and(|opened| opened.members.len() <= 4096));
    // Every cut of a small file of each kind gives an error or opens.
    let ordered = pickle(&snapshot(1), Types { dict: b"ccollections\nOrderedDict\n)R", ..Types::default() });
    for file in [
        ordered,
        tar(&[("a", &python(&snapshot(1)))], true),
        zlib(&python(&snapshot(1))),
        utf16("{\"segments\": []}", u16::to_le_bytes),
    ] {
        for cut in (0..file.len()).step_by(3) {
            let _ = open(&file[..cut]);
        }
    }
}
