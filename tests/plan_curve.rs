//! The live-bytes curve of a plan per column of a window, compared with a sum over the details of each allocation.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests may panic")]

use crate::opened;

use memscape::engine::{Answer, Ask, Question, Reply, Request};
use memscape::protocol::{
    Arrangement, Details, DeviceSummary, Factor, PlanCurve, PlanGroup, PlanQuestion, Scope, TreeQuestion,
};
use memscape::timeline::{Axis, View, WindowColumns};
use opened::{Opened, open, reply};

fn planned(opened: &mut Opened, device: i64, plan: &PlanQuestion) -> (u64, u32) {
    let what = Question::Plan(Box::new(plan.clone()));
    match reply(&mut opened.engine, Request::Ask(Ask { serial: 7, device, question: what })) {
        Reply::Answer { serial: 7, answer: Answer::Plan(page) } if page.error.is_empty() => page.planned,
        other => panic!("{other:?}"),
    }
}

/// Details of all allocations of a device. `None` if it has none, or too many to request one by one.
fn all_details(opened: &mut Opened, device: &DeviceSummary) -> Option<Vec<Details>> {
    if device.drawn_peak == 0 || !(1..=20_000).contains(&device.events) {
        return None;
    }
    let mut all = Vec::new();
    while let Some(details) = opened.details(device.device, all.len() as u32) {
        all.push(details);
    }
    (all.len() <= 12_000).then_some(all)
}

fn plan_curve(opened: &mut Opened, device: i64, plan: &PlanQuestion, view: View) -> PlanCurve {
    let what = Question::PlanCurve(Box::new(plan.clone()), view);
    match reply(&mut opened.engine, Request::Ask(Ask { serial: 9, device, question: what })) {
        Reply::Answer { serial: 9, answer: Answer::PlanCurve(curve) } => *curve,
        other => panic!("{other:?}"),
    }
}

/// Live bytes after each event, in sixths of a byte. `times` gives the factor of an allocation in sixths.
fn sixths(all: &[Details], moments: usize, times: impl Fn(&Details) -> u64) -> Vec<u64> {
    let mut grows = vec![0i64; moments];
    for details in all {
        let sixths = (details.requested * times(details)) as i64;
        grows[details.allocated_event.map_or(0, |event| event as usize + 1)] += sixths;
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
fn column_has_maximum_of_its_events() {
    let Some(files) = opened::real_pickles() else { return };
    let mut checked = 0;
    for path in files {
        let name = path.display().to_string();
        let mut opened = open(&std::fs::read(&path).unwrap()).unwrap();
        for device in opened.summary.devices.clone() {
            let events = device.events as usize;
            let Some(all) = all_details(&mut opened, &device) else { continue };
            let some = &all[all.len() / 2];
            let (id, size) = (some.allocation, some.requested);
            // One allocation at factor 0, all of one size at 1/3, all larger ones at 3/2. In sixths these are whole
            // numbers.
            let factor = |times, by| Factor::new(times, by).unwrap();
            let plan = PlanQuestion {
                groups: vec![
                    (PlanGroup::NamedIfAny(format!("#{id}")), Factor::ZERO),
                    (PlanGroup::NamedIfAny(format!("={size}")), factor(1, 3)),
                    (PlanGroup::NamedIfAny(format!(">{size}")), factor(3, 2)),
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
                let curve = plan_curve(&mut opened, device.device, &plan, view);
                let expected: Vec<u64> = columns
                    .moments
                    .iter()
                    .map(|moments| live[moments.start as usize..moments.end as usize].iter().max().unwrap().div_ceil(6))
                    .collect();
                assert_eq!(curve.edge_px, columns.edge_px, "{name}");
                assert_eq!(curve.bytes, expected, "{name}: {width_px} columns of {from}..{to}");
                let most = *live.iter().max().unwrap();
                let first = live.iter().position(|it| *it == most).unwrap() as u32;
                assert_eq!(planned(&mut opened, device.device, &plan), (most.div_ceil(6), first), "{name}");
                checked += 1;
            }
        }
    }
    assert!(checked > 30, "{checked} windows");
}

#[test]
fn peak_excluding_stack_or_node_matches_brute_force() {
    let Some(files) = opened::real_pickles() else { return };
    let (mut stacks, mut nodes) = (0, 0);
    for path in files {
        let name = path.display().to_string();
        let mut opened = open(&std::fs::read(&path).unwrap()).unwrap();
        for device in opened.summary.devices.clone() {
            let events = device.events as usize;
            let Some(all) = all_details(&mut opened, &device) else { continue };
            let mut check = |group: PlanGroup, is_in: &dyn Fn(&Details) -> bool| {
                let plan = PlanQuestion { groups: vec![(group, Factor::ZERO)], ..PlanQuestion::default() };
                let live = sixths(&all, events + 1, |details| if is_in(details) { 0 } else { 6 });
                let most = *live.iter().max().unwrap();
                let first = live.iter().position(|it| *it == most).unwrap() as u32;
                assert_eq!(planned(&mut opened, device.device, &plan), (most / 6, first), "{name}: {plan:?}");
            };
            let some: Vec<u32> = all.iter().step_by(all.len() / 5 + 1).filter_map(|details| details.stack).collect();
            for stack in some {
                check(PlanGroup::Stack(stack), &|details| details.stack == Some(stack));
                stacks += 1;
            }
            // A node below the root: all allocations with its frame as the outermost.
            let frame = |details: &Details| {
                details.frames.last().map(|it| (it.name.clone(), it.filename.clone(), it.line.clone()))
            };
            let arrangement = Arrangement::default();
            let question = TreeQuestion {
                scope: Scope::All,
                arrangement,
                focus: None,
                folds: vec![],
                reveal: None,
                search_serial: None,
                rows: [0, 50],
            };
            let what = Question::Tree(Box::new(question));
            let Reply::Answer { answer: Answer::Tree(page), .. } =
                reply(&mut opened.engine, Request::Ask(Ask { serial: 8, device: device.device, question: what }))
            else {
                panic!("a tree was requested")
            };
            for row in page.rows.iter().filter(|row| row.depth == 1 && !row.label.file.is_empty()).take(3) {
                let of = Some((row.label.name.clone(), row.label.file.clone(), row.label.line.clone()));
                let plan = PlanQuestion {
                    groups: vec![(PlanGroup::Node(arrangement, row.node), Factor::ZERO)],
                    ..PlanQuestion::default()
                };
                let live = sixths(
                    &all,
                    events + 1,
                    |details| if frame(details) == of && !details.is_free_stack { 0 } else { 6 },
                );
                assert_eq!(
                    planned(&mut opened, device.device, &plan).0,
                    live.iter().max().unwrap() / 6,
                    "{name}: {of:?}"
                );
                nodes += 1;
            }
        }
    }
    assert!(stacks > 20 && nodes > 10, "{stacks} stacks, {nodes} nodes");
}
