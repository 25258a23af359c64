//! The timeline's tools without a browser: crosshair, ruler, zoom box, undo, markers, capacity, and the other axis.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "test helpers fail by panicking")]

use crate::face::{self, Worker};
use memscape::engine::{Answer, Ask, Question, Request};
use memscape::protocol::{
    AxisPoint, ClockSpan, Details, DeviceSummary, HitAllocation, Marks, MomentFacts, MomentSpec, PlotSettings, Step,
    StepOutcome, StepResult,
};
use memscape::timeline::scene::SceneColumns;
use memscape::timeline::{Axis, Quad, QuadIdentity, Scene, View};
use memscape::ui::features::export::CropRange;
use memscape::ui::plot::overlay::Overlay;
use memscape::ui::plot::{crosshair, markers, moment, ruler};
use memscape::ui::shell::action::Action;
use memscape::ui::shell::commands;
use memscape::ui::state::binding::Modifiers;
use memscape::ui::state::drag::Drag;
use memscape::ui::state::effect::{Pointer, WheelAction};
use memscape::ui::state::ruler::Mode;

const EVENTS: u64 = 999;
/// Time of event 0 in µs since 1970. Events are 10 µs apart.
const START_US: i64 = 1_700_000_000_000_000;

fn devices() -> Vec<DeviceSummary> {
    let last = START_US + 10 * (EVENTS as i64 - 1);
    let device = |device, time_us| DeviceSummary {
        device,
        events: EVENTS,
        peak_requested: 1 << 20,
        drawn_peak: 1 << 20,
        time_us,
        ..DeviceSummary::default()
    };
    vec![device(0, Some((START_US, last))), device(1, None)]
}

/// A scene with one allocation that fills the window at every event.
fn scene(view: View) -> Scene {
    let columns = view.width_px as usize;
    let moment = |column: u32| match view.axis {
        Axis::Events => (view.x_from_column(f64::from(column)) as u32).min(EVENTS as u32),
        Axis::Time => facts(MomentSpec::X(view.axis, view.x_from_column(f64::from(column)))).moment.min(EVENTS as u32),
    };
    Scene {
        view,
        band_px: 1,
        columns: SceneColumns {
            moment: (0..columns as u32).map(moment).collect(),
            moments: vec![if view.x_per_px > 1.0 { 10 } else { 1 }; columns],
            ..face::columns(view)
        },
        quads: vec![Quad { x: [0, view.width_px as i16], y: [0, view.height_px as i16], paint: 0 }],
        ground: None,
        identities: vec![QuadIdentity { first: 3, last: 3, count: 1, bytes: [1 << 20, 0] }],
    }
}

/// Totals after an event of this file.
fn facts(at: MomentSpec) -> MomentFacts {
    let time = |moment: u32| if moment == 0 { 0 } else { 156 + 10 * (u64::from(moment) - 1) };
    let (moment, place) = match at {
        MomentSpec::PeakReserved | MomentSpec::OutOfMemory | MomentSpec::After(_) => {
            panic!("the page never sends these")
        }
        MomentSpec::Moment(moment) => (moment, AxisPoint { events: moment.into(), time: time(moment) }),
        MomentSpec::X(Axis::Events, x) => {
            (x as u32, AxisPoint { events: x, time: time(x as u32) + (x.fract() * 10.0) as u64 })
        }
        MomentSpec::X(Axis::Time, x) => {
            let moment = if x < 156.0 { 0.0 } else { (x - 156.0) / 10.0 + 1.0 };
            (moment as u32, AxisPoint { events: moment, time: x as u64 })
        }
    };
    let time_us = (moment > 0).then(|| START_US + 10 * (i64::from(moment) - 1));
    let (requested, reserved, pending) = (1000 + u64::from(moment), 5000, 0);
    MomentFacts {
        moment,
        position: place,
        start: time(moment),
        time_us,
        requested,
        reserved,
        awaiting_free: pending,
        count: moment % 7,
    }
}

/// A worker that answers at once.
#[derive(Default)]
struct FakeWorker {
    /// Answer to a step request.
    step_answer: Option<StepResult>,
    requests: Vec<Request>,
    unanswered: Unanswered,
}

type Page = face::Page<FakeWorker>;

/// Requests that the worker does not answer.
#[derive(Default, PartialEq)]
enum Unanswered {
    #[default]
    Steps,
    DoesNotStep,
    DoesNotTell,
}

impl Worker for FakeWorker {
    fn answer(&mut self, request: &Request) -> Option<Answer> {
        self.requests.push(request.clone());
        let Request::Ask(Ask { question: what, .. }) = request.clone() else { return None };
        Some(match what {
            Question::Scene { view, .. } => Answer::Scene(Box::new(scene(view))),
            Question::Moments(at) if self.unanswered != Unanswered::DoesNotTell => {
                Answer::Moments(at.into_iter().map(facts).collect())
            }
            Question::Step { moment, byte, .. } if self.unanswered != Unanswered::DoesNotStep => {
                let to = self.step_answer.unwrap_or(StepResult { moment, byte, outcome: StepOutcome::NotFound });
                Answer::Step(to)
            }
            Question::Hit { byte, .. } => {
                let hit = HitAllocation {
                    allocation: 3,
                    requested: 1 << 20,
                    allocated_at: 1,
                    freed_at: None,
                    lowest_byte: 0,
                    call_site: Some("a.py:1 f".into()),
                    category: None,
                };
                Answer::Hit { hit: Some(hit).filter(|_| byte < 1 << 20), memory: None }
            }
            Question::Details(allocation) => {
                let allocated_event = Some(300);
                let details = Details { allocation, allocated_event, freed_event: Some(600), ..Details::default() };
                Answer::Details(Some(Box::new(details)))
            }
            Question::Marks => {
                let clock = Some(ClockSpan { first_us: START_US, span: 9980, margin: 156 });
                Answer::Marks(Box::new(Marks { clock, ..Marks::default() }))
            }
            _ => return None,
        })
    }
}

impl Page {
    fn open() -> Page {
        Page::with_devices(FakeWorker::default(), devices())
    }

    /// Answers the latest request about event totals.
    fn answer_moments(&mut self) {
        let last = self.worker.requests.iter().rev().find_map(|request| match request {
            Request::Ask(Ask { serial, question: Question::Moments(at), .. }) => Some((*serial, at.clone())),
            _ => None,
        });
        let (serial, at) = last.expect("a request for event totals");
        self.answer_with(serial, Answer::Moments(at.into_iter().map(facts).collect()));
    }

    fn hover(&mut self, x: f64, y: f64) {
        self.act(Action::PointerMoved(Pointer { x, y }));
    }

    fn drag(&mut self, from: (f64, f64), to: (f64, f64), held: Modifiers) {
        self.act(Action::DragStarted { from: Pointer { x: from.0, y: from.1 }, held });
        self.act(Action::DragMoved(Pointer { x: to.0, y: to.1 }));
    }

    /// Start and end of the window on its axis.
    fn window(&self) -> [f64; 2] {
        let view = self.state.view().expect("a view");
        [0.0, f64::from(view.width_px)].map(|column| view.x_from_column(column))
    }

    /// Event and live bytes shown in the panel.
    fn cursor_figures(&self) -> (Option<i64>, u64) {
        let view = moment::view(&self.state);
        (view.event, view.facts.requested)
    }

    /// Advances the clock, so that the next change is a new undo step.
    fn wait(&mut self) {
        self.now_ms += 1000.0;
    }
}

const SHIFT: Modifiers = Modifiers { shift: true, alt: false, ctrl: false };
const ALT: Modifiers = Modifiers { shift: false, alt: true, ctrl: false };
const ALONE: Modifiers = Modifiers { shift: false, alt: false, ctrl: false };

#[test]
fn crosshair_follows_pointer_until_keys_move_it() {
    let mut page = Page::open();
    assert_eq!(page.cursor_figures(), (Some(0), 1001), "starts at the peak");
    page.hover(50.5, 40.0);
    assert_eq!(page.cursor_figures(), (Some(499), 1500));
    page.command(commands::CURSOR_LATER);
    assert_eq!(page.cursor_figures(), (Some(500), 1501));
    assert_eq!(crosshair::position(&page.state).map(|it| it.moment), Some(501));
    // The pointer rests, so keys keep moving the crosshair. When the pointer moves, the crosshair follows it.
    page.hover(50.5, 40.0);
    page.command(commands::CURSOR_LATER);
    assert_eq!(page.cursor_figures(), (Some(501), 1502));
    page.command(commands::CURSOR_COLUMN_RIGHT);
    assert_eq!(page.cursor_figures().0, Some(509), "the next column shows event 509");
    page.command(commands::CURSOR_COLUMN_LEFT);
    assert_eq!(page.cursor_figures().0, Some(499));
    page.hover(20.5, 40.0);
    assert_eq!(page.cursor_figures(), (Some(199), 1200));
    page.act(Action::PointerLeft);
    assert_eq!(page.cursor_figures(), (Some(499), 1500), "returns to the position set by keys");
}

#[test]
fn crosshair_stops_at_both_ends_and_is_announced() {
    let mut page = Page::open();
    page.hover(0.5, 40.0);
    (0..3).for_each(|_| page.command(commands::CURSOR_EARLIER));
    assert_eq!(page.cursor_figures(), (Some(-1), 1000));
    let spoken = moment::screen_reader_text(&page.state);
    assert!(spoken.starts_with("before the first event, 1000 B requested.") && spoken.contains("a.py:1 f"), "{spoken}");
    page.act(Action::PointerLeft);
    page.hover(99.5, 40.0);
    (0..20).for_each(|_| page.command(commands::CURSOR_LATER));
    assert_eq!(page.cursor_figures(), (Some(EVENTS as i64 - 1), 1000 + EVENTS));
    page.hover(50.0, 40.0);
    assert_eq!(moment::screen_reader_text(&page.state), "", "pointer moves are not announced");
}

#[test]
fn crosshair_leaving_window_scrolls_it() {
    let mut page = Page::open();
    (0..8).for_each(|_| page.command(commands::ZOOM_EVENTS_IN));
    let before = page.window();
    page.hover(99.0, 40.0);
    page.command(commands::CURSOR_LATER);
    page.command(commands::CURSOR_COLUMN_RIGHT);
    let at = f64::from(crosshair::position(&page.state).expect("a cursor").moment);
    let after = page.window();
    assert!(after[0] > before[0] && (after[0]..after[1]).contains(&at), "{before:?} {after:?} {at}");
    assert!((after[1] - after[0] - (before[1] - before[0])).abs() < 1e-6, "the window is moved, not zoomed");
}

#[test]
fn enter_selects_and_braces_jump_to_alloc_and_free() {
    let mut page = Page::open();
    page.hover(10.5, 40.0);
    page.command(commands::CURSOR_TO_ALLOCATION);
    assert_eq!(page.state.remark.as_deref(), Some("Select an allocation first."));
    page.command(commands::CURSOR_LATER);
    page.command(commands::SELECT_AT_CURSOR);
    assert_eq!(page.state.selection.as_ref().map(|it| it.allocation), Some(3));
    page.worker.step_answer = Some(StepResult { moment: 301, byte: 77, outcome: StepOutcome::Arrived });
    page.command(commands::CURSOR_TO_ALLOCATION);
    assert!(matches!(
        page.worker.requests.iter().rfind(|it| matches!(it, Request::Ask(Ask { question: Question::Step { .. }, .. }))),
        Some(Request::Ask(Ask { question: Question::Step { moment: 301, step: Step::To(3), .. }, .. }))
    ));
    assert_eq!((page.cursor_figures().0, crosshair::position(&page.state).map(|it| it.byte)), (Some(300), Some(77)));
    // It is live until event 600 frees it.
    page.worker.step_answer = Some(StepResult { moment: 600, byte: 78, outcome: StepOutcome::Arrived });
    page.command(commands::CURSOR_TO_FREED);
    assert_eq!(page.cursor_figures().0, Some(600));
}

#[test]
fn long_step_is_requested_in_parts_and_no_match_is_reported() {
    let mut page = Page::open();
    page.hover(10.5, 40.0);
    page.command(commands::CURSOR_AFTER);
    assert_eq!(page.state.remark.as_deref(), Some("No allocation in this direction."));
    let steps = |page: &Page| -> Vec<(u32, u32, u64)> {
        let step = |request: &Request| match request {
            Request::Ask(Ask { serial, question: Question::Step { moment, byte, step: Step::Later, .. }, .. }) => {
                Some((*serial, *moment, *byte))
            }
            _ => None,
        };
        page.worker.requests.iter().filter_map(step).collect()
    };
    page.worker.requests.clear();
    page.worker.unanswered = Unanswered::DoesNotStep;
    page.command(commands::CURSOR_AFTER);
    page.command(commands::CURSOR_AFTER);
    let [(first, ..)] = steps(&page)[..] else { panic!("one request at a time") };
    page.answer_with(first, Answer::Step(StepResult { moment: 400, byte: 9, outcome: StepOutcome::Unfinished }));
    let [_, (again, 400, 9)] = steps(&page)[..] else { panic!("continues from there") };
    page.answer_with(again, Answer::Step(StepResult { moment: 500, byte: 9, outcome: StepOutcome::Arrived }));
    let [_, _, (second, 500, 9)] = steps(&page)[..] else { panic!("the second key press is applied") };
    page.answer_with(second, Answer::Step(StepResult { moment: 700, byte: 9, outcome: StepOutcome::Arrived }));
    assert_eq!(page.cursor_figures().0, Some(699));
}

#[test]
fn ruler_measures_exactly_and_stays_until_escape() {
    let mut page = Page::open();
    page.drag((10.0, 20.0), (60.0, 70.0), ALT);
    page.act(Action::DragEnded);
    let measured = ruler::measured(&page.state).expect("a ruler");
    let view = page.state.view().unwrap();
    let bytes = view.bytes_from_row(70.0) as i64 - view.bytes_from_row(20.0) as i64;
    assert_eq!((measured.events, measured.time_us, measured.bytes), (Some(500), Some(5000), bytes));
    // The ruler is fixed to the plane, not to the screen.
    let ends = page.state.tools.ruler.ends;
    page.wait();
    page.command(commands::ZOOM_EVENTS_IN);
    page.command(commands::TOGGLE_AXIS);
    assert_eq!(page.state.tools.ruler.ends, ends);
    assert_eq!(ruler::measured(&page.state).map(|it| it.events), Some(Some(500)));
    page.command(commands::TOGGLE_AXIS);
    page.command(commands::FIT_BOTH);
    page.drag((60.0, 70.0), (10.0, 20.0), ALT);
    assert_eq!(ruler::measured(&page.state).map(|it| (it.events, it.bytes)), Some((Some(-500), -bytes)));
    assert!(
        Overlay::from_state(&page.state).ruler.expect("the ruler is drawn").1.starts_with("−500 events · −5.00 ms · −")
    );
    page.command(commands::CLEAR_SELECTION);
    assert_eq!(ruler::measured(&page.state), None);
}

#[test]
fn ruler_key_starts_at_crosshair() {
    let mut page = Page::open();
    page.hover(50.5, 40.0);
    page.command(commands::CURSOR_LATER);
    page.command(commands::TOGGLE_RULER);
    (0..7).for_each(|_| page.command(commands::CURSOR_LATER));
    assert_eq!(ruler::measured(&page.state).map(|it| (it.events, it.bytes)), Some((Some(7), 0)));
    page.command(commands::TOGGLE_RULER);
    page.command(commands::CURSOR_LATER);
    assert_eq!(ruler::measured(&page.state).and_then(|it| it.events), Some(7), "the ruler is fixed");
    page.wait();
    page.command(commands::ZOOM_TO_RULER);
    // Even if the ruler is short on the screen.
    assert!((page.window()[1] - page.window()[0] - 7.0).abs() < 1.0, "{:?}", page.window());
    // The pointer extends it too, and a click ends it without selecting anything.
    page.command(commands::CLEAR_SELECTION);
    page.command(commands::FIT_BOTH);
    page.hover(20.0, 20.0);
    page.command(commands::TOGGLE_RULER);
    page.hover(30.0, 20.0);
    page.act(Action::Clicked(Pointer { x: 30.0, y: 20.0 }));
    assert_eq!((page.state.selection.is_none(), page.state.tools.ruler.mode), (true, Mode::Off));
    page.hover(90.0, 20.0);
    assert_eq!(ruler::measured(&page.state).and_then(|it| it.events), Some(100));
}

#[test]
fn drag_measures_while_ruler_button_is_on() {
    let mut page = Page::open();
    page.command(commands::TOGGLE_RULER);
    assert_eq!((page.state.tools.ruler.mode, ruler::measured(&page.state)), (Mode::On, None));
    page.drag((10.0, 20.0), (30.0, 20.0), ALONE);
    assert_eq!(page.state.tools.drag, Drag::Measure);
    assert_eq!(ruler::measured(&page.state).and_then(|it| it.events), Some(200));
    page.act(Action::DragEnded);
    page.drag((10.0, 20.0), (40.0, 20.0), SHIFT);
    assert!(matches!(page.state.tools.drag, Drag::Box(_)), "Shift always draws a box");
}

#[test]
fn box_zooms_both_axes_and_flat_box_zooms_one() {
    let mut page = Page::open();
    page.drag((20.0, 10.0), (70.0, 60.0), SHIFT);
    assert!(Overlay::from_state(&page.state).zoom_box.is_some());
    page.act(Action::DragEnded);
    assert!(Overlay::from_state(&page.state).zoom_box.is_none());
    let window = page.window();
    assert!((window[0] - 200.0).abs() < 11.0 && (window[1] - 700.0).abs() < 11.0, "{window:?}");
    let rows = |page: &Page| [0.0, 100.0].map(|row| page.state.view().unwrap().bytes_from_row(row));
    let whole = View::fit(1000, 1 << 20, 100, 100);
    let expected = [10.0, 60.0].map(|row| whole.bytes_from_row(row));
    let height = expected[1] - expected[0];
    let near =
        |found: [f64; 2], expected: [f64; 2]| found.iter().zip(expected).all(|(a, b)| (a - b).abs() < height * 0.03);
    assert!(near(rows(&page), expected), "{:?} {expected:?}", rows(&page));
    for (to, changes_events) in [((90.0, 13.0), true), ((13.0, 90.0), false)] {
        page.wait();
        let before = page.state.view().unwrap();
        page.drag((10.0, 10.0), to, SHIFT);
        page.act(Action::DragEnded);
        let after = page.state.view().unwrap();
        assert_eq!(after.x_per_px < before.x_per_px, changes_events);
        assert_eq!(after.bytes_per_px < before.bytes_per_px, !changes_events);
    }
    let before = page.state.view();
    page.drag((10.0, 10.0), (90.0, 90.0), SHIFT);
    page.command(commands::CLEAR_SELECTION);
    page.act(Action::DragMoved(Pointer { x: 95.0, y: 95.0 }));
    page.act(Action::DragEnded);
    assert_eq!(page.state.view(), before, "Esc cancels the box");
}

#[test]
fn consecutive_zooms_are_one_undo_step() {
    let mut page = Page::open();
    let mut seen = vec![page.state.view()];
    for _ in 0..3 {
        page.wait();
        for _ in 0..5 {
            page.now_ms += 100.0;
            page.act(Action::Wheel { at: Pointer { x: 50.0, y: 50.0 }, delta: -50.0, axis: WheelAction::ZoomEvents });
        }
        seen.push(page.state.view());
    }
    for before in seen.iter().rev().skip(1) {
        page.command(commands::UNDO_VIEW);
        assert_eq!(page.state.view(), *before);
    }
    page.command(commands::UNDO_VIEW);
    assert!(page.state.remark.is_some(), "no window before the first");
    for after in &seen[1..] {
        page.command(commands::REDO_VIEW);
        assert_eq!(page.state.view(), *after);
    }
    page.command(commands::UNDO_VIEW);
    page.command(commands::MOVE_RIGHT);
    assert!(page.state.tools.history.forward.is_empty(), "a new step clears redo");
    page.wait();
    page.command(commands::FIT_BOTH);
    page.wait();
    page.command(commands::TOGGLE_AXIS);
    assert_eq!(page.state.axis, Axis::Time);
    page.command(commands::UNDO_VIEW);
    assert_eq!(page.state.axis, Axis::Events, "undo restores the axis");
    for _ in 0..300 {
        page.wait();
        page.command(commands::ZOOM_EVENTS_IN);
        page.wait();
        page.command(commands::FIT_BOTH);
    }
    assert!(page.state.tools.history.back.len() <= 100);
    page.command(commands::NEXT_DEVICE);
    assert!(page.state.tools.history.back.is_empty() && page.state.tools.history.forward.is_empty());
}

#[test]
fn markers_show_values_and_belong_to_device() {
    let mut page = Page::open();
    page.command(commands::ADD_MARKER);
    assert!(markers::lines(&page.state).is_empty() && page.state.remark.is_some());
    page.act(Action::MarkerAdded(Pointer { x: 40.5, y: 20.0 }));
    page.hover(70.5, 20.0);
    page.command(commands::CURSOR_LATER);
    page.command(commands::ADD_MARKER);
    let shown = |page: &Page| -> Vec<_> {
        markers::lines(&page.state).iter().map(|line| (line.number, line.event, line.requested)).collect()
    };
    assert_eq!(shown(&page), [(1, Some(399), Some(1400)), (2, Some(700), Some(1701))]);
    assert_eq!(markers::lines(&page.state)[0].text.lines().next(), Some("event 399 · +0.003990 s"));
    page.command(commands::TOGGLE_AXIS);
    assert_eq!(Overlay::from_state(&page.state).markers.len(), 2);
    page.command(commands::NEXT_DEVICE);
    assert!(shown(&page).is_empty());
    page.act(Action::MarkerAdded(Pointer { x: 10.0, y: 20.0 }));
    assert_eq!(shown(&page).len(), 1);
    page.command(commands::NEXT_DEVICE);
    assert_eq!(shown(&page).len(), 2);
    (0..6).for_each(|_| page.command(commands::ZOOM_EVENTS_IN));
    page.act(Action::MarkerVisited(1));
    let window = page.window();
    assert!((window[0]..window[1]).contains(&400.0), "{window:?}");
    page.act(Action::PointerLeft);
    page.hover(50.0, 20.0);
    page.command(commands::REMOVE_MARKER);
    let numbers: Vec<_> = shown(&page).iter().map(|it| it.0).collect();
    assert_eq!(numbers, [2], "the marker nearest to the crosshair is removed");
    page.act(Action::MarkerRemoved(2));
    assert!(shown(&page).is_empty());
    (0..70).for_each(|x| page.act(Action::MarkerAdded(Pointer { x: f64::from(x), y: 20.0 })));
    assert_eq!(shown(&page).len(), 49, "at most 50 markers, one of them on the other device");
}

#[test]
fn typed_capacity_is_included_in_full_view() {
    let mut page = Page::open();
    let whole = page.state.view().unwrap();
    page.act(Action::CapacityTyped("0.01".into()));
    let bytes = (0.01 * (1u64 << 30) as f64) as u64;
    assert_eq!(page.state.tools.capacity, Some(bytes));
    let raised = page.state.view().unwrap();
    assert!(raised.bytes_from_row(100.0) > bytes as f64, "the full view includes the capacity");
    assert!(
        Overlay::from_state(&page.state)
            .capacity
            .is_some_and(|(y, text)| y < 100.0 && text == "Device capacity 10.2 MiB")
    );
    for nonsense in ["-1", "x", "inf", "NaN", "1e99"] {
        page.act(Action::CapacityTyped(nonsense.into()));
        assert_eq!(page.state.tools.capacity, Some(bytes), "{nonsense}");
    }
    page.command(commands::NEXT_DEVICE);
    assert_eq!(page.state.tools.capacity, Some(bytes), "capacity is kept");
    page.command(commands::NEXT_DEVICE);
    page.act(Action::CapacityTyped(String::new()));
    assert_eq!((page.state.tools.capacity, page.state.view()), (None, Some(whole)));
    page.command(commands::ZOOM_EVENTS_IN);
    let closer = page.state.view();
    page.act(Action::CapacityTyped("0.01".into()));
    assert_eq!(page.state.view(), closer, "a zoomed window does not change");
}

#[test]
fn switching_axis_keeps_visible_events() {
    let mut page = Page::open();
    page.drag((20.0, 10.0), (40.0, 12.0), SHIFT);
    page.act(Action::DragEnded);
    let events = page.window();
    page.command(commands::TOGGLE_AXIS);
    assert_eq!(page.state.axis, Axis::Time);
    let expected = events.map(|x| 156.0 + (x - 1.0) * 10.0);
    let times = page.window();
    assert!(times.iter().zip(expected).all(|(a, b)| (a - b).abs() < 25.0), "{times:?} {expected:?}");
    page.command(commands::TOGGLE_AXIS);
    let back = page.window();
    assert!(back.iter().zip(events).all(|(a, b)| (a - b).abs() < 3.0), "{back:?} {events:?}");
    page.command(commands::NEXT_DEVICE);
    page.command(commands::TOGGLE_AXIS);
    assert_eq!((page.state.axis, page.state.remark.is_some()), (Axis::Events, true), "the device has no times");
}

#[test]
fn crop_to_window_covers_visible_events() {
    let mut page = Page::open();
    for part in [(20.0, 40.0), (13.0, 17.0), (0.0, 3.0), (90.0, 100.0)] {
        page.command(commands::FIT_BOTH);
        page.drag((part.0, 10.0), (part.1, 12.0), SHIFT);
        page.act(Action::DragEnded);
        let [left, right] = page.window();
        let [from, to] = CropRange::Window.events(&page.state).unwrap();
        // An event spans one unit and starts at its own position. The crop starts with the state at the left edge.
        assert_eq!([from, to], [left.floor() as u32, (right.ceil() as u32 - 1).min(EVENTS as u32)], "{left}–{right}");
        page.command(commands::TOGGLE_AXIS);
        let times = page.window();
        let [from, to] = CropRange::Window.events(&page.state).unwrap();
        let moments = times.map(|time| ((time - 156.0) / 10.0 + 1.0).clamp(0.0, EVENTS as f64));
        assert!(f64::from(from) <= moments[0] && f64::from(to) >= moments[1].floor(), "{from}–{to}: {moments:?}");
        let wide = moments[1] - moments[0];
        assert!(f64::from(to - from) <= wide * 1.05 + 4.0, "crop is too large: {from}–{to}: {moments:?}");
        page.command(commands::TOGGLE_AXIS);
    }
}

#[test]
fn selection_stays_in_view_after_regrouping() {
    let mut page = Page::open();
    page.act(Action::Clicked(Pointer { x: 40.0, y: 10.0 }));
    assert!(page.state.selection.is_some());
    page.drag((30.0, 5.0), (32.0, 25.0), SHIFT);
    page.act(Action::DragEnded);
    page.worker.step_answer = Some(StepResult { moment: 400, byte: 900_000, outcome: StepOutcome::Arrived });
    let stacking = Some(memscape::protocol::Grouping::Size);
    page.act(Action::StackingChosen(stacking));
    let plot_settings = PlotSettings { stacking, ..PlotSettings::default() };
    assert!(
        page.worker.requests.iter().any(|it| matches!(it, Request::Ask(Ask { question: Question::Step { plot_settings: of, step: Step::To(3), .. }, .. }) if *of == plot_settings))
    );
    let view = page.state.view().unwrap();
    assert!((view.bytes_from_row(0.0)..view.bytes_from_row(100.0)).contains(&900_000.0));
}

#[test]
fn cursor_panel_shows_crosshair_while_marker_request_is_pending() {
    let mut page = Page::open();
    page.worker.unanswered = Unanswered::DoesNotTell;
    page.hover(40.5, 20.0);
    // The worker is busy. A marker is placed, and the crosshair moves on.
    page.act(Action::MarkerAdded(Pointer { x: 60.5, y: 20.0 }));
    page.hover(80.5, 20.0);
    page.answer_moments();
    assert_eq!(page.cursor_figures(), (Some(399), 1400));
    page.answer_moments();
    assert_eq!(page.cursor_figures(), (Some(799), 1800));
    assert_eq!(markers::lines(&page.state)[0].requested, Some(1600));
}

#[test]
fn marker_is_placed_at_event_of_its_pixel() {
    let mut page = Page::open();
    (0..8).for_each(|_| page.command(commands::ZOOM_EVENTS_IN));
    for x in 0..40 {
        let at = Pointer { x: f64::from(x) + 0.5, y: 20.0 };
        page.act(Action::MarkerAdded(at));
        let marker = markers::lines(&page.state).last().and_then(|line| line.event);
        assert_eq!(
            (page.state.crosshair_moment().map(i64::from), page.cursor_figures().0),
            (marker.map(|it| it + 1), marker),
            "{x}"
        );
    }
}
