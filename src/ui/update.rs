//! The function that applies actions to the page's state.

use super::action::Action;
use super::change::Turn;
use super::choosing;
use super::commands::command;
use super::comparing;
use super::cursor::{self, Followed, follow};
use super::drag::Drag;
use super::effect::{Effect, WheelAxis};
use super::features::State;
use super::features::sources;
use super::find;
use super::link;
use super::navigate::wheel_factor;
use super::opened;
use super::opening::{self, close, files_given, link_broke, link_failed, load, show_device};
use super::palette_entries;
use super::partial;
use super::pinned;
use super::plots;
use super::pointing::{click, look_under_pointer};
use super::previous;
use super::ranks::{self, RanksAction};
use super::reloading;
use super::ruler::Fixed;
use super::rules;
use super::settings;
use super::shown::BytesAxis;
use super::stage::{Help, Stage};
use super::trail::Before;
use engine::protocol::{Looks, Reply};

/// Applies `action` to the state and returns the effects for the shell. `now_ms` is the shell's monotonic clock.
pub fn update(state: &mut State, action: Action, now_ms: f64) -> Vec<Effect> {
    let mut effects = Vec::new();
    let before = Before::of(state, &action);
    let open = previous::before(state, &action);
    let action = match action {
        Action::Ranks(RanksAction::Told(reply)) => Action::Replied { load: state.load, reply },
        action => action,
    };
    match action {
        action if partial::refuses(state, &action) => {}
        Action::Feature(action) => {
            state.act(action, &mut effects);
            palette_entries::carry_out(state, now_ms, &mut effects);
            ranks::carry_out(state, now_ms, &mut effects);
        }
        Action::Command(wanted) => command(state, wanted, now_ms, &mut effects),
        Action::FilesGiven(files) if sources::given(&mut state.sources, &mut state.shared, &files, &mut effects) => {}
        Action::FilesGiven(files) => {
            let before = state.loads;
            files_given(state, files, now_ms, &mut effects);
            // If none of them is a snapshot, the open file stays.
            if state.loads != before {
                ranks::begin(state, &mut effects);
            }
        }
        Action::FilesAdded(from, files) => {
            ranks::chosen(state);
            let place = opening::added(state, from, files);
            load(state, place, now_ms, &mut effects);
        }
        Action::SnapshotChosen(place) => {
            ranks::chosen(state);
            load(state, place, now_ms, &mut effects);
        }
        Action::EventsTyped(text) => choosing::typed(state, &text, now_ms, &mut effects),
        Action::LinkGiven(given) => link::given(state, *given, now_ms, &mut effects),
        Action::Fingerprinted { load, print } if load == state.load => {
            link::printed(state, print, now_ms, &mut effects);
        }
        Action::Fingerprinted { .. } => {}
        Action::Comparing(action) => comparing::act(state, action, now_ms, &mut effects),
        Action::Ranks(action) => ranks::act(state, action, &mut effects),
        Action::NoticeClosed => state.linked.close_notice(),
        Action::ToastClosed => state.toast = None,
        Action::LinkBroke { load, at } => link_broke(state, load, at),
        Action::LinkFailed { load, status } => {
            comparing::link_failed(state, load, status);
            link_failed(state, load, status);
        }
        Action::StackingChosen(stacking) => state.shared.change_looks(Looks { stacking, ..state.shared.looks }),
        Action::ColouringChosen(colouring) => state.shared.change_looks(Looks { colouring, ..state.shared.looks }),
        Action::Plot(action) => plots::act(state, action),
        Action::LegendClicked(slot) => state.toggle_slot(slot),
        Action::LegendFiltered(text) => state.legend_filter = text,
        Action::LegendIsolated(slot) => state.isolate_slot(slot),
        Action::MinimapMoved(edges) => state.navigate(|plane, view| plane.between(view, edges)),
        Action::MomentTyped(text) => state.type_moment(&text),
        Action::AxisPressed(press) => state.press_axis(press),
        Action::RangeDrawn(parts) => state.range_between(parts),
        Action::AboutChosen(about) => state.choose_about(about),
        Action::ScopeChosen(scope) => state.choose_scope(scope),
        Action::SideChosen(side) => (state.side, state.sheet) = (side, true),
        Action::SheetToggled => state.sheet = !state.sheet,
        Action::GroupChosen(group) => state.shared.change_looks(state.looks.grouped_by(group)),
        Action::RangeEnded => drop(state.end_range()),
        Action::TabChosen(tab) => state.views.show(tab),
        Action::ViewsResized(height) => state.views.resize(height),
        Action::FindTyped(text) => find::typed(state, text),
        Action::DeviceChosen(ordinal) => {
            let file = state.drawn_file();
            let place = file.and_then(|file| file.devices.iter().position(|device| device.device == ordinal));
            if let Some(place) = place {
                partial::chosen(state);
                show_device(state, place);
            }
        }
        Action::Replied { load, reply } if load == state.load => {
            // Answers that no feature waits for any more are dropped.
            match reply {
                Reply::Answer { serial, answer } => drop(state.take(serial, answer, &mut effects)),
                reply => opened::take(state, reply, now_ms, &mut effects),
            }
        }
        Action::Replied { load, reply } => drop(comparing::take_reply(state, load, &reply, now_ms)),
        Action::WorkerDied(cause) => {
            effects.push(Effect::ReplaceWorker);
            let progress = match &state.stage {
                Stage::Loading(loading) => loading.when_it_died(),
                _ => String::new(),
            };
            let message =
                format!("The worker stopped: out of memory, or a bug ({cause}){progress}. You can open another file.");
            close(state, Stage::Failed(message));
        }
        Action::LoadFailed(message) => close(state, Stage::Failed(message)),
        Action::Resized(canvas) => {
            state.canvas = Some(canvas);
            state.arrange_lanes();
            state.fit_bytes_if_wanted();
        }
        Action::RendererChosen(renderer) => {
            state.renderer = renderer;
            effects.extend(state.uploads());
        }
        Action::PointerMoved(pointer) if state.lanes.pointer == Some(pointer) => {}
        Action::PointerMoved(pointer) => {
            state.pointer_leads();
            state.hover_at(Some(pointer));
        }
        Action::PointerLeft => state.hover_at(None),
        Action::Dragged { right_px, up_px } => state.drag(right_px, up_px),
        Action::DragBegan { from, held } => state.begin_drag(from, held),
        Action::DrawnTo(pointer) => state.shared.draw_to(state.shared.in_focus(pointer)),
        Action::DragEnded => state.end_drag(),
        Action::DragCancelled => state.tools.drag = Drag::None,
        Action::MarkerPut(pointer) => {
            let pointer = state.focus_at(pointer);
            state.put_marker(Some(pointer));
        }
        Action::MarkerVisited(number) => state.visit_marker(number),
        Action::MarkerRemoved(number) => state.remove_marker(number),
        Action::CapacityTyped(text) => state.type_capacity(&text),
        Action::Clicked(_) if state.fix_ruler() == Fixed::Now => {}
        Action::Clicked(pointer) => {
            let pointer = state.focus_at(pointer);
            click(state, pointer, &mut effects);
            state.pin_clicked(pointer);
        }
        Action::Wheel { axis: WheelAxis::ZoomBytes, at, delta } => {
            state.bytes_axis = BytesAxis::Free;
            if let Some((place, at)) = state.lane_at(at).map(|(lane, at)| (lane.place, at)) {
                state.navigate_lane(place, |plane, view| plane.zoom_bytes(view, at.y, wheel_factor(delta)));
            }
        }
        Action::Wheel { axis: WheelAxis::ZoomEvents, at, delta } => {
            state.navigate(|plane, view| plane.zoom_events(view, at.x, wheel_factor(delta)));
        }
        Action::Wheel { axis: WheelAxis::MoveEvents, delta, .. } => {
            state.navigate(|plane, view| plane.moved(view, delta, 0.0));
        }
        Action::DropHover(hover) => state.drop_hover = hover,
        Action::DroppedNoFile => {
            state.remark = Some("The browser provided no file. Use Open… instead.".to_owned());
        }
        Action::Copied(result) => {
            // A failed copy also discards its remark, because the next copy has its own.
            let said = state.copied.take();
            state.remark = Some(match result {
                Ok(()) => said.unwrap_or_else(|| "Copied.".to_owned()),
                Err(cause) => format!("The browser did not allow copying: {cause}."),
            });
        }
        Action::Settings(action) => settings::act(state, action, &mut effects),
        Action::Rules(action) => rules::act(state, action, &mut effects),
        Action::HelpClosed => state.help = Help::Closed,
        Action::HelpFiltered(text) => state.help_filter = text,
    }
    reloading::carry_out(state, now_ms, &mut effects);
    previous::follow(state, open, now_ms, &mut effects);
    state.forget();
    settle(state, &mut effects);
    reloading::settle(state);
    before.note(state, now_ms);
    effects
}

/// Derives everything that follows from the state after any action: the window of a new device, the geometry it needs,
/// and the questions about the hovered position.
fn settle(state: &mut State, effects: &mut Vec<Effect>) {
    partial::settle(state, effects);
    let Some(device) = state.device().map(|device| device.device).filter(|_| state.canvas.is_some()) else { return };
    state.ask(Turn::Ground, device, effects);
    state.ask(Turn::Early, device, effects);
    let looks = state.wanted_looks();
    state.change_looks(looks);
    state.arrange_lanes();
    link::settle(state);
    pinned::follow(state);
    if follow(state) == Followed::Yes {
        state.arrange_lanes();
    }
    if !state.waits_for_scene() && !state.export.is_drawing() {
        effects.extend(state.next_scene());
    }
    state.ask(Turn::WithScene, device, effects);
    if !state.waits_for_scene() {
        state.ask(Turn::AfterScene, device, effects);
    }
    match state.tools.cursor.keys {
        Some(keys) => cursor::look(state, keys, effects),
        None => look_under_pointer(state, effects),
    }
    state.keep_selection(effects);
    state.span_ruler();
    state.ask(Turn::Last, device, effects);
}
