//! Several devices above each other: where lanes lie, whose geometry is asked for, what a click in one does.
#![allow(clippy::expect_used, clippy::panic, reason = "the helpers of a test fail as it does, by panicking")]

use crate::face::{self, Worker, columns};
use memscape::engine::protocol::{DeviceSummary, Looks, MomentFacts};
use memscape::engine::{Answer, Ask, Question, Request};
use memscape::timeline::scene::SceneColumns;
use memscape::timeline::{Axis, Quad, QuadIdentity, Scene, View};
use memscape::ui::binding::Modifiers;
use memscape::ui::effect::{Pointer, WheelAxis};
use memscape::ui::overlay::Overlay;
use memscape::ui::shown::Canvas;
use memscape::ui::{Action, Command, Effect, lane_labels};
use proptest::prelude::*;

const CANVAS: Canvas = Canvas { width_px: 100, height_px: 300, scale: 1.0 };

fn device(device: i64, events: u64, peak: i64, time_us: Option<(i64, i64)>) -> DeviceSummary {
    let drawn_peak = peak as u64;
    DeviceSummary { device, events, peak_requested: peak, drawn_peak, time_us, ..DeviceSummary::default() }
}

/// One allocation, 3 plus the height of the window, as high as it.
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

/// Answers nothing by itself.
struct Lanes;

impl Worker for Lanes {}

type Page = face::Page<Lanes>;

impl Page {
    fn open(devices: Vec<DeviceSummary>) -> Page {
        let mut page = Page::on(CANVAS, Lanes);
        let first = devices.first().map(|device| device.device);
        page.load(devices);
        // The one with the highest peak is shown first.
        page.act(Action::DeviceChosen(first.expect("a device")));
        page.answer_scenes();
        page.act(Action::Command(Command::ToggleLanes));
        page
    }

    fn three() -> Page {
        Page::open(vec![device(0, 999, 1 << 20, None), device(1, 99, 3 << 20, None), device(-1, 9, 1 << 10, None)])
    }

    fn asked(&self) -> Option<(u32, i64, View)> {
        let mut scenes = self.done.iter().filter_map(|effect| match effect {
            Effect::Ask(Request::Ask(Ask { serial, device, what: Question::Scene { view, looks } }))
                if *looks == Looks::default() =>
            {
                Some((*serial, *device, *view))
            }
            _ => None,
        });
        let found = scenes.next();
        assert_eq!(scenes.next(), None, "one at a time");
        found
    }

    /// Answers scenes until none is asked for; the devices in the order in which they were.
    fn answer_scenes(&mut self) -> Vec<i64> {
        let mut devices = Vec::new();
        while let Some((serial, device, view)) = self.asked() {
            devices.push(device);
            assert!(devices.len() < 50, "there is no end of asking");
            self.answered(serial, Answer::Scene(Box::new(scene(view))));
            let uploads = self.done.iter().filter(|effect| matches!(effect, Effect::Upload { .. })).count();
            assert_eq!(uploads, 1);
        }
        devices
    }

    fn rows(&self) -> Vec<[u32; 2]> {
        self.state.shown_lanes().map(|lane| [lane.bottom_px, lane.bottom_px + lane.view.height_px]).collect()
    }
}

#[test]
fn lanes_share_the_canvas_and_the_events() {
    let mut page = Page::three();
    assert_eq!(page.rows(), [[200, 300], [100, 199], [0, 99]], "a line between two");
    for (lane, peak) in page.state.shown_lanes().zip([1u64 << 20, 3 << 20, 1 << 10]) {
        assert_eq!((lane.view.left_px, lane.view.x_per_px), (0, 10.0), "the longest has 1000 states");
        assert_eq!(lane.view.bytes_per_px, View::fit(1, peak, 100, lane.view.height_px).bytes_per_px);
    }
    assert_eq!(page.answer_scenes(), [0, 1, -1]);
    page.act(Action::Command(Command::ZoomEventsIn));
    let views: Vec<_> = page.state.shown_lanes().map(|lane| (lane.view.left_px, lane.view.x_per_px)).collect();
    assert!(views[0].1 < 10.0 && views.iter().all(|view| *view == views[0]), "{views:?}");
    page.answer_scenes();
    page.act(Action::Command(Command::ToggleLanes));
    assert_eq!(page.rows(), [[0, 300]]);
    assert_eq!(page.answer_scenes(), [0]);
}

#[test]
fn lanes_take_turns_while_the_window_moves_on() {
    let mut page = Page::three();
    page.answer_scenes();
    let mut devices = Vec::new();
    page.act(Action::Command(Command::ZoomEventsIn));
    for step in 0..6 {
        let (serial, device, view) = page.asked().expect("a scene");
        devices.push(device);
        let zoom = if step % 2 == 0 { Command::ZoomEventsIn } else { Command::ZoomEventsOut };
        page.act(Action::Command(zoom));
        assert_eq!(page.asked(), None, "one is on its way");
        page.answered(serial, Answer::Scene(Box::new(scene(view))));
    }
    devices.sort_unstable();
    assert_eq!(devices, [-1, -1, 0, 0, 1, 1], "no lane waits for ever");
}

#[test]
fn a_reply_goes_to_the_lane_that_asked_whatever_has_the_focus() {
    let mut page = Page::three();
    let (serial, device, view) = page.asked().expect("a scene");
    assert_eq!(device, 0);
    page.act(Action::Command(Command::NextDevice));
    assert_eq!(page.state.device_place, 1);
    page.answered(serial + 77, Answer::Scene(Box::new(scene(view))));
    assert!(page.state.shown_lanes().all(|lane| lane.place == 0 || lane.geometry.scene.is_none()), "nobody asked");
    page.answered(serial, Answer::Scene(Box::new(scene(view))));
    let places: Vec<_> =
        page.state.shown_lanes().filter(|lane| lane.geometry.scene.is_some()).map(|lane| lane.place).collect();
    assert_eq!(places, [0]);
    assert_eq!(page.state.geometry.scene, None, "the focused one has still to come");
}

#[test]
fn a_click_moves_the_focus_and_selects_there() {
    let mut page = Page::three();
    page.answer_scenes();
    let before: Vec<View> = page.state.shown_lanes().map(|lane| *lane.view).collect();
    page.act(Action::PointerMoved(Pointer { x: 40.0, y: 150.0 }));
    let hover = page.state.hover.clone().expect("a hover");
    assert_eq!((hover.place, hover.spot.single()), (1, Some(3 + 99)));
    assert!(matches!(page.done[..], [Effect::Ask(Request::Ask(Ask { device: 1, what: Question::Hit { .. }, .. }))]));
    assert_eq!(page.state.device_place, 0);
    page.act(Action::Clicked(Pointer { x: 40.0, y: 50.0 }));
    assert_eq!(page.state.device_place, 2);
    let asked = |effect: &Effect| {
        matches!(effect, Effect::Ask(Request::Ask(Ask { device: -1, what: Question::Details(102), .. })))
    };
    assert!(page.done.iter().any(asked), "{:?}", page.done);
    let after: Vec<View> = page.state.shown_lanes().map(|lane| *lane.view).collect();
    assert_eq!(before, after, "the focus moves, the picture does not");
    assert_eq!(page.asked(), None);
}

#[test]
fn bytes_are_zoomed_and_dragged_in_the_lane_under_the_pointer() {
    let mut page = Page::three();
    page.answer_scenes();
    let scales = |page: &Page| page.state.shown_lanes().map(|lane| lane.view.bytes_per_px).collect::<Vec<_>>();
    let before = scales(&page);
    let at = Pointer { x: 10.0, y: 140.0 };
    page.act(Action::Wheel { at, delta: -300.0, axis: WheelAxis::ZoomBytes });
    let after = scales(&page);
    assert!(after[0] == before[0] && after[2] == before[2] && after[1] < before[1]);
    page.act(Action::PointerMoved(at));
    page.act(Action::PointerLeft);
    page.act(Action::Dragged { right_px: 0.0, up_px: -7.0 });
    let bottoms: Vec<_> = page.state.shown_lanes().map(|lane| lane.view.bottom_px).collect();
    assert!(bottoms[0] == 0 && bottoms[2] == 0 && bottoms[1] > 0, "{bottoms:?}");
    page.act(Action::Command(Command::FitBoth));
    assert_eq!(scales(&page), before);
}

#[test]
fn cursor_ruler_and_markers_are_in_the_focused_lane() {
    let mut page = Page::three();
    page.answer_scenes();
    let focused_cursor = |page: &Page| page.state.cursor().map(|cursor| cursor.byte / (3 << 20));
    page.act(Action::PointerMoved(Pointer { x: 50.0, y: 120.0 }));
    assert_eq!((page.state.pointer, focused_cursor(&page)), (None, None), "over another lane");
    assert_eq!(Overlay::of(&page.state).column, Some(50.0), "but told in all of them");
    page.act(Action::PointerMoved(Pointer { x: 50.0, y: 220.0 }));
    assert_eq!(page.state.pointer, Some(Pointer { x: 50.0, y: 20.0 }));
    assert_eq!(page.state.cursor_on_canvas(), Some(Pointer { x: 50.0, y: 220.0 }));
    let overlay = Overlay::of(&page.state);
    assert_eq!((overlay.column, overlay.crosshair.map(|it| it.at)), (None, Some(Pointer { x: 50.0, y: 20.0 })));

    page.act(Action::MarkerPut(Pointer { x: 30.0, y: 140.0 }));
    assert_eq!(page.state.device_place, 1, "a marker belongs to a device");
    assert_eq!(page.state.markers().map(|marker| marker.device).collect::<Vec<_>>(), [1]);

    let held = Modifiers { alt: true, ..Modifiers::default() };
    page.act(Action::DragBegan { from: Pointer { x: 10.0, y: 10.0 }, held });
    page.act(Action::DrawnTo(Pointer { x: 60.0, y: 250.0 }));
    assert_eq!(page.state.device_place, 2);
    let (ends, _) = Overlay::of(&page.state).ruler.expect("a ruler");
    assert!((ends[0].y - 10.0).abs() < 1.0 && (ends[1].y - 99.0).abs() < 1.5, "it ends where the lane does: {ends:?}");
    assert!(page.state.measured().is_some_and(|measured| measured.bytes < 1 << 11));
    page.act(Action::DragEnded);

    let before: Vec<View> = page.state.shown_lanes().map(|lane| *lane.view).collect();
    let held = Modifiers { shift: true, ..Modifiers::default() };
    page.act(Action::DragBegan { from: Pointer { x: 20.0, y: 210.0 }, held });
    page.act(Action::DrawnTo(Pointer { x: 60.0, y: 250.0 }));
    page.act(Action::DragEnded);
    let after: Vec<View> = page.state.shown_lanes().map(|lane| *lane.view).collect();
    assert!(after[0].bytes_per_px < before[0].bytes_per_px && after[1].bytes_per_px == before[1].bytes_per_px);
    assert!(after.iter().all(|view| view.left_px == after[0].left_px && view.x_per_px < 10.0));
}

#[test]
fn times_are_simultaneous() {
    let s = 1_000_000;
    let devices = vec![
        device(0, 999, 1 << 20, Some((10 * s, 74 * s))),
        device(1, 99, 1 << 20, Some((42 * s, 106 * s))),
        device(2, 99, 1 << 20, None),
    ];
    let mut page = Page::open(devices);
    page.answer_scenes();
    page.act(Action::Command(Command::ToggleAxis));
    // One second before and after 96 seconds: what is 32 seconds apart differs by as many.
    let place = |page: &Page, place: usize| {
        let lane = page.state.shown_lanes().find(|lane| lane.place == place).expect("a lane");
        assert_eq!(lane.view.axis, Axis::Time);
        lane.view.x_from_column(0.0)
    };
    let scale = page.state.view.expect("a view").x_per_px;
    assert!((place(&page, 0) - place(&page, 1) - 32e6).abs() <= scale);
    assert_eq!(page.answer_scenes(), [0, 1], "where there are no times there is nothing to draw");
    let labels = lane_labels::lane_labels(&page.state);
    assert_eq!(
        labels.iter().map(|label| label.note.as_str()).collect::<Vec<_>>(),
        ["peak 1.00 MiB", "peak 1.00 MiB", "no times recorded"]
    );
    let [before, after] = [0, 1].map(|focus| {
        page.act(Action::DeviceChosen(focus));
        [0, 1].map(|lane| page.state.shown_lanes().find(|it| it.place == lane).map(|it| *it.view))
    });
    assert_eq!(before, after, "whoever has the focus");
    page.act(Action::DeviceChosen(2));
    assert_eq!(page.state.axis, Axis::Events);
}

#[test]
fn as_many_lanes_as_there_is_room_and_the_focus_reaches_all() {
    let mut page = Page::open((0..1000).map(|ordinal| device(ordinal, 9, 1 << 20, None)).collect());
    assert_eq!(page.state.lane_places(), Vec::from_iter(0..6), "48 of 300 pixels each");
    assert_eq!(lane_labels::toggle(&page.state).note, "6 of 1,000 devices");
    page.act(Action::Command(Command::PreviousDevice));
    assert_eq!((page.state.device_place, page.state.lane_places()), (999, Vec::from_iter(994..1000)));
    page.act(Action::DeviceChosen(500));
    assert_eq!(page.state.lane_places(), Vec::from_iter(500..506));
    assert_eq!(page.answer_scenes(), [500, 501, 502, 503, 504, 505]);
    page.act(Action::DeviceChosen(503));
    assert_eq!(page.state.lane_places(), Vec::from_iter(500..506), "no lane moves when none has to");
    assert_eq!(page.state.shown_lanes().filter(|lane| lane.geometry.scene.is_some()).count(), 6);
    page.act(Action::Resized(Canvas { height_px: 40, ..CANVAS }));
    assert_eq!(page.state.lane_places(), Vec::from_iter(503..504));
}

#[test]
fn other_colours_are_asked_for_in_every_lane() {
    let mut page = Page::three();
    page.answer_scenes();
    page.act(Action::Command(Command::NextColouring));
    for _ in 0..3 {
        let (serial, view) = page
            .done
            .iter()
            .find_map(|effect| match effect {
                Effect::Ask(Request::Ask(Ask { serial, what: Question::Scene { view, .. }, .. })) => {
                    Some((*serial, *view))
                }
                _ => None,
            })
            .expect("a scene");
        page.answered(serial, Answer::Scene(Box::new(scene(view))));
    }
    assert!(page.state.shown_lanes().all(|lane| lane.geometry.looks == page.state.looks));
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
            prop_assert_eq!(pair[0][0] - pair[1][1], scale, "the line between two");
        }
        prop_assert!(rows.len() == 1 || rows.iter().all(|[bottom, top]| top - bottom + scale >= 47 * scale));
        prop_assert!(page.state.focused_lane().is_some());
    }
}

#[test]
fn a_device_without_times_is_shown_whole_on_the_axis_it_has() {
    let s = 1_000_000;
    let mut page = Page::open(vec![device(0, 999, 1 << 20, Some((10 * s, 74 * s))), device(1, 99, 1 << 20, None)]);
    page.answer_scenes();
    page.act(Action::Command(Command::ToggleAxis));
    page.answer_scenes();
    for _ in 0..5 {
        page.act(Action::Command(Command::ZoomEventsIn));
    }
    page.act(Action::DeviceChosen(1));
    assert_eq!(page.state.axis, Axis::Events);
    let view = page.state.view.expect("a view");
    assert_eq!(view, page.state.plane().expect("a plane").whole(view));
}

#[test]
fn a_finger_drags_the_lane_it_touches() {
    let mut page = Page::three();
    page.answer_scenes();
    let at = Pointer { x: 10.0, y: 140.0 };
    page.act(Action::Wheel { at, delta: -300.0, axis: WheelAxis::ZoomBytes });
    let bottoms = |page: &Page| page.state.shown_lanes().map(|lane| lane.view.bottom_px).collect::<Vec<_>>();
    let before = bottoms(&page);
    // It has hovered nowhere before.
    page.act(Action::DragBegan { from: at, held: Modifiers::default() });
    page.act(Action::Dragged { right_px: 0.0, up_px: -7.0 });
    assert_eq!(bottoms(&page), [before[0], before[1] + 7, before[2]]);
}

#[test]
fn a_step_back_gives_up_a_turn_on_its_way() {
    let s = 1_000_000;
    let times = Some((10 * s, 74 * s));
    let mut page = Page::open(vec![device(0, 999, 1 << 20, times), device(1, 99, 1 << 20, times)]);
    page.answer_scenes();
    page.act(Action::Command(Command::ToggleAxis));
    page.answer_scenes();
    page.act(Action::Command(Command::ZoomEventsIn));
    page.act(Action::Command(Command::ToggleAxis));
    let asked = page.done.iter().find_map(|effect| match effect {
        Effect::Ask(Request::Ask(Ask { serial, what: Question::Moments(at), .. })) => Some((*serial, at.len())),
        _ => None,
    });
    let (serial, count) = asked.expect("where the window's edges are");
    page.act(Action::Command(Command::WindowBack));
    assert_eq!(page.state.axis, Axis::Events);
    page.answered(serial, Answer::Moments(vec![MomentFacts::default(); count]));
    assert_eq!(page.state.axis, Axis::Events);
}
