//! The one function that changes the state.

use super::action::{Action, Command, Effect, Origin, WheelAxis};
use super::candidates::{candidates, none_of};
use super::navigate::wheel_factor;
use super::pointing::{answered, bring_into_view, click, look_under_pointer, select};
use super::state::{BytesAxis, Choice, Geometry, Help, Letters, Loading, Stage, State};
use super::surroundings::{self, Surroundings};
use super::{details, record, url};
use crate::engine::protocol::{Grouping, Looks, Member, Reply, Request};
use crate::timeline::Axis;

/// Where the example lies beside the page.
pub const EXAMPLE: &str = "example.pickle.gz";
/// One key press moves by this part of the window.
const STEP: f64 = 1.0 / 8.0;
/// One key press zooms by this factor.
const ZOOM: f64 = 1.5;
/// Going to the peak shows at most this part of the events.
const PEAK_WINDOW: f64 = 1.0 / 16.0;

/// Takes `action` into the state and says what the shell has to do. `now_ms` is the shell's monotonic clock.
pub fn update(state: &mut State, action: Action, now_ms: f64) -> Vec<Effect> {
    let mut effects = Vec::new();
    match action {
        Action::Command(wanted) => command(state, wanted, now_ms, &mut effects),
        Action::FilesGiven(files) => {
            let none = none_of(&files);
            state.snapshots = candidates(files);
            if state.snapshots.is_empty() {
                close(state, Stage::Failed(none));
            } else {
                load(state, 0, now_ms, &mut effects);
            }
        }
        Action::SnapshotChosen(place) => load(state, place, now_ms, &mut effects),
        Action::LinkGiven(link) => load_link(state, link, now_ms, &mut effects),
        Action::LinkFailed { load, status } => {
            if load == state.load
                && let Stage::Loading(loading) = &state.stage
            {
                let address = if let Origin::Link(address) = &loading.origin { address } else { &loading.name };
                let message = url::fetch_failure(address, status);
                close(state, Stage::Failed(message));
            }
        }
        Action::StackingChosen(stacking) => state.change_looks(Looks { stacking, ..state.looks }),
        Action::ColouringChosen(colouring) => state.change_looks(Looks { colouring, ..state.looks }),
        Action::LegendClicked(slot) => state.toggle_slot(slot),
        Action::LegendIsolated(slot) => state.isolate_slot(slot),
        Action::MinimapMoved(edges) => state.navigate(|plane, view| plane.between(view, edges)),
        Action::DeviceChosen(ordinal) => {
            let place = state.file().and_then(|file| file.devices.iter().position(|device| device.device == ordinal));
            if let Some(place) = place {
                show_device(state, place);
            }
        }
        Action::Replied { load, reply } if load == state.load => replied(state, reply, now_ms, &mut effects),
        Action::Replied { .. } => {}
        Action::WorkerDied(cause) => {
            effects.push(Effect::ReplaceWorker);
            let progress = match &state.stage {
                Stage::Loading(loading) => loading.when_it_died(),
                _ => String::new(),
            };
            let message = format!(
                "The worker stopped, out of memory or by a bug ({cause}){progress}. You can open another file."
            );
            close(state, Stage::Failed(message));
        }
        Action::LoadFailed(message) => close(state, Stage::Failed(message)),
        Action::Resized(canvas) => {
            state.canvas = Some(canvas);
            state.navigate(|plane, view| plane.resized(view, canvas));
        }
        Action::RendererChosen(renderer) => {
            state.renderer = renderer;
            effects.extend(state.geometry.scene.clone().map(Effect::Upload));
        }
        Action::PointerMoved(pointer) => state.pointer = Some(pointer),
        Action::PointerLeft => state.pointer = None,
        Action::Dragged { right_px, up_px } => state.navigate(|plane, view| plane.moved(view, -right_px, -up_px)),
        Action::Clicked(pointer) => click(state, pointer, &mut effects),
        Action::Wheel { axis: WheelAxis::ZoomBytes, at, delta } => {
            state.bytes_axis = BytesAxis::Free;
            state.navigate(|plane, view| plane.zoom_bytes(view, at.y, wheel_factor(delta)));
        }
        Action::Wheel { axis: WheelAxis::ZoomEvents, at, delta } => {
            state.navigate(|plane, view| plane.zoom_events(view, at.x, wheel_factor(delta)));
        }
        Action::Wheel { axis: WheelAxis::MoveEvents, delta, .. } => {
            state.navigate(|plane, view| plane.moved(view, delta, 0.0));
        }
        Action::DropHover(hover) => state.drop_hover = hover,
        Action::Copied(Ok(())) => state.remark = Some("Copied.".to_owned()),
        Action::Copied(Err(cause)) => state.remark = Some(format!("The browser did not allow copying: {cause}.")),
        Action::HelpClosed => state.help = Help::Closed,
    }
    settle(state, &mut effects);
    effects
}

/// Brings about what follows from the state, whatever changed it: a window for a new device, the geometry the window needs, the
/// answer to what is under the pointer.
fn settle(state: &mut State, effects: &mut Vec<Effect>) {
    let (Some(plane), Some(canvas)) = (state.plane(), state.canvas) else { return };
    let Some(device) = state.device().map(|device| device.device) else { return };
    let view = *state.view.get_or_insert_with(|| plane.fit(canvas));
    let scene = state.geometry.scene.as_ref().filter(|_| state.geometry.looks == state.looks);
    let served = scene.is_some_and(|scene| plane.is_served(view, &scene.view));
    if !served && state.geometry.in_flight.is_none() {
        let serial = state.next_serial();
        state.geometry.in_flight = Some(serial);
        effects.push(Effect::Ask(Request::Scene { serial, device, view: plane.with_margin(view), looks: state.looks }));
    }
    if state.geometry.in_flight.is_none() {
        surroundings::ask(state, effects);
    }
    look_under_pointer(state, effects);
}

fn command(state: &mut State, command: Command, now_ms: f64, effects: &mut Vec<Effect>) {
    state.remark = None;
    if matches!(command, Command::MoveUp | Command::MoveDown | Command::ZoomBytesIn | Command::ZoomBytesOut) {
        // Whoever sets the bytes axis wants it to stay.
        state.bytes_axis = BytesAxis::Free;
    }
    let (width, height) = state.canvas.map_or((0.0, 0.0), |it| (f64::from(it.width_px), f64::from(it.height_px)));
    match command {
        Command::OpenFile => effects.push(Effect::PickFile),
        Command::OpenExample => load_link(state, EXAMPLE.to_owned(), now_ms, effects),
        Command::CancelLoading => cancel(state, effects),
        Command::ToggleHelp => {
            state.help = if state.help == Help::Open { Help::Closed } else { Help::Open };
        }
        Command::NextDevice => {
            let count = state.file().map_or(0, |file| file.devices.len());
            if count > 1 {
                show_device(state, (state.device_place + 1) % count);
            }
        }
        Command::ToggleLetters => {
            state.letters = if state.letters == Letters::On { Letters::Off } else { Letters::On };
            let now = if state.letters == Letters::On { "on" } else { "off" };
            state.remark = Some(format!("Single-letter keys are {now}."));
        }
        Command::CopyDetails => effects.extend(state.selection.as_deref().map(details::text).map(Effect::Copy)),
        Command::CopySnippet => effects.push(Effect::Copy(record::SNIPPET.to_owned())),
        Command::ClearSelection if matches!(state.stage, Stage::Loading(_)) => cancel(state, effects),
        Command::ClearSelection => (state.selection, state.selecting) = (None, None),
        Command::SelectPrevious | Command::SelectNext => {
            let wanted = match (&state.selection, command) {
                (None, _) => Some(0),
                (Some(now), Command::SelectPrevious) => now.allocation.checked_sub(1),
                (Some(now), _) => now.allocation.checked_add(1),
            };
            if let Some(allocation) = wanted {
                select(state, allocation, effects);
            }
        }
        Command::MoveLeft => state.navigate(|plane, view| plane.moved(view, -width * STEP, 0.0)),
        Command::MoveRight => state.navigate(|plane, view| plane.moved(view, width * STEP, 0.0)),
        Command::MoveUp => state.navigate(|plane, view| plane.moved(view, 0.0, height * STEP)),
        Command::MoveDown => state.navigate(|plane, view| plane.moved(view, 0.0, -height * STEP)),
        Command::ZoomEventsIn => state.navigate(|plane, view| plane.zoom_events(view, width / 2.0, 1.0 / ZOOM)),
        Command::ZoomEventsOut => state.navigate(|plane, view| plane.zoom_events(view, width / 2.0, ZOOM)),
        Command::ZoomBytesIn => state.navigate(|plane, view| plane.zoom_bytes(view, 0.0, 1.0 / ZOOM)),
        Command::ZoomBytesOut => state.navigate(|plane, view| plane.zoom_bytes(view, 0.0, ZOOM)),
        Command::FitBoth => state.navigate(|plane, view| plane.whole(view)),
        Command::ToggleAxis => state.toggle_axis(),
        Command::NextStacking => {
            let kinds: Vec<_> = Grouping::ALL.iter().copied().map(Some).chain([None]).collect();
            let stacking = after(&kinds, state.looks.stacking);
            state.change_looks(Looks { stacking, ..state.looks });
        }
        Command::NextColouring => {
            let colouring = after(&Grouping::ALL, state.looks.colouring);
            state.change_looks(Looks { colouring, ..state.looks });
        }
        Command::ToggleFitBytes => {
            state.bytes_axis = match state.bytes_axis {
                BytesAxis::Free => BytesAxis::FitsWindow,
                BytesAxis::FitsWindow => BytesAxis::Free,
            };
            state.fit_bytes_if_wanted();
        }
        Command::GoToPeak => {
            if let Some(peak) = state.peak_x() {
                state.navigate(|plane, view| {
                    let widest = plane.extent.width as f64 * PEAK_WINDOW / f64::from(view.width_px);
                    let factor = (widest / view.x_per_px).min(1.0);
                    plane.centred(plane.zoom_events(view, 0.0, factor), peak + 0.5)
                });
            }
        }
    }
}

/// Reads the snapshot of this place in the list.
fn load(state: &mut State, place: usize, now_ms: f64, effects: &mut Vec<Effect>) {
    let Some(choice) = state.snapshots.get(place).cloned() else { return };
    let Choice { origin, member, bytes, .. } = &choice;
    let loading = Loading::new(origin.clone(), choice.name(), *bytes, now_ms);
    close(state, Stage::Loading(loading));
    state.chosen = place;
    effects.push(Effect::Load { origin: origin.clone(), member: *member, load: state.load });
}

fn load_link(state: &mut State, link: String, now_ms: f64, effects: &mut Vec<Effect>) {
    let file = url::file_name(&link);
    state.snapshots = vec![Choice { origin: Origin::Link(link), member: None, file, path: None, bytes: None }];
    load(state, 0, now_ms, effects);
}

/// The file that is loading holds several snapshots: each is listed, in the file's place.
fn list(state: &mut State, members: Vec<Member>) {
    let Some(file) = state.snapshots.get(state.chosen).filter(|choice| choice.member.is_none()).cloned() else {
        return;
    };
    let listed = (0..).zip(members).map(|(place, member)| Choice {
        member: Some(place),
        path: Some(member.name),
        bytes: Some(member.bytes),
        ..file.clone()
    });
    state.snapshots.splice(state.chosen..=state.chosen, listed);
}

fn cancel(state: &mut State, effects: &mut Vec<Effect>) {
    if let Stage::Loading(loading) = &state.stage {
        state.remark = Some(format!("Cancelled {}.", loading.name));
        // The page does not wait for the worker to agree: its late answers belong to an earlier load.
        close(state, Stage::Empty);
        effects.push(Effect::Ask(Request::Cancel));
    }
}

/// The one after `now`, the first after the last.
fn after<T: PartialEq + Copy>(all: &[T], now: T) -> T {
    let place = all.iter().position(|one| *one == now).map_or(0, |place| place + 1);
    all.get(place).or(all.first()).copied().unwrap_or(now)
}

/// Ends whatever is open or loading; what the worker still says of it is dropped.
fn close(state: &mut State, stage: Stage) {
    if matches!(stage, Stage::Loading(_)) {
        state.remark = None;
    }
    state.stage = stage;
    state.load = state.load.wrapping_add(1);
    show_device(state, 0);
}

/// Shows another device of the file, from the beginning.
fn show_device(state: &mut State, place: usize) {
    state.device_place = place;
    state.view = None;
    state.geometry = Geometry::default();
    state.around = Surroundings::default();
    if state.device().is_some_and(|device| device.time_us.is_none()) {
        state.axis = Axis::Events;
    }
    (state.hover, state.question) = (None, None);
    (state.selection, state.selecting) = (None, None);
}

fn replied(state: &mut State, reply: Reply, now_ms: f64, effects: &mut Vec<Effect>) {
    match reply {
        Reply::Progress(progress) => {
            if let Stage::Loading(loading) = &mut state.stage {
                loading.bytes = progress.bytes;
                loading.total_bytes = progress.total_bytes.or(loading.total_bytes);
                loading.phase = progress.phase;
                loading.latest_ms = now_ms;
            }
        }
        Reply::Opened(file) => {
            state.stage = Stage::Ready(file);
            show_device(state, 0);
        }
        Reply::Failed { message } => {
            let message = match state.snapshots.get(state.chosen) {
                Some(Choice { file, .. }) if !message.contains(file.as_str()) => format!("{file}: {message}"),
                _ => message,
            };
            close(state, Stage::Failed(message));
        }
        Reply::Cancelled => close(state, Stage::Empty),
        Reply::Scene { serial, scene, .. } if state.geometry.in_flight == Some(serial) => {
            let scene = std::rc::Rc::new(*scene);
            state.geometry = Geometry { scene: Some(scene.clone()), in_flight: None, looks: state.looks };
            state.fit_bytes_if_wanted();
            effects.push(Effect::Upload(scene));
        }
        Reply::Hit { serial, hit, .. } => answered(state, serial, hit, effects),
        Reply::Details { serial, details: Some(details) } if state.selecting == Some(serial) => {
            state.selecting = None;
            bring_into_view(state, &details);
            state.selection = Some(details);
        }
        Reply::Details { serial, .. } if state.selecting == Some(serial) => state.selecting = None,
        Reply::Members(members) => list(state, members),
        Reply::Scene { .. } | Reply::Details { .. } => {}
        Reply::Marks { .. } | Reply::Overview { .. } | Reply::Legend { .. } | Reply::Outline { .. } => {
            surroundings::take(state, reply);
        }
    }
}
