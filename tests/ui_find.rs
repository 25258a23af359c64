//! The search without a browser: what is asked when, what stands out, what is said.
#![allow(clippy::expect_used, clippy::panic, reason = "the helpers of a test fail as it does, by panicking")]

use crate::face::{self, Worker, columns};
use memscape::engine::protocol::{
    Begin, Details, DeviceSummary, Direction, Grouping, Highlight, Looks, Match, Scope, Tally,
};
use memscape::engine::{Answer, Ask, Question, Request};
use memscape::timeline::{Scene, View};
use memscape::ui::cursor::CursorStep;
use memscape::ui::effect::Pointer;
use memscape::ui::find::{same_stack, status};
use memscape::ui::{Action, Command, Effect};

const TALLY: Tally = Tally { count: 3407, requested: 1 << 30, peak_count: 12, peak_requested: 1 << 20 };

/// Answers no search by itself.
struct Finder;

impl Worker for Finder {}

type Page = face::Page<Finder>;

impl Page {
    /// With a file of two devices open, and the whole of the first one drawn.
    fn open() -> Page {
        let device = |device| DeviceSummary {
            device,
            events: 999,
            peak_requested: 1 << 20,
            drawn_peak: 1 << 20,
            ..DeviceSummary::default()
        };
        let mut page = Page::with(Finder, vec![device(0), device(1)]);
        page.draw();
        page
    }

    fn find(&mut self, text: &str) {
        self.act(Action::FindTyped(text.into()));
    }

    /// The search that was just asked for: its serial, device and text.
    fn search(&self) -> Option<(u32, i64, String)> {
        self.request(|request| match request {
            Request::Ask(Ask { serial, device, what: Question::Find(query) }) => {
                Some((*serial, *device, query.clone()))
            }
            _ => None,
        })
    }

    /// The step that was just asked for.
    fn step(&self) -> Option<(u32, Begin, Direction)> {
        self.request(|request| match request {
            Request::Ask(Ask { serial, what: Question::FindNext { begin, direction, looks, .. }, .. }) => {
                assert_eq!(*looks, looks.plain());
                Some((*serial, *begin, *direction))
            }
            _ => None,
        })
    }

    /// How the scene that was just asked for is to look.
    fn looks(&self) -> Option<Looks> {
        self.request(|request| {
            if let Request::Ask(Ask { what: Question::Scene { looks, .. }, .. }) = request {
                Some(*looks)
            } else {
                None
            }
        })
    }

    /// Answers the search that was just asked for.
    fn found(&mut self, tally: Tally) -> u32 {
        let (serial, ..) = self.search().expect("a search was asked for");
        self.answered(serial, Answer::Find(tally));
        serial
    }

    /// Answers the step that was just asked for, and the details that follow.
    fn stepped(&mut self, allocation: u32, lowest_byte: u64) {
        let (serial, ..) = self.step().expect("a step was asked for");
        let found = Match { allocation, place: allocation / 2, requested: 512, lowest_byte };
        self.answered(serial, Answer::FindNext(Some(found)));
        self.select(allocation, Some(7));
    }

    /// Answers the details that were just asked for.
    fn select(&mut self, allocation: u32, stack: Option<u32>) {
        let freed_event = Some(allocation + 2);
        self.tell(Details { allocation, stack, born_event: Some(allocation), freed_event, ..Details::default() });
    }

    /// Answers the scene that is on its way.
    fn draw(&mut self) {
        let (serial, view) = (self.state.geometry.in_flight.expect("a scene was asked for"), self.state.view);
        let view = view.expect("a view");
        let scene = Scene { columns: columns(view), view, band_px: 1, quads: vec![], ground: None, identities: vec![] };
        self.answered(serial, Answer::Scene(Box::new(scene)));
    }
}

#[test]
fn what_is_typed_is_searched_once() {
    let mut page = Page::open();
    page.find("train");
    let (first, device, text) = page.search().expect("asked");
    assert_eq!((device, text.as_str()), (0, "train"));
    page.find("train");
    assert_eq!(page.search(), None, "it is on its way");
    page.find("train.py");
    let (second, ..) = page.search().expect("asked");
    page.answered(first, Answer::Find(TALLY));
    assert_eq!(status(&page.state).text, "Searching…", "that was the answer to another question");
    page.answered(second, Answer::Find(TALLY));
    assert_eq!(status(&page.state).text, "3,407 matches · 1.00 GiB total · 1.00 MiB at the peak");
    assert_eq!(
        status(&page.state).exact,
        "1,073,741,824 B requested in total (not all live at once); 12 live at the peak, 1,048,576 B"
    );
    assert_eq!(page.looks().map(|looks| looks.highlight), Some(Highlight::Found(second)));
    page.draw();
    page.find("  ");
    assert_eq!((page.search(), status(&page.state).text.as_str()), (None, ""));
    assert_eq!(page.looks().map(|looks| looks.highlight), Some(Highlight::Nothing));
}

#[test]
fn capitals_of_text_matter_where_a_person_says_so() {
    let mut page = Page::open();
    page.find("Linear");
    page.found(TALLY);
    page.command(Command::FindCapitals);
    assert_eq!(page.search().map(|(.., query)| query), Some("\"Linear\"".into()));
    page.found(Tally { count: 7, ..TALLY });
    assert!(status(&page.state).text.starts_with("7 matches"));
    // What is no text says itself what it means.
    for query in ["/linear/i", ">1GiB", "#12", "\"Linear\""] {
        page.find(query);
        assert_eq!(page.search().map(|(.., asked)| asked), Some(query.into()));
        page.found(TALLY);
    }
    page.find("Linear");
    assert_eq!(page.search(), None, "the same as with quotes");
    page.command(Command::FindCapitals);
    assert_eq!(page.search().map(|(.., query)| query), Some("Linear".into()));
}

#[test]
fn what_is_wrong_is_said_and_not_searched() {
    let mut page = Page::open();
    page.find(">5MB");
    let said = status(&page.state);
    assert_eq!((page.search(), said.is_wrong, said.text.as_str()), (None, true, "MB is ambiguous: write MiB."));
    page.command(Command::FindNext);
    assert_eq!(page.step(), None);
    page.find(">5MiB");
    page.found(Tally::default());
    assert_eq!(status(&page.state).text, "No matches");
    assert_eq!(page.looks(), None, "where nothing is found nothing is faded");
}

#[test]
fn from_match_to_match() {
    let mut page = Page::open();
    page.command(Command::FindNext);
    assert_eq!(page.done, [Effect::FocusFind], "nothing to find yet: the field it is typed into");
    page.find("train");
    page.command(Command::FindPrevious);
    assert_eq!(page.step(), None, "what was found is not known yet");
    page.act(Action::PointerLeft);
    assert_eq!(page.step(), None);
    let mut page = Page::open();
    page.find("train");
    let (serial, ..) = page.search().expect("asked");
    page.command(Command::FindNext);
    page.answered(serial, Answer::Find(TALLY));
    let (_, begin, direction) = page.step().expect("as soon as it is known");
    assert_eq!((begin, direction), (Begin::Moment(0), Direction::Next), "from the left edge of the window");
    page.stepped(22, 0);
    assert_eq!(status(&page.state).text, "12 of 3,407 · 1.00 GiB total · 1.00 MiB at the peak");
    assert_eq!(page.state.selection.as_ref().map(|it| it.allocation), Some(22));
    assert_eq!(page.state.views.scope, Scope::At(23), "the views are about a moment that has it");
    page.command(Command::FindPrevious);
    assert_eq!(page.step().map(|(_, begin, way)| (begin, way)), Some((Begin::Allocation(22), Direction::Previous)));
    // Another press before the answer counts as well.
    page.command(Command::FindPrevious);
    assert_eq!(page.step(), None);
    let serial = page.state.serial;
    let found = Match { allocation: 20, place: 9, requested: 512, lowest_byte: 0 };
    page.answered(serial, Answer::FindNext(Some(found)));
    assert_eq!(
        page.step().map(|(_, begin, _)| begin),
        Some(Begin::Allocation(20)),
        "from there, not from the selection"
    );
}

#[test]
fn a_number_is_gone_to_at_once() {
    let mut page = Page::open();
    page.find("#1,234");
    page.found(Tally { count: 1, requested: 512, ..Tally::default() });
    assert!(page.step().is_some());
    page.stepped(1234, 0);
    assert_eq!(status(&page.state).text, "618 of 1 · 512 B total · 0 B at the peak");
}

#[test]
fn a_match_comes_into_the_window_by_the_shortest_way() {
    let mut page = Page::open();
    for command in [Command::ZoomEventsIn; 6].into_iter().chain([Command::ZoomBytesIn; 6]) {
        page.command(command);
    }
    let before = page.state.view.expect("a view");
    page.find("train");
    page.found(TALLY);
    for (allocation, lowest_byte) in [(990, 0), (990, 900_000), (3, 0)] {
        page.command(Command::FindNext);
        page.stepped(allocation, lowest_byte);
        let view = page.state.view.expect("a view");
        assert_eq!((view.x_per_px, view.bytes_per_px), (before.x_per_px, before.bytes_per_px), "no zoom");
        let born = f64::from(allocation) + 1.0;
        assert!(view.x_from_column(0.0) <= born && born <= view.x_from_column(100.0), "{allocation}: {view:?}");
        let rows = [lowest_byte, lowest_byte + 512].map(|byte| view.row_from_bytes(byte));
        assert!(rows[1] >= 0 && rows[0] <= 100, "{lowest_byte}: {view:?}");
        let held = view;
        page.command(Command::FindNext);
        page.stepped(allocation, lowest_byte);
        assert_eq!(page.state.view, Some(View { ..held }), "what is in the window stays where it is");
    }
}

#[test]
fn all_of_the_stack_stand_out_until_something_is_found() {
    let mut page = Page::open();
    page.command(Command::SelectNext);
    page.select(0, Some(7));
    assert_eq!(page.looks().map(|looks| looks.highlight), Some(Highlight::Stack(7)));
    page.draw();
    let counted = page.request(|request| match request {
        Request::Ask(Ask { serial, what: Question::SameStack(stack), .. }) => Some((*serial, *stack)),
        _ => None,
    });
    let (serial, stack) = counted.expect("a tally was asked for");
    assert_eq!((stack, same_stack(&page.state).as_str()), (7, ""));
    page.answered(serial, Answer::SameStack(TALLY));
    assert_eq!(same_stack(&page.state), "3,407 allocations · 1.00 GiB total · 12 at the peak, 1.00 MiB");

    // Another of the same stack: nothing has to be drawn or counted anew.
    page.command(Command::SelectNext);
    page.select(1, Some(7));
    assert_eq!(page.looks(), None);
    assert!(
        page.request(|request| matches!(request, Request::Ask(Ask { what: Question::SameStack(_), .. })).then_some(()))
            .is_none()
    );

    page.command(Command::ToggleSameStack);
    assert_eq!(page.looks().map(|looks| looks.highlight), Some(Highlight::Nothing));
    page.draw();
    page.command(Command::ToggleSameStack);
    page.draw();
    page.find("train");
    let found = page.found(TALLY);
    assert_eq!(page.looks().map(|looks| looks.highlight), Some(Highlight::Found(found)));
    page.draw();

    // Escape: the selection, then the search.
    page.command(Command::ClearSelection);
    assert!(page.state.selection.is_none() && page.state.find.text == "train");
    page.command(Command::ClearSelection);
    assert_eq!(page.state.find.text, "");
    assert_eq!(page.looks().map(|looks| looks.highlight), Some(Highlight::Nothing));
}

#[test]
fn another_device_is_searched_for_the_same() {
    let mut page = Page::open();
    page.find("train");
    page.found(TALLY);
    page.command(Command::NextDevice);
    assert_eq!(page.search().map(|(_, device, text)| (device, text)), Some((1, "train".into())));
    assert_eq!(page.looks().map(|looks| looks.highlight), Some(Highlight::Nothing), "what was found is of the other");
}

#[test]
fn whoever_selects_something_else_goes_on_from_there() {
    let mut page = Page::open();
    page.find("train");
    page.found(TALLY);
    page.command(Command::FindNext);
    let found = Match { allocation: 22, place: 11, requested: 512, lowest_byte: 0 };
    page.answered(page.step().expect("asked").0, Answer::FindNext(Some(found)));
    // Before its details are here, another one is selected.
    page.command(Command::SelectNext);
    page.select(500, Some(7));
    page.command(Command::FindNext);
    assert_eq!(page.step().map(|(_, begin, _)| begin), Some(Begin::Allocation(500)));
}

#[test]
fn what_stands_out_changes_nothing_under_the_cursor() {
    let mut page = Page::open();
    page.act(Action::PointerMoved(Pointer { x: 50.5, y: 40.0 }));
    page.command(Command::Cursor(CursorStep::Later));
    let hit = |page: &Page| {
        page.request(|request| {
            if let Request::Ask(Ask { serial, what: Question::Hit { looks, .. }, .. }) = request {
                Some((*serial, *looks))
            } else {
                None
            }
        })
    };
    let (serial, looks) = hit(&page).expect("what is under the cursor");
    assert_eq!(looks, Looks::default());
    page.answered(serial, Answer::Hit { hit: None, memory: None });
    page.find("train");
    page.found(TALLY);
    page.draw();
    assert_ne!(page.state.geometry.looks, Looks::default(), "it stands out");
    assert_eq!(hit(&page), None);
}

#[test]
fn in_another_order_a_match_is_looked_for_once_that_is_made() {
    let mut page = Page::open();
    page.find("train");
    page.found(TALLY);
    page.draw();
    page.act(Action::StackingChosen(Some(Grouping::Size)));
    page.command(Command::FindPrevious);
    assert_eq!(page.step(), None, "the worker would sort everything at one go");
    page.draw();
    assert_eq!(page.step().map(|(_, _, way)| way), Some(Direction::Previous));
}
