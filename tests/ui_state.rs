//! The Segments view without a browser: requests, layout, keys, drawing, texts.
#![allow(clippy::expect_used, clippy::panic, reason = "test helpers fail by panicking")]

use crate::face::{self, CANVAS, Worker};
use memscape::engine::{Answer, Ask, Question, Request};
use memscape::protocol::{
    Details, DeviceSummary, MemoryFilter, PieceKind, SegmentSort, SegmentsBar, SegmentsFit, SegmentsGroup,
    SegmentsPage, SegmentsPiece, SegmentsQuestion, SegmentsSums, Weight,
};
use memscape::ui::features::command::Command;
use memscape::ui::features::segments::card::{hovered, status};
use memscape::ui::features::segments::picture::{SegmentsPicture, SegmentsStroke, picture};
use memscape::ui::features::segments::words::{empty_message, headings, outside_segments, request_placement, sums};
use memscape::ui::features::segments::{ROW_PX, SegmentsAction};
use memscape::ui::shell::action::Action;
use memscape::ui::shell::commands;
use memscape::ui::state::drawing::Canvas;
use memscape::ui::text::tab::Tab;

/// Distance of bars from the canvas's left edge, in pixels.
const PAD: f64 = 12.0;

/// A worker that sends no replies by itself.
struct SilentWorker;

impl Worker for SilentWorker {}

type Page = face::Page<SilentWorker>;

impl Page {
    fn open(reserved: i64) -> Page {
        let device = DeviceSummary {
            device: 3,
            events: 999,
            peak_event: 500,
            peak_reserved: reserved,
            peak_requested: 1 << 20,
            drawn_peak: 1 << 20,
            ..DeviceSummary::default()
        };
        let mut page = Page::with_canvas(CANVAS, SilentWorker);
        page.memory(SegmentsAction::Resized(Canvas { width_px: 424, height_px: 144, scale: 1.0 }));
        page.memory(SegmentsAction::Scrolled(0.0, 144.0));
        page.load(vec![device]);
        assert!(page.segments_request().is_none(), "the view is hidden");
        page.act(Action::TabChosen(Tab::Segments));
        page
    }

    /// A page with [`segments`] shown.
    fn with_segments() -> Page {
        let mut page = Page::open(1 << 30);
        page.answer();
        assert!(page.segments_request().is_none());
        page
    }

    fn memory(&mut self, action: SegmentsAction) {
        self.act(Action::feature(action));
    }

    fn step(&mut self, step: Command) {
        self.act(Action::Command(step));
    }

    fn segments_request(&self) -> Option<(u32, SegmentsQuestion)> {
        self.find_request(|request| match request {
            Request::Ask(Ask { serial, device: 3, question: Question::State(question) }) => Some((*serial, *question)),
            _ => None,
        })
    }

    fn answer(&mut self) -> SegmentsQuestion {
        let (serial, question) = self.segments_request().expect("segments were requested");
        self.answer_with(serial, Answer::State(Box::new(segments(&question))));
        question
    }

    fn picture(&self) -> SegmentsPicture {
        picture(&self.state.segments, &self.state).expect("a picture")
    }

    /// Left and right edges of the outlines with this stroke, relative to the left edge of the bars.
    fn outlined(&self, stroke: SegmentsStroke) -> Vec<[i32; 2]> {
        let outlines = self.picture().outlines.into_iter().filter(|(_, why)| *why == stroke);
        outlines.map(|([x, _], _)| x.map(|edge| edge - PAD as i32)).collect()
    }
}

const MIB: u64 = 1 << 20;
const BASE: u64 = 0x7f00_0000_0000;

/// Ten pixels per MiB, 400 pixels per row:
///
/// ```text
/// row 0  large, default stream, default pool
/// row 1  [0 ==8 MiB==| free 8 |≈ 4 awaiting free, its last pixel rounding|][ a segment of 10 MiB, free]
/// row 2  large, a private pool, expandable
/// row 3  [a block of 60 MiB …
/// row 4  … its end | 3 thin blocks]
/// ```
fn segments(question: &SegmentsQuestion) -> SegmentsPage {
    let sums = |segments, reserved: u64, blocks, requested: u64, free: u64| SegmentsSums {
        segments,
        reserved: reserved * MIB,
        blocks,
        requested: requested * MIB,
        awaiting_free: 0,
        rounded: requested * MIB,
        free: free * MIB,
        free_blocks: 2,
        largest_free: 8 * MIB,
    };
    let first = sums(1, 20, 2, 12, 8);
    let second = sums(1, 10, 0, 0, 10);
    let third = sums(1, 70, 4, 70, 0);
    let bar = |row, x, address: u64, segment: u64, sums, pieces, ends| SegmentsBar {
        row,
        x,
        address: BASE + address * MIB,
        segment: BASE + segment * MIB,
        sums,
        pieces,
        ends,
        largest_block: None,
    };
    let piece = |x, kind, address: u64, allocation, count, bytes: u64| SegmentsPiece {
        x,
        kind,
        paint: 9,
        address: BASE + address * MIB,
        allocation,
        count,
        requested: bytes * MIB,
        rounded: bytes * MIB,
        recorded: false,
    };
    SegmentsPage {
        releasable: Default::default(),
        moment: question.moment,
        total: SegmentsSums { awaiting_free: 4 * MIB, ..sums(3, 100, 6, 82, 18) },
        bytes_per_px: 104_857.6,
        rows: 5,
        first: 0,
        groups: vec![
            SegmentsGroup {
                row: 0,
                stream: Some(0),
                pool: Some((0, 0)),
                sums: sums(2, 30, 2, 12, 18),
                ..SegmentsGroup::default()
            },
            SegmentsGroup {
                row: 2,
                stream: Some(0x55d0),
                pool: Some((0, 1)),
                expandable: true,
                sums: sums(1, 70, 4, 70, 0),
                ..SegmentsGroup::default()
            },
        ],
        bars: vec![
            bar(1, [0, 200], 0, 0, first, [0, 4], [true, true]),
            bar(1, [210, 310], 100, 100, second, [4, 5], [true, true]),
            bar(3, [0, 400], 1000, 1000, third, [5, 6], [true, false]),
            bar(4, [0, 300], 1040, 1000, third, [6, 8], [false, true]),
        ],
        pieces: vec![
            piece([0, 80], PieceKind::Live, 0, 50, 1, 8),
            piece([80, 160], PieceKind::Free, 8, 0, 1, 8),
            piece([160, 199], PieceKind::AwaitingFree, 16, 51, 1, 4),
            piece([199, 200], PieceKind::Rounding, 16, 51, 1, 4),
            piece([210, 310], PieceKind::Free, 100, 0, 1, 10),
            piece([0, 400], PieceKind::Live, 1000, 52, 1, 60),
            piece([0, 200], PieceKind::Live, 1000, 52, 1, 60),
            piece([200, 300], PieceKind::Live, 1060, 53, 3, 10),
        ],
        revealed: question.reveal.filter(|address| *address >= BASE + 1060 * MIB).map(|_| [4, 250]),
        fits: vec![],
        outside_mapped: Weight::default(),
    }
}

#[test]
fn segments_are_requested_for_newest_cursor_while_visible() {
    let mut page = Page::open(1 << 30);
    let (serial, question) = page.segments_request().expect("the view is visible");
    assert_eq!((question.moment, question.width_px, question.fit_rows, question.bytes_per_px), (501, 400, 6, 0.0));
    // Scrubbing: one question is in flight, and the next is about the newest cursor position.
    for moment in [502, 503, 504] {
        page.act(Action::GoToEntered(moment.to_string()));
        assert!(page.segments_request().is_none());
    }
    page.answer_with(serial, Answer::State(Box::new(segments(&question))));
    assert_eq!(page.answer().moment, 505);
    assert!(page.segments_request().is_none(), "a known answer is not requested again");
    page.step(commands::segments::CURSOR_BACK);
    assert_eq!(page.answer().moment, 504);
    page.act(Action::TabChosen(Tab::CallTree));
    page.act(Action::GoToEntered("7".into()));
    assert!(page.segments_request().is_none(), "the view is hidden");
}

#[test]
fn keys_move_through_blocks_and_segments() {
    let mut page = Page::with_segments();
    assert!(status(&page.state.segments).contains("Arrow keys move"));
    page.step(commands::segments::NEXT_BLOCK);
    assert_eq!(page.outlined(SegmentsStroke::Active), [[0, 80]]);
    assert_eq!(page.details_asked().map(|(_, allocation)| allocation), Some(50));
    page.step(commands::segments::NEXT_BLOCK);
    assert_eq!(page.outlined(SegmentsStroke::Active), [[80, 160]]);
    assert!(
        status(&page.state.segments).starts_with("Free: ≤ 8.00 MiB · 8,388,608 B · at 0x7f0000800000"),
        "{}",
        status(&page.state.segments)
    );
    page.step(commands::segments::NEXT_BLOCK);
    assert_eq!(page.outlined(SegmentsStroke::Active), [[160, 199]], "rounding cannot be selected");
    page.step(commands::segments::NEXT_SEGMENT);
    assert_eq!(page.outlined(SegmentsStroke::Active), [[210, 310]]);
    page.step(commands::segments::NEXT_SEGMENT);
    assert_eq!(page.outlined(SegmentsStroke::Active), [[0, 400], [0, 200]], "outlined in both rows");
    page.step(commands::segments::NEXT_BLOCK);
    assert_eq!(page.outlined(SegmentsStroke::Active), [[200, 300]]);
    page.step(commands::segments::NEXT_BLOCK);
    assert_eq!(page.outlined(SegmentsStroke::Active), [[200, 300]], "no further segment");
    page.step(commands::segments::PREVIOUS_SEGMENT);
    assert_eq!(page.outlined(SegmentsStroke::Active), [[210, 310]]);
    page.step(commands::segments::FIRST);
    assert_eq!(page.outlined(SegmentsStroke::Active), [[0, 80]]);
    page.step(commands::segments::LAST);
    assert_eq!(page.outlined(SegmentsStroke::Active), [[200, 300]]);
    page.step(commands::segments::PREVIOUS_BLOCK);
    page.step(commands::segments::SELECT);
    assert!(page.state.selecting.is_some() && page.details_asked().is_some_and(|(_, allocation)| allocation == 52));
}

#[test]
fn hover_shows_card_and_click_selects() {
    let mut page = Page::with_segments();
    let at = |x: f64, row: f64| [PAD + x, (row + 0.5) * ROW_PX];
    page.memory(SegmentsAction::PointerAt(Some(at(170.0, 1.0))));
    let (serial, allocation) = page.details_asked().expect("details are requested");
    assert_eq!(allocation, 51);
    let details = Details { allocation, allocated_event: Some(4), freed_event: Some(600), ..Details::default() };
    page.answer_with(serial, Answer::Details(Some(Box::new(details))));
    let card = hovered(&page.state.segments).expect("a card");
    assert_eq!(card.title, "4.00 MiB · 4,194,304 B requested");
    assert_eq!(card.site, "no stack recorded");
    assert!(card.lifetime.starts_with("awaiting free · allocated at event 4, freed at 600"), "{card:?}");
    assert!(card.lifetime.ends_with("rounded ≥ 4.00 MiB at 0x7f0001000000"), "{card:?}");
    assert_eq!(card.segment, "Segment of 20.0 MiB at 0x7f0000000000, 40.0 % free at most, 2 blocks");
    page.memory(SegmentsAction::PointerAt(Some(at(250.0, 4.0))));
    assert!(hovered(&page.state.segments).expect("a card").title.starts_with("3 blocks narrower than a pixel"));
    page.memory(SegmentsAction::PointerAt(Some(at(205.0, 1.0))));
    assert_eq!(hovered(&page.state.segments), None, "between segments");
    page.memory(SegmentsAction::Clicked(at(20.0, 1.0)));
    let serial = page.state.selecting.expect("the block is being selected");
    let details = Details { allocation: 50, address: Some(BASE), allocated_event: Some(4), ..Details::default() };
    page.answer_with(serial, Answer::Details(Some(Box::new(details))));
    assert_eq!(page.outlined(SegmentsStroke::Selected), [[0, 80]]);
    page.memory(SegmentsAction::Clicked(at(100.0, 1.0)));
    assert_eq!(page.state.selection, None, "a free range is not an allocation");
}

#[test]
fn selection_in_other_view_is_revealed() {
    let mut page = Page::with_segments();
    page.act(Action::Command(commands::SELECT_NEXT));
    let serial = page.state.selecting.expect("details were requested");
    let address = Some(BASE + 1061 * MIB);
    let details = Details { allocation: 99, address, allocated_event: Some(4), ..Details::default() };
    page.answer_with(serial, Answer::Details(Some(Box::new(details))));
    assert_eq!(page.answer().reveal, address);
    // The block is thinner than a pixel, so its position is marked.
    assert_eq!(page.outlined(SegmentsStroke::Selected), [[248, 253]]);
}

#[test]
fn sort_and_zoom_change_the_request() {
    let mut page = Page::with_segments();
    page.step(commands::segments::NEXT_SORT);
    assert_eq!(page.answer().sort, SegmentSort::Size);
    page.step(commands::segments::ZOOM_IN);
    let question = page.answer();
    assert!((question.bytes_per_px - 104_857.6 / 1.5).abs() < 1e-6);
    assert_eq!((question.fit_rows, question.reveal), (0, Some(BASE)), "the top segment stays in view");
    page.step(commands::segments::FIT);
    assert!(page.answer().bytes_per_px.abs() < f64::EPSILON);
    assert_eq!(
        (page.state.segments.pools.clone(), page.state.segments.streams.clone()),
        (vec![(0, 0), (0, 1)], vec![0, 0x55d0])
    );
    page.step(commands::segments::NEXT_POOL);
    page.answer();
    page.step(commands::segments::NEXT_POOL);
    assert_eq!(page.answer().filter, MemoryFilter { pool: Some((0, 1)), ..MemoryFilter::default() });
    assert_eq!(page.state.segments.picker_indices(), [1, 2, 0]);
    page.step(commands::segments::NEXT_POOL);
    assert_eq!(page.answer().filter, MemoryFilter::default());
    page.memory(SegmentsAction::StreamChosen(2));
    assert_eq!(page.answer().filter.stream, Some(0x55d0));
}

#[test]
fn typed_request_size_shows_block_where_it_fits() {
    let mut page = Page::with_segments();
    page.memory(SegmentsAction::RequestTyped("24 MB".into()));
    assert_eq!(page.state.segments.request_error.as_deref(), Some("MB is ambiguous: write MiB."));
    page.memory(SegmentsAction::RequestTyped("24 MiB".into()));
    assert_eq!((page.answer().request, page.state.segments.request_error.clone()), (Some(24 * MIB), None));
    let fit = SegmentsFit { pool: Some((0, 0)), stream: Some(0), rounded: 24 * MIB, ..SegmentsFit::default() };
    let with = |fits| SegmentsPage { fits, ..SegmentsPage::default() };
    let block = SegmentsFit { block: Some((BASE, 26 * MIB)), ..fit.clone() };
    assert_eq!(
        request_placement(&with(vec![block.clone()])),
        ["24.0 MiB may fit into the free block of 26.0 MiB at 0x7f0000000000"]
    );
    let none = SegmentsFit { new_segment: 32 * MIB, free: 9 * MIB, largest_free: 5 * MIB, pool: Some((0, 1)), ..fit };
    assert_eq!(
        request_placement(&with(vec![block, none]))[1],
        "MemPool (0, 1), default stream: 24.0 MiB needs a new segment of 32.0 MiB (free ≤ 9.00 MiB, the largest ≤ 5.00 MiB)"
    );
    page.memory(SegmentsAction::RequestTyped(String::new()));
    assert_eq!(page.answer().request, None);
}

#[test]
fn sums_and_headings_have_labels() {
    let page = Page::with_segments();
    let shown = page.state.segments.page().expect("segments are shown").clone();
    let [short, exact] = sums(&shown);
    assert_eq!(
        short.replace('\u{a0}', " "),
        "3 segments · 100 MiB reserved · live 82.0 MiB requested, ≥ 82.0 MiB rounded · 4.00 MiB awaiting free · \
         free ≤ 18.0 MiB, the largest ≤ 8.00 MiB"
    );
    assert!(exact.contains("104,857,600 B reserved"), "{exact}");
    let lines = headings(&page.state.segments);
    assert_eq!(lines.iter().map(|it| it.top).collect::<Vec<_>>(), [0, 48]);
    assert_eq!(lines[0].name, "Large blocks · default stream · default pool");
    assert_eq!(lines[0].sums, "2 segments · 30.0 MiB reserved · free ≤ 18.0 MiB, the largest ≤ 8.00 MiB");
    assert_eq!(lines[1].name, "Large blocks · stream 0x55d0 · MemPool (0, 1) · expandable");
    let lost = SegmentsPage { outside_mapped: Weight { bytes: 5 * MIB, count: 2 }, ..SegmentsPage::default() };
    assert_eq!(outside_segments(&lost), "2 live allocations of 5.00 MiB are outside the recorded segments");
}

#[test]
fn blocks_are_drawn_at_their_positions() {
    let page = Page::with_segments();
    let picture = page.picture();
    assert_eq!((picture.frames.len(), picture.tiles.len()), (4, 8));
    assert_eq!(picture.frames[0].has_edge_lines, [true, true]);
    assert_eq!(picture.frames[2].has_edge_lines, [true, false], "continues in the next row");
    assert_eq!(picture.frames[3].has_edge_lines, [false, false], "expandable segment has no end line");
    let texts: Vec<&str> = picture.texts.iter().map(|it| it.text.as_str()).collect();
    // The block of 60 MiB spans two rows, and is labelled once.
    assert_eq!(texts, ["8.00 MiB", "8.00 MiB", "free 10.0 MiB", "60.0 MiB"]);
    assert!(picture.tiles.iter().all(|tile| tile.y[0] >= 0 && tile.y[1] - tile.y[0] == 18), "rows of one height");
}

#[test]
fn empty_view_has_a_note() {
    let mut page = Page::open(0);
    let (serial, _) = page.segments_request().expect("the view is visible");
    page.answer_with(serial, Answer::State(Box::new(SegmentsPage { moment: 501, ..SegmentsPage::default() })));
    assert_eq!(
        empty_message(&page.state.segments, &page.state),
        "The snapshot has no segments, so addresses of blocks are unknown."
    );
    let mut page = Page::open(1 << 30);
    let (serial, _) = page.segments_request().expect("the view is visible");
    page.answer_with(serial, Answer::State(Box::default()));
    assert_eq!(empty_message(&page.state.segments, &page.state), "Nothing is reserved before the first event.");
}
