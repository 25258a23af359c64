//! Curves of real files, compared with the events list: each column has the maximum of its moments, and pools add up to
//! the whole.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests may panic")]
#![allow(clippy::needless_range_loop, reason = "moments and columns are indices")]

use crate::opened;

use memscape::engine::{Answer, Ask, Question, Reply, Request};
use memscape::protocol::{Curves, EventRow, EventsQuestion, MemoryFilter};
use memscape::timeline::{Axis, View, time_axis_width};
use opened::{Opened, open, real_pickles, reply};
use std::collections::BTreeSet;

fn curves(opened: &mut Opened, device: i64, view: View, only: MemoryFilter) -> Curves {
    match opened.reply(Request::Ask(Ask {
        serial: 3,
        device,
        question: Question::Curves { view, only, with_stranded: false },
    })) {
        Reply::Answer { serial: 3, answer: Answer::Curves(curves) } => *curves,
        other => panic!("expected curves, got {other:?}"),
    }
}

/// Returns the curves with one column per moment, fetched window by window.
fn by_moment(opened: &mut Opened, device: i64, moments: u64, only: MemoryFilter) -> [Vec<u64>; 7] {
    let mut all: [Vec<u64>; 7] = Default::default();
    let one = View { x_per_px: 1.0, width_px: 20_000, ..View::fit(1, 1, 1, 1) };
    while (all[0].len() as u64) < moments {
        let part = curves(opened, device, View { left_px: all[0].len() as i64, ..one }, only);
        for (into, from) in all.iter_mut().zip(table(part)) {
            into.extend(from);
        }
    }
    all
}

fn table(curves: Curves) -> [Vec<u64>; 7] {
    let Curves {
        reserved,
        rounded,
        requested,
        allocated,
        awaiting_free: pending,
        free,
        reserved_at_max_free: reserved_then,
        ..
    } = curves;
    [reserved, rounded, requested, allocated, pending, free, reserved_then]
}

fn rows(opened: &mut Opened, device: i64) -> Vec<EventRow> {
    let mut rows: Vec<EventRow> = Vec::new();
    loop {
        let question = Box::new(EventsQuestion { rows: [rows.len() as u32, 512], ..EventsQuestion::default() });
        let Reply::Answer { answer: Answer::Events(page), .. } =
            opened.reply(Request::Ask(Ask { serial: 4, device, question: Question::Events(question) }))
        else {
            panic!()
        };
        if page.rows.is_empty() {
            return rows;
        }
        rows.extend(page.rows);
    }
}

/// Returns the number of columns that were compared.
fn check(opened: &mut Opened, device: i64, name: &str) -> usize {
    let summary = opened.summary.devices.iter().find(|it| it.device == device).unwrap().clone();
    let moments = summary.events + 1;
    let all = by_moment(opened, device, moments, MemoryFilter::default());
    let rows = rows(opened, device);
    for row in &rows {
        let at = row.event as usize + 1;
        let expected = [row.reserved, row.active, row.active - row.awaiting_free, row.awaiting_free];
        assert_eq!([0, 2, 3, 4].map(|which: usize| all[which][at]), expected, "{name}, event {}", row.event);
    }
    for at in 0..moments as usize {
        assert!(all[1][at] >= all[2][at], "{name}: rounded at moment {at}");
        assert_eq!((all[5][at], all[6][at]), (all[0][at].saturating_sub(all[1][at]), all[0][at]), "{name}, {at}");
    }
    assert!(
        summary.end_rounded == 0 || !summary.identity || all[1][moments as usize - 1] == summary.end_rounded,
        "{name}"
    );
    // Each column of any window has the maximum of its moments.
    let whole = View::fit(moments, 1, 97, 1);
    let mut compared = 0;
    for (share, left_px) in [(1.0, 0), (0.37, 11), (0.02, -3), (3.0, 5)] {
        let view = View { x_per_px: whole.x_per_px * share, left_px, ..whole };
        compared += check_columns(opened, device, view, &all, name);
    }
    if let (Some((first, last)), true) = (summary.time_us, moments > 1) {
        let width = time_axis_width(last.abs_diff(first));
        let timed = View { axis: Axis::Time, ..View::fit(width, 1, 61, 1) };
        let got = curves(opened, device, timed, MemoryFilter::default());
        assert_eq!(got.edge_px.len(), got.free.len() + 1);
        for which in 0..6 {
            assert_eq!(table(got.clone())[which].iter().max(), all[which].iter().max(), "{name}: over time");
        }
    }
    // The pools add up to the whole.
    let pools: BTreeSet<(u64, u64)> = rows.iter().filter_map(|row| row.pool).chain([(0, 0)]).collect();
    let of_pools: Vec<_> =
        pools.into_iter().take(6).map(|pool| MemoryFilter { pool: Some(pool), ..MemoryFilter::default() }).collect();
    let parts: Vec<_> = of_pools.iter().map(|&only| by_moment(opened, device, moments, only)).collect();
    for at in 0..moments as usize {
        for which in [1, 2, 3, 4] {
            let sum: u64 = parts.iter().map(|part| part[which][at]).sum();
            assert_eq!(sum, all[which][at], "{name}: curve {which} at moment {at}");
        }
        let reserved: u64 = parts.iter().map(|part| part[0][at]).sum();
        assert_eq!(reserved, all[0][at], "{name}: reserved of pools at moment {at}");
    }
    compared
}

fn check_columns(opened: &mut Opened, device: i64, view: View, all: &[Vec<u64>; 7], name: &str) -> usize {
    let got = curves(opened, device, view, MemoryFilter::default());
    let columns = got.free.len();
    assert_eq!(got.edge_px.len(), columns + 1, "{name}");
    let scene = opened.scene(device, view);
    assert_eq!(scene.columns.edge_px, got.edge_px, "{name}: edges equal those of the scene");
    let got = table(got);
    assert_eq!((&scene.columns.reserved, columns), (&got[0], scene.columns.total.len()), "{name}");
    if view.x_per_px <= 1.0 {
        return columns;
    }
    for column in 0..columns {
        let left = (view.left_px.max(0) + column as i64) as f64 * view.x_per_px;
        let moments = (0..all[0].len()).filter(|&at| at as f64 + 1.0 > left && (at as f64) < left + view.x_per_px);
        let moments: Vec<usize> = moments.collect();
        for which in 0..6 {
            let most = moments.iter().map(|&at| all[which][at]).max().unwrap();
            assert_eq!(got[which][column], most, "{name}: curve {which} of column {column} of {view:?}");
        }
        assert!(moments.iter().any(|&at| (all[5][at], all[0][at]) == (got[5][column], got[6][column])), "{name}");
    }
    columns
}

#[test]
fn curves_of_real_files_match_events() {
    let Some(files) = real_pickles() else { return };
    let mut compared = 0;
    for path in files {
        let mut opened = open(&std::fs::read(&path).unwrap()).unwrap();
        for device in opened.summary.devices.clone() {
            compared += check(&mut opened, device.device, &path.file_name().unwrap().to_string_lossy());
        }
    }
    assert!(compared > 4_000, "{compared} columns were compared");
}

#[test]
fn unknown_device_has_no_columns() {
    let bytes = br#"{"segments": [], "device_traces": [[{"action": "alloc", "addr": 1, "size": 5, "frames": []}]]}"#;
    let mut opened = open(bytes).unwrap();
    let view = View::fit(2, 9, 10, 10);
    let request = Request::Ask(Ask {
        serial: 1,
        device: 7,
        question: Question::Curves { view, only: MemoryFilter::default(), with_stranded: false },
    });
    let Reply::Answer { answer: Answer::Curves(curves), .. } = reply(&mut opened.engine, request) else { panic!() };
    assert!(curves.free.is_empty());
    let request = Request::Ask(Ask {
        serial: 1,
        device: 0,
        question: Question::Curves { view, only: MemoryFilter::default(), with_stranded: false },
    });
    let Reply::Answer { answer: Answer::Curves(curves), .. } = reply(&mut opened.engine, request) else { panic!() };
    assert_eq!((curves.requested, curves.rounded), (vec![0, 5], vec![0, 512]));
}
