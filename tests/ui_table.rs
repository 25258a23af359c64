//! The Allocations view and the histograms without a browser: requests, selected and visible rows, texts.
#![allow(clippy::expect_used, clippy::panic, reason = "test helpers fail by panicking")]

use crate::face::{self, Worker};
use memscape::engine::{Answer, Ask, Question, Reply, Request};
use memscape::protocol::{
    Details, DeviceSummary, LIFETIME_CLASSES, SIZE_CLASSES, SortDirection, TableColumn, TablePage, TableQuestion,
    TableRow, TableText, Weight,
};
use memscape::ui::features::command::Command;
use memscape::ui::features::histograms::{ClickMode, Histogram};
use memscape::ui::features::rows::SelectMode;
use memscape::ui::features::table::{FilterPart, TableAction, grid, status};
use memscape::ui::plot::scroll::ROW_PX;
use memscape::ui::shell::action::Action;
use memscape::ui::shell::commands;
use memscape::ui::state::effect::Effect;
use memscape::ui::text::tab::Tab;

/// A worker whose table has this many rows.
struct TableWorker(u32);

impl Worker for TableWorker {}

type Page = face::Page<TableWorker>;

impl Page {
    /// A page with the table visible. 20 of the rows are in view, and the first rows are loaded.
    fn open(rows: u32) -> Page {
        let device = |device| DeviceSummary {
            device,
            events: 999,
            peak_event: 500,
            drawn_peak: 1 << 20,
            ..DeviceSummary::default()
        };
        let mut page = Page::with_devices(TableWorker(rows), vec![device(0), device(1)]);
        assert!(page.table_request().is_none(), "the table is hidden");
        page.act(Action::TabChosen(Tab::Allocations));
        page.answer();
        page.scroll(0.0);
        page.answer_if_asked();
        page
    }

    fn key(&mut self, command: Command) {
        self.act(Action::Command(command));
    }

    fn scroll(&mut self, top: f64) {
        self.act(Action::feature(TableAction::Scrolled(top, 20.0 * ROW_PX)));
    }

    fn table_request(&self) -> Option<(u32, TableQuestion)> {
        self.find_request(|request| match request {
            Request::Ask(Ask { serial, device: 0, question: Question::Table(question) }) => {
                Some((*serial, (**question).clone()))
            }
            _ => None,
        })
    }

    /// Answers a request: row N is allocation `1000 + N` of N bytes.
    fn answer_to(&mut self, (serial, question): (u32, TableQuestion)) {
        let [first, count] = question.rows;
        let row = |row: u32| TableRow {
            allocation: 1000 + row,
            requested: row.into(),
            allocated_at: Some(row),
            call_site: "train.py:1 step".into(),
            ..TableRow::default()
        };
        let mut sizes = vec![Weight::default(); SIZE_CLASSES];
        (sizes[10], sizes[12]) = (Weight { bytes: 5000, count: 9 }, Weight { bytes: 10_000, count: 4 });
        let page = TablePage {
            freed: Weight::default(),
            found: Weight::default(),
            scope: Weight { bytes: 1 << 20, count: 1000 + self.worker.0 },
            listed: Weight { bytes: 1 << 20, count: self.worker.0 },
            selected: Weight { bytes: 777, count: question.selected.iter().map(|[from, to]| to - from).sum() },
            first,
            rows: (first..self.worker.0.min(first + count)).map(row).collect(),
            revealed: question.reveal.and_then(|it| it.checked_sub(1000)).filter(|row| *row < self.worker.0),
            sizes,
            lifetimes: vec![Weight { bytes: 1, count: 1 }; LIFETIME_CLASSES],
        };
        self.answer_with(serial, Answer::Table(Box::new(page)));
    }

    fn answer(&mut self) -> TableQuestion {
        let asked = self.table_request().expect("the table was requested");
        self.answer_to(asked.clone());
        asked.1
    }

    fn answer_if_asked(&mut self) {
        if let Some(asked) = self.table_request() {
            self.answer_to(asked);
        }
    }

    /// Answers the details request for the selected allocation.
    fn select(&mut self, allocation: u32) {
        self.answer_details(Details { allocation, ..Details::default() });
    }

    /// Visible rows.
    fn rows(&self) -> Vec<u32> {
        grid(&self.state.table, &self.state).rows.iter().map(|row| row.row).collect()
    }
}

#[test]
fn rows_are_requested_when_scrolled_out_of_loaded_range() {
    let mut page = Page::open(10_000);
    assert!(page.table_request().is_none(), "all visible rows are loaded");
    page.scroll(3.0 * ROW_PX);
    assert!(page.table_request().is_none());
    page.scroll(5000.0 * ROW_PX);
    let asked = page.table_request().expect("other rows");
    assert!(asked.1.rows[0] < 5000 && asked.1.rows[0] + asked.1.rows[1] > 5040, "{:?}", asked.1.rows);
    // One question at a time, the newest next.
    page.scroll(6000.0 * ROW_PX);
    page.scroll(7000.0 * ROW_PX);
    assert!(page.table_request().is_none());
    page.answer_to(asked);
    assert!(page.table_request().expect("the newest").1.rows[0] > 6900);
    page.answer();
    assert!(page.rows().contains(&7000) && page.rows().contains(&7019));
    assert!(page.table_request().is_none());
    // Another view is visible, so the table requests nothing.
    page.act(Action::TabChosen(Tab::CallTree));
    page.act(Action::feature(TableAction::SortChosen(TableColumn::Address)));
    assert!(page.table_request().is_none());
}

#[test]
fn column_click_sorts_and_reverses() {
    let mut page = Page::open(100);
    assert_eq!(
        (page.state.table.sort.column, page.state.table.sort.direction),
        (TableColumn::Size, SortDirection::Descending)
    );
    for (column, way) in [
        (TableColumn::Size, SortDirection::Ascending),
        (TableColumn::Allocated, SortDirection::Ascending),
        (TableColumn::Allocated, SortDirection::Descending),
        (TableColumn::Age, SortDirection::Descending),
    ] {
        page.act(Action::feature(TableAction::SortChosen(column)));
        let asked = page.answer().sort;
        assert_eq!((asked.column, asked.direction), (column, way));
    }
    page.act(Action::Command(commands::rows::SORT_BY_NEXT_COLUMN));
    assert_eq!(page.answer().sort.column, TableColumn::Freed);
    page.act(Action::Command(commands::rows::REVERSE_SORT));
    assert_eq!(page.answer().sort.direction, SortDirection::Descending);
}

#[test]
fn selecting_rows_requests_their_sum() {
    let mut page = Page::open(100);
    page.act(Action::feature(TableAction::RowClicked(3, SelectMode::Only)));
    assert_eq!(page.state.table.selected_rows.ranges(), [[3, 4]]);
    assert!(page.table_request().is_none(), "the size of one row is known");
    page.select(1003);
    assert!(page.table_request().is_none(), "the position of one row is known");
    assert_eq!(page.state.table.selected_rows.ranges(), [[3, 4]]);
    page.key(commands::rows::EXTEND_DOWN);
    page.key(commands::rows::EXTEND_DOWN);
    assert_eq!(page.state.table.selected_rows.ranges(), [[3, 6]]);
    page.act(Action::feature(TableAction::RowClicked(9, SelectMode::Toggle)));
    assert_eq!(page.state.table.selected_rows.ranges(), [[3, 6], [9, 10]]);
    let status_text = status(&page.state.table, &page.state);
    assert!(!status_text.text.contains("chosen"), "the sum of other rows is shown: {}", status_text.text);
    let mut question = None;
    // The request for the first extension is in flight while the selection grows.
    let mut page = Page::open(100);
    page.act(Action::feature(TableAction::RowClicked(3, SelectMode::Only)));
    page.key(commands::rows::EXTEND_DOWN);
    let first = page.table_request().expect("their sum");
    assert_eq!(first.1.selected, [[3, 5]]);
    page.key(commands::rows::EXTEND_DOWN);
    assert!(page.table_request().is_none());
    page.answer_to(first);
    question.replace(page.answer());
    assert_eq!(question.expect("the newest").selected, [[3, 6]]);
    let status_text = status(&page.state.table, &page.state);
    assert!(status_text.text.starts_with("3 selected · 777 B · 100 allocations"), "{}", status_text.text);
    page.act(Action::Command(commands::rows::SELECT_ALL));
    assert_eq!(page.answer().selected, [[0, 100]]);
    // Sorting clears the selection.
    page.act(Action::feature(TableAction::SortChosen(TableColumn::Id)));
    page.answer();
    assert_eq!(page.state.table.selected_rows.count(), 0);
}

#[test]
fn keys_reach_any_row_of_a_long_table() {
    for rows in [1, 7, 10_000, 1_000_000, 30_000_000] {
        let mut page = Page::open(rows);
        let mut shown = page.state.table.scroll.jump().0;
        for (go, expected) in [
            (commands::rows::LAST, rows - 1),
            (commands::rows::UP, (rows - 1).saturating_sub(1)),
            (commands::rows::PAGE_UP, (rows - 1).saturating_sub(20)),
            (commands::rows::FIRST, 0),
            (commands::rows::DOWN, 1.min(rows - 1)),
            (commands::rows::PAGE_DOWN, 20.min(rows - 1)),
        ] {
            page.key(go);
            page.answer_if_asked();
            // The browser scrolls to the requested position, as far as possible.
            let jump = page.state.table.scroll.jump();
            if jump.0 != shown {
                let height = grid(&page.state.table, &page.state).total_px;
                assert!((0.0..=height).contains(&jump.1), "{jump:?} of {height}");
                page.scroll(jump.1.min((height - 20.0 * ROW_PX).max(0.0)));
                page.answer_if_asked();
                shown = jump.0;
            }
            assert_eq!(page.state.table.selected_rows.active(), Some(expected), "{go:?} of {rows}");
            assert!(page.rows().contains(&expected), "{go:?} of {rows}: {:?}", page.rows());
            let seen = grid(&page.state.table, &page.state);
            assert!(seen.total_px <= 12_000_000.0 && seen.count == rows);
        }
    }
}

#[test]
fn selection_in_other_view_is_revealed_once() {
    let mut page = Page::open(10_000);
    page.act(Action::Command(commands::SELECT_NEXT));
    page.select(1000 + 4321);
    assert_eq!(page.answer().reveal, Some(5321));
    assert_eq!(page.state.table.selected_rows.active(), Some(4321));
    page.answer();
    let (_, px) = page.state.table.scroll.jump();
    assert!((px / ROW_PX - 4311.0).abs() < 2.0, "row is not scrolled to the middle: {px}");
    page.scroll(px);
    page.answer_if_asked();
    assert!(page.rows().contains(&4321));
    let row =
        grid(&page.state.table, &page.state).rows.into_iter().find(|row| row.row == 4321).expect("the row is visible");
    assert!(row.class.contains("selected"), "{}", row.class);
    page.scroll(0.0);
    let asked = page.answer();
    assert_eq!(asked.reveal, None, "scrolling away does not jump back");
}

#[test]
fn valid_filter_is_requested_and_invalid_one_is_not() {
    let mut page = Page::open(100);
    page.act(Action::feature(TableAction::FilterTyped("train.py & >1KiB".into())));
    assert_eq!(page.answer().filter.text, "train.py & >1KiB");
    assert!(status(&page.state.table, &page.state).text.contains("100 allocations of 1,100"));
    page.act(Action::feature(TableAction::FilterTyped("train.py & >1KiB & age>".into())));
    assert!(page.table_request().is_none(), "listed rows stay");
    assert!(
        status(&page.state.table, &page.state).is_error
            && status(&page.state.table, &page.state).text.contains("age>1000")
    );
    page.act(Action::feature(TableAction::BarClicked(Histogram::Sizes, 12, ClickMode::Only)));
    let filter = page.answer().filter;
    assert_eq!((filter.text.as_str(), filter.sizes), ("train.py & >1KiB", Some([12, 12])));
    page.act(Action::feature(TableAction::BarClicked(Histogram::Sizes, 10, ClickMode::Extend)));
    assert_eq!(page.answer().filter.sizes, Some([10, 12]));
    page.state.views.node = Some(7);
    page.act(Action::feature(TableAction::BarClicked(Histogram::Lifetimes, 4, ClickMode::Only)));
    let filter = page.answer().filter;
    assert_eq!((filter.lifetimes, filter.node.map(|(_, node)| node)), (Some([4, 4]), Some(7)));
    page.act(Action::feature(TableAction::FilterPartRemoved(FilterPart::Node)));
    assert_eq!(page.answer().filter.node, None);
    page.act(Action::Command(commands::rows::CLEAR));
    assert_eq!(page.answer().filter, Default::default());
    assert!(!status(&page.state.table, &page.state).is_filtered);
}

#[test]
fn histogram_bars_have_count_and_bytes() {
    let mut page = Page::open(100);
    page.act(Action::TabChosen(Tab::Histograms));
    let bars = page.state.table.chart(Histogram::Sizes).bars;
    let names: Vec<&str> = bars.iter().map(|bar| bar.name.as_str()).collect();
    let expected =
        ["512 B–1 KiB: 9 allocations, 4.88 KiB", "1–2 KiB: 0 allocations, 0 B", "2–4 KiB: 4 allocations, 9.77 KiB"];
    assert_eq!(names, expected);
    assert_eq!(bars.iter().map(|bar| bar.height).collect::<Vec<_>>(), [500, 0, 1000]);
    page.act(Action::Command(commands::histograms::TOGGLE_MEASURE));
    let chart = page.state.table.chart(Histogram::Sizes);
    assert_eq!(chart.bars.iter().map(|bar| bar.height).collect::<Vec<_>>(), [1000, 0, 444]);
    assert_eq!(chart.axis, ["Allocations", "9", "4"]);
}

#[test]
fn text_is_copied_once_all_parts_arrived() {
    let mut page = Page::open(1_000_000);
    page.act(Action::Command(commands::rows::COPY));
    let asked = page.effects.iter().find_map(|effect| match effect {
        Effect::Ask(Request::Ask(Ask { serial, question: Question::TableText(question), .. })) => {
            Some((*serial, question.selected.clone()))
        }
        _ => None,
    });
    let (serial, chosen) = asked.expect("text was requested");
    assert_eq!(chosen, [[0, 1_000_000]], "all rows if none are selected");
    let part = |text: &str, rows, last| Reply::Answer {
        serial,
        answer: Answer::TableText(TableText { text: text.into(), rows, last }),
    };
    page.act(Action::Replied { load: page.state.load, reply: part("a\n", 100_000, false) });
    assert!(!page.effects.iter().any(|effect| matches!(effect, Effect::CopyPromised(_))));
    page.act(Action::Replied { load: page.state.load, reply: part("b\n", 200_000, true) });
    assert!(page.effects.contains(&Effect::CopyPromised("a\nb\n".into())));
    page.act(Action::Copied(Ok(())));
    assert_eq!(page.state.remark.as_deref(), Some("Copied the first 200,000 rows of 1,000,000."));
    page.act(Action::Copied(Ok(())));
    assert_eq!(page.state.remark.as_deref(), Some("Copied."), "another copy succeeded");
}
