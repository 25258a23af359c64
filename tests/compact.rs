//! Snapshots in the column format: a file opened from columns gives the same answers, and damaged columns give an
//! error, never a panic.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may fail")]

use crate::generate::{self, Options};
use crate::opened::{Opened, open, open_in_chunks, snapshots};
use crate::packed::gzip;
use crate::{snapviewer, stated};
use memscape::compact::{self, ColumnReader, CompactError, MAGIC, VERSION, Writer};
use memscape::engine::{Ask, Question, Reply, Request};
use memscape::json;
use memscape::protocol::encode;
use memscape::protocol::{
    Arrangement, DeviceSummary, EventsFilter, EventsQuestion, FlameQuestion, Fold, FoldScope, FoldState, Grouping,
    Internal, MemoryFilter, Merge, MomentSpec, Plot, PlotSettings, ReportQuestion, Root, Scope, SegmentsQuestion,
    SortDirection, Span, TableColumn, TableFilter, TableQuestion, TableSort, Topic, TreeQuestion,
};
use memscape::snapshot::{Action, Event, EventSink, LabelsId, NO_TIME, Reader, Snapshot, StackId};
use memscape::timeline::{Axis, View};
use proptest::prelude::*;

fn columns(opened: &Opened) -> Vec<u8> {
    opened.engine.write_columns(Vec::new()).unwrap()
}

/// Writes the engine's cache format.
fn cache_columns(opened: &Opened) -> Vec<u8> {
    opened.engine.write_cache(Vec::new()).unwrap()
}

/// Returns one request of every kind that the page sends about a device.
fn questions(device: &DeviceSummary) -> Vec<Request> {
    let (serial, last) = (3, device.events as u32);
    let device_number = device.device;
    let moments = [0, last / 3, device.peak_event.max(0) as u32, last];
    let mut asked = vec![
        Request::Ask(Ask { serial, device: device_number, question: Question::Marks }),
        Request::Ask(Ask { serial, device: device_number, question: Question::Map(MemoryFilter::default()) }),
        Request::Ask(Ask { serial, device: device_number, question: Question::Find("/a/ | >=1MiB | #5".to_owned()) }),
        Request::Ask(Ask { serial: 77, device: device_number, question: Question::Find("a".to_owned()) }),
        Request::Ask(Ask { serial, device: device_number, question: Question::SameStack(3) }),
    ];
    let whole = View::fit(u64::from(last) + 1, device.drawn_peak, 400, 200);
    let middle = View { x_per_px: whole.x_per_px / 20.0, left_px: 3000, ..whole };
    let plot_settings = Grouping::ALL.into_iter().enumerate().map(|(at, colouring)| {
        let plot =
            [Plot::Stack, Plot::Addresses(MemoryFilter::default()), Plot::Reserved(MemoryFilter::default())][at % 3];
        PlotSettings { stacking: (at > 3).then_some(colouring), colouring, plot, ..PlotSettings::default() }
    });
    for plot_settings in plot_settings {
        for view in [whole, middle] {
            asked.push(Request::Ask(Ask {
                serial,
                device: device_number,
                question: Question::Scene { view, plot_settings },
            }));
        }
        asked.push(Request::Ask(Ask {
            serial,
            device: device_number,
            question: Question::Legend { colouring: plot_settings.colouring, at: Some(last / 2) },
        }));
    }
    for axis in [Axis::Events, Axis::Time] {
        asked.push(Request::Ask(Ask {
            serial,
            device: device_number,
            question: Question::Overview { axis, width_px: 300 },
        }));
    }
    asked.push(Request::Ask(Ask {
        serial,
        device: device_number,
        question: Question::Curves { view: whole, only: MemoryFilter::default(), with_stranded: false },
    }));
    let at = moments.map(MomentSpec::Moment).into_iter().chain([MomentSpec::X(Axis::Time, 1e5)]).collect();
    asked.push(Request::Ask(Ask { serial, device: device_number, question: Question::Moments(at) }));
    for moment in moments {
        let question = SegmentsQuestion { request: Some(3 << 20), ..stated::question(moment) };
        asked.push(Request::Ask(Ask { serial, device: device_number, question: Question::State(question) }));
        let byte = device.drawn_peak / 3;
        asked.push(Request::Ask(Ask {
            serial,
            device: device_number,
            question: Question::Hit { plot_settings: PlotSettings::default(), moment, byte },
        }));
    }
    for topic in Topic::ALL {
        let question =
            ReportQuestion { topic, at: Some(last / 2), thresholds: Vec::new(), rows: 40, ..ReportQuestion::default() };
        asked.push(Request::Ask(Ask { serial, device: device_number, question: Question::Report(question) }));
    }
    let span = Span { from: last / 4, to: last / 2 };
    asked.push(Request::Ask(Ask { serial, device: device_number, question: Question::Range(span) }));
    for scope in [Scope::All, Scope::At(last), Scope::Allocated(span), Scope::ByteMoments(span)] {
        asked.push(Request::Ask(Ask { serial, device: device_number, question: Question::Sources(scope) }));
        for (root, merge) in [(Root::Outermost, Merge::Line), (Root::Innermost, Merge::Function)] {
            let arrangement = Arrangement { root, merge, internal: Internal::Hidden };
            let folds = vec![Fold { node: 0, scope: FoldScope::Subtree, state: FoldState::Open }];
            let (focus, reveal, search_serial, rows) = (None, None, Some(77), [0, 500]);
            let question = Box::new(TreeQuestion { scope, arrangement, focus, folds, reveal, search_serial, rows });
            asked.push(Request::Ask(Ask { serial, device: device_number, question: Question::Tree(question) }));
            let (zoom, width_px, allocation) = (None, 900, Some(1));
            let question = FlameQuestion { scope, arrangement, zoom, width_px, search_serial, allocation };
            asked.push(Request::Ask(Ask { serial, device: device_number, question: Question::Flame(question) }));
        }
        for column in [TableColumn::Id, TableColumn::CallSite, TableColumn::Lifetime] {
            let sort = TableSort { column, direction: SortDirection::Descending };
            let (filter, chosen, reveal, search_serial) = (TableFilter::default(), vec![[0, 9]], None, Some(77));
            let question = Box::new(TableQuestion {
                scope,
                filter,
                sort,
                rows: [0, 300],
                reveal,
                selected: chosen,
                search_serial,
            });
            asked.push(Request::Ask(Ask { serial, device: device_number, question: Question::Table(question) }));
        }
    }
    for first in [0, last.saturating_sub(200)] {
        let (rows, reveal) = ([first, 200], None);
        let question =
            EventsQuestion { filter: EventsFilter::default(), rows, reveal, selected: vec![], search_serial: Some(77) };
        asked.push(Request::Ask(Ask { serial, device: device_number, question: Question::Events(Box::new(question)) }));
    }
    let count = device.allocations as u32;
    for allocation in [0, 1, 2, count / 2, count.saturating_sub(1)] {
        asked.push(Request::Ask(Ask { serial, device: device_number, question: Question::Details(allocation) }));
    }
    asked
}

/// Compares a file with its columns. Only the format string may differ.
fn compare(name: &str, file: &mut Opened, again: &mut Opened) {
    let format = format!("columns of {}", file.summary.format);
    assert!(again.summary.format.ends_with(&format), "{name}: {}", again.summary.format);
    again.summary.format.clone_from(&file.summary.format);
    compare_all(name, file, again);
}

/// Compares a file with its cached form, including the format string.
fn compare_all(name: &str, file: &mut Opened, again: &mut Opened) {
    assert_eq!(again.summary, file.summary, "{name}");
    for device in file.summary.devices.clone() {
        for request in questions(&device) {
            let (ours, theirs) = (again.reply(request.clone()), file.reply(request.clone()));
            assert!(!matches!(theirs, Reply::Failed { .. }), "{name}: {request:?}");
            assert!(encode(&ours) == encode(&theirs), "{name}: {request:?}\n{ours:?}\n{theirs:?}");
        }
    }
}

/// Writes a file as columns and cached columns, reads both back, plain and gzipped, in large and small chunks, and
/// returns the columns.
fn round_trip(name: &str, bytes: &[u8]) -> Vec<u8> {
    let mut file = open(bytes).unwrap_or_else(|error| panic!("{name}: {error}"));
    let columns = columns(&file);
    compare(name, &mut file, &mut open(&columns).unwrap());
    let kept = cache_columns(&file);
    let mut again = open(&kept).unwrap();
    assert!(self::cache_columns(&again) == kept, "{name}: the cache of a cached file is identical");
    compare_all(name, &mut file, &mut again);
    assert_eq!(self::columns(&again), columns, "{name}");
    assert_eq!(open_in_chunks(&kept, 777, 2).unwrap().summary, file.summary, "{name}, kept");
    let packed = gzip(&columns);
    let mut again = open_in_chunks(&packed, 777, 2).unwrap();
    assert!(again.summary.format.starts_with("gzip, columns of "), "{}", again.summary.format);
    again.summary.format.clone_from(&file.summary.format);
    assert_eq!(again.summary, file.summary, "{name}, packed");
    assert!(
        self::columns(&again).len() <= columns.len() + 30,
        "{name}: columns written from columns differ only in the format string"
    );
    columns
}

#[test]
fn real_files_have_same_answers_before_and_after_conversion_to_columns() {
    let Some(folder) = snapshots() else { return };
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "pickle"));
    files.sort();
    let (mut before, mut after) = (0, 0);
    for file in files {
        let name = file.file_name().unwrap().to_str().unwrap().to_owned();
        let bytes = std::fs::read(&file).unwrap();
        let columns = round_trip(&name, &bytes);
        before += gzip(&bytes).len();
        after += gzip(&columns).len();
    }
    println!("{before} bytes of gzip, {after} as columns");
    assert!(after * 3 < before, "{after} bytes of columns beside {before}");
}

#[test]
fn generated_files_have_same_answers_before_and_after_conversion_to_columns() {
    for words in [
        "--events 3000 --pending --oom --leak",
        "--events 2000 --style cpp --expandable --record-from-start --snapshots",
        "--events 1500 --devices 2 --no-time --no-annotations --frames 2",
        "--events 4000 --ring 1000 --compile-contexts --metadata --private-pools --host --layer-annotations",
    ] {
        let (options, _) = Options::parse(words.split_whitespace().map(str::to_owned)).unwrap();
        let (bytes, _) = generate::generate(&options, Vec::new()).unwrap();
        round_trip(words, &bytes);
    }
}

/// Sections of events and tables have a maximum size.
#[test]
fn long_trace_has_several_event_sections() {
    let (options, _) = Options::parse("--events 300000 --frames 1 --layers 2".split(' ').map(str::to_owned)).unwrap();
    let (bytes, _) = generate::generate(&options, Vec::new()).unwrap();
    let file = open(&bytes).unwrap();
    let columns = columns(&file);
    let events = sections(&columns).iter().filter(|section| section[0] == 1).count();
    assert_eq!(events, 2);
    let again = open(&columns).unwrap();
    assert_eq!(again.summary.devices, file.summary.devices);
}

/// Decoder warnings and trailing bytes are stored in the columns.
#[test]
fn warnings_are_kept_in_columns() {
    let odd = br#"{"segments": [{"device": 0, "total_size": 4096, "odd": 1, "blocks": [
        {"size": 512, "state": "strange", "x": 1}, {"size": 512, "state": "active_allocated"}]}],
        "device_traces": [[{"action": "alloc", "addr": 512, "size": 8, "frames": [{"filename": "a", "name": "b", "line": -3, "y": 0}]},
        {"action": "dance", "addr": 512, "size": 8}, {"action": "alloc", "addr": 512, "size": 16, "time_us": 5, "z": []},
        {"action": "free_completed", "addr": 9, "size": 1, "time_us": 2}]], "allocator_settings": {"a": {"b": "c"}}, "other": 2}"#;
    let opened = open(odd).unwrap();
    assert!(opened.summary.warnings.len() > 6, "{:?}", opened.summary.warnings);
    round_trip("odd", odd);

    let one_pool = br#"[{"device": 0, "address": 512, "total_size": 512, "segment_pool_id": [0, 2],
        "blocks": [{"size": 512, "state": "active_allocated"}]}]"#;
    assert_eq!(open(one_pool).unwrap().summary.warnings[0].kind, "one_pool");
    round_trip("one pool", one_pool);

    let (options, _) = Options::parse("--events 200".split(' ').map(str::to_owned)).unwrap();
    let (mut pickle, _) = generate::generate(&options, Vec::new()).unwrap();
    pickle.extend_from_slice(b"more");
    let columns = round_trip("bytes behind", &pickle);
    let again = open(&[&columns[..], b"and more"].concat()).unwrap();
    let kinds: Vec<_> =
        again.summary.warnings.iter().map(|warning| (warning.kind.as_str(), warning.example.as_str())).collect();
    assert_eq!(kinds, [("bytes_behind", "8 bytes"), ("bytes_behind", "4 bytes")]);
}

#[test]
fn snapviewer_archive_converts_to_columns() {
    let events = serde_json::json!([
        {"action": "alloc", "addr": 4096, "size": 100, "stream": 0, "frames": [{"filename": "a.py", "name": "f", "line": 1}]},
        {"action": "alloc", "addr": 8192, "size": 50, "stream": 0, "frames": []},
        {"action": "free_completed", "addr": 4096, "size": 100, "stream": 0, "frames": []}
    ]);
    let drawn = snapviewer::export(events.as_array().unwrap());
    let archive = crate::zip::zip_of(&[
        ("allocations.json", drawn.allocations.as_slice()),
        ("elements.json", drawn.elements.as_slice()),
    ]);
    let mut file = open(&archive).unwrap();
    let columns = columns(&file);
    let mut again = open(&columns).unwrap();
    assert!(again.summary.warnings.iter().any(|warning| warning.kind == "from_a_drawing"));
    again.summary.file.clone_from(&file.summary.file);
    compare("a drawing", &mut file, &mut again);
}

#[test]
fn unsupported_data_is_cached_but_not_written_as_columns() {
    let odd = br#"{"segments": [], "device_traces": [[{"action": "alloc", "addr": 512, "size": 8},
        {"action": "free_completed", "addr": 512, "size": 9}]]}"#;
    let error = open(odd).unwrap().engine.write_columns(Vec::new()).map(drop).unwrap_err();
    assert_eq!(error.to_string(), "the size of a free differs from its allocation's");
    let mut file = open(odd).unwrap();
    let mut again = open(&cache_columns(&file)).unwrap();
    compare_all("cached columns", &mut file, &mut again);
    let frames: Vec<String> =
        (0..20_000).map(|line| format!("{{\"filename\": \"a\", \"name\": \"b\", \"line\": {line}}}")).collect();
    let deep = format!(
        "{{\"segments\": [], \"device_traces\": [[{{\"action\": \"alloc\", \"addr\": 512, \"size\": 8, \"frames\": [{}]}}]]}}",
        frames.join(",")
    );
    let error = open(deep.as_bytes()).unwrap().engine.write_columns(Vec::new()).map(drop).unwrap_err();
    assert_eq!(error.to_string(), "the stacks are too deep");
}

/// Returns the sections of the columns, with their headers and checksums.
fn sections(columns: &[u8]) -> Vec<&[u8]> {
    let (mut rest, mut sections) = (&columns[MAGIC.len() + 1..], Vec::new());
    while let Some(length) = rest.get(1..5) {
        let whole = 9 + u32::from_le_bytes(length.try_into().unwrap()) as usize;
        sections.push(&rest[..whole]);
        rest = &rest[whole..];
    }
    sections
}

/// Writes a small file with most features of the format.
fn small_columns(write: fn(&Opened) -> Vec<u8>) -> Vec<u8> {
    let words = "--layers 1 --hidden 64 --record-from-start --events 24 --frames 2 --pending --oom --compile-contexts \
                 --metadata --private-pools --host";
    let (options, _) = Options::parse(words.split_whitespace().map(str::to_owned)).unwrap();
    let (bytes, _) = generate::generate(&options, Vec::new()).unwrap();
    write(&open(&bytes).unwrap())
}

/// Writes the seed of the fuzz corpus.
#[test]
#[ignore = "tests/fuzz/seeds.sh writes the seed with it"]
fn fuzz_seeds_are_written() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fuzz/corpus");
    for target in ["columns", "containers"] {
        std::fs::create_dir_all(folder.join(target)).unwrap();
        std::fs::write(folder.join(target).join("columns"), small_columns(columns)).unwrap();
        std::fs::write(folder.join(target).join("kept"), small_columns(cache_columns)).unwrap();
    }
}

#[test]
fn truncated_columns_report_error() {
    for columns in [small_columns(columns), small_columns(cache_columns)] {
        for length in 0..columns.len() {
            let error = open(&columns[..length]).map(|_| ()).unwrap_err();
            assert!(
                length <= MAGIC.len() || error == format!("unexpected end of the columns after {length} bytes"),
                "{error}"
            );
        }
    }
}

#[test]
fn flipped_bits_are_detected() {
    for columns in [small_columns(columns), small_columns(cache_columns)] {
        for at in MAGIC.len()..columns.len() {
            for bit in 0..8 {
                let mut flipped = columns.clone();
                flipped[at] ^= 1 << bit;
                assert!(open(&flipped).is_err(), "bit {bit} of byte {at}");
            }
        }
    }
    let mut newer = small_columns(columns);
    newer[MAGIC.len()] = VERSION + 1;
    let error = open(&newer).map(|_| ()).unwrap_err();
    assert!(error.starts_with("columns version 2 is not supported"), "{error}");
}

/// Corrupts columns and fixes the checksums. The result either fails to open or still answers requests.
#[test]
fn corrupted_columns_do_not_panic() {
    corrupt_each_section(&small_columns(columns), compact::checksum);
}

#[test]
fn corrupted_cache_does_not_panic() {
    corrupt_each_section(&small_columns(cache_columns), compact::fast_checksum);
}

fn corrupt_each_section(columns: &[u8], sum: fn(&[u8]) -> u32) {
    let (mut opened, mut refused) = (0, 0);
    let mut begin = MAGIC.len() + 1;
    for section in sections(columns) {
        for at in (0..section.len() - 4).step_by(3) {
            // The length field is corrupted as well.
            for value in [0, 0xff, section[at] ^ 1, section[at] ^ 0x90] {
                let mut hostile = columns.to_vec();
                hostile[begin + at] = value;
                let end = begin + section.len() - 4;
                let sum = sum(&hostile[begin..end]);
                hostile[end..end + 4].copy_from_slice(&sum.to_le_bytes());
                match open(&hostile) {
                    Err(error) => {
                        assert!(!error.contains('\n') && error.len() < 300, "{error}");
                        refused += 1;
                    }
                    Ok(mut file) => {
                        opened += 1;
                        if opened % 97 == 0 {
                            for device in file.summary.devices.clone() {
                                for request in questions(&device).into_iter().step_by(3) {
                                    file.reply(request);
                                }
                            }
                        }
                    }
                }
            }
        }
        begin += section.len();
    }
    assert!(opened > 50 && refused > 400, "{opened} opened, {refused} refused");
}

/// Collects the events of all traces.
#[derive(Default)]
struct Received(Vec<(u32, Event)>);

impl EventSink for Received {
    fn event_at(&mut self, trace: u32, event: &Event) {
        self.0.push((trace, *event));
    }
}

/// Builds a snapshot with a few stacks and combinations of labels.
fn tables() -> Snapshot {
    let frame = |name: u32| format!("{{\"filename\": \"f\", \"name\": \"n{name}\", \"line\": {name}}}");
    let event = |at: u32| {
        let frames: Vec<String> = (0..at).map(frame).collect();
        format!(
            "{{\"action\": \"alloc\", \"addr\": {at}, \"size\": 1, \"stream\": {at}, \"frames\": [{}]}}",
            frames.join(",")
        )
    };
    let events: Vec<String> = (0..6).map(event).collect();
    let text = format!("{{\"segments\": [], \"device_traces\": [[{}]]}}", events.join(","));
    let mut machine = json::Parser::new(Reader::new(Received::default()), json::Limits::default());
    machine.feed(text.as_bytes()).unwrap();
    let (reader, root) = machine.finish().unwrap();
    reader.finish(root, 0).unwrap().0
}

fn read(columns: &[u8], chunk: usize) -> Result<Vec<(u32, Event)>, CompactError> {
    let mut machine = ColumnReader::new(Received::default());
    for piece in columns.chunks(chunk) {
        machine.feed(piece)?;
        while machine.step() {}
    }
    machine.finish().map(|(_, received)| received.0)
}

fn arbitrary_event() -> impl Strategy<Value = Event> {
    let address = prop_oneof![3 => (0..6u64).prop_map(|at| at * 512), 1 => any::<u64>()];
    let size = prop_oneof![3 => (0..4u64).prop_map(|at| at * 512), 1 => 0..=i64::MAX as u64];
    let time = prop_oneof![3 => 1_000..1_600i64, 1 => any::<i64>(), 1 => Just(NO_TIME)];
    let stack = prop_oneof![4 => 0..6u32, 1 => Just(u32::MAX)];
    let labels = prop_oneof![4 => 0..6u32, 1 => Just(u32::MAX)];
    let action = (0..Action::ALL.len()).prop_map(|at| Action::ALL[at]);
    (address, size, time, stack, labels, action).prop_map(|(address, size, time_us, stack, labels, action)| Event {
        address,
        size,
        time_us,
        stack: StackId(stack),
        labels: LabelsId(labels),
        action,
    })
}

proptest! {
    /// Any events round-trip, whatever the chunk size.
    #[test]
    fn random_events_round_trip(
        traces in prop::collection::vec(prop::collection::vec(arbitrary_event(), 0..60), 0..4),
        chunk in 1..400usize,
    ) {
        let snapshot = tables();
        let mut writer = Writer::new(Vec::new()).unwrap();
        for trace in &traces {
            writer.begin_trace().unwrap();
            trace.iter().for_each(|event| writer.event(event).unwrap());
        }
        let devices: Vec<i64> = (0..traces.len() as i64).collect();
        let columns = writer.finish(&snapshot, &devices, "").unwrap();
        let events: Vec<(u32, Event)> =
            (0u32..).zip(&traces).flat_map(|(at, trace)| trace.iter().map(move |event| (at, *event))).collect();
        prop_assert_eq!(read(&columns, chunk), Ok(events));
    }

    /// A section with random payload and a valid checksum.
    #[test]
    fn random_section_reports_error(what in 0..14u8, payload in prop::collection::vec(any::<u8>(), 0..200)) {
        let mut section = vec![what];
        section.extend_from_slice(&(payload.len() as u32).to_le_bytes());
        section.extend_from_slice(&payload);
        let sum = compact::checksum(&section).to_le_bytes();
        let columns = [&MAGIC[..], &[VERSION], &section, &sum].concat();
        // Only an empty end section ends the file.
        let is_end = what == 0 && payload.is_empty();
        prop_assert!(is_end || read(&columns, 7).is_err(), "columns without an end section");
    }
}

/// A section could add one stack level for two bytes, which would make every stack walk take hours.
#[test]
fn too_deep_stacks_report_error() {
    let number = |number: u32| [number as u8 | 128, (number >> 7) as u8 | 128, (number >> 14) as u8];
    let section = |what: u8, rows: u32, columns: &[Vec<u8>]| {
        let lengths: Vec<u8> = columns.iter().flat_map(|column| number(column.len() as u32)).collect();
        let payload = [&number(rows)[..], &lengths, &columns.concat()].concat();
        let section = [&[what][..], &(payload.len() as u32).to_le_bytes(), &payload].concat();
        [&section[..], &compact::checksum(&section).to_le_bytes()].concat()
    };
    // Two frames, and stacks of the first frame only, each called by the next.
    let frames = section(3, 1, &[vec![0], vec![0], vec![2], vec![0]]);
    let strings = section(2, 1, &[vec![1], vec![b'a']]);
    let (rows, mut columns) = (30_000, [&MAGIC[..], &[VERSION], &strings, &frames].concat());
    for length in [10_000, rows] {
        columns.extend(section(4, length, &[vec![0; length as usize], vec![0; length as usize]]));
        let is_refused = matches!(read(&columns, 1 << 16), Err(CompactError::Damaged { .. }));
        assert_eq!(is_refused, length == rows, "{length} frames deep");
    }
}

/// A length above the limit fails before the section's bytes arrive.
#[test]
fn too_long_section_reports_error() {
    let columns = [&MAGIC[..], &[VERSION, 2], &u32::MAX.to_le_bytes()].concat();
    assert_eq!(read(&columns, 100), Err(CompactError::Damaged { from: 17, to: 22 }));
}
