//! Lanes of several devices: layout, scene requests, and clicks.
#![allow(clippy::expect_used, clippy::panic, reason = "test helpers fail by panicking")]

use crate::face::{self, Worker, columns};
use memscape::engine::{Answer, Ask, Question, Request};
use memscape::protocol::{DeviceSummary, MomentFacts, PlotSettings};
use memscape::timeline::scene::SceneColumns;
use memscape::timeline::{Axis, Quad, QuadIdentity, Scene, View};
use memscape::ui::plot::overlay::Overlay;
use memscape::ui::plot::{crosshair, lane_focus, lane_labels, markers, ruler};
use memscape::ui::shell::action::Action;
use memscape::ui::shell::commands;
use memscape::ui::state::binding::Modifiers;
use memscape::ui::state::drawing::Canvas;
use memscape::ui::state::effect::{Effect, Pointer, WheelAction};
use proptest::prelude::*;

const CANVAS: Canvas = Canvas { width_px: 100, height_px: 300, scale: 1.0 };

fn device(device: i64, events: u64, peak: i64, time_us: Option<(i64, i64)>) -> DeviceSummary {
    let drawn_peak = peak as u64;
    DeviceSummary { device, events, peak_requested: peak, drawn_peak, time_us, ..DeviceSummary::default() }
}

/// A scene with one allocation that fills the window. Its id is 3 plus the window's height.
fn scene(view: View) -> Scene {
    let id = 3 + view.height_px;
    Scene {
        view,
        band_px: 1,
        columns: SceneColumns { moment: vec![5; view.width_px as usize], ..columns(view) },
        quads: vec![Quad { x: [0, view.width_px as i16], y: [0, view.height_px as i16], paint: 0 }],
        ground: None,
        identities: vec![QuadIdentity { first: id, last: id, count: 1, bytes: [512, 0] }],
    }
}

/// A worker that sends no replies by itself.
struct SilentWorker;

impl Worker for SilentWorker {}

type Page = face::Page<SilentWorker>;

impl Page {
    fn open(devices: Vec<DeviceSummary>) -> Page {
        let mut page = Page::with_canvas(CANVAS, SilentWorker);
        let first = devices.first().map(|device| device.device);
        page.load(devices);
        // The device with the highest peak is shown first.
        page.act(Action::DeviceChosen(first.expect("a device")));
        page.answer_scenes();
        page.act(Action::Command(commands::TOGGLE_LANES));
        page
    }

    fn three_devices() -> Page {
        Page::open(vec![device(0, 999, 1 << 20, None), device(1, 99, 3 << 20, None), device(-1, 9, 1 << 10, None)])
    }

    fn scene_request(&self) -> Option<(u32, i64, View)> {
        let mut scenes = self.effects.iter().filter_map(|effect| match effect {
            Effect::Ask(Request::Ask(Ask { serial, device, question: Question::Scene { view, plot_settings } }))
                if *plot_settings == PlotSettings::default() =>
            {
                Some((*serial, *device, *view))
            }
            _ => None,
        });
        let found = scenes.next();
        assert_eq!(scenes.next(), None, "one request at a time");
        found
    }

    /// Answers scene requests until there are none. Returns their devices in order.
    fn answer_scenes(&mut self) -> Vec<i64> {
        let mut devices = Vec::new();
        while let Some((serial, device, view)) = self.scene_request() {
            devices.push(device);
            assert!(devices.len() < 50, "scene requests do not end");
            self.answer_with(serial, Answer::Scene(Box::new(scene(view))));
            let uploads = self.effects.iter().filter(|effect| matches!(effect, Effect::Upload { .. })).count();
            assert_eq!(uploads, 1);
        }
        devices
    }

    fn rows(&self) -> Vec<[u32; 2]> {
        self.state.shown_lanes().map(|lane| [lane.bottom_px, lane.bottom_px + lane.view.height_px]).collect()
    }
}

#[test]
fn lanes_share_canvas_and_event_axis() {
    let mut page = Page::three_devices();
    assert_eq!(page.rows(), [[200, 300], [100, 199], [0, 99]], "one line between two lanes");
    for lane in page.state.shown_lanes() {
        assert_eq!((lane.view.left_px, lane.view.x_per_px), (0, 10.0), "the longest has 1000 states");
        let shared = View::fit(1, 3 << 20, 100, lane.view.height_px).bytes_per_px;
        assert_eq!(lane.view.bytes_per_px, shared, "one scale for the highest peak");
    }
    assert_eq!(page.answer_scenes(), [0, 1, -1]);
    page.act(Action::Command(commands::ZOOM_EVENTS_IN));
    let views: Vec<_> = page.state.shown_lanes().map(|lane| (lane.view.left_px, lane.view.x_per_px)).collect();
    assert!(views[0].1 < 10.0 && views.iter().all(|view| *view == views[0]), "{views:?}");
    page.answer_scenes();
    page.act(Action::Command(commands::TOGGLE_LANES));
    assert_eq!(page.rows(), [[0, 300]]);
    assert_eq!(page.answer_scenes(), [0]);
}

#[test]
fn scenes_of_lanes_are_requested_in_turn_while_window_moves() {
    let mut page = Page::three_devices();
    page.answer_scenes();
    let mut devices = Vec::new();
    page.act(Action::Command(commands::ZOOM_EVENTS_IN));
    for step in 0..6 {
        let (serial, device, view) = page.scene_request().expect("a scene");
        devices.push(device);
        let zoom = if step % 2 == 0 { commands::ZOOM_EVENTS_IN } else { commands::ZOOM_EVENTS_OUT };
        page.act(Action::Command(zoom));
        assert_eq!(page.scene_request(), None, "one request is in flight");
        page.answer_with(serial, Answer::Scene(Box::new(scene(view))));
    }
    devices.sort_unstable();
    assert_eq!(devices, [-1, -1, 0, 0, 1, 1], "lanes take turns");
}

#[test]
fn reply_updates_lane_that_requested_it() {
    let mut page = Page::three_devices();
    let (serial, device, view) = page.scene_request().expect("a scene");
    assert_eq!(device, 0);
    page.act(Action::Command(commands::NEXT_DEVICE));
    assert_eq!(page.state.device_index, 1);
    page.answer_with(serial + 77, Answer::Scene(Box::new(scene(view))));
    assert!(
        page.state.shown_lanes().all(|lane| lane.index == 0 || lane.geometry.scene.is_none()),
        "a reply with an unknown serial is dropped"
    );
    page.answer_with(serial, Answer::Scene(Box::new(scene(view))));
    let places: Vec<_> =
        page.state.shown_lanes().filter(|lane| lane.geometry.scene.is_some()).map(|lane| lane.index).collect();
    assert_eq!(places, [0]);
    assert_eq!(page.state.scene(), None, "the focused lane has no scene yet");
}

#[test]
fn click_focuses_lane_and_selects() {
    let mut page = Page::three_devices();
    page.answer_scenes();
    let before: Vec<View> = page.state.shown_lanes().map(|lane| *lane.view).collect();
    page.act(Action::PointerMoved(Pointer { x: 40.0, y: 150.0 }));
    let hover = page.state.hover.clone().expect("a hover");
    assert_eq!((hover.device_index, hover.spot.single_allocation()), (1, Some(3 + 99)));
    assert!(matches!(
        page.effects[..],
        [Effect::Ask(Request::Ask(Ask { device: 1, question: Question::Hit { .. }, .. }))]
    ));
    assert_eq!(page.state.device_index, 0);
    page.act(Action::Clicked(Pointer { x: 40.0, y: 50.0 }));
    assert_eq!(page.state.device_index, 2);
    let asked = |effect: &Effect| {
        matches!(effect, Effect::Ask(Request::Ask(Ask { device: -1, question: Question::Details(102), .. })))
    };
    assert!(page.effects.iter().any(asked), "{:?}", page.effects);
    let after: Vec<View> = page.state.shown_lanes().map(|lane| *lane.view).collect();
    assert_eq!(before, after, "moving the focus does not move the picture");
    assert_eq!(page.scene_request(), None);
}

#[test]
fn byte_zoom_and_drag_apply_to_lane_under_pointer() {
    let mut page = Page::three_devices();
    page.answer_scenes();
    let scales = |page: &Page| page.state.shown_lanes().map(|lane| lane.view.bytes_per_px).collect::<Vec<_>>();
    let before = scales(&page);
    let at = Pointer { x: 10.0, y: 140.0 };
    page.act(Action::Wheel { at, delta: -300.0, axis: WheelAction::ZoomBytes });
    let after = scales(&page);
    assert!(after[0] == before[0] && after[2] == before[2] && after[1] < before[1]);
    page.act(Action::PointerMoved(at));
    page.act(Action::PointerLeft);
    page.act(Action::Dragged { right_px: 0.0, up_px: -7.0 });
    let bottoms: Vec<_> = page.state.shown_lanes().map(|lane| lane.view.bottom_px).collect();
    assert!(bottoms[0] == 0 && bottoms[2] == 0 && bottoms[1] > 0, "{bottoms:?}");
    page.act(Action::Command(commands::FIT_BOTH));
    assert_eq!(scales(&page), before);
}

#[test]
fn crosshair_ruler_and_markers_are_in_focused_lane() {
    let mut page = Page::three_devices();
    page.answer_scenes();
    let focused_cursor = |page: &Page| crosshair::position(&page.state).map(|cursor| cursor.byte / (3 << 20));
    page.act(Action::PointerMoved(Pointer { x: 50.0, y: 120.0 }));
    assert_eq!((page.state.pointer, focused_cursor(&page)), (None, None), "over another lane");
    assert_eq!(Overlay::from_state(&page.state).other_lane_pointer, Some(50.0), "the column is shown in all lanes");
    page.act(Action::PointerMoved(Pointer { x: 50.0, y: 220.0 }));
    assert_eq!(page.state.pointer, Some(Pointer { x: 50.0, y: 20.0 }));
    assert_eq!(lane_focus::crosshair_on_canvas(&page.state), Some(Pointer { x: 50.0, y: 220.0 }));
    let overlay = Overlay::from_state(&page.state);
    assert_eq!(
        (overlay.other_lane_pointer, overlay.crosshair.map(|it| it.at)),
        (None, Some(Pointer { x: 50.0, y: 20.0 }))
    );

    page.act(Action::MarkerAdded(Pointer { x: 30.0, y: 140.0 }));
    assert_eq!(page.state.device_index, 1, "a marker belongs to a device");
    assert_eq!(markers::drawn(&page.state).map(|marker| marker.device).collect::<Vec<_>>(), [1]);

    let held = Modifiers { alt: true, ..Modifiers::default() };
    page.act(Action::DragStarted { from: Pointer { x: 10.0, y: 10.0 }, held });
    page.act(Action::DragMoved(Pointer { x: 60.0, y: 250.0 }));
    assert_eq!(page.state.device_index, 2);
    let (ends, _) = Overlay::from_state(&page.state).ruler.expect("a ruler");
    assert!((ends[0].y - 10.0).abs() < 1.0 && (ends[1].y - 99.0).abs() < 1.5, "ruler ends with the lane: {ends:?}");
    assert!(ruler::measured(&page.state).is_some_and(|measured| (2 << 20..3 << 20).contains(&measured.bytes)));
    page.act(Action::DragEnded);

    let before: Vec<View> = page.state.shown_lanes().map(|lane| *lane.view).collect();
    let held = Modifiers { shift: true, ..Modifiers::default() };
    page.act(Action::DragStarted { from: Pointer { x: 20.0, y: 210.0 }, held });
    page.act(Action::DragMoved(Pointer { x: 60.0, y: 250.0 }));
    page.act(Action::DragEnded);
    let after: Vec<View> = page.state.shown_lanes().map(|lane| *lane.view).collect();
    assert!(after[0].bytes_per_px < before[0].bytes_per_px && after[1].bytes_per_px == before[1].bytes_per_px);
    assert!(after.iter().all(|view| view.left_px == after[0].left_px && view.x_per_px < 10.0));
}

#[test]
fn time_axis_aligns_lanes() {
    let s = 1_000_000;
    let devices = vec![
        device(0, 999, 1 << 20, Some((10 * s, 74 * s))),
        device(1, 99, 1 << 20, Some((42 * s, 106 * s))),
        device(2, 99, 1 << 20, None),
    ];
    let mut page = Page::open(devices);
    page.answer_scenes();
    page.act(Action::Command(commands::TOGGLE_AXIS));
    // The window has 96 seconds and one more at each end. Lanes 32 seconds apart differ by as much.
    let place = |page: &Page, place: usize| {
        let lane = page.state.shown_lanes().find(|lane| lane.index == place).expect("a lane");
        assert_eq!(lane.view.axis, Axis::Time);
        lane.view.x_from_column(0.0)
    };
    let scale = page.state.view().expect("a view").x_per_px;
    assert!((place(&page, 0) - place(&page, 1) - 32e6).abs() <= scale);
    assert_eq!(page.answer_scenes(), [0, 1], "a device without times is not drawn");
    let labels = lane_labels::lane_labels(&page.state);
    assert_eq!(
        labels.iter().map(|label| label.note.as_str()).collect::<Vec<_>>(),
        ["peak 1.00 MiB", "peak 1.00 MiB", "no timestamps recorded"]
    );
    let [before, after] = [0, 1].map(|focus| {
        page.act(Action::DeviceChosen(focus));
        [0, 1].map(|lane| page.state.shown_lanes().find(|it| it.index == lane).map(|it| *it.view))
    });
    assert_eq!(before, after, "independent of the focus");
    page.act(Action::DeviceChosen(2));
    assert_eq!(page.state.axis, Axis::Events);
}

#[test]
fn devices_with_times_are_shown_on_time_axis() {
    let s = 1_000_000;
    let devices =
        vec![device(0, 999, 1 << 20, Some((10 * s, 74 * s))), device(1, 99, 1 << 20, Some((42 * s, 106 * s)))];
    let mut page = Page::open(devices);
    assert_eq!(page.state.axis, Axis::Time);
    page.answer_scenes();
    page.act(Action::Command(commands::TOGGLE_LANES));
    assert_eq!(page.state.axis, Axis::Events, "one device has its own axis again");
    // An axis that the user has chosen stays.
    page.act(Action::Command(commands::TOGGLE_LANES));
    page.act(Action::Command(commands::TOGGLE_AXIS));
    page.act(Action::Command(commands::TOGGLE_LANES));
    assert_eq!(page.state.axis, Axis::Events);
    page.act(Action::Command(commands::TOGGLE_AXIS));
    page.act(Action::Command(commands::TOGGLE_LANES));
    page.act(Action::Command(commands::TOGGLE_LANES));
    assert_eq!(page.state.axis, Axis::Time);
}

#[test]
fn lanes_fit_canvas_and_focus_reaches_all_devices() {
    let mut page = Page::open((0..1000).map(|ordinal| device(ordinal, 9, 1 << 20, None)).collect());
    assert_eq!(page.state.lane_indices(), Vec::from_iter(0..6), "48 of 300 pixels each");
    assert_eq!(lane_labels::lanes_toggle(&page.state).note, "6 of 1,000 devices");
    page.act(Action::Command(commands::PREVIOUS_DEVICE));
    assert_eq!((page.state.device_index, page.state.lane_indices()), (999, Vec::from_iter(994..1000)));
    page.act(Action::DeviceChosen(500));
    assert_eq!(page.state.lane_indices(), Vec::from_iter(500..506));
    assert_eq!(page.answer_scenes(), [500, 501, 502, 503, 504, 505]);
    page.act(Action::DeviceChosen(503));
    assert_eq!(page.state.lane_indices(), Vec::from_iter(500..506), "lanes do not move unnecessarily");
    assert_eq!(page.state.shown_lanes().filter(|lane| lane.geometry.scene.is_some()).count(), 6);
    page.act(Action::Resized(Canvas { height_px: 40, ..CANVAS }));
    assert_eq!(page.state.lane_indices(), Vec::from_iter(503..504));
}

#[test]
fn colouring_is_requested_for_every_lane() {
    let mut page = Page::three_devices();
    page.answer_scenes();
    page.act(Action::Command(commands::NEXT_COLOURING));
    for _ in 0..3 {
        let (serial, view) = page
            .effects
            .iter()
            .find_map(|effect| match effect {
                Effect::Ask(Request::Ask(Ask { serial, question: Question::Scene { view, .. }, .. })) => {
                    Some((*serial, *view))
                }
                _ => None,
            })
            .expect("a scene");
        page.answer_with(serial, Answer::Scene(Box::new(scene(view))));
    }
    assert!(page.state.shown_lanes().all(|lane| lane.geometry.plot_settings == page.state.plot_settings));
}

proptest! {
    #[test]
    fn lanes_cover_the_canvas_without_overlap(height_px in 1..3000u32, scale in 1..4u32, devices in 1..70usize, focus in 0..70i64) {
        let mut page = Page::open((0..devices as i64).map(|ordinal| device(ordinal, 9, 1 << 20, None)).collect());
        page.act(Action::DeviceChosen(focus));
        page.act(Action::Resized(Canvas { width_px: 50, height_px, scale: f64::from(scale) }));
        let rows = page.rows();
        prop_assert_eq!(rows[0][1], height_px);
        prop_assert_eq!(rows.last().map(|last| last[0]), Some(0));
        for pair in rows.windows(2) {
            prop_assert_eq!(pair[0][0] - pair[1][1], scale, "one line between two lanes");
        }
        prop_assert!(rows.len() == 1 || rows.iter().all(|[bottom, top]| top - bottom + scale >= 47 * scale));
        prop_assert!(page.state.focused_lane().is_some());
    }
}

#[test]
fn device_without_times_is_shown_on_event_axis() {
    let s = 1_000_000;
    let mut page = Page::open(vec![device(0, 999, 1 << 20, Some((10 * s, 74 * s))), device(1, 99, 1 << 20, None)]);
    page.answer_scenes();
    page.act(Action::Command(commands::TOGGLE_AXIS));
    page.answer_scenes();
    for _ in 0..5 {
        page.act(Action::Command(commands::ZOOM_EVENTS_IN));
    }
    page.act(Action::DeviceChosen(1));
    assert_eq!(page.state.axis, Axis::Events);
    let view = page.state.view().expect("a view");
    assert_eq!(view, page.state.plane().expect("a plane").fit_like(view));
}

#[test]
fn touch_drags_lane_under_finger() {
    let mut page = Page::three_devices();
    page.answer_scenes();
    let at = Pointer { x: 10.0, y: 140.0 };
    page.act(Action::Wheel { at, delta: -300.0, axis: WheelAction::ZoomBytes });
    let bottoms = |page: &Page| page.state.shown_lanes().map(|lane| lane.view.bottom_px).collect::<Vec<_>>();
    let before = bottoms(&page);
    // The finger has not hovered anywhere before.
    page.act(Action::DragStarted { from: at, held: Modifiers::default() });
    page.act(Action::Dragged { right_px: 0.0, up_px: -7.0 });
    assert_eq!(bottoms(&page), [before[0], before[1] + 7, before[2]]);
}

#[test]
fn undo_cancels_pending_axis_change() {
    let s = 1_000_000;
    let times = Some((10 * s, 74 * s));
    let mut page = Page::open(vec![device(0, 999, 1 << 20, times), device(1, 99, 1 << 20, times)]);
    page.answer_scenes();
    page.act(Action::Command(commands::TOGGLE_AXIS));
    page.answer_scenes();
    page.act(Action::Command(commands::ZOOM_EVENTS_IN));
    page.act(Action::Command(commands::TOGGLE_AXIS));
    let asked = page.effects.iter().find_map(|effect| match effect {
        Effect::Ask(Request::Ask(Ask { serial, question: Question::Moments(at), .. })) => Some((*serial, at.len())),
        _ => None,
    });
    let (serial, count) = asked.expect("request for the window's edges");
    page.act(Action::Command(commands::UNDO_VIEW));
    assert_eq!(page.state.axis, Axis::Events);
    page.answer_with(serial, Answer::Moments(vec![MomentFacts::default(); count]));
    assert_eq!(page.state.axis, Axis::Events);
}
