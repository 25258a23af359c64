//! Applies actions to the state of the page.

use crate::features::command::Trait;
use crate::features::{State, sources};
use crate::plot::crosshair;
use crate::plot::crosshair::follow;
use crate::plot::hit_testing::{click, update_hover};
use crate::plot::lane_focus::show_device;
use crate::plot::{
    axis_press, axis_switch, capacity, comparing, drag, lane_focus, lane_scenes, markers, plots, ruler, surroundings,
};
use crate::prefs::{rules, settings};
use crate::scope::{cursor, find, range};
use crate::session::opening::{close, load, on_link_failed, on_link_interrupted, open_files};
use crate::session::{partial, ranks};
use crate::shell::action::Action;
use crate::shell::window_history::WindowBefore;
use crate::shell::{commands, link, load_dialog, opened, palette_entries, previous, reload};
use crate::state::change::AskPhase;
use crate::state::crosshair::Followed;
use crate::state::drag::Drag;
use crate::state::drawing::BytesAxis;
use crate::state::effect::{Effect, WheelAction};
use crate::state::navigate::wheel_factor;
use crate::state::outbox::Outbox;
use crate::state::ranks::RanksAction;
use crate::state::ruler::FixResult;
use crate::state::shared::append_files;
use crate::state::stage::{Help, Stage};
use protocol::Reply;

/// Applies `action` to the state, and returns the effects for the shell. `now_ms` is the time on the shell's monotonic
/// clock.
pub fn update(state: &mut State, action: Action, now_ms: f64) -> Vec<Effect> {
    let mut out = Outbox { now_ms, serial: state.serial, ..Outbox::default() };
    let before = WindowBefore::capture(state, &action);
    let open = previous::capture(state, &action);
    let said = (state.remark.clone(), state.toast.clone());
    let action = match action {
        Action::Ranks(RanksAction::Reply(reply)) => Action::Replied { load: state.load, reply },
        action => action,
    };
    match action {
        action if is_unavailable(state, &action) => {}
        Action::Feature(action) => {
            state.handle_action(action, &mut out);
            palette_entries::run_chosen(state, &mut out);
        }
        Action::Command(command) => commands::run(state, command, &mut out),
        Action::FilesGiven(files) if sources::open_if_sources(&state.sources, &state.shared, &files, &mut out) => {}
        Action::FilesGiven(files) => {
            let before = state.last_load;
            open_files(state, files, &mut out);
            // If none of the files is a snapshot, the open file stays open.
            if state.last_load != before {
                ranks::start_survey(state, &mut out);
            }
        }
        Action::FilesAdded(from, files) => {
            ranks::on_snapshot_chosen(state);
            let index = append_files(state, from, files);
            load(state, index, &mut out);
        }
        Action::SnapshotChosen(index) => {
            ranks::on_snapshot_chosen(state);
            load(state, index, &mut out);
        }
        Action::LoadRangeEntered(text) => load_dialog::load_typed(state, &text, &mut out),
        Action::LinkGiven(given) => link::follow_link(state, *given, &mut out),
        Action::Fingerprinted { load, print } if load == state.load => {
            link::on_fingerprint(state, print, &mut out);
        }
        Action::Fingerprinted { .. } => {}
        Action::Comparing(action) => comparing::handle_action(state, action, &mut out),
        Action::Ranks(action) => ranks::handle_action(state, action, &mut out),
        Action::NoticeClosed => state.linked.close_notice(),
        Action::ToastClosed => state.toast = None,
        Action::LinkInterrupted { load, at } => on_link_interrupted(state, load, at),
        Action::LinkFailed { load, status } => {
            comparing::link_failed(state, load, status);
            on_link_failed(state, load, status);
        }
        Action::StackingChosen(stacking) => axis_switch::stack_by(state, stacking),
        Action::ColouringChosen(colouring) => axis_switch::colour_by(state, colouring),
        Action::Plot(action) => plots::handle_action(state, action),
        Action::LegendClicked(slot) => surroundings::toggle_faded(state, slot),
        Action::LegendFiltered(text) => state.legend_filter = text,
        Action::LegendIsolated(slot) => surroundings::fade_others(state, slot),
        Action::MinimapMoved(edges) => state.navigate(|plane, view| plane.view_between_fractions(view, edges)),
        Action::GoToEntered(text) => cursor::on_position_typed(state, &text),
        Action::AxisPressed(press) => axis_press::on_press(state, press),
        Action::MinimapRangeDrawn(parts) => axis_press::select_range_between(state, parts),
        Action::RangeFilterChosen(about) => range::set_range_scope(state, about),
        Action::ScopeChosen(scope) => range::choose_scope(state, scope),
        Action::SideChosen(side) => (state.side, state.side_is_expanded) = (side, true),
        Action::SheetToggled => state.side_is_expanded = !state.side_is_expanded,
        Action::GroupChosen(group) => {
            let settings = state.plot_settings.grouped_by(group);
            axis_switch::change_plot_settings(state, settings);
        }
        Action::RangeRemoved => drop(cursor::end_range(state)),
        Action::TabChosen(tab) => state.views.show(tab),
        Action::ViewsResized(height) => state.views.resize(height),
        Action::FindTyped(text) => find::set_text(state, text),
        Action::DeviceChosen(ordinal) => {
            let file = state.drawn_file();
            let index = file.and_then(|file| file.devices.iter().position(|device| device.device == ordinal));
            if let Some(index) = index {
                partial::on_device_chosen(state);
                show_device(state, index);
            }
        }
        Action::Replied { load, reply } if load == state.load => {
            // Answers that no feature waits for any more are dropped.
            match reply {
                Reply::Answer { serial, answer } => drop(state.take(serial, answer, &mut out)),
                reply => opened::on_reply(state, reply, &mut out),
            }
        }
        Action::Replied { load, reply } => drop(comparing::take_reply(state, load, &reply, &mut out)),
        Action::WorkerStopped(cause) => {
            out.push(Effect::ReplaceWorker);
            let progress = match &state.stage {
                Stage::Loading(loading) => loading.stopped_text(),
                _ => String::new(),
            };
            let message =
                format!("The worker stopped: out of memory, or a bug ({cause}){progress}. You can open another file.");
            close(state, Stage::Failed(message));
        }
        Action::LaterCodeFailed(cause) => {
            state.remark = Some(format!(
                "Insights and comparisons are not available yet, because a part of this page could not be fetched \
                 ({cause}). The page keeps trying. If this continues, reload the page."
            ));
        }
        Action::LoadFailed(message) => close(state, Stage::Failed(message)),
        Action::Resized(canvas) => {
            state.canvas = Some(canvas);
            lane_scenes::arrange_lanes(state);
            state.refit_bytes_axis();
        }
        Action::RendererChosen(renderer) => {
            state.renderer = renderer;
            out.extend(lane_scenes::uploads(state));
        }
        Action::PointerMoved(pointer) if state.lanes.pointer == Some(pointer) => {}
        Action::PointerMoved(pointer) => {
            state.tools.crosshair.follow_pointer();
            lane_focus::set_canvas_pointer(state, Some(pointer));
        }
        Action::PointerLeft => lane_focus::set_canvas_pointer(state, None),
        Action::Dragged { right_px, up_px } => lane_focus::drag(state, right_px, up_px),
        Action::DragStarted { from, held } => drag::start(state, from, held),
        Action::DragMoved(pointer) => {
            let pointer = lane_focus::to_focused_lane(state, pointer);
            drag::drag_to(state, pointer);
        }
        Action::DragEnded => drag::end(state),
        Action::DragCancelled => state.tools.drag = Drag::None,
        Action::MarkerAdded(pointer) => {
            let pointer = lane_focus::focus_at(state, pointer);
            markers::add(state, Some(pointer));
        }
        Action::MarkerVisited(number) => markers::go_to(state, number),
        Action::MarkerRemoved(number) => markers::remove(state, number),
        Action::CapacityTyped(text) => capacity::set(state, &text),
        Action::Clicked(_) if ruler::fix(state) == FixResult::Now => {}
        Action::Clicked(pointer) => {
            let pointer = lane_focus::focus_at(state, pointer);
            click(state, pointer, &mut out);
            cursor::set_cursor_at(state, pointer);
        }
        Action::Wheel { axis: WheelAction::ZoomBytes, at, delta } => {
            state.bytes_axis = BytesAxis::Free;
            if let Some((index, at)) = state.lane_at(at).map(|(lane, at)| (lane.index, at)) {
                state.navigate_lane(index, |plane, view| plane.zoom_bytes(view, at.y, wheel_factor(delta)));
            }
        }
        Action::Wheel { axis: WheelAction::ZoomEvents, at, delta } => {
            state.navigate(|plane, view| plane.zoom_events(view, at.x, wheel_factor(delta)));
        }
        Action::Wheel { axis: WheelAction::MoveEvents, delta, .. } => {
            state.navigate(|plane, view| plane.moved(view, delta, 0.0));
        }
        Action::DropHover(hover) => state.drop_hover = hover,
        Action::DroppedNoFile => {
            state.remark = Some("The browser provided no file. Use Open… instead.".to_owned());
        }
        Action::Copied(result) => {
            // A failed copy also discards its remark, because the next copy has its own.
            let copied = state.copied_remark.take();
            state.remark = Some(match result {
                Ok(()) => copied.unwrap_or_else(|| "Copied.".to_owned()),
                Err(cause) => format!("The browser did not allow copying: {cause}."),
            });
        }
        Action::Settings(action) => settings::apply(state, action, &mut out),
        Action::Rules(action) => rules::apply(state, action, &mut out),
        Action::HelpClosed => state.help = Help::Closed,
        Action::HelpFiltered(text) => state.help_filter = text,
    }
    state.carry_out(&mut out);
    reload::run_wanted(state, &mut out);
    previous::restore_if_failed(state, open, &mut out);
    state.forget(&mut out);
    derive(state, &mut out);
    reload::finish_reload(state);
    if state.remark.is_some() && state.remark != said.0 && state.toast == said.1 {
        // An error that is older than the newest message is not shown any more.
        state.toast = None;
    }
    before.record(state, now_ms);
    state.serial = out.serial;
    out.effects
}

/// Updates everything that depends on the rest of the state, after any action: the windows of devices, the requests for
/// scenes and other data, and the hovered position.
fn derive(state: &mut State, out: &mut Outbox) {
    partial::redraw_partial(state, out);
    let Some(device) = state.device().map(|device| device.device).filter(|_| state.canvas.is_some()) else { return };
    state.ask(AskPhase::Setup, device, out);
    state.ask(AskPhase::BeforeScene, device, out);
    let plot_settings = find::wanted_plot_settings(state);
    axis_switch::change_plot_settings(state, plot_settings);
    lane_scenes::arrange_lanes(state);
    link::apply_windows(state);
    cursor::scroll_to_cursor(state);
    if follow(state) == Followed::Yes {
        lane_scenes::arrange_lanes(state);
    }
    if !lane_scenes::waits_for_scene(state) && !state.export.is_drawing() {
        lane_scenes::ask_next_scene(state, out);
    }
    state.ask(AskPhase::WithScene, device, out);
    if !lane_scenes::waits_for_scene(state) {
        state.ask(AskPhase::AfterScene, device, out);
    }
    match state.tools.crosshair.by_keys {
        Some(keys) => crosshair::update_hover(state, keys, out),
        None => update_hover(state, out),
    }
    axis_switch::ask_selection_position(state, out);
    ruler::update_end(state);
    state.ask(AskPhase::Last, device, out);
}

/// Returns whether an action must be ignored while a file is loading, because it needs data that is not yet decoded.
fn is_unavailable(state: &State, action: &Action) -> bool {
    state.partial().is_some()
        && match action {
            Action::PointerMoved(_)
            | Action::Clicked(_)
            | Action::MarkerAdded(_)
            | Action::AxisPressed(_)
            | Action::MinimapRangeDrawn(_)
            | Action::Plot(_) => true,
            Action::DragStarted { held, .. } => held.alt || held.shift,
            Action::Command(command) => command.has(Trait::NeedsWholeFile),
            _ => false,
        }
}
