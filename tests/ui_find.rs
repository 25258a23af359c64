//! The search without a browser: requests, highlighting, status text.
#![allow(clippy::expect_used, clippy::panic, reason = "test helpers fail by panicking")]

use crate::face::{self, Worker, columns};
use memscape::engine::{Answer, Ask, Question, Request};
use memscape::protocol::{
    Details, DeviceSummary, Direction, Grouping, Highlight, Match, PlotSettings, Scope, SearchStart, Tally,
};
use memscape::timeline::{Scene, View};
use memscape::ui::scope::find::{same_stack_text, status};
use memscape::ui::shell::action::Action;
use memscape::ui::shell::commands;
use memscape::ui::state::effect::{Effect, Pointer};

const TALLY: Tally = Tally { count: 3407, requested: 1 << 30, peak_count: 12, peak_requested: 1 << 20 };

/// A worker that answers no search by itself.
struct SilentWorker;

impl Worker for SilentWorker {}

type Page = face::Page<SilentWorker>;

impl Page {
    /// Opens a file with two devices, with the whole first one drawn.
    fn open() -> Page {
        let device = |device| DeviceSummary {
            device,
            events: 999,
            peak_requested: 1 << 20,
            drawn_peak: 1 << 20,
            ..DeviceSummary::default()
        };
        let mut page = Page::with_devices(SilentWorker, vec![device(0), device(1)]);
        page.draw();
        page
    }

    fn find(&mut self, text: &str) {
        self.act(Action::FindTyped(text.into()));
    }

    /// Serial, device and text of the latest search request.
    fn search_request(&self) -> Option<(u32, i64, String)> {
        self.find_request(|request| match request {
            Request::Ask(Ask { serial, device, question: Question::Find(query) }) => {
                Some((*serial, *device, query.clone()))
            }
            _ => None,
        })
    }

    /// The latest request for the next match.
    fn step_request(&self) -> Option<(u32, SearchStart, Direction)> {
        self.find_request(|request| match request {
            Request::Ask(Ask {
                serial, question: Question::FindNext { begin, direction, plot_settings, .. }, ..
            }) => {
                assert_eq!(*plot_settings, plot_settings.without_highlight());
                Some((*serial, *begin, *direction))
            }
            _ => None,
        })
    }

    /// Returns the plot settings of the latest scene request.
    fn plot_settings(&self) -> Option<PlotSettings> {
        self.find_request(|request| {
            if let Request::Ask(Ask { question: Question::Scene { plot_settings, .. }, .. }) = request {
                Some(*plot_settings)
            } else {
                None
            }
        })
    }

    /// Answers the latest search request.
    fn answer_search(&mut self, tally: Tally) -> u32 {
        let (serial, ..) = self.search_request().expect("a search was requested");
        self.answer_with(serial, Answer::Find(tally));
        serial
    }

    /// Answers the latest request for the next match, and the details request that follows.
    fn answer_step(&mut self, allocation: u32, lowest_byte: u64) {
        let (serial, ..) = self.step_request().expect("a step was requested");
        let found = Match { allocation, index: allocation / 2, requested: 512, lowest_byte };
        self.answer_with(serial, Answer::FindNext(Some(found)));
        self.select(allocation, Some(7));
    }

    /// Answers the latest details request.
    fn select(&mut self, allocation: u32, stack: Option<u32>) {
        let freed_event = Some(allocation + 2);
        self.answer_details(Details {
            allocation,
            stack,
            allocated_event: Some(allocation),
            freed_event,
            ..Details::default()
        });
    }

    /// Answers the scene request in flight.
    fn draw(&mut self) {
        let lane = self.state.focused_lane().expect("a lane");
        let (serial, view) = (lane.geometry.in_flight.expect("a scene was requested"), *lane.view);
        let scene = Scene { columns: columns(view), view, band_px: 1, quads: vec![], ground: None, identities: vec![] };
        self.answer_with(serial, Answer::Scene(Box::new(scene)));
    }
}

#[test]
fn typed_text_is_searched_once() {
    let mut page = Page::open();
    page.find("train");
    let (first, device, text) = page.search_request().expect("a search request");
    assert_eq!((device, text.as_str()), (0, "train"));
    page.find("train");
    assert_eq!(page.search_request(), None, "the search is in flight");
    page.find("train.py");
    let (second, ..) = page.search_request().expect("a search request");
    page.answer_with(first, Answer::Find(TALLY));
    assert_eq!(status(&page.state).text, "Searching…", "the answer to an earlier search is dropped");
    page.answer_with(second, Answer::Find(TALLY));
    assert_eq!(status(&page.state).text, "3,407 matches · 1.00 GiB total · 1.00 MiB at the peak");
    assert_eq!(
        status(&page.state).exact,
        "1,073,741,824 B requested in total (not all live at once); 12 live at the peak, 1,048,576 B"
    );
    assert_eq!(page.plot_settings().map(|plot_settings| plot_settings.highlight), Some(Highlight::Found(second)));
    page.draw();
    page.find("  ");
    assert_eq!((page.search_request(), status(&page.state).text.as_str()), (None, ""));
    assert_eq!(page.plot_settings().map(|plot_settings| plot_settings.highlight), Some(Highlight::Nothing));
}

#[test]
fn match_case_applies_to_plain_text() {
    let mut page = Page::open();
    page.find("Linear");
    page.answer_search(TALLY);
    page.command(commands::TOGGLE_MATCH_CASE);
    assert_eq!(page.search_request().map(|(.., query)| query), Some("\"Linear\"".into()));
    page.answer_search(Tally { count: 7, ..TALLY });
    assert!(status(&page.state).text.starts_with("7 matches"));
    // Queries other than plain text define their own matching.
    for query in ["/linear/i", ">1GiB", "#12", "\"Linear\""] {
        page.find(query);
        assert_eq!(page.search_request().map(|(.., asked)| asked), Some(query.into()));
        page.answer_search(TALLY);
    }
    page.find("Linear");
    assert_eq!(page.search_request(), None, "equals the search with quotes");
    page.command(commands::TOGGLE_MATCH_CASE);
    assert_eq!(page.search_request().map(|(.., query)| query), Some("Linear".into()));
}

#[test]
fn invalid_query_reports_error_without_search() {
    let mut page = Page::open();
    page.find(">5MB");
    let status_text = status(&page.state);
    assert_eq!(
        (page.search_request(), status_text.is_error, status_text.text.as_str()),
        (None, true, "MB is ambiguous: write MiB.")
    );
    page.command(commands::FIND_NEXT);
    assert_eq!(page.step_request(), None);
    page.find(">5MiB");
    page.answer_search(Tally::default());
    assert_eq!(status(&page.state).text, "No matches");
    assert_eq!(page.plot_settings(), None, "without matches nothing is faded");
}

#[test]
fn find_next_and_previous_step_through_matches() {
    let mut page = Page::open();
    page.command(commands::FIND_NEXT);
    assert_eq!(page.effects, [Effect::FocusFind], "without a query the search field is focused");
    page.find("train");
    page.command(commands::FIND_PREVIOUS);
    assert_eq!(page.step_request(), None, "the search has not been answered");
    page.act(Action::PointerLeft);
    assert_eq!(page.step_request(), None);
    let mut page = Page::open();
    page.find("train");
    let (serial, ..) = page.search_request().expect("a search request");
    page.command(commands::FIND_NEXT);
    page.answer_with(serial, Answer::Find(TALLY));
    let (_, begin, direction) = page.step_request().expect("step is sent once the search is answered");
    assert_eq!((begin, direction), (SearchStart::Moment(0), Direction::Next), "from the left edge of the window");
    page.answer_step(22, 0);
    assert_eq!(status(&page.state).text, "12 of 3,407 · 1.00 GiB total · 1.00 MiB at the peak");
    assert_eq!(page.state.selection.as_ref().map(|it| it.allocation), Some(22));
    assert_eq!(page.state.views.scope, Scope::At(23), "the cursor is at an event with the match");
    page.command(commands::FIND_PREVIOUS);
    assert_eq!(
        page.step_request().map(|(_, begin, way)| (begin, way)),
        Some((SearchStart::Allocation(22), Direction::Previous))
    );
    // A second key press before the answer counts too.
    page.command(commands::FIND_PREVIOUS);
    assert_eq!(page.step_request(), None);
    let serial = page.state.serial;
    let found = Match { allocation: 20, index: 9, requested: 512, lowest_byte: 0 };
    page.answer_with(serial, Answer::FindNext(Some(found)));
    assert_eq!(
        page.step_request().map(|(_, begin, _)| begin),
        Some(SearchStart::Allocation(20)),
        "continues from the match, not from the selection"
    );
}

#[test]
fn search_by_id_goes_to_match_at_once() {
    let mut page = Page::open();
    page.find("#1,234");
    page.answer_search(Tally { count: 1, requested: 512, ..Tally::default() });
    assert!(page.step_request().is_some());
    page.answer_step(1234, 0);
    assert_eq!(status(&page.state).text, "618 of 1 · 512 B total · 0 B at the peak");
}

#[test]
fn match_scrolls_into_view_without_zoom() {
    let mut page = Page::open();
    for command in [commands::ZOOM_EVENTS_IN; 6].into_iter().chain([commands::ZOOM_BYTES_IN; 6]) {
        page.command(command);
    }
    let before = page.state.view().expect("a view");
    page.find("train");
    page.answer_search(TALLY);
    for (allocation, lowest_byte) in [(990, 0), (990, 900_000), (3, 0)] {
        page.command(commands::FIND_NEXT);
        page.answer_step(allocation, lowest_byte);
        let view = page.state.view().expect("a view");
        assert_eq!((view.x_per_px, view.bytes_per_px), (before.x_per_px, before.bytes_per_px), "zoom does not change");
        let allocated_at = f64::from(allocation) + 1.0;
        assert!(
            view.x_from_column(0.0) <= allocated_at && allocated_at <= view.x_from_column(100.0),
            "{allocation}: {view:?}"
        );
        let rows = [lowest_byte, lowest_byte + 512].map(|byte| view.row_from_bytes(byte));
        assert!(rows[1] >= 0 && rows[0] <= 100, "{lowest_byte}: {view:?}");
        let held = view;
        page.command(commands::FIND_NEXT);
        page.answer_step(allocation, lowest_byte);
        assert_eq!(page.state.view(), Some(View { ..held }), "a visible match does not scroll");
    }
}

#[test]
fn allocations_with_stack_of_selection_are_highlighted_until_search() {
    let mut page = Page::open();
    page.command(commands::SELECT_NEXT);
    page.select(0, Some(7));
    assert_eq!(page.plot_settings().map(|plot_settings| plot_settings.highlight), Some(Highlight::Stack(7)));
    page.draw();
    let counted = page.find_request(|request| match request {
        Request::Ask(Ask { serial, question: Question::SameStack(stack), .. }) => Some((*serial, *stack)),
        _ => None,
    });
    let (serial, stack) = counted.expect("a tally was requested");
    assert_eq!((stack, same_stack_text(&page.state).as_str()), (7, ""));
    page.answer_with(serial, Answer::SameStack(TALLY));
    assert_eq!(same_stack_text(&page.state), "3,407 allocations · 1.00 GiB total · 12 at the peak, 1.00 MiB");

    // Another allocation of the same stack needs no new scene or tally.
    page.command(commands::SELECT_NEXT);
    page.select(1, Some(7));
    assert_eq!(page.plot_settings(), None);
    assert!(
        page.find_request(
            |request| matches!(request, Request::Ask(Ask { question: Question::SameStack(_), .. })).then_some(())
        )
        .is_none()
    );

    page.command(commands::TOGGLE_SAME_STACK);
    assert_eq!(page.plot_settings().map(|plot_settings| plot_settings.highlight), Some(Highlight::Nothing));
    page.draw();
    page.command(commands::TOGGLE_SAME_STACK);
    page.draw();
    page.find("train");
    let found = page.answer_search(TALLY);
    assert_eq!(page.plot_settings().map(|plot_settings| plot_settings.highlight), Some(Highlight::Found(found)));
    page.draw();

    // Escape clears the selection first, then the search.
    page.command(commands::CLEAR_SELECTION);
    assert!(page.state.selection.is_none() && page.state.find.text == "train");
    page.command(commands::CLEAR_SELECTION);
    assert_eq!(page.state.find.text, "");
    assert_eq!(page.plot_settings().map(|plot_settings| plot_settings.highlight), Some(Highlight::Nothing));
}

#[test]
fn search_is_repeated_on_other_device() {
    let mut page = Page::open();
    page.find("train");
    page.answer_search(TALLY);
    page.command(commands::NEXT_DEVICE);
    assert_eq!(page.search_request().map(|(_, device, text)| (device, text)), Some((1, "train".into())));
    assert_eq!(
        page.plot_settings().map(|plot_settings| plot_settings.highlight),
        Some(Highlight::Nothing),
        "matches of the other device are not highlighted"
    );
}

#[test]
fn find_next_continues_from_selection() {
    let mut page = Page::open();
    page.find("train");
    page.answer_search(TALLY);
    page.command(commands::FIND_NEXT);
    let found = Match { allocation: 22, index: 11, requested: 512, lowest_byte: 0 };
    page.answer_with(page.step_request().expect("a search request").0, Answer::FindNext(Some(found)));
    // Another allocation is selected before the details of the match arrive.
    page.command(commands::SELECT_NEXT);
    page.select(500, Some(7));
    page.command(commands::FIND_NEXT);
    assert_eq!(page.step_request().map(|(_, begin, _)| begin), Some(SearchStart::Allocation(500)));
}

#[test]
fn highlighting_does_not_change_hit_test() {
    let mut page = Page::open();
    page.act(Action::PointerMoved(Pointer { x: 50.5, y: 40.0 }));
    page.command(commands::CURSOR_LATER);
    let hit = |page: &Page| {
        page.find_request(|request| {
            if let Request::Ask(Ask { serial, question: Question::Hit { plot_settings, .. }, .. }) = request {
                Some((*serial, *plot_settings))
            } else {
                None
            }
        })
    };
    let (serial, plot_settings) = hit(&page).expect("a hit test at the crosshair");
    assert_eq!(plot_settings, PlotSettings::default());
    page.answer_with(serial, Answer::Hit { hit: None, memory: None });
    page.find("train");
    page.answer_search(TALLY);
    page.draw();
    assert_ne!(page.state.drawn_settings(), PlotSettings::default(), "the match is highlighted");
    assert_eq!(hit(&page), None);
}

#[test]
fn find_after_regrouping_waits_for_scene() {
    let mut page = Page::open();
    page.find("train");
    page.answer_search(TALLY);
    page.draw();
    page.act(Action::StackingChosen(Some(Grouping::Size)));
    page.command(commands::FIND_PREVIOUS);
    assert_eq!(page.step_request(), None, "the worker would sort everything in one slice");
    page.draw();
    assert_eq!(page.step_request().map(|(_, _, way)| way), Some(Direction::Previous));
}
