//! The page without a browser: user actions and their effects.
#![allow(clippy::expect_used, clippy::panic, reason = "test helpers fail by panicking")]

use crate::face::{self, Worker};
use memscape::engine::{Answer, Ask, Question, Reply, Request};
use memscape::protocol::{
    Details, DeviceSummary, Grouping, HitAllocation, LoadRange, Member, MomentFacts, Phase, PlotSettings, Progress,
    StepOutcome, StepResult,
};
use memscape::timeline::{Quad, QuadIdentity, Scene, View};
use memscape::ui::features::command::Command;
use memscape::ui::plot::overlay::Overlay;
use memscape::ui::plot::{hover, markers, moment};
use memscape::ui::session::notices;
use memscape::ui::shell::action::Action;
use memscape::ui::shell::commands;
use memscape::ui::state::binding::Modifiers;
use memscape::ui::state::drawing::{BytesAxis, Canvas};
use memscape::ui::state::effect::{Effect, GivenFile, Origin, Pointer, WheelAction};
use memscape::ui::state::link::Link;
use memscape::ui::state::stage::{Help, Letters, Renderer, Stage};
use memscape::ui::text::tab::Tab;
use proptest::prelude::*;

const CANVAS: Canvas = Canvas { width_px: 100, height_px: 100, scale: 1.0 };

fn devices() -> Vec<DeviceSummary> {
    let device = |device, events| DeviceSummary {
        device,
        events,
        peak_requested: 1 << 20,
        peak_event: 7,
        drawn_peak: 1 << 20,
        ..DeviceSummary::default()
    };
    vec![device(0, 999), device(1, 9)]
}

/// A scene for `view` with one column per pixel: allocation 3 alone at the bottom, a band of 4 and 5 on top.
fn scene(view: View) -> Scene {
    let (width, half) = (view.width_px as i16, view.height_px as i16 / 2);
    Scene {
        view,
        band_px: 1,
        columns: face::columns(view),
        quads: vec![
            Quad { x: [0, width], y: [0, half], paint: 0 },
            Quad { x: [0, width], y: [half, 2 * half], paint: 1 << 16 },
        ],
        ground: None,
        identities: vec![
            QuadIdentity { first: 3, last: 3, count: 1, bytes: [512, 0] },
            QuadIdentity { first: 4, last: 5, count: 2, bytes: [600, 0] },
        ],
    }
}

/// A worker that sends no replies by itself.
struct SilentWorker;

impl Worker for SilentWorker {}

type Page = face::Page<SilentWorker>;

impl Page {
    /// Requests to the worker, without those about the cursor, which `tests/ui_tools.rs` covers.
    fn requests(&self) -> Vec<&Request> {
        self.effects
            .iter()
            .filter_map(|effect| if let Effect::Ask(request) = effect { Some(request) } else { None })
            .filter(|request| !matches!(request, Request::Ask(Ask { question: Question::Moments(_), .. })))
            .collect()
    }

    /// Answers the latest scene request.
    fn answer_scene(&mut self) {
        let request = self.requests().into_iter().find_map(|request| match request {
            Request::Ask(Ask { serial, question: Question::Scene { view, .. }, .. }) => Some((*serial, *view)),
            _ => None,
        });
        let (serial, view) = request.expect("a scene was requested");
        self.answer_with(serial, Answer::Scene(Box::new(scene(view))));
    }

    /// A page with an open file and its whole timeline shown.
    fn open() -> Page {
        let mut page = Page::with_devices(SilentWorker, devices());
        page.answer_scene();
        page
    }

    fn view(&self) -> View {
        self.state.view().expect("a view")
    }
}

#[test]
fn opened_file_requests_its_whole_timeline() {
    let mut page = Page::new(SilentWorker);
    page.act(Action::FilesGiven(vec![GivenFile { name: "a.pickle".into(), bytes: 10 }]));
    assert_eq!(page.effects, [Effect::Load { origin: Origin::File(0), member: None, load: 1, range: LoadRange::ALL }]);
    page.now_ms = 1000.0;
    page.reply(Reply::Progress(Progress { bytes: 5, total_bytes: Some(10), phase: Phase::Decoding }));
    let Stage::Loading(loading) = &page.state.stage else { panic!("{:?}", page.state.stage) };
    assert_eq!(loading.view().fraction, Some(0.5));
    page.reply(face::opened_reply(devices()));
    assert_eq!(page.effects, [], "no canvas yet");
    page.act(Action::Resized(CANVAS));
    let view = View::fit(1000, 1 << 20, 100, 100);
    assert_eq!(
        page.requests(),
        [&Request::Ask(Ask {
            serial: 1,
            device: 0,
            question: Question::Scene { view, plot_settings: PlotSettings::default() }
        })]
    );
    page.answer_scene();
    assert!(matches!(page.effects[..], [Effect::Upload { .. }, ..]));
    assert!(matches!(
        page.requests()[..],
        [
            // The part of the peak with a category decides the initial grouping.
            Request::Ask(Ask { question: Question::Legend { colouring: Grouping::Category, .. }, .. }),
            Request::Ask(Ask { question: Question::Marks, .. }),
            Request::Ask(Ask { question: Question::Overview { .. }, .. }),
            Request::Ask(Ask { question: Question::Legend { .. }, .. }),
            // The Insights badge counts alarms on every tab.
            Request::Ask(Ask { question: Question::Report(_), .. })
        ]
    ));
}

#[test]
fn second_file_replaces_first_and_late_replies_are_dropped() {
    let mut page = Page::open();
    let earlier = page.state.load;
    page.act(Action::FilesGiven(vec![GivenFile { name: "b.pickle".into(), bytes: 10 }]));
    page.act(Action::Replied { load: earlier, reply: Reply::Failed { message: "late".into() } });
    page.act(Action::Replied { load: earlier, reply: face::opened_reply(devices()) });
    page.act(Action::LinkFailed { load: earlier, status: Some(404) });
    assert!(matches!(&page.state.stage, Stage::Loading(loading) if loading.name == "b.pickle"));
}

#[test]
fn failed_open_keeps_current_file() {
    for cause in 0..5 {
        let mut page = Page::open();
        page.act(Action::TabChosen(Tab::Events));
        page.act(Action::GoToEntered("12".into()));
        let (load, before) = (page.state.load, Link::from_state(&page.state));
        assert!(before.as_ref().is_some_and(|link| link.fragment().contains("at=12")));
        let other = "url=https://a.b/b.pickle";
        match cause {
            0 | 2 => page.act(Action::LinkGiven(Box::new(Link::parse(other)))),
            _ => page.act(files_given(&["b.pickle"])),
        }
        assert!(matches!(page.state.stage, Stage::Loading(_)) && page.state.load != load);
        match cause {
            0 => page.act(Action::LinkFailed { load: page.state.load, status: Some(404) }),
            1 => page.reply(Reply::Failed { message: "the file is empty".into() }),
            2 => page.command(commands::CANCEL_LOADING),
            3 => page.act(Action::WorkerStopped("out of memory".into())),
            _ => page.act(Action::LoadFailed("Not a valid address: x".into())),
        }
        assert!(matches!(&page.state.stage, Stage::Ready(file) if file.file == "a.pickle"), "{cause}");
        assert!(page.effects.contains(&Effect::RestoreOpen), "{cause}");
        assert_eq!((page.state.load, Link::from_state(&page.state)), (load, before), "{cause}: view is unchanged");
        let is_toast_shown = page.state.toast.as_ref().map(|toast| toast.text.starts_with("Could not open b.pickle: "));
        assert_eq!(is_toast_shown, Some(true).filter(|_| cause != 2), "{cause}");
        // Late replies about the failed file are dropped, and its load number is not reused.
        page.act(Action::Replied { load: load + 1, reply: Reply::Failed { message: "late".into() } });
        assert!(matches!(page.state.stage, Stage::Ready(_)));
        page.command(commands::CLEAR_SELECTION);
        assert_eq!(page.state.toast, None, "Esc closes it");
        page.act(files_given(&["c.pickle"]));
        assert!(page.state.load > load + 1);
        page.reply(face::opened_reply(devices()));
        page.act(Action::WorkerStopped("out of memory".into()));
        assert!(matches!(page.state.stage, Stage::Failed(_)), "no state of the previous file remains");
    }
}

#[test]
fn refused_copy_shows_error() {
    let mut page = Page::open();
    page.command(commands::COPY_LINK);
    page.act(Action::Copied(Err("denied".into())));
    assert_eq!(page.state.remark.as_deref(), Some("The browser did not allow copying: denied."));
    page.act(Action::Copied(Ok(())));
    assert_eq!(page.state.remark.as_deref(), Some("Copied."));
}

#[test]
fn cancel_takes_effect_at_once() {
    for command in [commands::CANCEL_LOADING, commands::CLEAR_SELECTION] {
        let mut page = Page::new(SilentWorker);
        page.act(Action::LinkGiven(Box::new(Link::parse(concat!("url=", "https://a.b/c.pickle")))));
        let earlier = page.state.load;
        page.command(command);
        assert_eq!(page.state.stage, Stage::Empty);
        assert_eq!(page.requests(), [&Request::Cancel]);
        page.act(Action::Replied { load: earlier, reply: face::opened_reply(devices()) });
        assert_eq!(page.state.stage, Stage::Empty);
    }
}

#[test]
fn error_names_the_file_and_next_file_opens() {
    let mut page = Page::new(SilentWorker);
    page.act(Action::FilesGiven(vec![GivenFile { name: "b.pickle".into(), bytes: 0 }]));
    page.reply(Reply::Failed { message: "the file is empty".into() });
    assert_eq!(page.state.stage, Stage::Failed("b.pickle: the file is empty".into()));
    page.act(Action::LinkGiven(Box::new(Link::parse(concat!("url=", "https://files.example/c.pickle")))));
    page.act(Action::LinkFailed { load: page.state.load, status: Some(404) });
    assert!(matches!(&page.state.stage, Stage::Failed(text) if text.starts_with("files.example has no such file")));
    page.command(commands::OPEN_SAMPLE_OUT_OF_MEMORY);
    assert!(matches!(page.effects[..], [Effect::Load { origin: Origin::Link(_), .. }]));
}

#[test]
fn crashed_worker_is_replaced() {
    let mut page = Page::open();
    page.act(Action::WorkerStopped("RuntimeError: unreachable".into()));
    assert_eq!(page.effects, [Effect::ReplaceWorker]);
    assert!(matches!(&page.state.stage, Stage::Failed(text) if text.contains("unreachable")));
}

#[test]
fn one_scene_is_in_flight_and_next_is_for_newest_window() {
    let mut page = Page::open();
    page.command(commands::ZOOM_EVENTS_IN);
    assert_eq!(page.requests().len(), 1, "another scale needs a new scene");
    let first = page.effects.clone();
    for command in [commands::ZOOM_EVENTS_IN, commands::MOVE_RIGHT, commands::ZOOM_BYTES_IN] {
        page.command(command);
        assert_eq!(page.requests(), Vec::<&Request>::new(), "one request at a time");
    }
    page.effects = first;
    page.answer_scene();
    let [Request::Ask(Ask { question: Question::Scene { view, .. }, .. })] = page.requests()[..] else {
        panic!("{:?}", page.effects)
    };
    let shown = page.view();
    assert_eq!((view.x_per_px, view.bytes_per_px), (shown.x_per_px, shown.bytes_per_px));
    assert!(view.left_px <= shown.left_px && view.width_px > shown.width_px, "with a margin");
    page.answer_scene();
    assert_eq!(page.requests(), Vec::<&Request>::new(), "no further request");
}

#[test]
fn bytes_axis_fits_window_until_manual_zoom() {
    let mut page = Page::open();
    page.command(commands::ZOOM_BYTES_OUT);
    page.command(commands::ZOOM_BYTES_IN);
    page.command(commands::TOGGLE_FIT_BYTES);
    assert_eq!(page.state.bytes_axis, BytesAxis::FitsWindow);
    let fitted = View::fit(1, 1 << 20, 100, 100).bytes_per_px;
    assert!((page.view().bytes_per_px - fitted).abs() < 1e-9);
    page.command(commands::ZOOM_BYTES_IN);
    assert_eq!(page.state.bytes_axis, BytesAxis::Free, "zooming by hand turns fitting off");
    assert!(page.view().bytes_per_px < fitted);
    page.command(commands::FIT_BOTH);
    assert!((page.view().bytes_per_px - fitted).abs() < 1e-9);
}

#[test]
fn click_selects_block_at_once_and_band_after_reply() {
    let mut page = Page::open();
    page.act(Action::Clicked(Pointer { x: 50.0, y: 10.0 }));
    let details: Vec<_> = page
        .requests()
        .into_iter()
        .filter(|it| matches!(it, Request::Ask(Ask { question: Question::Details(_), .. })))
        .collect();
    let [Request::Ask(Ask { serial, device: 0, question: Question::Details(3) })] = details[..] else {
        panic!("{:?}", page.effects)
    };
    let selected = Details { allocation: 3, allocated_event: Some(1), ..Details::default() };
    page.answer_with(*serial, Answer::Details(Some(Box::new(selected.clone()))));
    assert_eq!(page.state.selection.as_deref(), Some(&selected));
    page.act(Action::Clicked(Pointer { x: 50.0, y: 80.0 }));
    let hits: Vec<_> = page
        .requests()
        .into_iter()
        .filter(|it| matches!(it, Request::Ask(Ask { question: Question::Hit { .. }, .. })))
        .collect();
    let [Request::Ask(Ask { serial, question: Question::Hit { moment: 500, .. }, .. })] = hits[..] else {
        panic!("{:?}", page.effects)
    };
    let hit = HitAllocation {
        allocation: 5,
        requested: 300,
        allocated_at: 2,
        freed_at: Some(9),
        lowest_byte: 0,
        call_site: None,
        category: None,
    };
    page.answer_with(*serial, Answer::Hit { hit: Some(hit), memory: None });
    assert!(page.requests().iter().any(|it| matches!(it, Request::Ask(Ask { question: Question::Details(5), .. }))));
    page.command(commands::CLEAR_SELECTION);
    assert_eq!((&page.state.selection, page.state.selecting), (&None, None));
}

#[test]
fn hover_card_is_stable_inside_a_block() {
    let mut page = Page::open();
    page.act(Action::PointerMoved(Pointer { x: 50.0, y: 10.0 }));
    let [Request::Ask(Ask { serial, question: Question::Hit { .. }, .. })] = page.requests()[..] else {
        panic!("{:?}", page.effects)
    };
    let hit = HitAllocation {
        allocation: 3,
        requested: 512,
        allocated_at: 1,
        freed_at: None,
        lowest_byte: 0,
        call_site: Some("a.py:1 f".into()),
        category: Some("activation".into()),
    };
    page.answer_with(*serial, Answer::Hit { hit: Some(hit), memory: None });
    let card = hover::card(page.state.hover.as_ref().expect("a hover"));
    assert_eq!((card.title.as_str(), card.call_site.as_str()), ("512 B", "a.py:1 f"));
    assert_eq!(card.lifetime, "allocated at event 0, never freed");
    assert!(card.share.starts_with("activation · ") && card.share.ends_with(" live"), "{}", card.share);
    page.act(Action::PointerMoved(Pointer { x: 70.0, y: 20.0 }));
    assert_eq!(hover::card(page.state.hover.as_ref().expect("a hover")), card);
    assert_eq!(page.requests(), Vec::<&Request>::new(), "known answers are not requested again");
    assert!(
        notices::pointer_reading(&page.state).0.starts_with("After event 69"),
        "{}",
        notices::pointer_reading(&page.state).0
    );
    page.act(Action::PointerLeft);
    assert_eq!(page.state.hover, None);
}

#[test]
fn empty_hit_answer_is_not_requested_again() {
    let mut page = Page::open();
    page.act(Action::PointerMoved(Pointer { x: 50.0, y: 80.0 }));
    let [Request::Ask(Ask { serial, question: Question::Hit { .. }, .. })] = page.requests()[..] else {
        panic!("{:?}", page.effects)
    };
    page.answer_with(*serial, Answer::Hit { hit: None, memory: None });
    assert_eq!(page.requests(), Vec::<&Request>::new());
}

#[test]
fn switching_device_requests_its_scene() {
    let mut page = Page::open();
    page.act(Action::Clicked(Pointer { x: 50.0, y: 10.0 }));
    page.command(commands::NEXT_DEVICE);
    assert!(matches!(page.requests()[..], [Request::Ask(Ask { device: 1, question: Question::Scene { .. }, .. })]));
    assert_eq!(page.state.scene(), None);
    page.act(Action::DeviceChosen(7));
    assert_eq!(page.state.device_index, 1, "an unknown device is ignored");
    page.command(commands::NEXT_DEVICE);
    assert_eq!(page.state.device_index, 0);
}

#[test]
fn selected_allocation_scrolls_into_view() {
    let mut page = Page::open();
    for _ in 0..6 {
        page.command(commands::ZOOM_EVENTS_IN);
    }
    page.command(commands::SELECT_NEXT);
    let details = Details { allocated_event: Some(900), freed_event: Some(905), ..Details::default() };
    page.answer_with(page.state.selecting.expect("asked"), Answer::Details(Some(Box::new(details))));
    let view = page.view();
    assert!((view.x_from_column(0.0)..view.x_from_column(100.0)).contains(&900.0));
}

#[test]
fn new_renderer_receives_current_scene() {
    let mut page = Page::open();
    page.act(Action::RendererChosen(Renderer::Cpu(Some("no adapter".into()))));
    assert!(matches!(page.effects[..], [Effect::Upload { .. }]));
    assert!(notices::renderer_notice(&page.state).is_some_and(|text| text.contains("no adapter")));
}

#[test]
fn commands_toggle_help_and_letter_keys() {
    let mut page = Page::new(SilentWorker);
    page.command(commands::TOGGLE_HELP);
    assert_eq!(page.state.help, Help::Open);
    page.act(Action::HelpClosed);
    assert_eq!(page.state.help, Help::Closed);
    page.command(commands::TOGGLE_LETTERS);
    assert_eq!(page.state.letters, Letters::Off);
}

/// Actions of the timeline's tools and replies of the worker to them.
fn tool_action() -> impl Strategy<Value = Action> {
    let pointer = (-50.0..150.0f64, -50.0..150.0f64).prop_map(|(x, y)| Pointer { x, y });
    let held = (any::<bool>(), any::<bool>()).prop_map(|(alt, shift)| Modifiers { alt, shift, ctrl: false });
    let stops = proptest::sample::select(vec![StepOutcome::Arrived, StepOutcome::NotFound, StepOutcome::Unfinished]);
    prop_oneof![
        2 => (pointer.clone(), held).prop_map(|(from, held)| Action::DragStarted { from, held }),
        2 => pointer.clone().prop_map(Action::DragMoved),
        2 => Just(Action::DragEnded),
        1 => pointer.prop_map(Action::MarkerAdded),
        1 => (0..9u32).prop_map(Action::MarkerVisited),
        1 => (0..9u32).prop_map(Action::MarkerRemoved),
        1 => "[0-9.e-]{0,6}".prop_map(Action::CapacityTyped),
        4 => (0..6u32, 0..40u32, any::<u32>(), any::<u64>(), stops).prop_map(|(load, serial, moment, byte, outcome)| {
            Action::Replied { load, reply: Reply::Answer { serial, answer: Answer::Step(StepResult { moment, byte, outcome }) } }
        }),
        4 => (0..6u32, 0..40u32, 0..3000u32, 0..3usize).prop_map(|(load, serial, moment, count)| {
            let moments = vec![MomentFacts { moment, ..MomentFacts::default() }; count];
            Action::Replied { load, reply: Reply::Answer { serial, answer: Answer::Moments(moments) } }
        }),
    ]
}

fn any_action() -> impl Strategy<Value = Action> {
    let commands: Vec<Command> = commands::all().collect();
    let pointer = (-50.0..150.0f64, -50.0..150.0f64).prop_map(|(x, y)| Pointer { x, y });
    let details = Details { allocated_event: Some(3), ..Details::default() };
    let (scene_view, axis) = (
        View::fit(1000, 1 << 20, 100, 100),
        [WheelAction::ZoomEvents, WheelAction::ZoomBytes, WheelAction::MoveEvents],
    );
    prop_oneof![
        4 => proptest::sample::select(commands).prop_map(Action::Command),
        2 => pointer.clone().prop_map(Action::PointerMoved),
        1 => pointer.clone().prop_map(Action::Clicked),
        2 => (pointer, -5000.0..5000.0f64, proptest::sample::select(axis.to_vec()))
            .prop_map(|(at, delta, axis)| Action::Wheel { at, delta, axis }),
        1 => (-500.0..500.0f64, -500.0..500.0f64).prop_map(|(right_px, up_px)| Action::Dragged { right_px, up_px }),
        1 => (1..3000u32, 1..3000u32).prop_map(|(width_px, height_px)| Action::Resized(Canvas { width_px, height_px, scale: 2.0 })),
        3 => tool_action(),
        1 => Just(Action::FilesGiven(vec![GivenFile { name: "c".into(), bytes: 1 }])),
        1 => (0..3i64).prop_map(Action::DeviceChosen),
        1 => (0..3usize).prop_map(Action::SnapshotChosen),
        1 => Just(Action::WorkerStopped("gone".into())),
        4 => (0..6u32, 0..40u32).prop_map(move |(load, serial)| Action::Replied {
            load,
            reply: Reply::Answer { serial, answer: Answer::Scene(Box::new(scene(scene_view))) },
        }),
        2 => (0..6u32).prop_map(|load| Action::Replied { load, reply: face::opened_reply(devices()) }),
        1 => (0..6u32, 0..40u32).prop_map(move |(load, serial)| Action::Replied {
            load,
            reply: Reply::Answer { serial, answer: Answer::Details(Some(Box::new(details.clone()))) },
        }),
        1 => (0..6u32, 0..40u32).prop_map(|(load, serial)| Action::Replied { load, reply: Reply::Answer { serial, answer: Answer::Hit { hit: None, memory: None } } }),
    ]
}

proptest! {
    /// Any sequence of actions: no panic, no window outside the plane, and no selection or hover of a closed file.
    #[test]
    fn any_actions_keep_state_valid(actions in proptest::collection::vec(any_action(), 0..60)) {
        let mut page = Page::open();
        for action in actions {
            page.act(action);
            let state = &page.state;
            if state.file().is_none() {
                prop_assert!(state.selection.is_none() && state.hover.is_none() && state.scene().is_none());
            }
            if let Some(view) = state.view() {
                prop_assert!(view.left_px >= 0 && view.bottom_px >= 0 && view.x_per_px > 0.0 && view.bytes_per_px > 0.0);
            }
            let shown: Vec<i64> = state.shown_lanes().map(|lane| lane.device.device).collect();
            for request in page.requests() {
                if let Request::Ask(Ask { device: asked, question: Question::Scene { .. }, .. }) | Request::Ask(Ask { device: asked, question: Question::Hit { .. }, .. }) = request {
                    prop_assert!(shown.contains(asked));
                }
            }
            for lane in state.shown_lanes() {
                prop_assert!(lane.view.bottom_px >= 0 && lane.view.x_per_px > 0.0 && lane.view.bytes_per_px > 0.0);
            }
            let _ = notices::pointer_reading(state);
            let _ = notices::status(state);
            let _ = (Overlay::from_state(state), moment::view(state), moment::screen_reader_text(state), markers::lines(state));
        }
    }
}

fn files_given(names: &[&str]) -> Action {
    Action::FilesGiven(names.iter().map(|&name| GivenFile { name: name.to_owned(), bytes: 2048 }).collect())
}

fn lines(page: &Page) -> Vec<String> {
    page.state.snapshot_lines()
}

#[test]
fn archive_is_replaced_by_its_members() {
    let mut page = Page::new(SilentWorker);
    page.act(files_given(&["a.pickle", "b.zip", "notes.txt"]));
    page.reply(face::opened_reply(devices()));
    assert_eq!(lines(&page), ["a.pickle · 2.00 KiB", "b.zip · 2.00 KiB"]);
    page.act(Action::SnapshotChosen(1));
    assert_eq!(
        page.effects,
        [Effect::Load { origin: Origin::File(1), member: None, load: page.state.load, range: LoadRange::ALL }]
    );
    let member = |name: &str| Member { name: name.to_owned(), bytes: 1024 };
    page.reply(Reply::Members(vec![member("x/one.pickle"), member("x/two.pickle")]));
    let expected = ["a.pickle · 2.00 KiB", "b.zip › x/one.pickle · 1.00 KiB", "b.zip › x/two.pickle · 1.00 KiB"];
    assert_eq!(lines(&page), expected);
    assert_eq!(page.state.snapshot_index, 1, "the first member is being opened");
    page.reply(face::opened_reply(devices()));
    page.act(Action::SnapshotChosen(2));
    assert_eq!(
        page.effects,
        [Effect::Load { origin: Origin::File(1), member: Some(1), load: page.state.load, range: LoadRange::ALL }]
    );
    page.reply(Reply::Members(vec![member("x/one.pickle"), member("x/two.pickle")]));
    assert_eq!(lines(&page), expected, "a repeated reply changes nothing");
    // A list of its own omits the common part of all names.
    page.state.snapshots.remove(0);
    assert_eq!(lines(&page), ["one.pickle · 1.00 KiB", "two.pickle · 1.00 KiB"]);
    page.act(files_given(&["run 7/a.pickle", "run 7/deeper/b.pickle"]));
    assert_eq!(lines(&page), ["a.pickle · 2.00 KiB", "deeper/b.pickle · 2.00 KiB"]);
}

#[test]
fn error_in_archive_member_names_the_file() {
    let mut page = Page::new(SilentWorker);
    page.act(files_given(&["a.pickle", "b.zip"]));
    page.act(Action::SnapshotChosen(1));
    page.reply(Reply::Failed { message: "x/two.pickle: cut".into() });
    assert_eq!(page.state.stage, Stage::Failed("b.zip: x/two.pickle: cut".into()));
}

#[test]
fn non_snapshot_files_report_error() {
    let mut page = Page::open();
    page.act(files_given(&["loss.png", "train.py", "train.log"]));
    let expected = "None of these files is a snapshot: loss.png and 2 more.";
    let toast = page.state.toast.take().expect("the open file stays");
    assert_eq!(toast.text, ["Could not open loss.png: ", expected].concat());
    assert!(matches!(page.state.stage, Stage::Ready(_)));
    assert_eq!(page.effects, [Effect::RestoreOpen]);
    let mut page = Page::new(SilentWorker);
    page.act(files_given(&["loss.png", "train.py", "train.log"]));
    assert_eq!(page.state.stage, Stage::Failed(expected.into()));
    assert_eq!(page.effects, []);
}

#[test]
fn newer_message_replaces_error() {
    let mut page = Page::open();
    page.act(files_given(&["loss.png", "train.py"]));
    assert!(page.state.toast.is_some());
    page.act(Action::PointerLeft);
    assert!(page.state.toast.is_some(), "nothing newer was said");
    page.act(Action::DroppedNoFile);
    assert_eq!(page.state.toast, None);
    page.act(files_given(&["loss.png", "train.py"]));
    assert!(page.state.toast.is_some(), "the error is the newest message");
}

#[test]
fn file_beside_a_snapshot_is_answered() {
    let mut page = Page::new(SilentWorker);
    page.act(files_given(&["loss.png", "a.pickle"]));
    assert!(matches!(&page.state.stage, Stage::Loading(loading) if loading.name == "a.pickle"));
    page.reply(face::opened_reply(devices()));
    assert_eq!(page.state.remark.as_deref(), Some("Not a snapshot: loss.png."));
}

#[test]
fn regrouped_stack_gets_new_outline_and_hit_test() {
    let mut page = Page::open();
    page.command(commands::SELECT_NEXT);
    let [Request::Ask(Ask { serial, question: Question::Details(_), .. })] = page.requests()[..] else {
        panic!("{:?}", page.effects)
    };
    let details = Details { allocation: 3, requested: 512, ..Details::default() };
    page.answer_with(*serial, Answer::Details(Some(Box::new(details))));
    let outline = |page: &Page| {
        let asked = page.requests().into_iter().find_map(|request| match request {
            Request::Ask(Ask { serial, question: Question::Outline { plot_settings, allocation: 3, .. }, .. }) => {
                Some((*serial, *plot_settings))
            }
            _ => None,
        });
        asked.expect("an outline was requested")
    };
    let (serial, plot_settings) = outline(&page);
    assert_eq!(plot_settings, PlotSettings::default());
    page.answer_with(serial, Answer::Outline(Vec::new()));
    page.act(Action::StackingChosen(Some(Grouping::Size)));
    page.act(Action::PointerMoved(Pointer { x: 10.0, y: 75.0 }));
    let hit = page.requests().into_iter().find_map(|request| match request {
        Request::Ask(Ask { question: Question::Hit { plot_settings, .. }, .. }) => Some(*plot_settings),
        _ => None,
    });
    assert_eq!(hit, Some(PlotSettings::default()), "the old order is still shown");
    let grouped = PlotSettings { stacking: Some(Grouping::Size), ..PlotSettings::default() };
    page.act(Action::StackingChosen(None));
    page.act(Action::StackingChosen(grouped.stacking));
    page.answer_scene();
    assert_eq!(outline(&page).1, grouped, "outline in the new order");
}
