//! Two files in one worker, as the page opens them: loading the second, questions about both, and closing either.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests may panic")]

use crate::paired::{Worker, device};

use memscape::compare::FileSlot;
use memscape::engine::{Answer, Question};
use memscape::protocol::{
    Align, Cell, Chart, DeltaBox, Factor, MatchKey, PairMoments, PairQuestion, Pairing, PlanGroup, PlanQuestion,
    PlotSettings, Report, second_file_ordinal, split_ordinal,
};
use memscape::timeline::{Axis, View, WindowColumns};

const PAIRS: [[&str; 2]; 4] = [
    ["train-annotated-100", "train-annotated-mixed-precision"],
    ["forward-bf16", "forward-only-100"],
    ["no-time-expandable", "no-time-segments-freed"],
    ["torch-2.10-annotated", "torch-2.10-bf16-expandable"],
];

#[test]
fn difference_curve_matches_aligned_events() {
    for [a, b] in PAIRS {
        let mut worker = Worker::new();
        let Some(first) = worker.open_real(FileSlot::First, a) else { return };
        let second = worker.open_real(FileSlot::Second, b).unwrap();
        let (a, b) = (device(&first), device(&second));
        assert!(split_ordinal(b).1 && !split_ordinal(a).1);
        for (a, b, align) in [(a, b, None), (b, a, None), (a, b, Some(Align::Share))] {
            let pairing = Pairing { b, align, ..Pairing::default() };
            let (live_a, live_b) = (worker.live_bytes(a), worker.live_bytes(b));
            let last = live_a.len() as u32 - 1;
            // Event of B aligned with each event of A.
            let step = (last / 300).max(1);
            let map: Vec<(u32, u32)> = (0..=last)
                .step_by(step as usize)
                .map(|moment| {
                    let (moments, live) = worker.aligned(a, pairing, false, moment);
                    assert_eq!(moments[0], moment);
                    let expected = [live_a[moment as usize], live_b[moments[1] as usize]];
                    assert_eq!(live.map(|bytes| bytes as i64), expected.map(|bytes| bytes.max(0)));
                    (moment, moments[1])
                })
                .collect();
            assert!(map.is_sorted_by_key(|(_, other)| *other));
            for (width, from, to) in [(300, 0, last + 1), (97, last / 3, last / 3 + 40), (640, last / 2, last)] {
                let fit = View::fit(u64::from(to - from).max(1), 1 << 30, width, 50);
                let view = View { left_px: (f64::from(from) / fit.x_per_px) as i64, ..fit };
                let curve = worker.curve(a, pairing, view);
                let columns = WindowColumns::new(&view, last + 1, None);
                assert_eq!((curve.min.len(), curve.b.len()), (columns.moments.len(), columns.moments.len()));
                for (column, (least, most)) in columns.moments.iter().zip(curve.min.iter().zip(&curve.max)) {
                    let seen = map.iter().filter(|(moment, _)| column.contains(moment));
                    for &(moment, other) in seen {
                        let delta = live_b[other as usize] - live_a[moment as usize];
                        assert!((*least..=*most).contains(&delta), "{moment}");
                    }
                }
            }
            // A view of the whole trace in one column has the extremes of all events, which are the largest
            // differences.
            let curve = worker.curve(a, pairing, View::fit(u64::from(last) + 1, 1, 1, 1));
            let extremes: Vec<i64> = curve.min.iter().chain(&curve.max).copied().collect();
            let largest = curve.largest.first().map_or(0, |delta| delta.abs());
            assert_eq!(extremes.iter().map(|delta| delta.abs()).max().unwrap_or(0), largest);
        }
    }
}

#[test]
fn device_compared_with_itself_has_no_difference() {
    let mut worker = Worker::new();
    let Some(file) = worker.open_real(FileSlot::First, "train-annotated-100") else { return };
    let a = device(&file);
    let pairing = Pairing { b: a, ..Pairing::default() };
    let last = worker.live_bytes(a).len() as u32 - 1;
    let curve = worker.curve(a, pairing, View::fit(u64::from(last) + 1, 1 << 30, 500, 50));
    assert!(curve.min.iter().chain(&curve.max).all(|delta| *delta == 0) && curve.largest.is_empty());
    let report = worker.report(a, pairing, 10_000);
    let groups = report.sheets.iter().find(|sheet| sheet.key == "groups").unwrap();
    assert!(groups.rows.iter().all(|row| row.cells[3] == Cell::Change(0)));
    assert!(!report.sheets.iter().any(|sheet| sheet.key == "tree"), "no differences");
}

#[test]
fn alignment_map_has_bounded_size() {
    let mut worker = Worker::new();
    let Some(first) = worker.open_real(FileSlot::First, PAIRS[0][0]) else { return };
    let second = worker.open_real(FileSlot::Second, PAIRS[0][1]).unwrap();
    let (a, pairing) = (device(&first), Pairing { b: device(&second), ..Pairing::default() });
    let ends = [worker.live_bytes(a).len() as u32 - 1, worker.live_bytes(pairing.b).len() as u32 - 1];
    for places in [2, 3, 100, 100_000] {
        let map = worker.map(a, pairing, places);
        assert_eq!(map.align, Some(Align::Steps));
        assert!(map.moments.len() as u32 <= places.max(3), "{places}: {}", map.moments.len());
        assert_eq!(map.moments.first(), Some(&(0, 0)));
        assert_eq!(map.moments.last(), Some(&(ends[0], ends[1])));
        for &(one, other) in map.moments.iter().take(50) {
            assert_eq!(worker.aligned(a, pairing, false, one).0[1], other);
        }
    }
}

#[test]
fn rows_and_call_tree_sum_to_total() {
    for [a, b] in PAIRS {
        let mut worker = Worker::new();
        let Some(first) = worker.open_real(FileSlot::First, a) else { return };
        let second = worker.open_real(FileSlot::Second, b).unwrap();
        let (a, b) = (device(&first), device(&second));
        let peak = worker.pair.side(a).unwrap().history.live_peak().0.0;
        let ats = [
            PairMoments::Peaks,
            PairMoments::PeakOfA,
            PairMoments::PeakOfB,
            PairMoments::End,
            PairMoments::Start,
            PairMoments::Moment(peak / 2),
            PairMoments::Range(peak / 3, peak),
            PairMoments::Both(peak, 1),
        ];
        for (key, at) in MatchKey::ALL.map(Some).into_iter().chain([None]).zip(ats.into_iter().cycle()) {
            let report = worker.report(a, Pairing { b, at, key, ..Pairing::default() }, 10_000);
            let sheet = |key: &str| report.sheets.iter().find(|sheet| sheet.key == key);
            let groups = sheet("groups").unwrap();
            assert_eq!(groups.left_out, 0);
            let bytes = |cell: &Cell| match cell {
                Cell::Bytes(bytes) => i128::from(*bytes),
                Cell::Change(change) => i128::from(*change),
                other => panic!("{other:?}"),
            };
            for column in 1..4 {
                let sum: i128 = groups.rows.iter().map(|row| bytes(&row.cells[column])).sum();
                assert_eq!(sum, bytes(&groups.total[column]), "{key:?} {at:?}");
            }
            check_boxes_nest(&report);
            // A node's bytes are at least the sum of its children's.
            let Some(tree) = sheet("tree") else { continue };
            for column in [1, 2] {
                let mut open: Vec<(u32, i128)> = Vec::new();
                let mut outermost = 0;
                for row in &tree.rows {
                    let of_row = bytes(&row.cells[column]);
                    open.truncate(row.depth as usize);
                    match open.last_mut() {
                        Some((_, left)) => *left -= of_row,
                        None => outermost += of_row,
                    }
                    assert!(open.last().is_none_or(|(_, left)| *left >= 0), "{key:?} {at:?}: {row:?}");
                    open.push((row.depth, of_row));
                }
                assert!(outermost <= bytes(&groups.total[column]), "{key:?} {at:?}");
            }
        }
    }
}

/// Checks that each box of the flame graph lies below a box at least as wide, and that no boxes overlap.
fn check_boxes_nest(report: &Report) {
    let charts = report.statements.iter().filter_map(|statement| statement.chart.as_ref());
    let boxes = charts.filter_map(|chart| if let Chart::Delta(_, boxes) = chart { Some(boxes) } else { None });
    for boxes in boxes {
        let (mut open, mut row_ends): (Vec<&DeltaBox>, Vec<u32>) = (Vec::new(), Vec::new());
        for of in boxes {
            let depth = of.depth as usize;
            open.truncate(depth);
            assert_eq!(open.len(), depth);
            // Edges are rounded down.
            let right = of.left + of.width;
            assert!(right <= DeltaBox::FULL_WIDTH);
            if let Some(caller) = open.last() {
                assert!(of.left >= caller.left && right <= caller.left + caller.width + 1, "{of:?} in {caller:?}");
            }
            row_ends.resize(row_ends.len().max(depth + 1), 0);
            assert!(of.left >= row_ends[depth], "{of:?}");
            row_ends[depth] = right;
            open.push(of);
        }
    }
}

#[test]
fn two_events_of_one_device_are_compared_with_path_rules() {
    let mut worker = Worker::new();
    let Some(first) = worker.open_real(FileSlot::First, "train-annotated-100") else { return };
    let a = device(&first);
    let (peak, bytes) = worker.pair.side(a).unwrap().history.live_peak();
    let pairing = Pairing { b: a, at: PairMoments::Both(0, peak.0), ..Pairing::default() };
    let report = worker.report(a, pairing, 10);
    let groups = report.sheets.iter().find(|sheet| sheet.key == "groups").unwrap();
    // Moments of one trace need no alignment, and have the same peaks, steps and sizes.
    let unneeded = |key: &str| ["moments", "steps", "scaling"].contains(&key);
    assert!(report.sheets.iter().all(|sheet| !unneeded(&sheet.key)));
    assert!(report.statements.iter().all(|it| !it.text.contains("lign")), "{:?}", report.statements);
    assert!(report.statements.iter().any(|it| it.chart.is_some()), "the flame graph of differences stays");
    let start = worker.live_bytes(a)[0] as u64;
    assert_eq!(groups.total[1..3], [Cell::Bytes(start), Cell::Bytes(bytes)]);
    // Each allocation is matched with itself, including those allocated before recording.
    let allocations = report.sheets.iter().find(|sheet| sheet.key == "allocations").unwrap();
    assert!(!allocations.note.contains("before recording"), "{}", allocations.note);
    assert_eq!(worker.ask(a, Question::Pair(PairQuestion::PathPrefixes(7, "/=/x/; ; a".to_owned()))), None);
    let mapped = worker.report(a, Pairing { paths: 7, ..pairing }, 10);
    assert_eq!(mapped.sheets, report.sheets);
}

#[test]
fn invalid_or_closed_second_file_keeps_first_open() {
    let mut worker = Worker::new();
    let Some(first) = worker.open_real(FileSlot::First, "forward-bf16") else { return };
    let a = device(&first);
    let scene = |worker: &mut Worker, device: i64| {
        let view = View { axis: Axis::Events, ..View::fit(1000, 1 << 30, 400, 100) };
        worker.ask(device, Question::Scene { view, plot_settings: PlotSettings::default() })
    };
    let before = scene(&mut worker, a);
    assert!(before.is_some());
    assert!(worker.open(FileSlot::Second, b"\x80\x04no pickle").is_err());
    assert_eq!(scene(&mut worker, a), before);
    assert_eq!(
        worker.ask(a, Question::Comparison(Pairing { b: second_file_ordinal(0), ..Pairing::default() }, 10)),
        None
    );
    let second = worker.open_real(FileSlot::Second, "forward-only-100").unwrap();
    assert!(scene(&mut worker, device(&second)).is_some());
    assert_ne!(scene(&mut worker, device(&second)), before);
    worker.pair.close_second();
    assert_eq!(scene(&mut worker, a), before);
    assert_eq!(worker.ask(a, Question::Comparison(Pairing { b: device(&second), ..Pairing::default() }, 10)), None);
    // Opening another first file ends the comparison.
    worker.open_real(FileSlot::Second, "forward-only-100").unwrap();
    worker.open_real(FileSlot::First, "adam-35-events").unwrap();
    assert!(worker.pair.engine(FileSlot::Second).is_none());
}

#[test]
fn plan_uses_factors_measured_by_comparison() {
    let generated = |length: u32| {
        let words = format!("--steps 3 --layers 3 --hidden 256 --batch 4 --record-from-start --sequence {length}");
        let (options, _) = crate::generate::Options::parse(words.split(' ').map(str::to_owned)).unwrap();
        crate::generate::generate(&options, Vec::new()).unwrap().0
    };
    let mut worker = Worker::new();
    let a = device(&worker.open(FileSlot::First, &generated(128)).unwrap());
    let eight = Factor::new(8, 1).unwrap();
    let plan = PlanQuestion { groups: vec![(PlanGroup::Measured(1), eight)], ..PlanQuestion::default() };
    let planned = |worker: &mut Worker, device| match worker.ask(device, Question::Plan(Box::new(plan.clone()))) {
        Some(Answer::Plan(page)) => *page,
        other => panic!("{other:?}"),
    };
    // Without a comparison the plan reports a problem.
    assert!(planned(&mut worker, a).error.contains("no comparison"));
    let b = device(&worker.open(FileSlot::Second, &generated(256)).unwrap());
    worker.report(a, Pairing { b, ..Pairing::default() }, 10);
    let page = planned(&mut worker, a);
    assert_eq!(page.error, "");
    let truth = worker.open(FileSlot::Second, &generated(1024)).unwrap().devices[0].drawn_peak;
    assert!(page.planned.0.abs_diff(truth) * 100 < truth, "{} of {truth}: {:?}", page.planned.0, page.groups);
    assert!(page.groups.iter().any(|row| row.name.ends_with("with the square") && row.factor.quotient() == 64.0));
}
