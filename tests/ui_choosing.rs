//! Choosing which events of a large file to load: the question, the loaded range, and loading the rest later.
#![allow(clippy::panic, reason = "test helpers fail by panicking")]

use crate::face::{self, Worker};
use memscape::engine::Reply;
use memscape::protocol::{DeviceSummary, LoadRange, Phase, Progress, Request};
use memscape::ui::plot::navigate;
use memscape::ui::shell::action::Action;
use memscape::ui::shell::commands;
use memscape::ui::shell::load_dialog::loaded_text;
use memscape::ui::state::effect::{Effect, GivenFile};
use memscape::ui::state::link::Link;
use memscape::ui::state::stage::Stage;

struct SilentWorker;

impl Worker for SilentWorker {}

type Page = face::Page<SilentWorker>;

const LAST: LoadRange = LoadRange { max_events: 1_000_000, ..LoadRange::ALL };

fn devices(first: Option<u32>) -> Vec<DeviceSummary> {
    let loaded = first.map(|first| (first, 0));
    vec![DeviceSummary {
        events: 5_000_000,
        peak_requested: 1 << 20,
        drawn_peak: 1 << 20,
        loaded,
        ..DeviceSummary::default()
    }]
}

impl Page {
    fn open_file(bytes: u64) -> Page {
        let mut page = Page::with_canvas(face::CANVAS, SilentWorker);
        page.act(Action::FilesGiven(vec![GivenFile { name: "a.pickle".into(), bytes }]));
        page
    }

    /// Event range of the current load.
    fn range(&self) -> Option<LoadRange> {
        self.find_effect(|effect| if let Effect::Load { range, .. } = effect { Some(*range) } else { None })
    }

    fn is_choosing(&self) -> bool {
        matches!(self.state.stage, Stage::Choosing(_))
    }

    fn link(&self) -> Link {
        Link::from_state(&self.state).unwrap_or_default()
    }

    fn type_range(&mut self, text: &str) {
        self.act(Action::LoadRangeEntered(text.to_owned()));
    }
}

#[test]
fn large_file_loads_after_range_is_chosen() {
    assert_eq!(Page::open_file(1 << 30).range(), Some(LoadRange::ALL));
    let mut page = Page::open_file(3 << 30);
    assert!(page.is_choosing() && page.effects.is_empty());
    // Invalid input shows an error and the question stays open.
    page.type_range("some");
    let Stage::Choosing(choosing) = &page.state.stage else { panic!("{:?}", page.state.stage) };
    assert!(choosing.error.contains("last 1,000,000"), "{}", choosing.error);
    page.type_range("last 1,000,000");
    assert_eq!(page.range(), Some(LAST));
    assert!(matches!(page.state.stage, Stage::Loading(_)));
    let mut page = Page::open_file(3 << 30);
    page.command(commands::OPEN_ALL);
    assert_eq!(page.range(), Some(LoadRange::ALL));
}

#[test]
fn loaded_range_is_shown_with_button_for_all_events() {
    let mut page = Page::open_file(3 << 30);
    page.type_range("last 1,000,000");
    page.reply(face::opened_reply(devices(Some(4_000_000))));
    assert_eq!(loaded_text(&page.state).as_deref(), Some("Events 4,000,000–4,999,999 of 5,000,000 are loaded."));
    page.act(Action::GoToEntered("4500000".into()));
    assert!(page.link().fragment().contains("&load=last1000000&"), "{}", page.link().fragment());
    page.command(commands::OPEN_ALL);
    assert_eq!(page.range(), Some(LoadRange::ALL));
    page.reply(face::opened_reply(devices(None)));
    assert_eq!(loaded_text(&page.state), None);
    let fragment = page.link().fragment();
    assert!(fragment.contains("at=4500000") && !fragment.contains("load="), "the view is kept: {fragment}");
    // All events are loaded, so the command has no effect.
    page.command(commands::OPEN_ALL);
    assert_eq!(page.range(), None);
}

#[test]
fn axis_starts_at_loaded_range() {
    let mut page = Page::open_file(3 << 30);
    page.type_range("last 1,000,000");
    page.reply(face::opened_reply(devices(Some(4_000_000))));
    let plane = page.state.plane().unwrap_or_else(|| panic!("no open device"));
    assert_eq!((plane.start, plane.extent.width), (4_000_000, 1_000_001));
    let view = page.state.view().unwrap_or_else(|| panic!("no visible window"));
    // Edges are whole pixels, so they may be off by half a pixel.
    let edges = [0.0, f64::from(view.width_px)].map(|column| view.x_from_column(column));
    let are_there = edges.iter().zip([4_000_000.0, 5_000_001.0]).all(|(edge, at)| (edge - at).abs() <= view.x_per_px);
    assert!(are_there, "{edges:?}");
    assert_eq!(navigate::device_axis(&page.state), Some([0.0, 1.0]));
    page.command(commands::MOVE_LEFT);
    assert_eq!(page.state.view(), Some(view), "no events before the range");
}

#[test]
fn cancelled_range_prompt_leaves_open_file_unchanged() {
    let mut page = Page::with_devices(SilentWorker, devices(None));
    page.command(commands::CHOOSE_EVENTS);
    assert!(page.is_choosing());
    for cancel in [commands::CANCEL_LOADING, commands::CLEAR_SELECTION] {
        page.command(cancel);
        assert!(matches!(page.state.stage, Stage::Ready(_)), "{:?}", page.state.stage);
        page.command(commands::CHOOSE_EVENTS);
    }
    page.type_range("100..200");
    assert_eq!(page.range(), Some(LoadRange { from: 100, to: 201, max_events: u32::MAX }));
    page.reply(Reply::Failed { message: "cut".into() });
    assert!(matches!(page.state.stage, Stage::Ready(_)), "{:?}", page.state.stage);
    // Without an open file, cancelling returns to the empty page.
    let mut page = Page::open_file(3 << 30);
    page.command(commands::CANCEL_LOADING);
    assert_eq!(page.state.stage, Stage::Empty);
}

#[test]
fn link_keeps_loaded_range() {
    let mut page = Page::with_canvas(face::CANVAS, SilentWorker);
    let go = |page: &mut Page, fragment: &str| page.act(Action::LinkGiven(Box::new(Link::parse(fragment))));
    go(&mut page, "v=1&url=a.pickle&load=1000..1999&at=1500");
    assert_eq!(page.range(), Some(LoadRange { from: 1000, to: 2000, max_events: u32::MAX }));
    page.reply(face::opened_reply(devices(Some(1000))));
    assert!(page.link().fragment().contains("&load=1000..1999&"), "{}", page.link().fragment());
    assert_eq!(page.state.linked.notice, None);
    // Another range of the file loads it again. The same range does not.
    go(&mut page, "v=1&url=a.pickle&load=1000..1999&at=1600");
    assert_eq!(page.range(), None);
    go(&mut page, "v=1&url=a.pickle&load=last1000000");
    assert_eq!(page.range(), Some(LAST));
    page.reply(face::opened_reply(devices(Some(4_000_000))));
    go(&mut page, "v=1&url=a.pickle&at=12");
    assert_eq!(page.range(), Some(LoadRange::ALL));
    // An invalid range is reported.
    page.reply(face::opened_reply(devices(None)));
    go(&mut page, "v=1&url=a.pickle&load=some&at=13");
    page.reply(face::opened_reply(devices(None)));
    assert_eq!(page.state.linked.notice.as_deref(), Some("Ignored in the link: load."));
}

#[test]
fn linked_large_file_prompts_for_range_only_once() {
    let mut page = Page::with_canvas(face::CANVAS, SilentWorker);
    page.act(Action::LinkGiven(Box::new(Link::parse("v=1&url=a.pickle&at=12"))));
    let progress =
        |total| Reply::Progress(Progress { bytes: 1 << 20, total_bytes: Some(total), phase: Phase::Decoding });
    page.reply(progress(3 << 30));
    assert!(page.is_choosing());
    assert_eq!(page.effects, [Effect::Ask(Request::Cancel)]);
    page.reply(progress(3 << 30));
    page.command(commands::OPEN_ALL);
    assert_eq!(page.range(), Some(LoadRange::ALL));
    page.reply(progress(3 << 30));
    assert!(matches!(page.state.stage, Stage::Loading(_)), "the question is asked once");
    page.reply(face::opened_reply(devices(None)));
    assert!(page.link().fragment().contains("at=12"), "{}", page.link().fragment());
    // A small file loads without the question.
    let mut page = Page::with_canvas(face::CANVAS, SilentWorker);
    page.act(Action::LinkGiven(Box::new(Link::parse("v=1&url=a.pickle"))));
    page.reply(progress(1 << 30));
    assert!(matches!(page.state.stage, Stage::Loading(_)));
}

#[test]
fn second_file_is_compared_after_range_prompt() {
    let mut page = Page::with_canvas(face::CANVAS, SilentWorker);
    let file = |name: &str, bytes| GivenFile { name: name.into(), bytes };
    page.act(Action::FilesGiven(vec![file("a.pickle", 3 << 30), file("b.pickle", 10)]));
    assert!(page.is_choosing());
    page.type_range("last 1,000,000");
    page.reply(face::opened_reply(devices(Some(4_000_000))));
    assert!(page.find_effect(|effect| matches!(effect, Effect::LoadSecond { .. }).then_some(())).is_some());
}
