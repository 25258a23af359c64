//! The flame graph without a browser: requests, positions of boxes, keys and clicks, status text, drawing.
#![allow(clippy::expect_used, clippy::unwrap_used, clippy::panic, reason = "test helpers fail by panicking")]

use crate::face::{self, CANVAS, Worker};
use memscape::engine::{Answer, Ask, Question, Request};
use memscape::protocol::{DeviceSummary, FlameBox, FlamePage, FlameQuestion, NodeKind, NodeLabel, Scope, Span, Weight};
use memscape::ui::features::command::Command;
use memscape::ui::features::flame::FlameAction;
use memscape::ui::features::flame::picture::{FlameFill, FlamePicture, FlameStroke, picture};
use memscape::ui::features::flame::words::{card, crumbs, empty_message, status};
use memscape::ui::shell::action::Action;
use memscape::ui::shell::commands;
use memscape::ui::state::drawing::Canvas;
use memscape::ui::state::effect::Effect;
use memscape::ui::text::tab::Tab;

/// Height of a row in CSS pixels.
const ROW: f64 = 20.0;

/// A worker that sends no replies by itself.
struct SilentWorker;

impl Worker for SilentWorker {}

type Page = face::Page<SilentWorker>;

impl Page {
    /// A page with an open file and a canvas for the flame graph.
    fn open() -> Page {
        let device = DeviceSummary { device: 3, events: 999, peak_event: 500, ..DeviceSummary::default() };
        let mut page = Page::with_canvas(CANVAS, SilentWorker);
        page.flame(FlameAction::Resized(Canvas { width_px: 400, height_px: 60, scale: 1.0 }));
        page.load(vec![device]);
        page
    }

    fn flame(&mut self, action: FlameAction) {
        self.act(Action::feature(action));
    }

    fn step(&mut self, step: Command) {
        self.act(Action::Command(step));
    }

    /// Latest flame graph request.
    fn flame_request(&self) -> Option<(u32, FlameQuestion)> {
        self.find_request(|request| match request {
            Request::Ask(Ask { serial, device: 3, question: Question::Flame(question) }) => Some((*serial, *question)),
            _ => None,
        })
    }

    /// A page with the boxes of [`boxes`] shown.
    fn with_boxes() -> Page {
        let mut page = Page::open();
        page.act(Action::TabChosen(Tab::Flame));
        let (serial, _) = page.flame_request().expect("a request when the view is visible");
        page.answer_with(serial, Answer::Flame(Box::new(boxes(0))));
        page
    }

    fn selected(&self) -> Option<u32> {
        self.state.views.node
    }

    fn picture(&self) -> FlamePicture {
        picture(&self.state.flame, &self.state).expect("a picture")
    }
}

/// Boxes in 800 pixels:
///
/// ```text
/// 0 all                                      100 B
/// 1 main 60            2 copy 30    5 … 10     (three nodes)
/// 3 step 60            4 to 30
/// 6 loss 20
/// ```
fn boxes(zoom: u32) -> FlamePage {
    let it = |node, parent, row, x: [u32; 2], bytes, label, slot| FlameBox {
        node,
        node_count: 1,
        parent,
        row,
        x,
        weight: Weight { bytes, count: 2 },
        label,
        slot,
        ..FlameBox::default()
    };
    let label = |name: &str, file: &str, line: &str, kind| NodeLabel {
        name: name.into(),
        file: file.into(),
        line: line.into(),
        kind,
    };
    FlamePage {
        ends: Default::default(),
        total: Weight { bytes: 100, count: 9 },
        found: Weight::default(),
        boxes: vec![
            it(0, 0, 0, [0, 800], 100, 0, None),
            it(1, 0, 1, [0, 480], 60, 1, None),
            it(2, 0, 1, [480, 720], 30, 2, Some(7)),
            FlameBox { node_count: 3, ..it(5, 0, 1, [720, 800], 10, 1, None) },
            it(3, 1, 2, [0, 480], 60, 3, Some(8)),
            it(4, 2, 2, [480, 720], 30, 2, None),
            it(6, 4, 3, [0, 160], 20, 3, Some(9)),
        ],
        zoom,
        labels: vec![
            label("all allocations", "", "", NodeKind::Note),
            label("main", "/home/me/train.py", "7", NodeKind::User),
            label("at::_ops::copy_::call(at::Tensor const&)", "??", "0", NodeKind::Native),
            label("step", "/home/me/train.py", "31", NodeKind::User),
        ],
        revealed: None,
        is_truncated: false,
    }
}

#[test]
fn flame_graph_is_requested_once_and_only_while_visible() {
    let mut page = Page::open();
    assert_eq!(page.flame_request(), None);
    page.act(Action::TabChosen(Tab::Flame));
    let (serial, question) = page.flame_request().expect("requested when visible");
    assert_eq!((question.scope, question.width_px, question.zoom), (Scope::At(501), 400, None));
    // A newer cursor position waits for the answer.
    page.state.views.scope = Scope::At(7);
    page.act(Action::PointerLeft);
    assert_eq!(page.flame_request(), None);
    page.answer_with(serial + 9, Answer::Flame(Box::new(boxes(0))));
    assert!(page.state.flame.page().is_none(), "an answer to another question is dropped");
    page.answer_with(serial, Answer::Flame(Box::new(boxes(0))));
    assert!(page.state.flame.page().is_some(), "a stale answer is shown until the next");
    let (_, question) = page.flame_request().expect("the newest question is sent next");
    assert_eq!(question.scope, Scope::At(7));
    page.act(Action::TabChosen(Tab::CallTree));
    page.state.views.scope = Scope::At(8);
    page.act(Action::PointerLeft);
    assert_eq!(page.flame_request(), None);
}

#[test]
fn click_selects_and_double_click_zooms() {
    let mut page = Page::with_boxes();
    // The answer is 800 wide, the canvas 400.
    page.flame(FlameAction::Clicked([250.0, ROW * 1.5]));
    assert_eq!(page.selected(), Some(2));
    page.flame(FlameAction::Clicked([390.0, ROW * 1.5]));
    assert_eq!(page.selected(), Some(2), "a box of several nodes cannot be selected");
    page.flame(FlameAction::Clicked([390.0, ROW * 2.5]));
    assert_eq!(page.selected(), None, "click outside all boxes");
    page.flame(FlameAction::DoubleClicked([10.0, ROW * 2.5]));
    let (serial, question) = page.flame_request().expect("zooming sends a request");
    assert_eq!(question.zoom, Some(3));
    page.answer_with(serial, Answer::Flame(Box::new(boxes(4))));
    page.flame(FlameAction::CrumbClicked(0));
    assert_eq!(page.flame_request().map(|(_, question)| question.zoom), Some(None));
}

#[test]
fn escape_zooms_out_first() {
    let mut page = Page::with_boxes();
    page.flame(FlameAction::DoubleClicked([10.0, ROW * 2.5]));
    let (serial, _) = page.flame_request().unwrap();
    page.answer_with(serial, Answer::Flame(Box::new(boxes(4))));
    page.act(Action::Command(commands::CLEAR_SELECTION));
    assert_eq!(page.flame_request().map(|(_, question)| question.zoom), Some(None));
}

#[test]
fn arrow_keys_move_between_boxes() {
    let mut page = Page::with_boxes();
    let go = |page: &mut Page, step| {
        page.step(step);
        page.selected()
    };
    assert_eq!(go(&mut page, commands::flame::DOWN), Some(0), "the first key selects the root");
    assert_eq!(go(&mut page, commands::flame::DOWN), Some(1));
    assert_eq!(go(&mut page, commands::flame::RIGHT), Some(2));
    assert_eq!(go(&mut page, commands::flame::RIGHT), Some(2), "a box of several nodes is skipped");
    assert_eq!(go(&mut page, commands::flame::LEFT), Some(1));
    assert_eq!(go(&mut page, commands::flame::LEFT), Some(1));
    assert_eq!(go(&mut page, commands::flame::DOWN), Some(3));
    assert_eq!(go(&mut page, commands::flame::RIGHT), Some(4));
    assert_eq!(go(&mut page, commands::flame::DOWN), Some(4), "nothing below");
    assert_eq!(go(&mut page, commands::flame::LEFT), Some(3));
    assert_eq!(go(&mut page, commands::flame::DOWN), Some(6));
    assert_eq!(page.state.flame.scrolled_css(), 20, "scrolls just enough: four rows in 60 pixels");
    assert_eq!(go(&mut page, commands::flame::UP), Some(3));
    page.step(commands::flame::ZOOM_IN);
    assert_eq!(page.flame_request().map(|(_, question)| question.zoom), Some(Some(3)));
    // With the root at the bottom, Up moves away from the root.
    let mut page = Page::with_boxes();
    page.step(commands::flame::FLIP_DIRECTION);
    assert_eq!(go(&mut page, commands::flame::UP), Some(0));
    assert_eq!(go(&mut page, commands::flame::UP), Some(1));
    assert_eq!(go(&mut page, commands::flame::DOWN), Some(0));
}

#[test]
fn zoom_out_goes_to_parent_and_reset_goes_to_root() {
    let mut page = Page::with_boxes();
    page.flame(FlameAction::DoubleClicked([10.0, ROW * 2.5]));
    let (serial, _) = page.flame_request().unwrap();
    page.answer_with(serial, Answer::Flame(Box::new(boxes(4))));
    page.step(commands::flame::ZOOM_OUT);
    let (serial, question) = page.flame_request().unwrap();
    assert_eq!(question.zoom, Some(1));
    page.answer_with(serial, Answer::Flame(Box::new(boxes(1))));
    page.step(commands::flame::ZOOM_OUT_FULLY);
    assert_eq!(page.flame_request().map(|(_, question)| question.zoom), Some(None));
}

#[test]
fn path_to_deep_box_is_shortened() {
    let mut deep = boxes(3);
    deep.boxes.truncate(1);
    for row in 1..9 {
        let label = 1 + row % 3;
        deep.boxes.push(FlameBox {
            node: row,
            node_count: 1,
            parent: row - 1,
            row,
            x: [0, 800],
            label,
            ..FlameBox::default()
        });
    }
    deep.zoom = 8;
    let way: Vec<(u32, String)> = crumbs(&deep).into_iter().map(|crumb| (crumb.node, crumb.text)).collect();
    let native = "at::_ops::copy_::call(at::Tensor const&)";
    assert_eq!(way, [(0, "all allocations".into()), (7, ["… ", native].concat()), (8, "step".into())]);
    deep.zoom = 1;
    let way: Vec<u32> = crumbs(&deep).into_iter().map(|crumb| crumb.node).collect();
    assert_eq!(way, [0, 1]);
    deep.zoom = 0;
    assert_eq!(crumbs(&deep), []);
}

#[test]
fn hover_card_has_exact_bytes_shares_and_location() {
    let mut page = Page::with_boxes();
    page.flame(FlameAction::PointerAt(Some([10.0, ROW * 3.5 - ROW])));
    let shown = page.state.flame.page().unwrap().clone();
    let hovered = page.state.flame.hovered().copied().expect("a box");
    let card_text = card(&page.state, &shown, &hovered);
    assert_eq!((card_text.title.as_str(), card_text.name.as_str()), ("60 B", "step"));
    assert_eq!(card_text.location, "/home/me/train.py:31");
    assert_eq!(card_text.shares, "60.0 % of all · 100 % of its parent · 2 allocations");
    let several = card(&page.state, &shown, &shown.boxes[3]);
    assert_eq!(several.name, "3 frames narrower than a pixel");
    let large = FlameBox { weight: Weight { bytes: 9_854_648_320, count: 1 }, found: 1024, ..hovered };
    let card_text = card(&page.state, &shown, &large);
    assert_eq!(card_text.title, "9.18 GiB · 9,854,648,320 B");
    assert!(card_text.shares.ends_with("1 allocation · found: 1.00 KiB"));
    // Byte-events are never labelled as bytes.
    page.state.views.scope = Scope::ByteMoments(Span { from: 1, to: 9 });
    assert_eq!(card(&page.state, &shown, &large).title, "9.18 GiB·events · 9,854,648,320 B·events");
    let native = card(&page.state, &shown, &shown.boxes[2]);
    assert_eq!(native.location, "", "?? is not a file");
}

#[test]
fn selection_is_shown_in_status() {
    let mut page = Page::with_boxes();
    assert!(status(&page.state.flame, &page.state).contains("Backspace to zoom out"));
    page.flame(FlameAction::Clicked([10.0, ROW * 1.5]));
    let expected_text = "60 B · main · 60.0 % of all · 60.0 % of its parent · 2 allocations · /home/me/train.py:7";
    assert_eq!(status(&page.state.flame, &page.state), expected_text);
    assert_eq!(empty_message(&page.state.flame, &page.state), "");
}

#[test]
fn empty_flame_graph_has_a_note() {
    let mut page = Page::open();
    page.act(Action::TabChosen(Tab::Flame));
    let (serial, _) = page.flame_request().unwrap();
    let root = FlameBox { node_count: 1, x: [0, 400], ..FlameBox::default() };
    page.answer_with(serial, Answer::Flame(Box::new(FlamePage { boxes: vec![root], ..FlamePage::default() })));
    assert_eq!(empty_message(&page.state.flame, &page.state), "Nothing is live at the cursor.");
    page.state.views.scope = Scope::Allocated(Span { from: 1, to: 2 });
    assert_eq!(empty_message(&page.state.flame, &page.state), "Nothing was allocated in this range.");
    for step in [
        commands::flame::UP,
        commands::flame::DOWN,
        commands::flame::LEFT,
        commands::flame::RIGHT,
        commands::flame::ZOOM_IN,
        commands::flame::ZOOM_OUT,
    ] {
        page.step(step);
    }
    // No boxes at all: the device is gone.
    page.answer_with(serial + 1, Answer::Flame(Box::default()));
    page.flame(FlameAction::Clicked([1.0, 1.0]));
}

#[test]
fn only_visible_rows_are_drawn() {
    let mut page = Page::with_boxes();
    let drawn = page.picture();
    assert_eq!(drawn.tiles.len(), 6, "the fourth row is below the canvas");
    let native = drawn.tiles[2];
    assert_eq!((native.x, native.y, native.fill), ([240, 360], [20, 40], FlameFill::Slot(7)));
    assert!(drawn.tiles[3].is_hatched);
    assert_eq!(drawn.tiles[1].fill, FlameFill::Kind(NodeKind::User));
    let texts: Vec<(&str, usize)> = drawn.texts.iter().map(|text| (text.text.as_str(), text.tile)).collect();
    assert_eq!(
        texts,
        [
            ("all allocations  100 B", 0),
            ("main  train.py:7  60 B", 1),
            ("…ps::copy_::call", 2),
            ("step  train.py:31  60 B", 4),
            ("…ps::copy_::call", 5),
        ]
    );
    page.flame(FlameAction::Scrolled(20.0));
    let drawn = page.picture();
    assert_eq!(drawn.tiles.first().map(|tile| tile.y), Some([0, 20]));
    assert_eq!(drawn.tiles.len(), 6);
    page.flame(FlameAction::Scrolled(1e9));
    assert_eq!(page.state.flame.scrolled_css(), 20, "does not scroll beyond the end");
}

#[test]
fn matches_selection_and_hover_are_highlighted() {
    let mut page = Page::with_boxes();
    page.act(Action::FindTyped("step".into()));
    let serial = page.effects.iter().find_map(|effect| match effect {
        Effect::Ask(Request::Ask(Ask { serial, question: Question::Find(_), .. })) => Some(*serial),
        _ => None,
    });
    let tally = memscape::protocol::Tally { count: 1, requested: 20, ..Default::default() };
    page.answer_with(serial.unwrap(), Answer::Find(tally));
    let (asked, question) = page.flame_request().expect("boxes with the search's matches");
    assert_eq!(question.search_serial, serial);
    let mut found = boxes(0);
    (found.boxes[0].found, found.boxes[1].found, found.boxes[4].found) = (20, 20, 60);
    found.boxes[4].matches = true;
    found.revealed = Some(4);
    page.answer_with(asked, Answer::Flame(Box::new(found)));
    page.flame(FlameAction::Clicked([10.0, ROW * 1.5]));
    page.flame(FlameAction::PointerAt(Some([300.0, ROW * 1.5])));
    let drawn = page.picture();
    let faded: Vec<bool> = drawn.tiles.iter().map(|tile| tile.is_faded).collect();
    assert_eq!(faded, [false, false, true, true, false, true]);
    let bars: Vec<u32> = drawn.tiles.iter().map(|tile| tile.matched_px).collect();
    assert_eq!(bars, [80, 80, 0, 0, 240, 0], "a fifth, a third, all");
    assert_eq!(drawn.texts.iter().filter(|text| text.is_bold).count(), 1);
    let strokes: Vec<(FlameStroke, [i32; 2])> = drawn.outlines.iter().map(|it| (it.stroke, it.x)).collect();
    // Without a selection in the timeline, no box is marked for it.
    assert_eq!(strokes, [(FlameStroke::Hovered, [240, 360]), (FlameStroke::Selected, [0, 240])]);
    page.flame(FlameAction::PointerAt(None));
    assert_eq!(page.picture().outlines.len(), 1);
}

#[test]
fn upward_flame_graph_starts_at_bottom() {
    let mut page = Page::with_boxes();
    page.flame(FlameAction::Resized(Canvas { width_px: 400, height_px: 200, scale: 2.0 }));
    let (serial, question) = page.flame_request().map_or((0, None), |(serial, question)| (serial, Some(question)));
    assert_eq!(question, None, "the width did not change");
    page.answer_with(serial, Answer::Flame(Box::new(boxes(0))));
    page.step(commands::flame::FLIP_DIRECTION);
    // Four rows of 40 device pixels in 200.
    assert_eq!(page.picture().tiles[0].y, [160, 200]);
    page.flame(FlameAction::Clicked([10.0, 150.0]));
    assert_eq!(page.selected(), Some(1));
}
