//! The curve of a plan over the columns of a window, against the curve that is added up from the details of each allocation.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may fail")]

use crate::opened;

use memscape::engine::protocol::{Details, Factor, PlanCurve, PlanGroup, PlanQuestion};
use memscape::engine::{Answer, Ask, Question, Reply, Request};
use memscape::timeline::{Axis, View, WindowColumns};
use opened::{Opened, open, reply};

fn asked(opened: &mut Opened, device: i64, plan: &PlanQuestion, view: View) -> PlanCurve {
    let what = Question::PlanCurve(Box::new(plan.clone()), view);
    match reply(&mut opened.engine, Request::Ask(Ask { serial: 9, device, what })) {
        Reply::Answer { serial: 9, answer: Answer::PlanCurve(curve) } => *curve,
        other => panic!("{other:?}"),
    }
}

/// Live bytes at every moment, in sixths of a byte: of what `times` says.
fn sixths(all: &[Details], moments: usize, times: impl Fn(&Details) -> u64) -> Vec<u64> {
    let mut grows = vec![0i64; moments];
    for details in all {
        let sixths = (details.requested * times(details)) as i64;
        grows[details.born_event.map_or(0, |event| event as usize + 1)] += sixths;
        if let Some(event) = details.freed_event {
            grows[event as usize + 1] -= sixths;
        }
    }
    let live = grows.iter().scan(0, |live, grows| {
        *live += grows;
        Some(*live as u64)
    });
    live.collect()
}

#[test]
fn each_column_has_the_largest_of_its_moments() {
    let Some(files) = opened::real_pickles() else { return };
    let mut checked = 0;
    for path in files {
        let name = path.display().to_string();
        let mut opened = open(&std::fs::read(&path).unwrap()).unwrap();
        for device in opened.summary.devices.clone() {
            let events = device.events as usize;
            if device.drawn_peak == 0 || events == 0 || events > 20_000 {
                continue;
            }
            let mut all = Vec::new();
            while let Some(details) = opened.details(device.device, all.len() as u32) {
                all.push(details);
            }
            if all.len() > 12_000 {
                continue;
            }
            let some = &all[all.len() / 2];
            let (id, size) = (some.allocation, some.requested);
            // One allocation left out, all of a size to a third, all others of a larger one by half: in sixths they are whole numbers.
            let factor = |times, by| Factor::new(times, by).unwrap();
            let plan = PlanQuestion {
                groups: vec![
                    (PlanGroup::Where(format!("#{id}")), Factor::ZERO),
                    (PlanGroup::Where(format!("={size}")), factor(1, 3)),
                    (PlanGroup::Where(format!(">{size}")), factor(3, 2)),
                ],
                ..PlanQuestion::default()
            };
            let times = |details: &Details| match details.requested {
                _ if details.allocation == id => 0,
                requested if requested == size => 2,
                requested if requested > size => 9,
                _ => 6,
            };
            let live = sixths(&all, events + 1, times);
            let views = [(0, events + 1, 97), (events / 3, events / 2 + 2, 640), (0, events + 1, 2000)];
            for (from, to, width_px) in views {
                let x_per_px = (to - from) as f64 / f64::from(width_px);
                let left_px = (from as f64 / x_per_px) as i64;
                let view = View { x_per_px, left_px, ..View::fit(events as u64 + 1, 1, width_px, 100) };
                let columns = WindowColumns::new(&view, events as u32 + 1, None);
                assert_eq!(view.axis, Axis::Events);
                let curve = asked(&mut opened, device.device, &plan, view);
                let expected: Vec<u64> = columns
                    .moments
                    .iter()
                    .map(|moments| live[moments.start as usize..moments.end as usize].iter().max().unwrap().div_ceil(6))
                    .collect();
                assert_eq!(curve.edge_px, columns.edge_px, "{name}");
                assert_eq!(curve.live, expected, "{name}: {width_px} columns of {from}..{to}");
                let most = *live.iter().max().unwrap();
                let first = live.iter().position(|it| *it == most).unwrap() as u32;
                assert_eq!(curve.page.planned, (most.div_ceil(6), first), "{name}");
                checked += 1;
            }
        }
    }
    assert!(checked > 30, "{checked} windows");
}
