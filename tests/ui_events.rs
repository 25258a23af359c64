//! The list of events without a browser: requests, list and cursor following each other, selection, copying, status
//! text.
#![allow(clippy::expect_used, clippy::panic, reason = "test helpers fail by panicking")]

use crate::face::{self, Worker};
use memscape::engine::{Answer, Ask, Question, Request};
use memscape::protocol::{
    Action as Did, Details, DeviceSummary, EventRow, EventsFilter, EventsPage, EventsQuestion, TableText,
};
use memscape::ui::features::command::Command;
use memscape::ui::features::events::{EventsAction, action_filters, grid, status};
use memscape::ui::features::rows::SelectMode;
use memscape::ui::plot::scroll::ROW_PX;
use memscape::ui::shell::action::Action;
use memscape::ui::shell::commands;
use memscape::ui::state::effect::Effect;
use memscape::ui::text::tab::Tab;

/// A worker that lists every `step`-th of `events`.
struct EventsWorker {
    events: u32,
    step: u32,
}

impl Worker for EventsWorker {}

type Page = face::Page<EventsWorker>;

impl Page {
    fn open(events: u32) -> Page {
        let device = DeviceSummary {
            device: 0,
            events: events.into(),
            peak_event: 9,
            drawn_peak: 1 << 20,
            peak_reserved: 1 << 21,
            peak_requested: 1 << 20,
            time_us: Some((1_000_000, 9_000_000)),
            ..DeviceSummary::default()
        };
        let mut page = Page::with_devices(EventsWorker { events, step: 1 }, vec![device]);
        assert!(page.events_request().is_none(), "the list is hidden");
        page.act(Action::TabChosen(Tab::Events));
        page.answer();
        page.scroll(0.0);
        page.answer_all();
        page
    }

    fn events(&mut self, action: EventsAction) {
        self.act(Action::feature(action));
    }

    fn key(&mut self, command: Command) {
        self.act(Action::Command(command));
    }

    fn scroll(&mut self, top: f64) {
        self.events(EventsAction::Scrolled(top, 20.0 * ROW_PX));
    }

    fn events_request(&self) -> Option<(u32, EventsQuestion)> {
        self.find_request(|request| match request {
            Request::Ask(Ask { serial, device: 0, question: Question::Events(question) }) => {
                Some((*serial, (**question).clone()))
            }
            _ => None,
        })
    }

    /// Answers the list request: row N is event N × `step`. Events are allocs, except every fifth is a free, and event
    /// 7 an OOM.
    fn answer(&mut self) -> EventsQuestion {
        let (serial, question) = self.events_request().expect("the list was requested");
        let [first, count] = question.rows;
        let (listed, step) = (self.worker.events.div_ceil(self.worker.step), self.worker.step);
        let row = |row: u32| {
            let event = row * step;
            let action = match event {
                7 => Did::Oom,
                _ if event % 5 == 4 => Did::FreeCompleted,
                _ => Did::Alloc,
            };
            EventRow {
                event,
                action: action as u8,
                time_us: Some(1_000_000 + 10 * i64::from(event)),
                since_us: event.checked_sub(1).map(|_| 10),
                size: 1 << 20,
                address: (action != Did::Oom).then_some(0x7f89_b400_0000),
                version: event / 5,
                device_free: (action == Did::Oom).then_some(3 << 20),
                stream: Some(0),
                pool: Some((0, 0)),
                allocation: (action != Did::Oom).then_some(1000 + event),
                call_site: "train.py:1 step".into(),
                active: 5 << 20,
                awaiting_free: 1 << 20,
                reserved: 20 << 20,
                matches: event == 3,
            }
        };
        let mut actions = vec![0; Did::ALL.len()];
        (actions[Did::Alloc as usize], actions[Did::Oom as usize]) = (79, 1);
        let page = EventsPage {
            total: self.worker.events,
            listed,
            first,
            rows: (first..listed.min(first.saturating_add(count))).map(row).collect(),
            revealed: question.reveal.map(|event| event.div_ceil(step).min(listed.saturating_sub(1))),
            actions,
        };
        self.answer_with(serial, Answer::Events(Box::new(page)));
        question
    }

    fn answer_all(&mut self) {
        for _ in 0..5 {
            if self.events_request().is_some() {
                self.answer();
            }
        }
        assert!(self.events_request().is_none(), "no further request");
    }

    /// Event of the active row, where key presses start.
    fn active(&self) -> Option<u32> {
        let grid = grid(&self.state.events, &self.state);
        grid.rows.iter().find(|row| Some(row.row) == grid.active).map(|row| row.item)
    }
}

#[test]
fn list_starts_at_cursor_and_follows_it() {
    let mut page = Page::open(10_000_000);
    assert_eq!(page.active(), Some(9), "the peak is after event 9");
    page.act(Action::GoToEntered("7,654,321".into()));
    let question = page.answer();
    assert_eq!(question.reveal, Some(7_654_321));
    page.answer_all();
    assert_eq!(page.active(), Some(7_654_321));
    let seen = grid(&page.state.events, &page.state);
    let row = seen.rows.iter().find(|row| row.item == 7_654_321).expect("the row is visible");
    assert!(row.class.contains("now") && row.cells[0].text == "7,654,321", "{row:?}");
    assert!(seen.total_px <= 12_000_000.0, "page is higher than browsers draw");
    // Nothing moved, so nothing is requested.
    page.scroll(page.state.events.scroll.jump().1);
    page.answer_all();
    page.scroll(page.state.events.scroll.jump().1);
    assert!(page.events_request().is_none());
}

#[test]
fn keys_move_cursor_between_events() {
    let mut page = Page::open(1000);
    page.key(commands::rows::DOWN);
    assert_eq!(page.state.cursor.moment, 11, "after event 10");
    page.answer_all();
    assert_eq!(page.active(), Some(10));
    // To a row that is not loaded yet: the cursor moves when it arrives.
    page.key(commands::rows::LAST);
    assert_eq!(page.state.cursor.moment, 11);
    page.answer_all();
    assert_eq!((page.state.cursor.moment, page.active()), (1000, Some(999)));
    page.key(commands::rows::FIRST);
    page.answer_all();
    assert_eq!((page.state.cursor.moment, page.active()), (1, Some(0)));
    // Extending the selection leaves the cursor in place.
    page.act(Action::Command(commands::rows::EXTEND_DOWN));
    assert_eq!((page.state.cursor.moment, page.state.events.selected_rows.count()), (1, 2));
}

#[test]
fn clicked_free_event_moves_cursor_to_it() {
    let mut page = Page::open(1000);
    page.events(EventsAction::RowClicked(14, SelectMode::Only));
    assert_eq!(page.state.cursor.moment, 15);
    page.answer_details(Details {
        allocation: 1014,
        allocated_event: Some(2),
        freed_event: Some(14),
        ..Details::default()
    });
    assert_eq!(page.state.cursor.moment, 15, "cursor stays at the free");
    page.answer_all();
    assert!(
        grid(&page.state.events, &page.state).rows.iter().any(|row| row.item == 14 && row.class.contains("selected"))
    );
    // Keys move to both ends of its lifetime.
    page.act(Action::Command(commands::events::TO_ALLOCATED));
    page.answer_all();
    assert_eq!((page.state.cursor.moment, page.active()), (3, Some(2)));
    page.act(Action::TabChosen(Tab::CallTree));
    page.act(Action::Command(commands::events::TO_FREED));
    page.answer_all();
    assert_eq!((page.state.cursor.moment, page.active(), page.state.views.tab), (15, Some(14), Tab::Events));
    // Enter selects the allocation of the row.
    page.key(commands::rows::DOWN);
    page.act(Action::Command(commands::events::SELECT));
    assert!(
        page.effects
            .iter()
            .any(|it| matches!(it, Effect::Ask(Request::Ask(Ask { question: Question::Details(1015), .. }))))
    );
}

#[test]
fn filter_is_requested_and_shown_in_status() {
    let mut page = Page::open(80);
    let listed: Vec<(u32, String)> =
        action_filters(&page.state.events).into_iter().map(|it| (it.action, it.text)).collect();
    assert_eq!(listed, [(0, "+ alloc 79".to_owned()), (8, "▲ oom 1".to_owned())]);
    page.events(EventsAction::ActionToggled(8));
    page.worker.step = 7;
    let question = page.answer();
    assert_eq!(question.filter, EventsFilter { actions: EventsFilter::bit(Did::Oom), ..EventsFilter::default() });
    page.answer_all();
    assert_eq!(status(&page.state.events).text, "12 events of 80");
    assert_eq!(page.active(), Some(14), "first listed event after the cursor");
    let row =
        grid(&page.state.events, &page.state).rows.into_iter().find(|row| row.item == 7).expect("row of the OOM event");
    assert_eq!(row.cells[3].text, "▲ oom");
    assert_eq!(row.cells[8].text, "requested 1.00 MiB, the driver had 3.00 MiB free · train.py:1 step");
    assert_eq!(row.cells[5].text, "–");

    page.events(EventsAction::FilterTyped("train.py".into()));
    assert_eq!(page.answer().filter.text, "train.py");
    page.act(Action::Command(commands::rows::CLEAR));
    page.worker.step = 1;
    assert_eq!(page.answer().filter, EventsFilter::default());
    page.answer_all();
    assert_eq!(status(&page.state.events).text, "80 events");
    assert_eq!(page.active(), Some(9), "the cursor's own row is listed again");
}

#[test]
fn row_has_all_columns() {
    let page = Page::open(80);
    let row =
        grid(&page.state.events, &page.state).rows.into_iter().find(|row| row.item == 14).expect("the row is visible");
    let texts: Vec<&str> = row.cells.iter().map(|cell| cell.text.as_str()).collect();
    assert_eq!(
        texts,
        [
            "14",
            "0.000140",
            "10 µs",
            "− free_completed",
            "1.00 MiB",
            "7f89b4000000_2",
            "0",
            "default",
            "train.py:1 step",
            "5.00 MiB",
            "1.00 MiB",
            "20.0 MiB"
        ]
    );
    assert_eq!(row.cells[9].title, "5,242,880 B", "live bytes include bytes awaiting free");
    assert!(grid(&page.state.events, &page.state).rows.iter().any(|row| row.item == 3 && row.class.contains("found")));
}

#[test]
fn list_has_only_events_of_range() {
    let mut page = Page::open(80);
    page.act(Action::Command(commands::TOGGLE_RANGE));
    page.answer_all();
    page.key(commands::rows::DOWN);
    let question = page.answer();
    assert_eq!(question.filter.range, Some([10, 11]), "range starts at the cursor: event 10");
    assert!(status(&page.state.events).text.ends_with("in range"));
}

#[test]
fn selected_rows_are_copied() {
    let mut page = Page::open(1000);
    page.events(EventsAction::RowClicked(3, SelectMode::Only));
    page.answer_all();
    page.events(EventsAction::RowClicked(5, SelectMode::Extend));
    page.act(Action::Command(commands::rows::COPY));
    let (serial, chosen) = page
        .effects
        .iter()
        .find_map(|effect| match effect {
            Effect::Ask(Request::Ask(Ask { serial, question: Question::EventsText(question), .. })) => {
                Some((*serial, question.selected.clone()))
            }
            _ => None,
        })
        .expect("the text was requested");
    assert_eq!(chosen, [[3, 6]]);
    let part = TableText { text: "event\n3\n4\n5\n".into(), rows: 3, last: true };
    page.answer_with(serial, Answer::TableText(part));
    assert!(page.effects.contains(&Effect::CopyPromised("event\n3\n4\n5\n".into())));
    page.act(Action::Copied(Ok(())));
    assert_eq!(page.state.remark.as_deref(), Some("Copied 3 rows."));
    page.act(Action::Command(commands::rows::SELECT_ALL));
    assert_eq!(page.state.events.selected_rows.count(), 1000);
}

#[test]
fn late_scroll_event_does_not_undo_jump() {
    let mut page = Page::open(100_000);
    page.key(commands::rows::LAST);
    let (jumps, px) = page.state.events.scroll.jump();
    // The browser reports its scroll position from before the jump.
    page.scroll(0.0);
    assert_eq!(page.state.events.scroll.jump(), (jumps, px));
    assert!(px > 2_000_000.0);
    // The first row seems to be in view, but the browser may have jumped meanwhile.
    page.key(commands::rows::FIRST);
    assert_eq!(page.state.events.scroll.jump(), (jumps + 1, 0.0));
}
