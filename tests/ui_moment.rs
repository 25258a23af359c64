//! The cursor and the range without a browser: set by click, key, typed text, and drag on the axis.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "test helpers fail by panicking")]

use crate::face::{self, Worker};
use memscape::engine::{Answer, Ask, Question, Request};
use memscape::protocol::{AxisPoint, DeviceSummary, MomentFacts, MomentSpec, RangeFacts, Scope, Span, Weight};
use memscape::timeline::scene::SceneColumns;
use memscape::timeline::{Axis, Scene, View, time_axis_margin};
use memscape::ui::features::export::Dialog;
use memscape::ui::plot::moment;
use memscape::ui::scope::{cursor, range};
use memscape::ui::shell::action::Action;
use memscape::ui::shell::commands;
use memscape::ui::state::axis_press::AxisPress;
use memscape::ui::state::effect::Pointer;
use memscape::ui::state::picture_file::Format;
use memscape::ui::state::range::{RangeScope, ViewScope};

const EVENTS: u32 = 999;
const PEAK: u32 = 701;
const MAX_RESERVED: u32 = 123;
const START_US: i64 = 1_700_000_000_000_000;

/// Time from the first to the last event in µs. Events are 1 ms apart.
const SPAN: u64 = 998_000;

fn devices() -> Vec<DeviceSummary> {
    let device = |device, time_us| DeviceSummary {
        device,
        events: EVENTS.into(),
        peak_requested: 1 << 20,
        peak_reserved: 1 << 20,
        peak_event: i64::from(PEAK) - 1,
        drawn_peak: 1 << 20,
        time_us,
        ..DeviceSummary::default()
    };
    vec![device(0, Some((START_US, START_US + SPAN as i64))), device(1, None)]
}

fn scene(view: View) -> Scene {
    let columns = view.width_px as usize;
    let moment = |column: u32| (view.x_from_column(f64::from(column)) as u32).min(EVENTS);
    Scene {
        view,
        band_px: 1,
        columns: SceneColumns {
            moment: (0..columns as u32).map(moment).collect(),
            moments: vec![10; columns],
            ..face::columns(view)
        },
        quads: vec![],
        ground: None,
        identities: vec![],
    }
}

fn facts(at: MomentSpec) -> MomentFacts {
    let moment = match at {
        MomentSpec::Moment(moment) => moment,
        MomentSpec::X(Axis::Events, x) => x as u32,
        MomentSpec::X(Axis::Time, x) => ((x as u64).saturating_sub(time_axis_margin(SPAN)) / 1000 + 1) as u32,
        MomentSpec::PeakReserved => MAX_RESERVED,
        MomentSpec::OutOfMemory => panic!("no OOM in this trace"),
        MomentSpec::After(_) => panic!("the page never sends these"),
    };
    let time = u64::from(moment) * 1000;
    MomentFacts {
        moment,
        position: AxisPoint { events: moment.into(), time },
        start: time,
        time_us: (moment > 0).then(|| START_US + i64::from(moment - 1) * 1000),
        requested: 1000 + u64::from(moment),
        reserved: 5000,
        awaiting_free: 7,
        count: moment % 7,
    }
}

fn range_facts(span: Span) -> RangeFacts {
    let weight = |count: u32| Weight { bytes: u64::from(count) * 10, count };
    let (allocated, freed, kept) = (weight(span.to - span.from), weight(2), weight(1));
    let (at_begin, at_end) =
        (facts(MomentSpec::Moment(span.from)).requested, facts(MomentSpec::Moment(span.to)).requested);
    RangeFacts {
        span,
        allocated,
        freed,
        still_live: kept,
        peak: 9999,
        peak_moment: span.from + 1,
        live_at_start: at_begin,
        live_at_end: at_end,
    }
}

/// A worker that answers at once, unless it is slow.
#[derive(Default)]
struct FakeWorker {
    requests: Vec<Request>,
    /// True if the worker keeps its answers for later.
    is_slow: bool,
}

impl Worker for FakeWorker {
    fn answer(&mut self, request: &Request) -> Option<Answer> {
        self.requests.push(request.clone());
        if self.is_slow { None } else { answer(request) }
    }
}

type Page = face::Page<FakeWorker>;

fn answer(request: &Request) -> Option<Answer> {
    let Request::Ask(Ask { question: what, .. }) = request else { return None };
    Some(match what {
        Question::Scene { view, .. } => Answer::Scene(Box::new(scene(*view))),
        Question::Moments(at) => Answer::Moments(at.iter().copied().map(facts).collect()),
        Question::Range(span) => Answer::Range(range_facts(*span)),
        _ => return None,
    })
}

impl Page {
    fn open() -> Page {
        Page::with_devices(FakeWorker::default(), devices())
    }

    /// Answers a request that was left open.
    fn answer(&mut self, request: Request) {
        self.reply_to(&request, answer(&request));
    }

    fn press(&mut self, presses: &[AxisPress]) {
        presses.iter().for_each(|&press| self.act(Action::AxisPressed(press)));
    }

    fn type_cursor(&mut self, text: &str) -> Option<String> {
        self.act(Action::GoToEntered(text.into()));
        self.state.cursor.error.clone()
    }

    fn scope(&self) -> Scope {
        self.state.views.scope
    }

    fn span(&self) -> Option<[u32; 2]> {
        self.state.cursor.range.map(|span| [span.from, span.to])
    }
}

use AxisPress::{Down, Move, Up};

#[test]
fn cursor_starts_at_peak() {
    let page = Page::open();
    assert_eq!(page.scope(), Scope::At(PEAK));
    let view = moment::view(&page.state);
    assert_eq!((view.event, view.facts.requested, view.facts.awaiting_free), (Some(i64::from(PEAK) - 1), 1701, 7));
    assert_eq!(view.lines[3], ("Awaiting free", "7 B requested".to_owned()));
    assert_eq!(
        range::title(&page.state),
        "Live at event 700 (peak): 1.66 KiB in 1 allocation".replace(' ', "\u{a0}").replace(":\u{a0}", ": ")
    );
}

#[test]
fn click_sets_cursor_and_hover_only_shows_values() {
    let mut page = Page::open();
    page.act(Action::PointerMoved(Pointer { x: 50.5, y: 90.0 }));
    assert_eq!(page.scope(), Scope::At(PEAK));
    assert_eq!(moment::view(&page.state).event, Some(499));
    page.act(Action::Clicked(Pointer { x: 50.5, y: 90.0 }));
    assert_eq!(page.scope(), Scope::At(500), "a click on empty space sets the cursor too");
    page.act(Action::PointerMoved(Pointer { x: 20.5, y: 90.0 }));
    page.act(Action::PointerLeft);
    assert_eq!(moment::view(&page.state).event, Some(499));
}

#[test]
fn keys_move_cursor() {
    let mut page = Page::open();
    page.command(commands::CURSOR_LATER);
    assert_eq!(page.scope(), Scope::At(PEAK + 1), "moves from its current position");
    page.command(commands::CURSOR_TO_END);
    assert_eq!(page.scope(), Scope::At(EVENTS));
    assert!(range::title(&page.state).contains("event\u{a0}998\u{a0}(end)"), "{}", range::title(&page.state));
    page.command(commands::CURSOR_LATER);
    assert_eq!(page.scope(), Scope::At(EVENTS), "stays at the end");
    page.command(commands::CURSOR_TO_PEAK);
    assert_eq!(page.scope(), Scope::At(PEAK));
    page.command(commands::CURSOR_EARLIER);
    page.command(commands::GO_TO_PEAK);
    assert_eq!(page.scope(), Scope::At(PEAK));
}

#[test]
fn typed_position_sets_cursor_or_reports_error() {
    let mut page = Page::open();
    assert_eq!((page.type_cursor("41"), page.scope()), (None, Scope::At(42)));
    assert_eq!((page.type_cursor("0"), page.scope()), (None, Scope::At(1)));
    assert_eq!(page.type_cursor("999").as_deref(), Some("The last event is 998."));
    assert_eq!(page.scope(), Scope::At(1), "cursor does not move");
    assert_eq!((page.type_cursor("0.1s"), page.scope()), (None, Scope::At(101)));
    assert_eq!((page.type_cursor("+350 ms"), page.scope()), (None, Scope::At(351)));
    assert_eq!(page.type_cursor("2 s").as_deref(), Some("The last event is at +0.998000 s."));
    assert_eq!((page.type_cursor("end"), page.scope()), (None, Scope::At(EVENTS)));
    assert_eq!((page.type_cursor("Peak"), page.scope()), (None, Scope::At(PEAK)));
    assert_eq!((page.type_cursor("reserved-peak"), page.scope()), (None, Scope::At(MAX_RESERVED)));
    assert!(page.type_cursor("now").expect("a hint").contains("126670"));
    page.act(Action::DeviceChosen(1));
    assert_eq!(page.type_cursor("1 s").as_deref(), Some("This snapshot has no timestamps."));
}

#[test]
fn cursor_outside_window_scrolls_into_view() {
    let mut page = Page::open();
    for _ in 0..8 {
        page.command(commands::ZOOM_EVENTS_IN);
    }
    page.type_cursor("3");
    let (x, moment) = cursor::x_px(&page.state).expect("a place");
    assert_eq!(moment, 4);
    assert!((0.0..100.0).contains(&x), "{x}");
}

#[test]
fn scope_chosen_before_timeline_is_drawn_selects_whole_trace() {
    for (scope, selected) in
        [(ViewScope::Change, Some([0, PEAK])), (ViewScope::Range, Some([0, EVENTS])), (ViewScope::Cursor, None)]
    {
        let mut page = Page::with_devices(FakeWorker { is_slow: true, ..FakeWorker::default() }, devices());
        page.act(Action::ScopeChosen(scope));
        assert_eq!((page.span(), cursor::view_scope(&page.state)), (selected, scope));
    }
    let mut empty = Page::with_canvas(face::CANVAS, FakeWorker::default());
    empty.act(Action::ScopeChosen(ViewScope::Change));
    assert_eq!(empty.span(), None, "no file is open");
}

#[test]
fn scope_chosen_at_whole_trace_selects_same_range_before_and_after_drawing() {
    for (axis, zoom_out) in [(Axis::Events, false), (Axis::Time, false), (Axis::Events, true)] {
        let mut page = Page::open();
        if axis == Axis::Time {
            page.command(commands::TOGGLE_AXIS);
        }
        if zoom_out {
            page.command(commands::ZOOM_EVENTS_OUT);
        }
        page.act(Action::ScopeChosen(ViewScope::Range));
        assert_eq!(page.span(), Some([0, EVENTS]), "{axis:?}, zoomed out: {zoom_out}");
    }
    let mut page = Page::open();
    for _ in 0..8 {
        page.command(commands::ZOOM_EVENTS_IN);
    }
    page.act(Action::ScopeChosen(ViewScope::Range));
    let [from, to] = page.span().expect("the window");
    assert!(0 < from && from < to && to < EVENTS, "{from} to {to}");
}

#[test]
fn picture_requested_before_timeline_is_drawn_is_drawn_later() {
    let mut page = Page::with_devices(FakeWorker { is_slow: true, ..FakeWorker::default() }, devices());
    page.command(commands::export::TOGGLE);
    assert_eq!(page.state.export.dialog, Dialog::Open);
    page.command(commands::export::save(Format::Svg));
    assert_eq!(page.state.remark.as_deref(), Some("Drawing the picture…"));
    assert_eq!(page.state.export.dialog, Dialog::Closed);
}

#[test]
fn dragging_cursor_requests_newest_position() {
    let mut page = Page::open();
    let (x, _) = cursor::x_px(&page.state).expect("cursor is in the window");
    page.worker.is_slow = true;
    page.worker.requests.clear();
    page.press(&[Down(x), Move(60.5), Move(40.5), Move(30.5)]);
    assert_eq!(page.scope(), Scope::At(300), "the views follow at once");
    assert_eq!(page.span(), None);
    let asked = page
        .worker
        .requests
        .iter()
        .filter(|request| matches!(request, Request::Ask(Ask { question: Question::Moments(_), .. })))
        .count();
    assert_eq!(asked, 1, "one question in flight");
    assert_eq!(moment::view(&page.state).event, Some(i64::from(PEAK) - 1), "the old figures stay");
    let first = page.worker.requests.pop().expect("the question");
    page.worker.requests.clear();
    page.answer(first);
    assert_eq!(moment::view(&page.state).event, Some(599), "first answer of the drag");
    let next = page.worker.requests.pop().expect("the newest");
    page.answer(next);
    assert_eq!(moment::view(&page.state).event, Some(299));
    page.press(&[Up]);
    assert_eq!(page.scope(), Scope::At(300));
}

#[test]
fn drag_on_axis_selects_range_with_movable_edges() {
    let mut page = Page::open();
    page.press(&[Down(20.5), Move(30.5), Move(10.5), Up]);
    assert_eq!((page.span(), page.scope()), (Some([100, 200]), Scope::Allocated(Span { from: 100, to: 200 })));
    let [from, _] = range::px(&page.state).expect("cursor is in the window");
    page.press(&[Down(from + 3.0), Move(40.5), Up]);
    assert_eq!(page.span(), Some([200, 400]), "past the other edge");
    let view = range::view(&page.state).expect("a range");
    assert_eq!(view.facts.map(|facts| facts.span), Some(Span { from: 200, to: 400 }));
    assert_eq!(view.lines[0], ("Events", "200 – 399".to_owned()));
    assert_eq!(view.lines[2].1, "1.95 KiB · 2,000 B in\u{a0}200\u{a0}allocations");
    assert_eq!(view.lines[5].1, "+200 B", "net change");
    for (about, scope) in [
        (RangeScope::Freed, Scope::Freed(Span { from: 200, to: 400 })),
        (RangeScope::Kept, Scope::StillLive(Span { from: 200, to: 400 })),
        (RangeScope::ByteMoments, Scope::ByteMoments(Span { from: 200, to: 400 })),
        (RangeScope::Live, Scope::At(PEAK)),
    ] {
        page.act(Action::RangeFilterChosen(about));
        assert_eq!(page.scope(), scope);
    }
    page.command(commands::NEXT_RANGE_FILTER);
    assert_eq!(page.scope(), Scope::Allocated(Span { from: 200, to: 400 }));
    page.command(commands::CURSOR_TO_RANGE_PEAK);
    assert_eq!((page.state.cursor.moment, page.span()), (201, Some([200, 400])));
    page.command(commands::CLEAR_SELECTION);
    assert_eq!((page.span(), page.scope()), (None, Scope::At(201)), "Esc clears the range");
}

#[test]
fn click_on_axis_sets_cursor_and_clears_range() {
    let mut page = Page::open();
    page.press(&[Down(20.5), Move(21.5), Up]);
    assert_eq!((page.span(), page.scope()), (None, Scope::At(200)), "too short for a range");
    page.press(&[Down(40.5), Move(50.5), Up]);
    assert_eq!(page.span(), Some([400, 500]));
    page.act(Action::Clicked(Pointer { x: 80.5, y: 90.0 }));
    assert_eq!((page.span(), page.scope()), (None, Scope::At(800)));
}

#[test]
fn keys_start_extend_and_finish_range() {
    let mut page = Page::open();
    page.type_cursor("299");
    page.command(commands::TOGGLE_RANGE);
    for _ in 0..3 {
        page.command(commands::CURSOR_LATER);
    }
    assert_eq!((page.span(), page.state.cursor.moment), (Some([300, 303]), 303));
    for _ in 0..5 {
        page.command(commands::CURSOR_EARLIER);
    }
    assert_eq!(page.span(), Some([298, 300]));
    page.command(commands::TOGGLE_RANGE);
    page.command(commands::CURSOR_EARLIER);
    assert_eq!(page.span(), Some([298, 300]), "the finished range stays");
    assert_eq!(page.scope(), Scope::Allocated(Span { from: 298, to: 300 }));
}

#[test]
fn drag_on_overview_selects_range_on_both_axes() {
    let mut page = Page::open();
    page.act(Action::MinimapRangeDrawn([0.5, 0.25]));
    assert_eq!(page.span(), Some([250, 500]));
    page.command(commands::TOGGLE_AXIS);
    page.act(Action::MinimapRangeDrawn([0.5, 2.0]));
    let [from, to] = page.span().expect("a range");
    assert!((495..505).contains(&from) && to == EVENTS, "{from} {to}");
}

#[test]
fn switching_device_moves_cursor_to_its_peak_and_clears_range() {
    let mut page = Page::open();
    page.press(&[Down(20.5), Move(30.5), Up]);
    page.act(Action::DeviceChosen(1));
    assert_eq!((page.span(), page.scope()), (None, Scope::At(PEAK)));
}
