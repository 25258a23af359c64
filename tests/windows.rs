//! The page's windows with the engine's geometry: requests while panning and zooming, newer windows replacing older
//! ones, and the same picture for the same window by any path.

#![allow(clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

use crate::{generate, opened};

use memscape::engine::{Answer, Ask, Question, Reply, Request, Work};
use memscape::protocol::{Grouping, PlotSettings};
use memscape::timeline::{Axis, Scene, View};
use memscape::ui::features::State;
use memscape::ui::shell::action::Action;
use memscape::ui::shell::commands;
use memscape::ui::state::drawing::Canvas;
use memscape::ui::state::effect::{Effect, GivenFile, Pointer, WheelAction};
use memscape::ui::state::navigate::Plane;
use memscape::ui::state::stage::Stage;
use memscape::ui::update;
use opened::Opened;

const CANVAS: Canvas = Canvas { width_px: 320, height_px: 200, scale: 1.0 };

fn generated() -> Opened {
    let words = "--events 20000 --layers 4 --frames 6 --pending".split(' ').map(str::to_owned);
    let (options, _) = generate::Options::parse(words).expect("known options");
    let (bytes, _) = generate::generate(&options, Vec::new()).expect("writing to memory succeeds");
    opened::open(&bytes).expect("a complete file")
}

/// A page and its engine, without a browser.
struct Page {
    state: State,
    opened: Opened,
    /// Windows requested so far. Each is answered at once.
    requested_views: Vec<View>,
}

impl Page {
    fn open() -> Page {
        let mut page = Page { state: State::default(), opened: generated(), requested_views: Vec::new() };
        page.act(Action::Resized(CANVAS));
        page.act(Action::FilesGiven(vec![GivenFile { name: "test.pickle".into(), bytes: 10 }]));
        let summary = Box::new(page.opened.summary.clone());
        page.act(Action::Replied { load: page.state.load, reply: Reply::Opened(summary) });
        assert!(matches!(page.state.stage, Stage::Ready(_)));
        page
    }

    fn act(&mut self, action: Action) {
        let mut effects = update(&mut self.state, action, 0.0);
        while !effects.is_empty() {
            for effect in std::mem::take(&mut effects) {
                let Effect::Ask(request) = effect else { continue };
                if let Request::Ask(Ask { question: Question::Scene { view, .. }, .. }) = request {
                    self.requested_views.push(view);
                }
                self.opened.engine.request(request);
                while self.opened.engine.step(&mut || true) == Work::More {}
                while let Some(reply) = self.opened.engine.next_reply() {
                    let replied = Action::Replied { load: self.state.load, reply };
                    effects.extend(update(&mut self.state, replied, 0.0));
                }
            }
        }
    }

    fn wheel(&mut self, axis: WheelAction, x: f64, delta: f64) {
        self.act(Action::Wheel { axis, at: Pointer { x, y: 70.0 }, delta });
    }

    fn view(&self) -> View {
        self.state.view().expect("a view")
    }

    fn scene(&self) -> &Scene {
        self.state.scene().expect("a scene")
    }
}

#[test]
fn panning_within_margin_requests_no_scene() {
    let mut page = Page::open();
    page.wheel(WheelAction::ZoomEvents, 100.0, -1500.0);
    page.wheel(WheelAction::ZoomEvents, 100.0, -1500.0);
    page.wheel(WheelAction::ZoomEvents, 100.0, -1500.0);
    let (before, start) = (page.requested_views.len(), page.view().left_px);
    let mut places = Vec::new();
    for _ in 0..800 {
        page.wheel(WheelAction::MoveEvents, 0.0, 1.0);
        let (view, scene) = (page.view(), page.scene().view);
        let right = |view: &View| view.left_px + i64::from(view.width_px);
        assert!(scene.left_px <= view.left_px && right(&scene) >= right(&view), "{view:?} in {scene:?}");
        if page.requested_views.len() > before + places.len() {
            places.push(view.left_px - start);
        }
    }
    assert_eq!(page.view().left_px, start + 800, "the window moved");
    assert!(places.len() >= 3, "not panned far enough to need new scenes: {places:?}");
    // The margin is half a window and a quarter of the margin is kept, so the window moves by at least 3/8 of its width
    // between two requests.
    let least = i64::from(CANVAS.width_px) * 3 / 8 - 1;
    assert!(places.windows(2).all(|pair| pair[1] - pair[0] >= least), "too many requests, at {places:?}");
}

#[test]
fn zoom_in_and_out_restores_picture() {
    let mut page = Page::open();
    let (view, scene) = (page.view(), page.scene().clone());
    assert!(scene.quads.len() > 100);
    for (x, notches) in [(3.0, 1), (160.0, 12), (319.0, 40), (77.0, 90)] {
        for axis in [WheelAction::ZoomEvents, WheelAction::ZoomBytes] {
            (0..notches).for_each(|_| page.wheel(axis, x, -100.0));
            assert_ne!(page.scene().view, view);
        }
        for axis in [WheelAction::ZoomBytes, WheelAction::ZoomEvents] {
            (0..=notches).for_each(|_| page.wheel(axis, 320.0 - x, 100.0));
        }
        assert_eq!(page.view(), view);
        assert!(*page.scene() == scene, "same window, different picture");
    }
    page.act(Action::Command(commands::ZOOM_EVENTS_IN));
    page.act(Action::Command(commands::FIT_BOTH));
    assert!(page.view() == view && *page.scene() == scene);
}

/// Answered scenes with their serials.
fn scenes(opened: &mut Opened) -> Vec<(u32, Scene)> {
    while opened.engine.step(&mut || true) == Work::More {}
    let replies = std::iter::from_fn(|| opened.engine.next_reply());
    replies
        .map(|reply| match reply {
            Reply::Answer { serial, answer: Answer::Scene(scene) } => (serial, *scene),
            other => panic!("expected a scene, got {other:?}"),
        })
        .collect()
}

#[test]
fn newer_window_replaces_older_request() {
    let mut opened = generated();
    let device = opened.summary.devices[0].clone();
    let plane = Plane::for_device(&device, Axis::Events);
    let whole = plane.fit(CANVAS);
    let near = plane.with_margin(plane.zoom_events(whole, 100.0, 0.01));
    let ask = |serial, view, plot_settings| {
        Request::Ask(Ask { serial, device: device.device, question: Question::Scene { view, plot_settings } })
    };
    let grouped = PlotSettings { stacking: Some(Grouping::CallSite), ..PlotSettings::default() };
    for plot_settings in [PlotSettings::default(), grouped] {
        // Independent of the progress of the older one.
        for slices in [0, 1, 2, 5, 9] {
            opened.engine.request(ask(1, whole, plot_settings));
            for _ in 0..slices {
                let mut pieces = 2;
                let work = opened.engine.step(&mut || {
                    pieces -= 1;
                    pieces > 0
                });
                assert_eq!(work, Work::More, "the older request is unfinished");
            }
            opened.engine.request(ask(2, near, PlotSettings::default()));
            let answered = scenes(&mut opened);
            assert_eq!(
                answered.iter().map(|(serial, _)| *serial).collect::<Vec<_>>(),
                [2],
                "{plot_settings:?}, {slices}"
            );
            assert_eq!(answered[0].1.view, near);
        }
    }
}

#[test]
fn picture_does_not_depend_on_previous_windows() {
    let mut opened = generated();
    let device = opened.summary.devices[0].clone();
    let plane = Plane::for_device(&device, Axis::Events);
    let whole = plane.fit(CANVAS);
    let views = [0.5, 0.03, 0.0005].map(|factor| plane.with_margin(plane.zoom_events(whole, 200.0, factor)));
    let plot_settings = [None, Some(Grouping::CallSite), Some(Grouping::Size), None]
        .map(|stacking| PlotSettings { stacking, ..PlotSettings::default() });
    let mut of = |view, plot_settings| {
        opened.engine.request(Request::Ask(Ask {
            serial: 1,
            device: device.device,
            question: Question::Scene { view, plot_settings },
        }));
        scenes(&mut opened).pop().expect("one answer").1
    };
    let first: Vec<Scene> = plot_settings
        .iter()
        .flat_map(|plot_settings| views.map(|view| (view, *plot_settings)))
        .map(|(view, plot_settings)| of(view, plot_settings))
        .collect();
    let backwards = plot_settings.iter().rev().flat_map(|plot_settings| views.map(|view| (view, *plot_settings)));
    let again: Vec<Scene> = backwards.map(|(view, plot_settings)| of(view, plot_settings)).collect();
    for (one, other) in first.chunks(views.len()).zip(again.chunks(views.len()).rev()) {
        assert!(one == other, "same windows, different picture");
    }
    assert!(first[0] != first[views.len()], "regrouping changes the picture");
}
