//! Totals at a cursor position, and keyboard steps through the stack, compared with hit tests at every event.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests may panic")]

use crate::generate;
use crate::opened;

use generate::Options;
use memscape::engine::{Answer, Ask, Question, Reply, Request};
use memscape::protocol::{
    Grouping, MomentFacts, MomentSpec, PlotSettings, Scope, SortDirection, Step, StepOutcome, StepResult, TableColumn,
    TableFilter, TableQuestion, TableSort,
};
use memscape::timeline::{Axis, View};
use opened::{Opened, open};
use proptest::prelude::*;
use serde_json::{Value, json};

fn generated(words: &str) -> Opened {
    let (options, others) = Options::parse(words.split_whitespace().map(str::to_owned)).unwrap();
    assert_eq!(others, Vec::<String>::new());
    open(&generate::generate(&options, Vec::new()).unwrap().0).unwrap()
}

fn reply(opened: &mut Opened, request: Request) -> Reply {
    opened.engine.request(request);
    loop {
        if let Some(reply) = opened.engine.next_reply() {
            return reply;
        }
        opened.engine.step(&mut || true);
    }
}

fn moments(opened: &mut Opened, at: Vec<MomentSpec>) -> Vec<MomentFacts> {
    match reply(opened, Request::Ask(Ask { serial: 7, device: 0, question: Question::Moments(at) })) {
        Reply::Answer { serial: 7, answer: Answer::Moments(moments) } => moments,
        other => panic!("{other:?}"),
    }
}

fn step(opened: &mut Opened, plot_settings: PlotSettings, moment: u32, byte: u64, step: Step) -> StepResult {
    match reply(
        opened,
        Request::Ask(Ask { serial: 8, device: 0, question: Question::Step { plot_settings, moment, byte, step } }),
    ) {
        Reply::Answer { serial: 8, answer: Answer::Step(to) } => to,
        other => panic!("{other:?}"),
    }
}

/// Allocation, lowest byte and size of the block at a byte of the stack.
fn hit(opened: &mut Opened, plot_settings: PlotSettings, moment: u32, byte: u64) -> Option<(u32, u64, u64)> {
    match reply(
        opened,
        Request::Ask(Ask { serial: 9, device: 0, question: Question::Hit { plot_settings, moment, byte } }),
    ) {
        Reply::Answer { answer: Answer::Hit { hit, .. }, .. } => {
            hit.map(|hit| (hit.allocation, hit.lowest_byte, hit.requested))
        }
        other => panic!("{other:?}"),
    }
}

const SMALL: &str = "--steps 2 --layers 3 --pending";

#[test]
fn cursor_totals_match_hit_tests_and_plot_columns() {
    let mut opened = generated(SMALL);
    let events = opened.summary.devices[0].events as u32;
    let view = View::fit(u64::from(events) + 1, 1 << 30, events + 1, 100);
    let scene = opened.scene(0, view);
    let all = moments(&mut opened, (0..=events + 5).map(MomentSpec::Moment).collect());
    for (moment, facts) in (0..=events).zip(&all) {
        assert_eq!((facts.moment, facts.position.events), (moment, f64::from(moment)));
        let mut height = 0;
        while let Some((_, lowest, size)) = hit(&mut opened, PlotSettings::default(), moment, height) {
            assert_eq!(lowest, height);
            height += size;
        }
        assert_eq!(facts.requested, height, "moment {moment}");
        let column = moment as usize;
        let shown = (scene.columns.total[column], scene.columns.reserved[column], scene.columns.pending[column]);
        assert_eq!((facts.requested, facts.reserved, facts.awaiting_free), shown, "moment {moment}");
        let time = (moment > 0).then(|| facts.time_us.expect("a time"));
        assert_eq!(time.is_some(), facts.time_us.is_some());
    }
    assert_eq!(all.last().unwrap().moment, events, "an event beyond the end is clamped to the last");
    assert!(all.windows(2).all(|pair| pair[0].start <= pair[1].start), "time never goes back");
}

#[test]
fn position_is_unchanged_by_round_trip_between_axes() {
    let mut opened = generated(SMALL);
    let events = opened.summary.devices[0].events;
    let width = events as f64 + 1.0;
    let places: Vec<f64> = (0..=200).map(|part| width * f64::from(part) / 200.0).collect();
    let there = moments(&mut opened, places.iter().map(|&x| MomentSpec::X(Axis::Events, x)).collect());
    assert!(there.windows(2).all(|pair| pair[0].position.time <= pair[1].position.time));
    for (x, facts) in places.iter().zip(&there) {
        assert_eq!(u64::from(facts.moment), (*x as u64).min(events));
        let back = moments(&mut opened, vec![MomentSpec::X(Axis::Time, facts.position.time as f64)])[0];
        // A state of zero duration cannot be distinguished from the next. All others are found to the microsecond.
        let ends = moments(&mut opened, vec![MomentSpec::Moment(facts.moment + 1)])[0].start;
        let lasts = ends.saturating_sub(facts.start).max(1) as f64;
        if ends > facts.start && facts.position.time < ends {
            assert_eq!(back.moment, facts.moment, "x {x}");
            assert!((back.position.events - x).abs() <= 1.0 / lasts, "{x} {back:?}");
        }
    }
    let outside = moments(
        &mut opened,
        vec![MomentSpec::X(Axis::Events, -5.0), MomentSpec::X(Axis::Time, 1e30), MomentSpec::X(Axis::Time, f64::NAN)],
    );
    assert_eq!((outside[0].moment, u64::from(outside[1].moment)), (0, events));
}

#[test]
fn crosshair_steps_match_hit_tests() {
    let mut opened = generated(SMALL);
    let events = opened.summary.devices[0].events as u32;
    for plot_settings in
        [PlotSettings::default(), PlotSettings { stacking: Some(Grouping::Size), ..PlotSettings::default() }]
    {
        let mut arrived = 0;
        for moment in (0..=events).step_by((events / 23).max(1) as usize) {
            let total = moments(&mut opened, vec![MomentSpec::Moment(moment)])[0].requested;
            for part in [0, 1, 3, 5, 7, 8, 9] {
                let byte = total / 8 * part;
                let here = hit(&mut opened, plot_settings, moment, byte);
                // First event in the step's direction at which another block covers the byte, or any block after a gap.
                let expected = |opened: &mut Opened, mut way: Box<dyn Iterator<Item = u32>>| {
                    let mut left = here.is_none();
                    way.find(|&moment| {
                        let there = hit(opened, plot_settings, moment, byte);
                        left |= there.map(|it| it.0) != here.map(|it| it.0);
                        left && there.is_some()
                    })
                };
                let later = expected(&mut opened, Box::new(moment + 1..=events));
                let earlier = expected(&mut opened, Box::new((0..moment).rev()));
                for (way, expected) in [(Step::Later, later), (Step::Earlier, earlier)] {
                    let to = step(&mut opened, plot_settings, moment, byte, way);
                    let found = (to.outcome == StepOutcome::Arrived).then_some(to.moment);
                    assert_eq!(found, expected, "{way:?} from {moment}, {byte} of {total}");
                    assert_eq!(to.byte, byte);
                    arrived += u32::from(found.is_some());
                }
                let above = here.and_then(|(_, lowest, size)| hit(&mut opened, plot_settings, moment, lowest + size));
                let below = match here {
                    Some((_, lowest, _)) => lowest.checked_sub(1),
                    None => total.checked_sub(1),
                };
                let below = below.and_then(|byte| hit(&mut opened, plot_settings, moment, byte));
                for (way, expected) in [(Step::Above, above), (Step::Below, below)] {
                    let to = step(&mut opened, plot_settings, moment, byte, way);
                    let found = (to.outcome == StepOutcome::Arrived).then_some((to.moment, to.byte));
                    assert_eq!(found, expected.map(|(_, lowest, size)| (moment, lowest + size / 2)), "{way:?}");
                }
                if let Some((allocation, lowest, size)) = here {
                    let onto = step(&mut opened, plot_settings, moment, 0, Step::To(allocation));
                    assert_eq!((onto.byte, onto.outcome), (lowest + size / 2, StepOutcome::Arrived));
                }
            }
        }
        assert!(arrived > 50, "only {arrived} steps moved");
        let nowhere = step(&mut opened, plot_settings, 0, 5, Step::To(u32::MAX));
        assert_eq!((nowhere.moment, nowhere.byte, nowhere.outcome), (0, 5, StepOutcome::NotFound));
    }
}

#[test]
fn position_beyond_largest_time_is_clamped() {
    let event = |time_us: i64| serde_json::json!({ "action": "alloc", "addr": 1, "size": 1, "stream": 0, "time_us": time_us, "frames": [] });
    // The axis ends at 2^64 − 1 µs, and the distance from the last event to there is not a whole `f64`.
    let events = [event(i64::MIN + 1), event(8726728927177980189)];
    let file = serde_json::json!({ "segments": [], "device_traces": [events] });
    let mut opened = open(&serde_pickle::to_vec(&file, serde_pickle::SerOptions::new()).unwrap()).unwrap();
    let facts = moments(&mut opened, vec![MomentSpec::X(Axis::Events, 3.0)])[0];
    assert_eq!((facts.moment, facts.position.time), (2, u64::MAX));
}

/// Number of allocations that the table lists after an event. The table checks each allocation.
fn listed(opened: &mut Opened, moment: u32) -> u32 {
    let sort = TableSort { column: TableColumn::Allocated, direction: SortDirection::Ascending };
    let (scope, filter, chosen) = (Scope::At(moment), TableFilter::default(), Vec::new());
    let question = Box::new(TableQuestion {
        scope,
        filter,
        sort,
        rows: [0, 0],
        reveal: None,
        selected: chosen,
        search_serial: None,
    });
    match reply(opened, Request::Ask(Ask { serial: 3, device: 0, question: Question::Table(question) })) {
        Reply::Answer { answer: Answer::Table(page), .. } => page.listed.count,
        other => panic!("{other:?}"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    /// Broken traces that allocate twice, free twice, or free without an allocation.
    #[test]
    fn live_count_matches_table_for_any_trace(
        events in prop::collection::vec((0u64..9, 0usize..4, 0u64..3), 0..300),
        blocks in prop::collection::vec(0u64..9, 0..3),
        completes in any::<bool>(),
    ) {
        let actions = ["alloc", "free_requested", if completes { "free_completed" } else { "free_requested" }, "oom"];
        let event = |&(address, action, size): &(u64, usize, u64)| {
            json!({ "action": actions[action], "addr": address << 20, "size": size * 512, "stream": 0 })
        };
        let trace: Vec<Value> = events.iter().map(event).collect();
        let block = |&at: &u64| json!({ "address": at << 20, "size": 512, "requested_size": 9, "state": "active_allocated" });
        let blocks: Vec<Value> = blocks.iter().map(block).collect();
        let segment = json!({ "device": 0, "address": 0, "total_size": 1 << 30, "stream": 0, "segment_type": "large", "blocks": blocks });
        let file = json!({ "segments": [segment], "device_traces": [trace] });
        let mut opened = open(&serde_json::to_vec(&file).unwrap()).unwrap();
        // Without events and blocks, there is no device to ask about.
        prop_assume!(!opened.summary.devices.is_empty());
        let last = opened.summary.devices[0].events as u32;
        for moment in (0..=last).step_by(17).chain([63, 64, 65, last]) {
            if let Some(facts) = moments(&mut opened, vec![MomentSpec::Moment(moment)]).first() {
                prop_assert_eq!(facts.count, listed(&mut opened, moment), "moment {}", moment);
            }
        }
    }
}

#[test]
fn reserved_peak_is_first_event_with_maximum() {
    for words in [SMALL, "--events 3000"] {
        let mut opened = generated(words);
        let events = opened.summary.devices[0].events as u32;
        let all = moments(&mut opened, (0..=events).map(MomentSpec::Moment).collect());
        let most = all.iter().map(|facts| facts.reserved).max().unwrap();
        let first = all.iter().find(|facts| facts.reserved == most).unwrap();
        assert_eq!(moments(&mut opened, vec![MomentSpec::PeakReserved]), [*first]);
        assert_eq!(opened.summary.devices[0].peak_reserved as u64, most);
    }
}
