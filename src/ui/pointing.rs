//! From a place on the canvas to an allocation: what is under the pointer, what a click selects.
//!
//! The scene answers at once where it can; for bands, sites and lifetimes the worker is asked, one question at a time.

use super::action::{Effect, Pointer};
use super::cursor::{self, Standing};
use super::hover::{Spot, spot};
use super::state::{Hover, Purpose, Question, State};
use crate::engine::protocol::{Details, HitAllocation, Looks, Request};

/// Brings the hover up to date with pointer, window and scene.
pub(super) fn look_under_pointer(state: &mut State, effects: &mut Vec<Effect>) {
    if let Some(keys) = state.tools.cursor.keys {
        return cursor::look(state, keys, effects);
    }
    let Some((place, spot, looks)) = state.lanes.pointer.and_then(|pointer| spot_at(state, pointer)) else {
        state.hover = None;
        return;
    };
    // What was said before stays on the card while it may be true: no flicker inside one block or band.
    let kept = state.hover.take().filter(|before| {
        // Between ids lies what lies between ranks in order of birth only.
        let [lowest, highest] = spot.ranks;
        let in_birth_order = looks.stacking.is_none();
        let still = |hit: &HitAllocation| {
            (in_birth_order && (lowest..=highest).contains(&hit.allocation)) || spot.single() == Some(hit.allocation)
        };
        before.place == place && (before.answered == Some(spot) || before.hit.as_ref().is_some_and(still))
    });
    let (hit, answered) = kept.map_or((None, None), |kept| (kept.hit, kept.answered));
    let known =
        answered.is_some_and(|of: Spot| of == spot || (spot.single().is_some() && of.single() == spot.single()));
    state.hover = Some(Hover { place, spot, hit, answered });
    if !known && state.question.is_none() {
        ask(state, place, spot, looks, Purpose::Tell, effects);
    }
}

/// What is at a place of the canvas: the device, what its scene says, and how that scene looks.
fn spot_at(state: &State, pointer: Pointer) -> Option<(usize, Spot, Looks)> {
    let (lane, pointer) = state.lane_at(pointer)?;
    let spot = spot(lane.geometry.scene.as_ref()?, lane.view, pointer)?;
    Some((lane.place, spot, lane.geometry.looks))
}

fn ask(state: &mut State, device_place: usize, spot: Spot, looks: Looks, purpose: Purpose, effects: &mut Vec<Effect>) {
    let Some(device) = state.device_at(device_place).map(|device| device.device) else { return };
    let serial = state.next_serial();
    state.question = Some(Question { serial, device_place, spot, purpose });
    let (looks, Spot { moment, byte, .. }) = (looks.plain(), spot);
    effects.push(Effect::Ask(Request::Hit { serial, device, looks, moment, byte }));
}

/// Takes the worker's answer to the question `serial`.
pub(super) fn answered(state: &mut State, serial: u32, hit: Option<HitAllocation>, effects: &mut Vec<Effect>) {
    let Some(question) = state.question.filter(|question| question.serial == serial) else { return };
    state.question = None;
    if question.purpose == Purpose::Select {
        match &hit {
            Some(hit) => select(state, hit.allocation, effects),
            None => state.selection = None,
        }
    }
    if let Some(hover) = state.hover.as_mut().filter(|hover| hover.place == question.device_place) {
        hover.answered = Some(question.spot);
        hover.hit = hit;
    }
}

/// Selects what is at a place of the shown device's window, or unselects beside the stack.
pub(super) fn click(state: &mut State, pointer: Pointer, effects: &mut Vec<Effect>) {
    let (Some(view), Some(scene)) = (&state.view, &state.geometry.scene) else { return };
    match spot(scene, view, pointer) {
        None => (state.selection, state.selecting) = (None, None),
        Some(spot) => match spot.single() {
            Some(allocation) => select(state, allocation, effects),
            None => ask_to_select(state, spot, effects),
        },
    }
}

fn ask_to_select(state: &mut State, spot: Spot, effects: &mut Vec<Effect>) {
    ask(state, state.device_place, spot, state.geometry.looks, Purpose::Select, effects);
}

/// Selects what is at the cursor, where keys have led it.
pub(super) fn select_at(state: &mut State, keys: Standing, effects: &mut Vec<Effect>) {
    match state.tools.cursor.hit.about((keys, state.geometry.looks.plain())) {
        Some(Some(hit)) => {
            let allocation = hit.allocation;
            select(state, allocation, effects);
        }
        Some(None) => (state.selection, state.selecting) = (None, None),
        None => ask_to_select(state, Spot::of_keys(keys), effects),
    }
}

/// Selects an allocation as soon as its details are here.
pub(super) fn select(state: &mut State, allocation: u32, effects: &mut Vec<Effect>) {
    let Some(device) = state.device().map(|device| device.device) else { return };
    let serial = state.next_serial();
    state.selecting = Some(serial);
    state.find.forget_way();
    effects.push(Effect::Ask(Request::Details { serial, device, allocation }));
}

/// Moves the window to the birth of an allocation whose whole life lies outside it.
pub(super) fn bring_into_view(state: &mut State, details: &Details) {
    let born = details.born_event.map_or(Some(0.0), |event| state.x_of(event, details.born_us));
    let died = details.freed_event.map_or(Some(f64::INFINITY), |event| state.x_of(event, details.freed_us));
    let (Some(born), Some(died)) = (born, died) else { return };
    state.navigate(|plane, view| {
        let inside =
            view.x_from_column(f64::from(view.width_px)) > born && view.x_from_column(0.0) < died.max(born + 1.0);
        if inside { view } else { plane.centred(view, born + 0.5) }
    });
}
