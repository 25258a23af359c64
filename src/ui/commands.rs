//! Runs the commands given by keys and buttons.

use super::action::Command;
use super::drawing::BytesAxis;
use super::effect::Effect;
use super::features::State;
use super::find::{self, MatchScope, SameStack};
use super::link::Link;
use super::opening::{cancel, show_device};
use super::outbox::Outbox;
use super::selecting::select;
use super::settings::SettingsAction;
use super::side::Side;
use super::stage::{Help, Letters, Stage};
use super::tab::Tab;
use super::window_history::HistoryDirection;
use super::{
    axis_switch, comparing, crosshair, cursor, details, drag, events, export, lane_focus, link, load_dialog, markers,
    navigate, partial, plots, range, recording_snippet, ruler, rules, save_page, settings, slices, table,
    window_history,
};
use protocol::{Direction, Grouping};

/// Distance that one key press pans by, as a fraction of the window.
const STEP: f64 = 1.0 / 8.0;
/// Factor that one key press zooms by.
const ZOOM: f64 = 1.5;
/// Maximum fraction of the trace that is visible after going to the peak.
const PEAK_WINDOW: f64 = 1.0 / 16.0;

pub(super) fn run_command(state: &mut State, command: Command, out: &mut Outbox) {
    state.remark = None;
    state.commands = state.commands.wrapping_add(1);
    if matches!(command, Command::MoveUp | Command::MoveDown | Command::ZoomBytesIn | Command::ZoomBytesOut) {
        // A manual zoom or pan of the byte axis ends the automatic fit.
        state.bytes_axis = BytesAxis::Free;
    }
    let (width, height) = state.canvas.map_or((0.0, 0.0), |it| (f64::from(it.width_px), f64::from(it.height_px)));
    match command {
        Command::OpenFile => out.push(Effect::PickFile),
        Command::OpenSample(sample) => link::follow_link(state, Link::parse(sample.link()), out),
        Command::CancelLoading => cancel(state, out),
        Command::OpenAll => load_dialog::load_all(state, out),
        Command::ChooseEvents => load_dialog::ask_again(state, out),
        Command::ToggleHelp => {
            state.help = if state.help == Help::Open { Help::Closed } else { Help::Open };
            state.help_filter.clear();
        }
        Command::NextDevice => {
            let count = state.device_count();
            if count > 1 {
                let next = (state.device_index + 1) % count;
                partial::on_device_chosen(state);
                show_device(state, next);
            }
        }
        Command::Comparing(step) => comparing::step(state, step, out),
        Command::Feature(command) => state.command(command, out),
        Command::MoveCrosshair(step) => crosshair::move_by_key(state, step, out),
        Command::Rows(step) if state.views.tab == Tab::Events => {
            events::on_rows_step(&mut state.events, &state.shared, step, out);
        }
        Command::Rows(step) => table::on_rows_step(&mut state.table, &state.shared, step, out),
        Command::ToggleRules => rules::toggle(state),
        Command::ToggleSettings => settings::toggle(state, out),
        Command::ChooseTheme(theme) => settings::apply(state, SettingsAction::ThemeChosen(theme), out),
        Command::SaveHtml => {
            let view = Link::from_state(state).unwrap_or_default().without_file();
            state.export.dialog = export::Dialog::Closed;
            save_page::save(&mut state.html, &state.shared, view, out);
        }
        Command::PreviousDevice => {
            let last = state.device_count().checked_sub(1);
            if let Some(last) = last.filter(|&last| last > 0) {
                let before = state.device_index.checked_sub(1).unwrap_or(last);
                partial::on_device_chosen(state);
                show_device(state, before);
            }
        }
        Command::ToggleLanes => lane_focus::toggle_lanes(state),
        Command::ToggleLetters => {
            state.letters = if state.letters == Letters::On { Letters::Off } else { Letters::On };
            let now = if state.letters == Letters::On { "on" } else { "off" };
            state.remark = Some(format!("Single-letter keys are {now}."));
        }
        Command::CopyDetails => out.extend(state.selection.as_deref().map(details::text).map(Effect::Copy)),
        Command::CopyLink => link::copy_link(state, out),
        Command::CopySnippet => out.push(Effect::Copy(recording_snippet::SNIPPET.to_owned())),
        Command::ClearSelection if matches!(state.stage, Stage::Choosing(_) | Stage::Loading(_)) => {
            cancel(state, out);
        }
        Command::ClearSelection if state.toast.take().is_some() => {}
        Command::ClearSelection => {
            state.side_is_expanded = false;
            if !drag::escape_drawing(state) && !state.escape() {
                drag::escape_selection(state);
            }
        }
        Command::SelectPrevious | Command::SelectNext => {
            let wanted = match (&state.selection, command) {
                (None, _) => Some(0),
                (Some(now), Command::SelectPrevious) => now.allocation.checked_sub(1),
                (Some(now), _) => now.allocation.checked_add(1),
            };
            if let Some(allocation) = wanted {
                select(state, allocation, out);
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
        Command::FitBoth => lane_focus::fit_all_lanes(state),
        Command::ToggleAxis => axis_switch::toggle_axis(state),
        Command::Plot(step) => plots::step(state, step),
        Command::NextStacking if plots::no_order_reason(state).is_some() => {
            state.remark = plots::no_order_reason(state).map(|why| [why, "."].concat());
        }
        Command::NextStacking => {
            let kinds: Vec<_> = Grouping::ALL.iter().copied().map(Some).chain([None]).collect();
            let stacking = next_of(&kinds, state.plot_settings.stacking);
            axis_switch::stack_by(state, stacking);
        }
        Command::NextColouring => {
            let colouring = next_of(&Grouping::ALL, state.plot_settings.colouring);
            axis_switch::colour_by(state, colouring);
        }
        Command::Find => out.push(Effect::FocusFind),
        Command::ToggleMatchCase => find::toggle_match_case(state),
        Command::FindNext => find::go_to_match(state, Direction::Next, MatchScope::All, out),
        Command::FindPrevious => find::go_to_match(state, Direction::Previous, MatchScope::All, out),
        Command::FindInScope(direction) => find::go_to_match(state, direction, MatchScope::Scope, out),
        Command::ToggleSameStack => {
            state.same_stack = match state.same_stack {
                SameStack::Highlighted => SameStack::Plain,
                SameStack::Plain => SameStack::Highlighted,
            };
        }
        Command::AddMarker => markers::add(state, None),
        Command::RemoveMarker => markers::remove_nearest(state),
        Command::ToggleRuler => ruler::toggle(state),
        Command::ZoomToRuler => drag::zoom_to_ruler(state),
        Command::UndoView => window_history::step(state, HistoryDirection::Back),
        Command::RedoView => window_history::step(state, HistoryDirection::Forward),
        Command::FocusCapacity => {
            (state.side, state.side_is_expanded) = (Side::File, true);
            out.push(Effect::FocusCapacity);
        }
        Command::ToggleFitBytes if state.no_fit_reason().is_some() => {
            state.remark = state.no_fit_reason().map(|why| [why, "."].concat());
        }
        Command::ToggleFitBytes => {
            state.bytes_axis = match state.bytes_axis {
                BytesAxis::Free => BytesAxis::FitsWindow,
                BytesAxis::FitsWindow => BytesAxis::Free,
            };
            state.refit_bytes_axis();
        }
        Command::Show(tab) => {
            state.views.show(tab);
            out.push(Effect::FocusView);
        }
        Command::CursorToPeak => cursor::go_to_peak(state),
        Command::CursorToEnd => cursor::go_to(state, u32::MAX),
        Command::FocusGoTo => {
            (state.side, state.side_is_expanded) = (Side::Selection, true);
            out.push(Effect::FocusGoTo);
        }
        Command::ToggleRange => range::toggle_range(state),
        Command::ChooseScope(scope) => range::choose_scope(state, scope),
        Command::NextRangeFilter => range::next_range_scope(state),
        Command::CursorToRangePeak => range::go_to_range_peak(state),
        Command::Annotation(direction) => slices::step_annotation(state, direction),
        Command::ZoomToRange => slices::zoom_to_range(state),
        Command::FoldViews => state.views.toggle_collapsed(),
        Command::ChangeFocus => out.push(Effect::ChangeFocus),
        Command::GoToPeak => {
            state.tools.crosshair.follow_pointer();
            let peak = state.peak_moment();
            cursor::set_cursor(state, peak);
            if let Some(peak) = navigate::peak_x(state) {
                state.navigate(|plane, view| {
                    let widest = plane.extent.width as f64 * PEAK_WINDOW / f64::from(view.width_px);
                    let factor = (widest / view.x_per_px).min(1.0);
                    plane.centred(plane.zoom_events(view, 0.0, factor), peak + 0.5)
                });
            }
        }
    }
}

/// Returns the element after `now` in `all`, wrapping around to the first.
fn next_of<T: PartialEq + Copy>(all: &[T], now: T) -> T {
    let index = all.iter().position(|one| *one == now).map_or(0, |index| index + 1);
    all.get(index).or(all.first()).copied().unwrap_or(now)
}
