//! Hit testing: finds the object under the pointer, and selects it on a click.
//!
//! The scene itself identifies single blocks. For bands of merged blocks, call sites and lifetimes, the worker is
//! asked, with one request at a time.

use crate::plot::hover::{empty_spot, spot};
use crate::plot::plots;
use crate::scope::selecting::select;
use crate::scope::{cursor, find};
use crate::state::crosshair::Position;
use crate::state::drawing::{Hover, PointQuestion, Purpose};
use crate::state::effect::Pointer;
use crate::state::hover::Spot;
use crate::state::outbox::Outbox;
use crate::state::part::Part;
use crate::state::shared::Shared;
use crate::text::side::Side;
use protocol::{Answer, Details, HitAllocation, HitMemory, Plot, PlotSettings, Question};

/// Updates the hovered position after the pointer, the window or the scene has changed.
pub(crate) fn update_hover(state: &mut Shared, out: &mut Outbox) {
    let Some((device_index, spot, plot_settings)) = state.lanes.pointer.and_then(|pointer| spot_at(state, pointer))
    else {
        state.hover = None;
        return;
    };
    // Keep the previous answer while it may still apply, so that the card does not flicker inside a block or band.
    let previous = state.hover.take().filter(|hover| {
        // Ids between the lowest and the highest rank belong to the band only if the stack is in order of allocation.
        let [lowest, highest] = spot.ids;
        let is_in_allocation_order = plot_settings.stacking.is_none() && plot_settings.plot == Plot::Stack;
        let still_applies = |hit: &HitAllocation| {
            (is_in_allocation_order && (lowest..=highest).contains(&hit.allocation))
                || spot.single_allocation() == Some(hit.allocation)
        };
        // Free areas and segments are large, and the next answer arrives soon.
        let is_no_block = |spot: &Spot| {
            plot_settings.plot != Plot::Stack && (spot.count == 0 || matches!(plot_settings.plot, Plot::Reserved(_)))
        };
        let stays_outside_blocks = is_no_block(&spot) && is_no_block(&hover.spot);
        let is_same = (hover.device_index, hover.plot) == (device_index, plot_settings.plot);
        is_same
            && (stays_outside_blocks
                || hover.answered_spot == Some(spot)
                || hover.hit.as_ref().is_some_and(still_applies))
    });
    let (hit, memory, answered_spot) =
        previous.map_or((None, None, None), |previous| (previous.hit, previous.memory, previous.answered_spot));
    let known = answered_spot.is_some_and(|of: Spot| {
        of == spot || (spot.single_allocation().is_some() && of.single_allocation() == spot.single_allocation())
    });
    state.hover = Some(Hover { device_index, plot: plot_settings.plot, spot, hit, memory, answered_spot });
    if !known && state.question.is_none() {
        ask_hit(state, device_index, spot, plot_settings, Purpose::Hover, out);
    }
}

/// Returns the index of the device under the pointer, the hovered spot of its scene, and the display settings that the
/// scene was drawn with.
fn spot_at(state: &Shared, pointer: Pointer) -> Option<(usize, Spot, PlotSettings)> {
    let (lane, pointer) = state.lane_at(pointer)?;
    let (scene, plot_settings) = (lane.geometry.scene.as_ref()?, lane.geometry.plot_settings);
    let empty = || empty_spot(scene, lane.view, pointer).filter(|_| plot_settings.plot != Plot::Stack);
    let spot = spot(scene, lane.view, pointer).or_else(empty)?;
    Some((lane.index, spot, plot_settings))
}

fn ask_hit(
    state: &mut Shared,
    device_index: usize,
    spot: Spot,
    plot_settings: PlotSettings,
    purpose: Purpose,
    out: &mut Outbox,
) {
    let Some(device) = state.device_at(device_index).map(|device| device.device) else { return };
    let (plot_settings, Spot { moment, byte, .. }) = (plot_settings.without_highlight(), spot);
    let serial = out.ask(device, Question::Hit { plot_settings, moment, byte });
    state.question = Some(PointQuestion { serial, device_index, spot, purpose });
}

/// Callbacks of hit testing. The request about the pointer is sent by [`crate::shell::update()`], after every scene.
pub(crate) const PART: Part = Part { asks: &[], take };

/// Handles the response about a position, or the details of the allocation to select.
fn take(state: &mut Shared, serial: u32, answer: Answer, out: &mut Outbox) -> Option<Answer> {
    match answer {
        Answer::Details(details) if state.selecting == Some(serial) => {
            state.selecting = None;
            details.into_iter().for_each(|details| select_details(state, serial, details));
        }
        Answer::Hit { hit, memory } => {
            let Some(question) = state.question.take_if(|question| question.serial == serial) else {
                return Some(Answer::Hit { hit, memory });
            };
            on_hit(state, question, hit, memory, out);
        }
        other => return Some(other),
    }
    None
}

/// Selects the allocation whose details were requested with `serial`, and scrolls it into view unless a link sets the
/// window.
fn select_details(state: &mut Shared, serial: u32, details: Box<Details>) {
    if state.linked.select_without_move.take() != Some(serial) {
        find::reveal(state, &details).unwrap_or_else(|| scroll_into_view(state, &details));
        if state.selected_event_allocation.take() != Some(details.allocation) {
            cursor::move_to_lifetime(state, &details);
        }
    }
    state.selection = Some(details);
    // In a small window, the side panel would cover the views.
    state.side = Side::Selection;
}

/// Handles the response to a request about a position.
fn on_hit(
    state: &mut Shared,
    question: PointQuestion,
    hit: Option<HitAllocation>,
    memory: Option<Box<HitMemory>>,
    out: &mut Outbox,
) {
    if question.purpose == Purpose::Select {
        select_hit(state, hit.as_ref(), memory.as_deref(), question.spot.position(), out);
    }
    if question.purpose == Purpose::SelectSegment {
        plots::segment::select_segment(state, memory.as_deref(), question.spot.position());
    }
    // Whatever its purpose, the answer also serves the hover on the same device.
    if let Some(hover) = state.hover.as_mut().filter(|hover| hover.device_index == question.device_index) {
        hover.answered_spot = Some(question.spot);
        (hover.hit, hover.memory) = (hit, memory);
    }
}

/// Selects the allocation at a position. If there is none, or in the plot of reserved bytes, selects the segment
/// instead.
fn select_hit(
    state: &mut Shared,
    hit: Option<&HitAllocation>,
    memory: Option<&HitMemory>,
    at: Position,
    out: &mut Outbox,
) {
    let is_reserved = matches!(state.plot_settings.plot, Plot::Reserved(_));
    match hit.filter(|_| !is_reserved) {
        Some(hit) => select(state, hit.allocation, out),
        None => plots::segment::select_segment(state, memory, at),
    }
}

/// Selects the object at a position of the focused window. Outside the stack, clears the selection.
pub(crate) fn click(state: &mut Shared, pointer: Pointer, out: &mut Outbox) {
    let (Some(view), Some(scene)) = (state.view(), state.scene()) else { return };
    let plot = state.drawn_settings().plot;
    let empty = || empty_spot(scene, &view, pointer).filter(|_| plot != Plot::Stack);
    match spot(scene, &view, pointer).or_else(empty) {
        None => (state.selection, state.selecting) = (None, None),
        Some(spot) => match spot.single_allocation().filter(|_| !matches!(plot, Plot::Reserved(_))) {
            Some(allocation) => select(state, allocation, out),
            None => ask_to_select(state, spot, out),
        },
    }
}

fn ask_to_select(state: &mut Shared, spot: Spot, out: &mut Outbox) {
    ask_hit(state, state.device_index, spot, state.drawn_settings(), Purpose::Select, out);
}

/// Selects the object under a crosshair that was moved by keys.
pub(crate) fn select_at(state: &mut Shared, keys: Position, out: &mut Outbox) {
    match state.tools.crosshair.hit.answer_to(&(keys, state.drawn_settings().without_highlight())) {
        Some((hit, memory)) => {
            let (hit, memory) = (hit.clone(), memory.clone());
            select_hit(state, hit.as_ref(), memory.as_deref(), keys, out);
        }
        None => ask_to_select(state, Spot::from_position(keys), out),
    }
}

/// Requests the segment at a position, to select it. Does nothing in plots that do not show segments.
pub(crate) fn select_segment_at(state: &mut Shared, at: Position, out: &mut Outbox) {
    if state.plot_settings.plot != Plot::Stack {
        ask_hit(state, state.device_index, Spot::from_position(at), state.plot_settings, Purpose::SelectSegment, out);
    }
}

/// Scrolls the window to the start of an allocation if its lifetime is outside the window.
fn scroll_into_view(state: &mut Shared, details: &Details) {
    let allocated_at = details.allocated_event.map_or(Some(0.0), |event| state.x_of(event, details.allocated_us));
    let freed_at = details.freed_event.map_or(Some(f64::INFINITY), |event| state.x_of(event, details.freed_us));
    let (Some(allocated_at), Some(freed_at)) = (allocated_at, freed_at) else { return };
    state.navigate(|plane, view| {
        let inside = view.x_from_column(f64::from(view.width_px)) > allocated_at
            && view.x_from_column(0.0) < freed_at.max(allocated_at + 1.0);
        if inside { view } else { plane.centred(view, allocated_at + 0.5) }
    });
}
