//! Unit tests of `src/history/replay/times.rs`.

use super::*;

#[test]
fn stored_times_round_trip() {
    let t0 = 1_760_000_000_000_000;
    let mut times = Times::default();
    let all: Vec<i64> = (0..5000)
        .map(|at| match at % 1000 {
            7 => NO_TIME,
            8 => t0 + 9_000_000_000_000 * at,
            9 => t0 - 5,
            10 => i64::MAX,
            _ => t0 + at * 13,
        })
        .collect();
    all.iter().for_each(|&time| times.push(time));
    for (at, &time) in all.iter().enumerate() {
        assert_eq!(times.at(at as u32), (time != NO_TIME).then_some(time), "event {at}");
    }
    assert_eq!(times.at(5000), None);
}

/// Returns 5,000 times with repeats, pauses, steps back and missing times (always for the first events), and the
/// elapsed time at each event.
fn uneven() -> (Times, Vec<u64>) {
    let (mut times, mut latest, mut chance) = (Times::default(), None, 1u64);
    let mut running = Vec::new();
    for event in 0..5000 {
        chance = chance.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let time = match chance >> 60 {
            _ if event < 3 => NO_TIME,
            0 => NO_TIME,
            1 => latest.unwrap_or(1000) - 50,
            2..8 => latest.unwrap_or(1000),
            8 => latest.unwrap_or(1000) + 100_000,
            step => latest.unwrap_or(1000) + step as i64,
        };
        times.push(time);
        if time != NO_TIME {
            latest = Some(latest.unwrap_or(time).max(time));
        }
        running.push(latest.map_or(0, |latest| latest as u64 - times.first.max(0) as u64));
    }
    (times, running)
}

#[test]
fn clock_is_monotone() {
    let (times, running) = uneven();
    check_clock(&times, &running);
    let mut times = Times::default();
    running.iter().for_each(|&elapsed| times.push(1_000_000 + elapsed as i64));
    assert!(!times.uneven);
    check_clock(&times, &running);
    assert!(Times::default().time_axis().is_none());
}

fn check_clock(times: &Times, running: &[u64]) {
    let clock = times.time_axis().unwrap();
    assert_eq!((clock.x(0), clock.span()), (0, *running.last().unwrap()));
    for (event, &elapsed) in (0u32..).zip(running) {
        assert_eq!(clock.x(event + 1), clock.margin() + elapsed, "event {event}");
    }
    for x in (0..clock.width()).step_by(997).chain(running.iter().map(|elapsed| clock.margin() + elapsed)) {
        let before = running.partition_point(|elapsed| clock.margin() + elapsed < x) as u32;
        assert_eq!(clock.events_before(x as f64), before, "x {x}");
        assert_eq!(clock.events_before(x as f64 - 0.5), before, "x {x} - 0.5");
    }
    assert_eq!(clock.events_before(f64::INFINITY), 5000);
    assert_eq!(clock.events_before(-1.0), 0);
}
