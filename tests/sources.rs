//! Files and lines of the user's own code against a plain walk over all allocations.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may fail")]

#[path = "generate/mod.rs"]
#[allow(dead_code, reason = "its own tests use the rest")]
mod generate;
#[path = "support/opened.rs"]
#[allow(dead_code, reason = "each test file uses its part")]
mod opened;

use generate::Options;
use memscape::engine::protocol::{Details, Scope, SourcesPage, Span, Standing, Weight};
use memscape::engine::{Reply, Request};
use opened::{Opened, open};
use std::collections::BTreeMap;

fn reply(opened: &mut Opened, request: Request) -> Reply {
    opened.engine.request(request);
    loop {
        if let Some(reply) = opened.engine.next_reply() {
            return reply;
        }
        // Out of time after every look at the clock.
        opened.engine.step(&mut || false);
    }
}

fn sources(opened: &mut Opened, scope: Scope) -> SourcesPage {
    match reply(opened, Request::Sources { serial: 5, device: 0, scope }) {
        Reply::Sources { serial: 5, page } => *page,
        other => panic!("{other:?}"),
    }
}

fn details(opened: &mut Opened, allocation: u32) -> Option<Details> {
    match reply(opened, Request::Details { serial: 6, device: 0, allocation }) {
        Reply::Details { details, .. } => details.map(|details| *details),
        other => panic!("{other:?}"),
    }
}

fn add(to: &mut Weight, bytes: u64) {
    (to.bytes, to.count) = (to.bytes + bytes, to.count + 1);
}

#[test]
fn lines_weigh_what_their_allocations_do() {
    let (options, _) = Options::parse("--steps 2 --layers 4 --pending".split_whitespace().map(str::to_owned)).unwrap();
    let mut opened = open(&generate::generate(&options, Vec::new()).unwrap().0).unwrap();
    let device = opened.summary.devices[0].clone();
    let peak = (device.peak_event + 1) as u32;
    let last = device.events as u32;
    let all: Vec<Details> = (0..device.allocations as u32).filter_map(|id| details(&mut opened, id)).collect();
    assert!(all.len() > 50);
    let lives = |it: &Details, moment: u32| {
        let born = it.born_event.map_or(0, |event| event + 1);
        born <= moment && it.freed_event.is_none_or(|event| moment < event + 1)
    };
    let (from, to) = (last / 3, last / 2);
    let born_in = |it: &Details| it.born_event.is_some_and(|event| (from..to).contains(&event));
    let scopes: [(Scope, &dyn Fn(&Details) -> bool); 4] = [
        (Scope::At(peak), &|it| lives(it, peak)),
        (Scope::At(last), &|it| lives(it, last)),
        (Scope::At(last / 2), &|it| lives(it, last / 2)),
        (Scope::Born(Span { from, to }), &born_in),
    ];
    for (scope, is_in) in scopes {
        let mut expected: BTreeMap<(String, String), Standing> = BTreeMap::new();
        let mut total = Standing::default();
        for it in &all {
            let frame = it.frames.iter().find(|frame| frame.user && !it.stack_of_free);
            let place = frame.map_or_else(Default::default, |frame| (frame.filename.clone(), frame.line.clone()));
            let standing = expected.entry(place).or_default();
            for (is_counted, sums) in [
                (is_in(it), [&mut standing.now, &mut total.now]),
                (lives(it, peak), [&mut standing.peak, &mut total.peak]),
            ] {
                sums.into_iter().filter(|_| is_counted).for_each(|sum| add(sum, it.requested));
            }
        }
        expected.retain(|_, standing| standing.now.count + standing.peak.count > 0);
        let page = sources(&mut opened, scope);
        assert_eq!(page.total, total, "{scope:?}");
        let mut told: BTreeMap<(String, String), Standing> = BTreeMap::new();
        for file in &page.files {
            let mut sum = Standing::default();
            for line in &file.lines {
                for (to, more) in [(&mut sum.now, line.standing.now), (&mut sum.peak, line.standing.peak)] {
                    (to.bytes, to.count) = (to.bytes + more.bytes, to.count + more.count);
                }
                assert_eq!(told.insert((file.path.clone(), line.line.clone()), line.standing), None, "twice");
            }
            assert_eq!(sum, file.standing, "lines add up to {}", file.path);
            assert!(file.lines.is_sorted_by_key(|line| std::cmp::Reverse(line.standing.now.bytes)));
        }
        if page.elsewhere != Standing::default() {
            told.insert(Default::default(), page.elsewhere);
        }
        assert_eq!(told, expected, "{scope:?}");
        assert!(page.files.is_sorted_by_key(|file| std::cmp::Reverse(file.standing.now.bytes)));
        assert!(!page.files.is_empty());
    }
}

#[test]
fn a_device_that_is_not_there_has_none() {
    let mut opened = open(&generate::generate(&Options::default(), Vec::new()).unwrap().0).unwrap();
    let answer = reply(&mut opened, Request::Sources { serial: 5, device: 77, scope: Scope::At(3) });
    assert!(matches!(answer, Reply::Sources { page, .. } if *page == SourcesPage::default()));
}
