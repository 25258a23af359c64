//! The crosshair: one moment and one byte, placed by the pointer while it hovers, or by keys.

mod data;

pub use data::{Cursor, CursorStep, Standing};
pub(crate) use data::{Follow, Followed, Stepping, column_under, column_under_edges};

use super::effect::{Effect, Pointer};
use super::hover::Spot;
use super::part::{Part, keeps_all};
use super::pointing;
use super::shared::Shared;
use super::shown::{BytesAxis, Hover};
use engine::protocol::{Answer, MomentFacts, Plot, Question, Step, Stepped, Stop};
use picture::timeline::Axis;

/// Maximum number of queued commands while a step is in progress. Repeats of a held key beyond that are dropped.
const MOST_WAITING: usize = 4;
/// Margin, as a fraction of the window. The window follows a crosshair that enters it.
const NEAR: f64 = 0.02;
/// Distance of the crosshair from that edge after the window has followed, as a fraction of the window.
const BROUGHT: f64 = 0.2;

/// Answer hook of the crosshair. [`super::tools`] resets it and asks for its facts.
pub(super) const PART: Part = Part { reset: keeps_all, asks: &[], take };

fn take(state: &mut Shared, serial: u32, answer: Answer, effects: &mut Vec<Effect>) -> Option<Answer> {
    match answer {
        Answer::Step(to) => {
            state.found_selection(serial, to);
            stepped(state, serial, to, effects);
        }
        Answer::Hit { hit, memory } => drop(state.tools.cursor.hit.take(serial, (hit, memory))),
        other => return Some(other),
    }
    None
}

impl Shared {
    /// Returns the moment of the crosshair: set by keys, or shown by the pixel under the pointer.
    pub fn cursor_moment(&self) -> Option<u32> {
        if let Some(keys) = self.tools.cursor.keys {
            return Some(keys.moment);
        }
        let (pointer, view, scene) = (self.pointer?, self.view.as_ref()?, self.geometry.scene.as_ref()?);
        scene.columns.moment.get(column_under(scene, view, pointer.x)?).copied()
    }

    /// Returns the worker's latest facts about a moment of the crosshair. They include the moment that they describe.
    pub fn cursor_facts(&self) -> Option<&MomentFacts> {
        self.tools.cursor.facts.as_ref()
    }

    /// Returns the moment and the byte of the crosshair.
    pub fn cursor(&self) -> Option<Standing> {
        let byte = |pointer: Pointer| Some(self.view?.bytes_from_row(pointer.y).max(0.0) as u64);
        self.tools.cursor.keys.or_else(|| Some(Standing { moment: self.cursor_moment()?, byte: byte(self.pointer?)? }))
    }

    /// Returns the position of the crosshair in device pixels of the window. It may lie outside.
    pub fn cursor_px(&self) -> Option<Pointer> {
        let Some(keys) = self.tools.cursor.keys else { return self.pointer };
        let view = self.view?;
        let x = match (self.axis, self.cursor_facts()) {
            (Axis::Events, _) => f64::from(keys.moment) + 0.5,
            (Axis::Time, Some(facts)) if facts.moment == keys.moment => facts.place.time as f64,
            _ => return None,
        };
        let y = (keys.byte as f64 + 0.5) / view.bytes_per_px - view.bottom_px as f64;
        Some(Pointer { x: view.column_from_x(x), y })
    }

    /// Returns the starting point of a move by keys: the crosshair, else the cursor if it is visible, else the centre
    /// of the window.
    fn standing(&self) -> Option<Standing> {
        self.cursor().or_else(|| {
            let view = self.view?;
            let height = view.bytes_from_row(f64::from(view.height_px) / 2.0).max(0.0) as u64;
            if let (Some((x, moment)), Some(facts)) = (self.pin_px(), self.pinned_facts())
                && (0.0..f64::from(view.width_px)).contains(&x)
            {
                let top = match self.looks.plot {
                    Plot::Stack => facts.requested,
                    Plot::Addresses(_) => u64::MAX,
                    Plot::Reserved(_) => facts.reserved,
                };
                return Some(Standing { moment, byte: height.min(top.saturating_sub(1)) });
            }
            let middle = Pointer { x: f64::from(view.width_px) / 2.0, y: f64::from(view.height_px) / 2.0 };
            let scene = self.geometry.scene.as_ref()?;
            let column = column_under(scene, &view, middle.x)?;
            let (moment, total) = scene.columns.moment.get(column).zip(scene.columns.total.get(column))?;
            let byte = view.bytes_from_row(middle.y).max(0.0) as u64;
            // The axis of addresses does not start at 0, so the total of live bytes is no bound there.
            let is_stack = !matches!(self.looks.plot, Plot::Addresses(_));
            let byte = if is_stack { byte.min(total.saturating_sub(1)) } else { byte };
            Some(Standing { moment: *moment, byte })
        })
    }

    fn stand(&mut self, standing: Standing) {
        let events = self.device().map_or(0, |device| u32::try_from(device.events).unwrap_or(u32::MAX));
        let moment = standing.moment.min(events);
        self.tools.cursor.keys = Some(Standing { moment, ..standing });
        self.tools.cursor.follow = Follow::Yes;
        self.pin(moment);
    }

    /// Places the crosshair as if by keys, or returns it to the pointer. Neither the cursor nor the window changes.
    pub(super) fn put_cursor(&mut self, to: Option<Standing>) {
        self.pointer_leads();
        self.tools.cursor.keys = to;
    }

    /// Returns the crosshair to the pointer and cancels pending steps.
    pub(super) fn pointer_leads(&mut self) {
        let cursor = &mut self.tools.cursor;
        (cursor.keys, cursor.stepping, cursor.follow) = (None, None, Follow::No);
        cursor.waiting.clear();
    }
}

/// Moves the crosshair by a key, or selects the object under it. Commands given during a step are queued.
pub(super) fn go(state: &mut Shared, step: CursorStep, effects: &mut Vec<Effect>) {
    if state.tools.cursor.stepping.is_some() {
        if state.tools.cursor.waiting.len() < MOST_WAITING {
            state.tools.cursor.waiting.push(step);
        }
        return;
    }
    if step == CursorStep::Select {
        return select(state, effects);
    }
    let Some(here) = state.standing() else { return };
    let Standing { moment, byte } = here;
    let selected = match state.looks.plot {
        Plot::Reserved(_) => state.chosen_segment().map(|chosen| chosen.segment.life()),
        _ => state.selection.as_ref().map(|it| (it.allocation, it.born_event, it.freed_event)),
    };
    let way = match step {
        CursorStep::Above => Step::Above,
        CursorStep::Below => Step::Below,
        CursorStep::Before => Step::Earlier,
        CursorStep::After => Step::Later,
        CursorStep::ToBorn | CursorStep::ToFreed => {
            let Some((allocation, born, freed)) = selected else {
                let noun = if matches!(state.looks.plot, Plot::Reserved(_)) { "a segment" } else { "an allocation" };
                state.remark = Some(["Select ", noun, " first."].concat());
                return;
            };
            // Last moment at which the allocation is live. The event that frees it follows.
            let last = freed.unwrap_or(u32::MAX);
            let born = born.map_or(0, |event| event.saturating_add(1));
            let at_its_end = step == CursorStep::ToFreed;
            state.stand(Standing { moment: if at_its_end { last } else { born }, byte });
            let and_events = u32::from(at_its_end && freed.is_some());
            ask_step(state, Step::Onto(allocation), and_events, effects);
            return;
        }
        _ => {
            let columns = state.geometry.scene.as_ref().map(|scene| scene.columns.moment.as_slice());
            let columns = columns.unwrap_or_default();
            let before = columns.partition_point(|&shown| shown < moment).checked_sub(1);
            let after = columns.partition_point(|&shown| shown <= moment);
            let column = |place: Option<usize>| place.and_then(|place| columns.get(place)).copied();
            let moment = match step {
                CursorStep::Earlier => moment.saturating_sub(1),
                CursorStep::ColumnLeft => column(before).unwrap_or(moment.saturating_sub(1)),
                CursorStep::ColumnRight => column(Some(after)).unwrap_or(moment.saturating_add(1)),
                _ => moment.saturating_add(1),
            };
            state.stand(Standing { moment, byte });
            return;
        }
    };
    state.stand(here);
    ask_step(state, way, 0, effects);
}

fn ask_step(state: &mut Shared, step: Step, and_events: u32, effects: &mut Vec<Effect>) {
    let (Some(device), Some(keys)) = (state.device().map(|device| device.device), state.tools.cursor.keys) else {
        return;
    };
    let (serial, looks) = (state.next_serial(), state.geometry.looks);
    state.tools.cursor.stepping = Some(Stepping { serial, step, and_events });
    effects.push(Effect::ask(serial, device, Question::Step { looks, moment: keys.moment, byte: keys.byte, step }));
}

/// Handles the worker's answer to a step, and carries out queued commands.
fn stepped(state: &mut Shared, serial: u32, to: Stepped, effects: &mut Vec<Effect>) {
    let Some(stepping) = state.tools.cursor.stepping.take_if(|stepping| stepping.serial == serial) else { return };
    let there = Standing { moment: to.moment.saturating_add(stepping.and_events), byte: to.byte };
    match to.stop {
        Stop::Nowhere if !matches!(stepping.step, Step::Onto(_)) => {
            state.tools.cursor.waiting.clear();
            let is_reserved = matches!(state.looks.plot, Plot::Reserved(_));
            let noun = if is_reserved { "segment" } else { "allocation" };
            state.remark = Some(["No ", noun, " in this direction."].concat());
            return;
        }
        Stop::OnItsWay => {
            state.stand(there);
            state.tools.cursor.follow = Follow::No;
            ask_step(state, stepping.step, stepping.and_events, effects);
            return;
        }
        Stop::Arrived | Stop::Nowhere => state.stand(there),
    }
    while state.tools.cursor.stepping.is_none() && !state.tools.cursor.waiting.is_empty() {
        let next = state.tools.cursor.waiting.remove(0);
        go(state, next, effects);
    }
}

/// Pans the window if keys have moved the crosshair to its edge or outside, once the position is known.
pub(super) fn follow(state: &mut Shared) -> Followed {
    if state.tools.cursor.follow == Follow::No {
        return Followed::No;
    }
    let (Some(view), Some(at)) = (state.view, state.cursor_px()) else { return Followed::No };
    state.tools.cursor.follow = Follow::No;
    let beside = |at: f64, size: u32| {
        let size = f64::from(size);
        if at < NEAR * size {
            at - BROUGHT * size
        } else if at > (1.0 - NEAR) * size {
            at - (1.0 - BROUGHT) * size
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

/// Updates the hover state for a crosshair placed by keys. Until the worker has answered, the previous state stays.
pub(super) fn look(state: &mut Shared, keys: Standing, effects: &mut Vec<Effect>) {
    let Some(device) = state.device().map(|device| device.device) else { return };
    // The highlight does not affect which allocation is hit.
    let (place, looks) = (state.device_place, state.geometry.looks.plain());
    if let Some((hit, memory)) = state.tools.cursor.hit.about(&(keys, looks)) {
        let (hit, memory, plot) = (hit.clone(), memory.clone(), looks.plot);
        let spot = match &hit {
            Some(hit) => {
                let (ranks, requested) = ([hit.allocation; 2], hit.requested);
                Spot { ranks, count: 1, requested, ..Spot::of_keys(keys) }
            }
            None => Spot::of_keys(keys),
        };
        let is_something = hit.is_some() || plot != Plot::Stack;
        state.hover = is_something.then_some(Hover { place, plot, spot, hit, memory, answered: Some(spot) });
    } else {
        let Standing { moment, byte } = keys;
        let question = |(_, looks)| Question::Hit { looks, moment, byte };
        state.tools.cursor.hit.ask((keys, looks), device, &mut state.serial, effects, question);
    }
}

/// Selects the object under the crosshair.
fn select(state: &mut Shared, effects: &mut Vec<Effect>) {
    match (state.tools.cursor.keys, state.pointer) {
        (Some(keys), _) => pointing::select_at(state, keys, effects),
        (None, Some(pointer)) => pointing::click(state, pointer, effects),
        (None, None) => {}
    }
}
