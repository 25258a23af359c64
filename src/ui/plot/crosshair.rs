//! The crosshair: a moment and a height in bytes, set by the pointer while it hovers, or by keys.

pub use crate::state::crosshair::{Crosshair, CrosshairStep, Position};
pub(crate) use crate::state::crosshair::{Follow, Followed, PendingStep, column_under};

use crate::plot::{axis_switch, hit_testing, plots};
use crate::scope::cursor;
use crate::state::drawing::{BytesAxis, Hover};
use crate::state::effect::Pointer;
use crate::state::hover::Spot;
use crate::state::outbox::Outbox;
use crate::state::part::Part;
use crate::state::shared::Shared;
use picture::timeline::Axis;
use protocol::{Answer, Plot, Question, Step, StepOutcome, StepResult};

/// Maximum number of commands that are queued during a step. Further repeats of a held key are dropped.
const MAX_WAITING: usize = 4;
/// Width of the margin at each edge of the window, as a fraction of the window. When keys move the crosshair into the
/// margin, the window scrolls.
const FOLLOW_MARGIN: f64 = 0.02;
/// Distance between the crosshair and the window's edge after the window has scrolled to the crosshair, as a fraction
/// of the window.
const FOLLOW_DISTANCE: f64 = 0.2;

/// Callbacks of the crosshair. [`super::tools`] resets the crosshair and requests the facts about its moment.
pub(crate) const PART: Part = Part { asks: &[], take };

fn take(state: &mut Shared, serial: u32, answer: Answer, out: &mut Outbox) -> Option<Answer> {
    match answer {
        Answer::Step(to) => {
            axis_switch::on_selection_position(state, serial, to);
            on_stepped(state, serial, to, out);
        }
        Answer::Hit { hit, memory } => drop(state.tools.crosshair.hit.take(serial, (hit, memory))),
        other => return Some(other),
    }
    None
}

/// Returns the moment and the height in bytes of the crosshair.
pub fn position(state: &Shared) -> Option<Position> {
    let byte = |pointer: Pointer| Some(state.view()?.bytes_from_row(pointer.y).max(0.0) as u64);
    state
        .tools
        .crosshair
        .by_keys
        .or_else(|| Some(Position { moment: state.crosshair_moment()?, byte: byte(state.pointer?)? }))
}

/// Returns the position of the crosshair in device pixels of the window. It may be outside the window.
pub fn px(state: &Shared) -> Option<Pointer> {
    let Some(keys) = state.tools.crosshair.by_keys else { return state.pointer };
    let view = state.view()?;
    let x = match (state.axis, state.crosshair_facts()) {
        (Axis::Events, _) => f64::from(keys.moment) + 0.5,
        (Axis::Time, Some(facts)) if facts.moment == keys.moment => facts.position.time as f64,
        _ => return None,
    };
    let y = (keys.byte as f64 + 0.5) / view.bytes_per_px - view.bottom_px as f64;
    Some(Pointer { x: view.column_from_x(x), y })
}

/// Returns the position where a move by keys starts: the crosshair, else the cursor if visible, else the centre of
/// the window.
fn keyboard_start(state: &Shared) -> Option<Position> {
    position(state).or_else(|| {
        let view = state.view()?;
        let height = view.bytes_from_row(f64::from(view.height_px) / 2.0).max(0.0) as u64;
        if let (Some((x, moment)), Some(facts)) = (cursor::x_px(state), state.cursor_facts())
            && (0.0..f64::from(view.width_px)).contains(&x)
        {
            let top = match state.plot_settings.plot {
                Plot::Stack => facts.requested,
                Plot::Addresses(_) => u64::MAX,
                Plot::Reserved(_) => facts.reserved,
            };
            return Some(Position { moment, byte: height.min(top.saturating_sub(1)) });
        }
        let middle = Pointer { x: f64::from(view.width_px) / 2.0, y: f64::from(view.height_px) / 2.0 };
        let scene = state.scene()?;
        let column = column_under(scene, &view, middle.x)?;
        let (moment, total) = scene.columns.moment.get(column).zip(scene.columns.total.get(column))?;
        let byte = view.bytes_from_row(middle.y).max(0.0) as u64;
        // The axis of addresses does not start at 0, so the total of live bytes is no bound there.
        let is_stack = !matches!(state.plot_settings.plot, Plot::Addresses(_));
        let byte = if is_stack { byte.min(total.saturating_sub(1)) } else { byte };
        Some(Position { moment: *moment, byte })
    })
}

fn place_by_keys(state: &mut Shared, position: Position) {
    let events = state.device().map_or(0, |device| u32::try_from(device.events).unwrap_or(u32::MAX));
    let moment = position.moment.min(events);
    state.tools.crosshair.by_keys = Some(Position { moment, ..position });
    state.tools.crosshair.follow = Follow::Yes;
    cursor::set_cursor(state, moment);
}

/// Fixes the crosshair at a position, as keys do, or lets it follow the pointer (`None`). The cursor and the window
/// do not change.
pub(crate) fn fix_at(state: &mut Shared, to: Option<Position>) {
    state.tools.crosshair.follow_pointer();
    state.tools.crosshair.by_keys = to;
}

/// Moves the crosshair in response to a key, or selects the object under it. Commands given while a step is pending are
/// queued.
pub(crate) fn move_by_key(state: &mut Shared, step: CrosshairStep, out: &mut Outbox) {
    if state.tools.crosshair.pending_step.is_some() {
        if state.tools.crosshair.queued_steps.len() < MAX_WAITING {
            state.tools.crosshair.queued_steps.push(step);
        }
        return;
    }
    if step == CrosshairStep::Select {
        return select(state, out);
    }
    let Some(here) = keyboard_start(state) else { return };
    let Position { moment, byte } = here;
    let selected = match state.plot_settings.plot {
        Plot::Reserved(_) => plots::segment::selected_segment(state).map(|chosen| chosen.segment.range_events()),
        _ => state.selection.as_ref().map(|it| (it.allocation, it.allocated_event, it.freed_event)),
    };
    let direction = match step {
        CrosshairStep::Above => Step::Above,
        CrosshairStep::Below => Step::Below,
        CrosshairStep::Before => Step::Earlier,
        CrosshairStep::After => Step::Later,
        CrosshairStep::ToAllocation | CrosshairStep::ToFreed => {
            let Some((allocation, allocated_at, freed)) = selected else {
                let noun =
                    if matches!(state.plot_settings.plot, Plot::Reserved(_)) { "a segment" } else { "an allocation" };
                state.remark = Some(["Select ", noun, " first."].concat());
                return;
            };
            // Last moment at which the allocation is live. The event that frees it follows.
            let last = freed.unwrap_or(u32::MAX);
            let allocated_at = allocated_at.map_or(0, |event| event.saturating_add(1));
            let at_its_end = step == CrosshairStep::ToFreed;
            place_by_keys(state, Position { moment: if at_its_end { last } else { allocated_at }, byte });
            let extra_events = u32::from(at_its_end && freed.is_some());
            ask_step(state, Step::To(allocation), extra_events, out);
            return;
        }
        _ => {
            let columns = state.scene().map(|scene| scene.columns.moment.as_slice());
            let columns = columns.unwrap_or_default();
            let before = columns.partition_point(|&shown| shown < moment).checked_sub(1);
            let after = columns.partition_point(|&shown| shown <= moment);
            let column = |index: Option<usize>| index.and_then(|index| columns.get(index)).copied();
            let moment = match step {
                CrosshairStep::Earlier => moment.saturating_sub(1),
                CrosshairStep::ColumnLeft => column(before).unwrap_or(moment.saturating_sub(1)),
                CrosshairStep::ColumnRight => column(Some(after)).unwrap_or(moment.saturating_add(1)),
                _ => moment.saturating_add(1),
            };
            place_by_keys(state, Position { moment, byte });
            return;
        }
    };
    place_by_keys(state, here);
    ask_step(state, direction, 0, out);
}

fn ask_step(state: &mut Shared, step: Step, extra_events: u32, out: &mut Outbox) {
    let (Some(device), Some(keys)) = (state.device().map(|device| device.device), state.tools.crosshair.by_keys) else {
        return;
    };
    let (plot_settings, Position { moment, byte }) = (state.drawn_settings(), keys);
    let serial = out.ask(device, Question::Step { plot_settings, moment, byte, step });
    state.tools.crosshair.pending_step = Some(PendingStep { serial, step, extra_events });
}

/// Handles the worker's response to a step, then runs queued commands.
fn on_stepped(state: &mut Shared, serial: u32, to: StepResult, out: &mut Outbox) {
    let Some(pending) = state.tools.crosshair.pending_step.take_if(|pending| pending.serial == serial) else {
        return;
    };
    let there = Position { moment: to.moment.saturating_add(pending.extra_events), byte: to.byte };
    match to.outcome {
        StepOutcome::NotFound if !matches!(pending.step, Step::To(_)) => {
            state.tools.crosshair.queued_steps.clear();
            let is_reserved = matches!(state.plot_settings.plot, Plot::Reserved(_));
            let noun = if is_reserved { "segment" } else { "allocation" };
            state.remark = Some(["No ", noun, " in this direction."].concat());
            return;
        }
        StepOutcome::Unfinished => {
            place_by_keys(state, there);
            state.tools.crosshair.follow = Follow::No;
            ask_step(state, pending.step, pending.extra_events, out);
            return;
        }
        StepOutcome::Arrived | StepOutcome::NotFound => place_by_keys(state, there),
    }
    while state.tools.crosshair.pending_step.is_none() && !state.tools.crosshair.queued_steps.is_empty() {
        let next = state.tools.crosshair.queued_steps.remove(0);
        move_by_key(state, next, out);
    }
}

/// Pans the window if keys have moved the crosshair to an edge or out of view. Waits until its position in pixels is
/// known.
pub(crate) fn follow(state: &mut Shared) -> Followed {
    if state.tools.crosshair.follow == Follow::No {
        return Followed::No;
    }
    let (Some(view), Some(at)) = (state.view(), px(state)) else { return Followed::No };
    state.tools.crosshair.follow = Follow::No;
    let beside = |at: f64, size: u32| {
        let size = f64::from(size);
        if at < FOLLOW_MARGIN * size {
            at - FOLLOW_DISTANCE * size
        } else if at > (1.0 - FOLLOW_MARGIN) * size {
            at - (1.0 - FOLLOW_DISTANCE) * size
        } else {
            0.0
        }
    };
    let right = beside(at.x, view.width_px);
    let up = if state.bytes_axis == BytesAxis::Free { beside(at.y, view.height_px) } else { 0.0 };
    if right != 0.0 || up != 0.0 {
        state.navigate(|plane, view| plane.moved(view, right, up));
        return Followed::Yes;
    }
    Followed::No
}

/// Updates the hover state for a crosshair at a position set by keys. Keeps the previous state until the worker has
/// responded.
pub(crate) fn update_hover(state: &mut Shared, keys: Position, out: &mut Outbox) {
    let Some(device) = state.device().map(|device| device.device) else { return };
    // The highlight does not affect which allocation is hit.
    let (device_index, plot_settings) = (state.device_index, state.drawn_settings().without_highlight());
    if let Some((hit, memory)) = state.tools.crosshair.hit.answer_to(&(keys, plot_settings)) {
        let (hit, memory, plot) = (hit.clone(), memory.clone(), plot_settings.plot);
        let spot = match &hit {
            Some(hit) => {
                let (ids, requested) = ([hit.allocation; 2], hit.requested);
                Spot { ids, count: 1, requested, ..Spot::from_position(keys) }
            }
            None => Spot::from_position(keys),
        };
        let is_something = hit.is_some() || plot != Plot::Stack;
        state.hover =
            is_something.then_some(Hover { device_index, plot, spot, hit, memory, answered_spot: Some(spot) });
    } else {
        let Position { moment, byte } = keys;
        let question = |(_, plot_settings)| Question::Hit { plot_settings, moment, byte };
        state.tools.crosshair.hit.ask((keys, plot_settings), device, out, question);
    }
}

/// Selects the object under the crosshair.
fn select(state: &mut Shared, out: &mut Outbox) {
    match (state.tools.crosshair.by_keys, state.pointer) {
        (Some(keys), _) => hit_testing::select_at(state, keys, out),
        (None, Some(pointer)) => hit_testing::click(state, pointer, out),
        (None, None) => {}
    }
}
