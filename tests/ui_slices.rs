//! The annotation tracks without a browser: hover, click, double click, keys, and the card's text.

use crate::face::{self, Worker};
use memscape::engine::{Answer, Ask, Question, Request};
use memscape::protocol::{AxisPoint, DeviceSummary, Marks, RangeFacts, RangeMark, RangeSource, Span, Weight};
use memscape::shapes::Shape;
use memscape::timeline::{Scene, View};
use memscape::ui::plot::marks::{WindowMarks, track_count};
use memscape::ui::plot::slices;
use memscape::ui::scope::range;
use memscape::ui::shell::action::Action;
use memscape::ui::shell::commands;
use memscape::ui::state::axis_press::AxisPress;
use memscape::ui::state::axis_press::AxisPress::{DoubleClick, Down, Hover, Leave, Move, Up};
use memscape::ui::state::effect::Effect;
use memscape::ui::state::picture_file::Format;

const EVENTS: u32 = 999;

/// A worker that answers at once. If it is slow, it keeps range requests for later.
#[derive(Default)]
struct MarksWorker {
    is_slow: bool,
    has_phases: bool,
    open_requests: Vec<Request>,
    /// The request for phases, unless it is answered at once.
    phases_request: Option<Request>,
}

fn mark(name: &str, lane: u32, from: u32, to: u32) -> RangeMark {
    let place = |moment: u32| AxisPoint { events: moment.into(), time: u64::from(moment) * 1000 };
    let shared = name.find(|letter: char| letter.is_ascii_digit()).unwrap_or(0) as u32;
    let (name, span) = (name.to_owned(), Span { from, to });
    let micros = u64::from(to - from) * 1000;
    RangeMark {
        name,
        source: RangeSource::Annotation,
        start: place(from),
        end: place(to),
        has_end: true,
        lane,
        span,
        duration_us: micros,
        shared_prefix: shared,
    }
}

fn facts(span: Span) -> RangeFacts {
    let weight = |bytes: u32| Weight { bytes: bytes.into(), count: 3 };
    let (allocated, freed, kept) = (weight(span.from), weight(span.to), weight(7));
    RangeFacts {
        span,
        allocated,
        freed,
        still_live: kept,
        peak: 4096,
        peak_moment: span.from + 1,
        live_at_start: 1,
        live_at_end: 2,
    }
}

fn answer(request: &Request) -> Option<Answer> {
    let Request::Ask(Ask { question: what, .. }) = request else { return None };
    Some(match what {
        Question::Scene { view, .. } => {
            let mut columns = face::columns(*view);
            let moment = |column: u32| (view.x_from_column(f64::from(column)) as u32).min(EVENTS);
            columns.moment = (0..view.width_px).map(moment).collect();
            let (quads, identities) = (vec![], vec![]);
            Answer::Scene(Box::new(Scene { view: *view, band_px: 1, columns, quads, ground: None, identities }))
        }
        Question::Marks => {
            let steps = (1..=3).map(|step| mark(&format!("step_{step}"), 0, step * 100, step * 100 + 100));
            let many = (0..30).map(|at| mark(&format!("layer {at}"), 1, 400 + at * 10, 402 + at * 10));
            Answer::Marks(Box::new(Marks { ranges: steps.chain(many).collect(), lanes: 2, ..Marks::default() }))
        }
        Question::Range(span) => Answer::Range(facts(*span)),
        Question::Legend { .. } => Answer::Legend(Vec::new()),
        _ => return None,
    })
}

impl Worker for MarksWorker {
    fn answer(&mut self, request: &Request) -> Option<Answer> {
        let is_range = matches!(request, Request::Ask(Ask { question: Question::Range(_), .. }));
        if is_range {
            self.open_requests.push(request.clone());
        }
        if let Request::Ask(Ask { question: Question::Phases, .. }) = request {
            self.phases_request = Some(request.clone()).filter(|_| !self.has_phases);
            return self.has_phases.then(marks_with_phases);
        }
        if is_range && self.is_slow { None } else { answer(request) }
    }
}

/// Three annotated steps, and the phases of the first: two inferred from stacks, one annotated.
fn marks_with_phases() -> Answer {
    let steps = (1..=3).map(|step| mark(&format!("step_{step}"), 0, step * 100, step * 100 + 100));
    let phase = |name: &str, from: u32, to: u32, source| RangeMark { source, ..mark(name, 0, from, to) };
    let phases = [
        phase("forward", 110, 150, RangeSource::InferredPhase),
        phase("backward", 150, 180, RangeSource::InferredPhase),
        phase("optimizer", 180, 198, RangeSource::Phase),
    ];
    let mut ranges: Vec<RangeMark> = steps.chain(phases).collect();
    ranges.sort_by_key(|mark| mark.span.from);
    Answer::Marks(Box::new(Marks { ranges, lanes: 1, has_phases: true, ..Marks::default() }))
}

type Page = face::Page<MarksWorker>;

impl Page {
    fn open() -> Page {
        let device = DeviceSummary {
            events: EVENTS.into(),
            peak_requested: 1 << 20,
            peak_event: 500,
            drawn_peak: 1 << 20,
            ..DeviceSummary::default()
        };
        Page::with_devices(MarksWorker::default(), vec![device])
    }

    fn view(&self) -> View {
        self.state.view().expect("a window")
    }

    fn press(&mut self, presses: &[AxisPress]) {
        presses.iter().for_each(|&press| self.act(Action::AxisPressed(press)));
    }

    /// Pointer position over an event in a lane of the tracks.
    fn pointer_over(&self, moment: f64, lane: f64) -> AxisPress {
        Hover([self.view().column_from_x(moment), 24.0 + 16.0 * lane + 8.0])
    }

    fn span(&self) -> Option<[u32; 2]> {
        self.state.cursor.range.map(|span| [span.from, span.to])
    }

    /// Title and lines of the hover card.
    fn card(&self) -> Option<(String, Vec<(String, String)>)> {
        let card = slices::card(&self.state)?;
        Some((card.title, card.facts.into_iter().map(|fact| (fact.label, fact.value)).collect()))
    }
}

#[test]
fn hover_card_matches_range_report() {
    let mut page = Page::open();
    page.press(&[page.pointer_over(150.0, 0.0)]);
    let (title, lines) = page.card().expect("a card");
    assert_eq!(title, "step_1");
    let labels: Vec<&str> = lines.iter().map(|(label, _)| label.as_str()).collect();
    assert_eq!(labels, ["Events", "Duration", "Peak", "Allocated", "Freed", "Kept"]);
    assert_eq!(lines[1].1, "100 ms");
    page.press(&[Down(15.0), Up]);
    assert_eq!(page.span(), Some([100, 200]));
    let of_range = range::view(&page.state).expect("a range").lines;
    for (label, value) in lines.iter().filter(|(label, _)| label != "Duration") {
        let same = of_range.iter().find(|(known, _)| known == label).expect("the same line");
        assert_eq!(*value, same.1, "{label}");
    }
    page.press(&[Leave]);
    assert_eq!(page.card(), None);
}

#[test]
fn phases_have_a_track_below_annotations() {
    assert_eq!(track_count(&Page::open().state), 2, "two tracks of annotations while phases are unknown");
    let device = DeviceSummary {
        events: EVENTS.into(),
        peak_requested: 1 << 20,
        drawn_peak: 1 << 20,
        ..DeviceSummary::default()
    };
    let mut page = Page::with_devices(MarksWorker { has_phases: true, ..MarksWorker::default() }, vec![device]);
    assert_eq!(track_count(&page.state), 2, "one track of annotations, one of phases");
    let slices = WindowMarks::in_window(&page.state, &page.view(), 1.0).slices;
    let in_track = |lane: u32| {
        slices.iter().filter(|slice| slice.lane == lane).map(|slice| slice.name.as_str()).collect::<Vec<_>>()
    };
    assert_eq!(in_track(0), ["step_1", "step_2", "step_3"]);
    assert_eq!(in_track(1), ["forward", "backward", "optimizer"]);
    // The card says that a phase is inferred. Phases need no times.
    page.press(&[page.pointer_over(130.0, 1.0)]);
    let (title, lines) = page.card().expect("a card");
    let labels: Vec<&str> = lines.iter().map(|(label, _)| label.as_str()).collect();
    assert_eq!(
        (title.as_str(), labels),
        ("forward", vec!["Events", "Peak", "Allocated", "Freed", "Kept", "Inferred from"])
    );
    assert_eq!(lines[5].1, "call stacks");
    page.press(&[Down(13.0), Up]);
    assert_eq!(page.span(), Some([110, 150]));
    page.press(&[page.pointer_over(190.0, 1.0)]);
    let (title, lines) = page.card().expect("a card");
    assert!(title == "optimizer" && lines.iter().all(|(label, _)| label != "Inferred from"), "{lines:?}");
    // Keys step through annotations and phases.
    page.command(commands::NEXT_ANNOTATION);
    assert_eq!(page.span(), Some([150, 180]));
    assert_eq!(page.state.remark.as_deref(), Some("Phase backward: events 150 – 179."));
    page.command(commands::PREVIOUS_ANNOTATION);
    assert_eq!(page.span(), Some([110, 150]));
    page.press(&[page.pointer_over(160.0, 1.0), Down(16.0), Up, DoubleClick]);
    let view = page.view();
    let [from, to] = [0.0, 100.0].map(|column| view.x_from_column(column));
    assert!((145.0..150.0).contains(&from) && (180.0..185.0).contains(&to), "{from} {to}");
}

#[test]
fn double_click_zooms_and_drag_selects_range() {
    let mut page = Page::open();
    let at = page.pointer_over(250.0, 0.0);
    page.press(&[at, Down(25.0), Up, Down(25.0), Up, DoubleClick]);
    let view = page.view();
    let [from, to] = [0.0, 100.0].map(|column| view.x_from_column(column));
    assert!((190.0..200.0).contains(&from) && (200.0 + 100.0..310.0).contains(&to), "{from} {to}");
    let mut page = Page::open();
    let at = page.pointer_over(250.0, 0.0);
    page.press(&[at, Down(page.view().column_from_x(250.5)), Move(page.view().column_from_x(600.5)), Up]);
    assert_eq!(page.span().map(|[from, to]| [from / 10, to / 10]), Some([25, 60]));
    assert_eq!(page.card(), None, "no card during a drag");
}

#[test]
fn narrow_annotations_merge_into_one_bar() {
    let mut page = Page::open();
    let slices = WindowMarks::in_window(&page.state, &page.view(), 1.0).slices;
    assert_eq!(slices.len(), 4, "three steps and one bar: {slices:?}");
    page.press(&[page.pointer_over(500.0, 1.0)]);
    assert_eq!(page.card().expect("a card").0, "30 annotations");
    page.press(&[Down(50.0), Up]);
    assert_eq!(page.span(), Some([400, 692]), "range of all merged annotations");
    // Keys continue from the clicked annotation, wherever the crosshair is.
    page.press(&[page.pointer_over(150.0, 0.0), Down(15.0), Up]);
    page.command(commands::NEXT_ANNOTATION);
    assert_eq!(page.span(), Some([200, 300]));
    page.command(commands::FIT_BOTH);
    page.press(&[page.pointer_over(500.0, 1.0), DoubleClick]);
    // After zooming in, they are separate.
    page.command(commands::ZOOM_EVENTS_IN);
    page.command(commands::ZOOM_EVENTS_IN);
    page.command(commands::ZOOM_EVENTS_IN);
    let slices = WindowMarks::in_window(&page.state, &page.view(), 0.1).slices;
    assert!(slices.iter().any(|slice| slice.count == 1 && slice.name.starts_with("layer")), "{slices:?}");
}

#[test]
fn keys_step_through_annotations() {
    let mut page = Page::open();
    page.act(Action::GoToEntered("120".into()));
    let next = commands::NEXT_ANNOTATION;
    let previous = commands::PREVIOUS_ANNOTATION;
    for (command, expected) in
        [(next, [200, 300]), (next, [300, 400]), (next, [400, 402]), (previous, [300, 400]), (previous, [200, 300])]
    {
        page.command(command);
        assert_eq!(page.span(), Some(expected));
        assert!(page.state.remark.as_ref().is_some_and(|remark| remark.starts_with("Annotation ")));
    }
    page.command(previous);
    page.command(previous);
    assert_eq!(page.state.remark.as_deref(), Some("No further annotation."));
    page.command(commands::ZOOM_TO_RANGE);
    let view = page.view();
    assert!((90.0..100.5).contains(&view.x_from_column(0.0)) && view.x_from_column(100.0) < 210.5);
}

#[test]
fn exported_picture_waits_for_phases() {
    let mut page = Page::open();
    page.act(Action::GoToEntered("50".into()));
    page.command(commands::NEXT_ANNOTATION);
    page.command(commands::ZOOM_TO_RANGE);
    page.command(commands::export::save(Format::Svg));
    let picture = |page: &Page| {
        page.find_effect(|effect| if let Effect::Export(picture) = effect { Some(picture.clone()) } else { None })
    };
    assert_eq!(picture(&page), None, "the phases are not known");
    let request = page.worker.phases_request.take().expect("a request for phases");
    page.reply_to(&request, Some(marks_with_phases()));
    let shapes = picture(&page).expect("a picture").sheet.shapes;
    let texts: Vec<&str> = shapes
        .iter()
        .filter_map(|shape| if let Shape::Text(text) = shape { Some(text.text.as_str()) } else { None })
        .collect();
    assert!(texts.iter().any(|text| text.starts_with("for")), "{texts:?}");
}

#[test]
fn one_range_is_requested_at_a_time() {
    let mut page = Page::open();
    page.worker.is_slow = true;
    page.press(&[page.pointer_over(150.0, 0.0)]);
    assert_eq!(page.worker.open_requests.len(), 1);
    // The worker would drop the first question in favour of the second.
    page.press(&[page.pointer_over(250.0, 0.0), Down(25.0), Up]);
    assert_eq!(page.worker.open_requests.len(), 1);
    while let Some(request) = page.worker.open_requests.pop() {
        assert!(page.worker.open_requests.is_empty(), "two requests in flight");
        page.reply_to(&request, answer(&request));
    }
    assert_eq!(page.card().expect("a card").1[3].1, "200 B in\u{a0}3\u{a0}allocations");
    assert_eq!(range::view(&page.state).expect("a range").facts, Some(facts(Span { from: 200, to: 300 })));
}
