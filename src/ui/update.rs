//! Applies actions to the state of the page.

use super::action::Action;
use super::change::AskPhase;
use super::commands;
use super::comparing;
use super::crosshair::{self, Followed, follow};
use super::cursor;
use super::drag::Drag;
use super::drawing::BytesAxis;
use super::effect::{Effect, WheelAction};
use super::features::State;
use super::features::sources;
use super::find;
use super::hit_testing::{click, update_hover};
use super::link;
use super::load_dialog;
use super::navigate::wheel_factor;
use super::opened;
use super::opening::{self, close, load, on_link_failed, on_link_interrupted, open_files, show_device};
use super::palette_entries;
use super::partial;
use super::plots;
use super::previous;
use super::ranks::{self, RanksAction};
use super::reload;
use super::ruler::FixResult;
use super::rules;
use super::settings;
use super::stage::{Help, Stage};
use super::window_history::WindowBefore;
use protocol::{PlotSettings, Reply};

/// Applies `action` to the state, and returns the effects for the shell. `now_ms` is the time on the shell's monotonic
/// clock.
pub fn update(state: &mut State, action: Action, now_ms: f64) -> Vec<Effect> {
    let mut effects = Vec::new();
    let before = WindowBefore::capture(state, &action);
    let open = previous::capture(state, &action);
    let action = match action {
        Action::Ranks(RanksAction::Reply(reply)) => Action::Replied { load: state.load, reply },
        action => action,
    };
    match action {
        action if partial::is_unavailable(state, &action) => {}
        Action::Feature(action) => {
            state.handle_action(action, &mut effects);
            palette_entries::run_chosen(state, now_ms, &mut effects);
            ranks::open_wanted(state, now_ms, &mut effects);
        }
        Action::Command(command) => commands::run(state, command, now_ms, &mut effects),
        Action::FilesGiven(files)
            if sources::open_if_sources(&mut state.sources, &mut state.shared, &files, &mut effects) => {}
        Action::FilesGiven(files) => {
            let before = state.last_load;
            open_files(state, files, now_ms, &mut effects);
            // If none of the files is a snapshot, the open file stays open.
            if state.last_load != before {
                ranks::start_survey(state, &mut effects);
            }
        }
        Action::FilesAdded(from, files) => {
            ranks::on_snapshot_chosen(state);
            let index = opening::append_files(state, from, files);
            load(state, index, now_ms, &mut effects);
        }
        Action::SnapshotChosen(index) => {
            ranks::on_snapshot_chosen(state);
            load(state, index, now_ms, &mut effects);
        }
        Action::LoadRangeEntered(text) => load_dialog::load_typed(state, &text, now_ms, &mut effects),
        Action::LinkGiven(given) => link::follow_link(state, *given, now_ms, &mut effects),
        Action::Fingerprinted { load, print } if load == state.load => {
            link::on_fingerprint(state, print, now_ms, &mut effects);
        }
        Action::Fingerprinted { .. } => {}
        Action::Comparing(action) => comparing::handle_action(state, action, now_ms, &mut effects),
        Action::Ranks(action) => ranks::handle_action(state, action, &mut effects),
        Action::NoticeClosed => state.linked.close_notice(),
        Action::ToastClosed => state.toast = None,
        Action::LinkInterrupted { load, at } => on_link_interrupted(state, load, at),
        Action::LinkFailed { load, status } => {
            comparing::link_failed(state, load, status);
            on_link_failed(state, load, status);
        }
        Action::StackingChosen(stacking) => {
            state.shared.change_plot_settings(PlotSettings { stacking, ..state.shared.plot_settings });
        }
        Action::ColouringChosen(colouring) => {
            state.shared.change_plot_settings(PlotSettings { colouring, ..state.shared.plot_settings });
        }
        Action::Plot(action) => plots::handle_action(state, action),
        Action::LegendClicked(slot) => state.toggle_faded(slot),
        Action::LegendFiltered(text) => state.legend_filter = text,
        Action::LegendIsolated(slot) => state.fade_others(slot),
        Action::MinimapMoved(edges) => state.navigate(|plane, view| plane.view_between_fractions(view, edges)),
        Action::GoToEntered(text) => state.on_position_typed(&text),
        Action::AxisPressed(press) => state.on_axis_press(press),
        Action::MinimapRangeDrawn(parts) => state.select_range_between(parts),
        Action::RangeFilterChosen(about) => state.set_range_scope(about),
        Action::ScopeChosen(scope) => state.choose_scope(scope),
        Action::SideChosen(side) => (state.side, state.side_is_expanded) = (side, true),
        Action::SheetToggled => state.side_is_expanded = !state.side_is_expanded,
        Action::GroupChosen(group) => state.shared.change_plot_settings(state.plot_settings.grouped_by(group)),
        Action::RangeRemoved => drop(state.end_range()),
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
                Reply::Answer { serial, answer } => drop(state.take(serial, answer, &mut effects)),
                reply => opened::on_reply(state, reply, now_ms, &mut effects),
            }
        }
        Action::Replied { load, reply } => drop(comparing::take_reply(state, load, &reply, now_ms)),
        Action::WorkerStopped(cause) => {
            effects.push(Effect::ReplaceWorker);
            let progress = match &state.stage {
                Stage::Loading(loading) => loading.stopped_text(),
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
            state.refit_bytes_axis();
        }
        Action::RendererChosen(renderer) => {
            state.renderer = renderer;
            effects.extend(state.uploads());
        }
        Action::PointerMoved(pointer) if state.lanes.pointer == Some(pointer) => {}
        Action::PointerMoved(pointer) => {
            state.follow_pointer();
            state.set_canvas_pointer(Some(pointer));
        }
        Action::PointerLeft => state.set_canvas_pointer(None),
        Action::Dragged { right_px, up_px } => state.drag(right_px, up_px),
        Action::DragStarted { from, held } => state.start_drag(from, held),
        Action::DragMoved(pointer) => state.shared.drag_to(state.shared.to_focused_lane(pointer)),
        Action::DragEnded => state.end_drag(),
        Action::DragCancelled => state.tools.drag = Drag::None,
        Action::MarkerAdded(pointer) => {
            let pointer = state.focus_at(pointer);
            state.add_marker(Some(pointer));
        }
        Action::MarkerVisited(number) => state.go_to_marker(number),
        Action::MarkerRemoved(number) => state.remove_marker(number),
        Action::CapacityTyped(text) => state.set_capacity(&text),
        Action::Clicked(_) if state.fix_ruler() == FixResult::Now => {}
        Action::Clicked(pointer) => {
            let pointer = state.focus_at(pointer);
            click(state, pointer, &mut effects);
            state.set_cursor_at(pointer);
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
        Action::Settings(action) => settings::apply(state, action, &mut effects),
        Action::Rules(action) => rules::apply(state, action, &mut effects),
        Action::HelpClosed => state.help = Help::Closed,
        Action::HelpFiltered(text) => state.help_filter = text,
    }
    reload::run_wanted(state, now_ms, &mut effects);
    previous::restore_if_failed(state, open, now_ms, &mut effects);
    state.forget();
    derive(state, &mut effects);
    reload::finish_reload(state);
    before.record(state, now_ms);
    effects
}

/// Updates everything that depends on the rest of the state, after any action: the windows of devices, the requests for
/// scenes and other data, and the hovered position.
fn derive(state: &mut State, effects: &mut Vec<Effect>) {
    partial::redraw_partial(state, effects);
    let Some(device) = state.device().map(|device| device.device).filter(|_| state.canvas.is_some()) else { return };
    state.ask(AskPhase::Setup, device, effects);
    state.ask(AskPhase::BeforeScene, device, effects);
    let plot_settings = state.wanted_plot_settings();
    state.change_plot_settings(plot_settings);
    state.arrange_lanes();
    link::apply_windows(state);
    cursor::scroll_to_cursor(state);
    if follow(state) == Followed::Yes {
        state.arrange_lanes();
    }
    if !state.waits_for_scene() && !state.export.is_drawing() {
        effects.extend(state.next_scene());
    }
    state.ask(AskPhase::WithScene, device, effects);
    if !state.waits_for_scene() {
        state.ask(AskPhase::AfterScene, device, effects);
    }
    match state.tools.crosshair.by_keys {
        Some(keys) => crosshair::update_hover(state, keys, effects),
        None => update_hover(state, effects),
    }
    state.ask_selection_position(effects);
    state.update_ruler_end();
    state.ask(AskPhase::Last, device, effects);
}
