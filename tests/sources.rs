//! Files and lines of the user's own code compared with a plain loop over all allocations.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests may panic")]

use crate::generate;
use crate::opened;

use generate::Options;
use memscape::engine::{Answer, Ask, Question, Reply, Request};
use memscape::protocol::{Details, DeviceSummary, LocationWeight, Scope, SourceFile, SourcesPage, Span, Weight};
use opened::{Opened, open, real_pickles, reply};
use serde_json::{Value, json};
use std::collections::BTreeMap;

fn sources(opened: &mut Opened, device: i64, scope: Scope) -> SourcesPage {
    match reply(&mut opened.engine, Request::Ask(Ask { serial: 5, device, question: Question::Sources(scope) })) {
        Reply::Answer { serial: 5, answer: Answer::Sources(page) } => *page,
        other => panic!("{other:?}"),
    }
}

fn all_details(opened: &mut Opened, device: &DeviceSummary) -> Vec<Details> {
    (0..device.allocations as u32).map(|id| opened.details(device.device, id).unwrap()).collect()
}

fn add(to: &mut Weight, more: Weight) {
    (to.bytes, to.count) = (to.bytes + more.bytes, to.count + more.count);
}

fn add_weights(to: &mut LocationWeight, more: LocationWeight) {
    add(&mut to.now, more.now);
    add(&mut to.peak, more.peak);
}

fn is_live_at(it: &Details, moment: u32) -> bool {
    let allocated_at = it.allocated_event.map_or(0, |event| event + 1);
    allocated_at <= moment && it.freed_event.is_none_or(|event| moment < event + 1)
}

/// Predicate for allocations in a scope.
type IsIn<'a> = &'a dyn Fn(&Details) -> bool;

/// Bytes in scope and live at the peak, by file and line. Both are empty for allocations without a frame of the user's
/// code.
type Places = BTreeMap<(String, String), LocationWeight>;

fn expected(all: &[Details], is_in: IsIn, peak: u32) -> Places {
    let mut places = Places::new();
    for it in all {
        let frame = it.frames.iter().find(|frame| frame.is_user_code && !it.is_free_stack);
        let place = frame.map_or_else(Default::default, |frame| (frame.filename.clone(), frame.line.clone()));
        let one = Weight { bytes: it.requested, count: 1 };
        let weight = |counts: bool| if counts { one } else { Weight::default() };
        add_weights(
            places.entry(place).or_default(),
            LocationWeight { now: weight(is_in(it)), peak: weight(is_live_at(it, peak)) },
        );
    }
    places.retain(|_, weights| weights.now.count + weights.peak.count > 0);
    places
}

fn sum<'a>(all: impl Iterator<Item = &'a LocationWeight>) -> LocationWeight {
    all.fold(LocationWeight::default(), |mut sum, one| {
        add_weights(&mut sum, *one);
        sum
    })
}

/// Lines of a page. Checks that each file is the sum of its lines and that each list is sorted.
fn page_lines(page: &SourcesPage) -> Places {
    let mut places = Places::new();
    for file in &page.files {
        assert_eq!(sum(file.lines.iter().map(|line| &line.weights)), file.weights, "lines add up to {}", file.path);
        assert!(file.lines.is_sorted_by_key(|line| std::cmp::Reverse(line.weights.now.bytes)));
        for line in &file.lines {
            let twice = places.insert((file.path.clone(), line.line.clone()), line.weights);
            assert_eq!(twice, None, "{}:{} is listed twice", file.path, line.line);
        }
    }
    assert!(page.files.is_sorted_by_key(|file| std::cmp::Reverse(file.weights.now.bytes)));
    if page.elsewhere != LocationWeight::default() {
        places.insert(Default::default(), page.elsewhere);
    }
    places
}

/// Compares the page for four scopes of a device with a loop over its allocations. Returns the number of lines.
fn check(opened: &mut Opened, device: &DeviceSummary) -> usize {
    let peak = (device.peak_event + 1) as u32;
    let last = device.events as u32;
    let all = all_details(opened, device);
    let (from, to) = (last / 3, last / 2);
    let allocated_in = |it: &Details| it.allocated_event.is_some_and(|event| (from..to).contains(&event));
    let scopes: [(Scope, IsIn); 4] = [
        (Scope::At(peak), &|it| is_live_at(it, peak)),
        (Scope::At(last), &|it| is_live_at(it, last)),
        (Scope::At(last / 2), &|it| is_live_at(it, last / 2)),
        (Scope::Allocated(Span { from, to }), &allocated_in),
    ];
    let mut lines = 0;
    for (scope, is_in) in scopes {
        let places = expected(&all, is_in, peak);
        let page = sources(opened, device.device, scope);
        assert_eq!(page_lines(&page), places, "{scope:?}");
        assert_eq!(page.total, sum(places.values()), "{scope:?}");
        assert_eq!(page.total.peak.bytes as i64, device.peak_requested, "equals the curve's peak");
        if scope == Scope::At(last) {
            assert_eq!(page.total.now.bytes, device.end_requested);
        }
        lines += page.files.iter().map(|file| file.lines.len()).sum::<usize>();
    }
    lines
}

#[test]
fn line_weights_match_allocations() {
    let (options, _) = Options::parse("--steps 2 --layers 4 --pending".split_whitespace().map(str::to_owned)).unwrap();
    let mut opened = open(&generate::generate(&options, Vec::new()).unwrap().0).unwrap();
    let device = opened.summary.devices[0].clone();
    assert!(check(&mut opened, &device) > 4);
}

#[test]
fn line_weights_match_allocations_of_real_files() {
    let Some(paths) = real_pickles() else { return };
    let mut lines = 0;
    for path in &paths {
        let mut opened = open(&std::fs::read(path).unwrap()).unwrap();
        for device in opened.summary.devices.clone().iter().filter(|device| device.allocations < 6000) {
            lines += check(&mut opened, device);
        }
    }
    assert!(lines > 300, "only {lines} lines");
}

/// A snapshot with one allocation of 512 · 2^index bytes per source location.
fn snapshot(places: &[(&str, Value)]) -> Vec<u8> {
    let event = |(place, (file, line)): (usize, &(&str, Value))| {
        json!({ "action": "alloc", "addr": (place + 1) << 30, "size": 512_u64 << place, "stream": 0,
                "frames": [{ "name": "empty", "filename": "/x/site-packages/torch/a.py", "line": 1 },
                           { "name": "f", "filename": file, "line": line }] })
    };
    let trace: Vec<Value> = places.iter().enumerate().map(event).collect();
    let value = json!({ "segments": [], "device_traces": [trace] });
    serde_pickle::to_vec(&value, serde_pickle::SerOptions::new()).unwrap()
}

#[test]
fn any_file_name_and_line_is_accepted() {
    let long = format!("/{}/end.py", "ä/".repeat(100_000));
    let places = [
        ("/a/<script>alert(1)</script>.py", json!(7)),
        ("\u{202e}\u{0}\n\t.py", json!(-3)),
        ("same.py", json!(i64::MAX)),
        ("same.py", json!(i64::MIN)),
        ("same.py", json!(0)),
        ("Same.py", json!(0)),
        ("a.py", json!(1)),
        (" a.py", json!(1)),
        ("a.py:1", json!(1)),
    ];
    let mut opened = open(&snapshot(&places)).unwrap();
    let page = sources(&mut opened, 0, Scope::At(places.len() as u32));
    let of_places = page_lines(&page);
    for (at, (file, line)) in places.iter().enumerate() {
        let weight = Weight { bytes: 512 << at, count: 1 };
        let weights = LocationWeight { now: weight, peak: weight };
        assert_eq!(of_places.get(&((*file).to_owned(), line.to_string())), Some(&weights), "{file:?} {line}");
    }
    assert_eq!(of_places.len(), places.len());
    assert_eq!(page.files.iter().find(|file| file.path == "same.py").unwrap().lines.len(), 3);
    // A name of 300 kB is not treated as a path: its frame is not user code, and none of the name is sent.
    let mut opened = open(&snapshot(&[(&long, json!(1)), (&long["/ä".len()..4000], json!(2))])).unwrap();
    let page = sources(&mut opened, 0, Scope::At(2));
    assert!(page.files.iter().all(|SourceFile { path, .. }| path.len() < 1100 && path.starts_with('…')));
    assert_eq!(sum(page.files.iter().map(|file| &file.weights).chain([&page.elsewhere])), page.total);
}

#[test]
fn line_weight_matches_search_for_line() {
    let (options, _) = Options::parse("--steps 2 --layers 4".split_whitespace().map(str::to_owned)).unwrap();
    let mut opened = open(&generate::generate(&options, Vec::new()).unwrap().0).unwrap();
    let ever = sources(&mut opened, 0, Scope::All);
    let mut lines = 0;
    for file in &ever.files {
        for line in &file.lines {
            let query = format!("@\"{}:{} \"", file.path, line.line);
            let Reply::Answer { answer: Answer::Find(tally), .. } =
                reply(&mut opened.engine, Request::Ask(Ask { serial: 9, device: 0, question: Question::Find(query) }))
            else {
                panic!("not a tally");
            };
            let LocationWeight { now, peak } = line.weights;
            assert_eq!((tally.requested, tally.count), (now.bytes, now.count), "{}:{}", file.path, line.line);
            assert_eq!((tally.peak_requested, tally.peak_count), (peak.bytes, peak.count));
            lines += 1;
        }
    }
    assert!(lines > 4, "only {lines}");
}

#[test]
fn unknown_device_has_no_sources() {
    let mut opened = open(&generate::generate(&Options::default(), Vec::new()).unwrap().0).unwrap();
    let answer = reply(
        &mut opened.engine,
        Request::Ask(Ask { serial: 5, device: 77, question: Question::Sources(Scope::At(3)) }),
    );
    assert!(matches!(answer, Reply::Answer { answer: Answer::Sources(page), .. } if *page == SourcesPage::default()));
}
