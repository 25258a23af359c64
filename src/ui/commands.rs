//! Execution of the commands given by keys and buttons.

use super::action::Command;
use super::effect::Effect;
use super::features::State;
use super::find::{self, Among, SameStack};
use super::link::Link;
use super::opening::{cancel, show_device};
use super::selecting::select;
use super::settings::SettingsAction;
use super::shown::BytesAxis;
use super::side::Side;
use super::stage::{Help, Letters, Stage};
use super::tab::Tab;
use super::trail::Way;
use super::{
    choosing, comparing, cursor, details, events, export, html, link, partial, plots, record, rules, settings, table,
};
use engine::protocol::{Direction, Grouping, Looks};

/// Fraction of the window that one key press pans by.
const STEP: f64 = 1.0 / 8.0;
/// Factor that one key press zooms by.
const ZOOM: f64 = 1.5;
/// Largest fraction of the trace's width that is visible after going to the peak.
const PEAK_WINDOW: f64 = 1.0 / 16.0;

/// Carries out a command.
pub(super) fn command(state: &mut State, command: Command, now_ms: f64, effects: &mut Vec<Effect>) {
    state.remark = None;
    state.commands = state.commands.wrapping_add(1);
    if matches!(command, Command::MoveUp | Command::MoveDown | Command::ZoomBytesIn | Command::ZoomBytesOut) {
        // A manual zoom or pan of the byte axis ends the automatic fit.
        state.bytes_axis = BytesAxis::Free;
    }
    let (width, height) = state.canvas.map_or((0.0, 0.0), |it| (f64::from(it.width_px), f64::from(it.height_px)));
    match command {
        Command::OpenFile => effects.push(Effect::PickFile),
        Command::OpenSample(sample) => link::given(state, Link::parse(sample.link()), now_ms, effects),
        Command::CancelLoading => cancel(state, effects),
        Command::OpenAll => choosing::all(state, now_ms, effects),
        Command::ChooseEvents => choosing::again(state, effects),
        Command::ToggleHelp => {
            state.help = if state.help == Help::Open { Help::Closed } else { Help::Open };
            state.help_filter.clear();
        }
        Command::NextDevice => {
            let count = state.device_count();
            if count > 1 {
                let next = (state.device_place + 1) % count;
                partial::chosen(state);
                show_device(state, next);
            }
        }
        Command::Comparing(step) => comparing::step(state, step, effects),
        Command::Feature(command) => state.command(command, effects),
        Command::Cursor(step) => cursor::go(state, step, effects),
        Command::Rows(step) if state.views.tab == Tab::Events => {
            events::rows(&mut state.events, &mut state.shared, step, effects);
        }
        Command::Rows(step) => table::rows(&mut state.table, &mut state.shared, step, effects),
        Command::ToggleRules => rules::toggle(state),
        Command::ToggleSettings => settings::toggle(state, effects),
        Command::ChooseTheme(theme) => settings::act(state, SettingsAction::ThemeChosen(theme), effects),
        Command::SaveHtml => {
            let view = Link::of(state).unwrap_or_default().seen_only();
            state.export.dialog = export::Dialog::Closed;
            html::save(&mut state.html, &mut state.shared, view, effects);
        }
        Command::PreviousDevice => {
            let last = state.device_count().checked_sub(1);
            if let Some(last) = last.filter(|&last| last > 0) {
                let before = state.device_place.checked_sub(1).unwrap_or(last);
                partial::chosen(state);
                show_device(state, before);
            }
        }
        Command::ToggleLanes => state.toggle_lanes(),
        Command::ToggleLetters => {
            state.letters = if state.letters == Letters::On { Letters::Off } else { Letters::On };
            let now = if state.letters == Letters::On { "on" } else { "off" };
            state.remark = Some(format!("Single-letter keys are {now}."));
        }
        Command::CopyDetails => effects.extend(state.selection.as_deref().map(details::text).map(Effect::Copy)),
        Command::CopyLink => link::copy(state, effects),
        Command::CopySnippet => effects.push(Effect::Copy(record::SNIPPET.to_owned())),
        Command::ClearSelection if matches!(state.stage, Stage::Choosing(_) | Stage::Loading(_)) => {
            cancel(state, effects);
        }
        Command::ClearSelection if state.toast.take().is_some() => {}
        Command::ClearSelection => {
            state.sheet = false;
            if !state.give_up_drawn() && !state.escape() {
                state.give_up_selected();
            }
        }
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
        Command::FitBoth => state.show_everything(),
        Command::ToggleAxis => state.toggle_axis(),
        Command::Plot(step) => plots::step(state, step),
        Command::NextStacking if state.why_no_order().is_some() => {
            state.remark = state.why_no_order().map(|why| [why, "."].concat());
        }
        Command::NextStacking => {
            let kinds: Vec<_> = Grouping::ALL.iter().copied().map(Some).chain([None]).collect();
            let stacking = after(&kinds, state.looks.stacking);
            state.shared.change_looks(Looks { stacking, ..state.shared.looks });
        }
        Command::NextColouring => {
            let colouring = after(&Grouping::ALL, state.looks.colouring);
            state.shared.change_looks(Looks { colouring, ..state.shared.looks });
        }
        Command::Find => effects.push(Effect::FocusFind),
        Command::FindCapitals => find::toggle_capitals(state),
        Command::FindNext => find::go(state, Direction::Next, Among::All, effects),
        Command::FindPrevious => find::go(state, Direction::Previous, Among::All, effects),
        Command::FindHere(direction) => find::go(state, direction, Among::Scope, effects),
        Command::ToggleSameStack => {
            state.same_stack = match state.same_stack {
                SameStack::StandsOut => SameStack::Blends,
                SameStack::Blends => SameStack::StandsOut,
            };
        }
        Command::PutMarker => state.put_marker(None),
        Command::RemoveMarker => state.remove_nearest_marker(),
        Command::ToggleRuler => state.toggle_ruler(),
        Command::ZoomToRuler => state.zoom_to_ruler(),
        Command::WindowBack => state.walk(Way::Back),
        Command::WindowForward => state.walk(Way::Forward),
        Command::TypeCapacity => {
            (state.side, state.sheet) = (Side::File, true);
            effects.push(Effect::FocusCapacity);
        }
        Command::ToggleFitBytes if state.why_no_fit().is_some() => {
            state.remark = state.why_no_fit().map(|why| [why, "."].concat());
        }
        Command::ToggleFitBytes => {
            state.bytes_axis = match state.bytes_axis {
                BytesAxis::Free => BytesAxis::FitsWindow,
                BytesAxis::FitsWindow => BytesAxis::Free,
            };
            state.fit_bytes_if_wanted();
        }
        Command::Show(tab) => {
            state.views.show(tab);
            effects.push(Effect::FocusView);
        }
        Command::PinPeak => state.shared.pin_and_show(state.shared.peak_moment()),
        Command::PinEnd => state.shared.pin_and_show(state.shared.end_moment()),
        Command::TypeMoment => {
            (state.side, state.sheet) = (Side::Selection, true);
            effects.push(Effect::FocusMoment);
        }
        Command::ToggleRange => state.toggle_range(),
        Command::ChooseScope(scope) => state.choose_scope(scope),
        Command::NextAbout => state.next_about(),
        Command::PinRangePeak => state.pin_range_peak(),
        Command::Annotation(direction) => state.step_annotation(direction),
        Command::ZoomToRange => state.zoom_to_range(),
        Command::FoldViews => state.views.fold(),
        Command::ChangeFocus => effects.push(Effect::ChangeFocus),
        Command::GoToPeak => {
            state.pointer_leads();
            state.shared.pin(state.shared.peak_moment());
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

/// Returns the element after `now`, wrapping around to the first.
fn after<T: PartialEq + Copy>(all: &[T], now: T) -> T {
    let place = all.iter().position(|one| *one == now).map_or(0, |place| place + 1);
    all.get(place).or(all.first()).copied().unwrap_or(now)
}
