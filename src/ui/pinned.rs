//! The cursor: the position in time that the views show. It is set by clicks, keys, typed text and its handle on the
//! axis.

mod data;

pub use data::Pinned;
pub(crate) use data::{Follow, Sought};

use super::change::{Change, Turn};
use super::cursor::column_under;
use super::effect::{Effect, Pointer};
use super::part::Part;
use super::range::ViewScope;
use super::shared::Shared;
use super::typed_moment::{FORMS, Typed, typed};
use base::units::{Moment, grouped};
use engine::protocol::{Answer, At, Details, MomentFacts, Question, Span};
use picture::timeline::{Axis, time_axis_margin};

impl Shared {
    /// Returns facts about the cursor's moment. Until they arrive, these are the facts of the previous position.
    pub fn pinned_facts(&self) -> Option<&MomentFacts> {
        self.pinned.facts.latest()
    }

    /// Returns the device's first moment with the maximum of requested bytes.
    pub fn peak_moment(&self) -> u32 {
        self.device().map_or(0, |device| Moment::after_event_or_minus_one(device.peak_event).0)
    }

    /// Returns the device's last moment.
    pub fn end_moment(&self) -> u32 {
        self.device().map_or(0, |device| u32::try_from(device.events).unwrap_or(u32::MAX))
    }

    /// Makes the selected allocation visible in the views: if it is not live at the cursor, moves the cursor to its
    /// allocation.
    pub(super) fn pin_life_of(&mut self, details: &Details) {
        let after = |event: Option<u32>, otherwise: u32| event.map_or(otherwise, |event| event.saturating_add(1));
        let (born, died) = (after(details.born_event, 0), after(details.freed_event, u32::MAX));
        if self.pinned.range.is_none() && !(born..died).contains(&self.pinned.moment) {
            self.pin(born);
        }
    }

    /// Moves the cursor to `moment`. While keys extend a range, its end moves along.
    pub(super) fn pin(&mut self, moment: u32) {
        self.pinned.moment = moment.min(self.end_moment());
        self.pinned.wrong = None;
        self.pinned.sought = None;
        if let Some(began) = self.pinned.extending {
            self.set_range(began, self.pinned.moment);
        }
        self.rescope();
    }

    /// Moves the cursor to `moment` and scrolls the window to it.
    pub(super) fn pin_and_show(&mut self, moment: u32) {
        self.pointer_leads();
        self.pin(moment);
        self.pinned.follow = Follow::Yes;
    }

    /// Moves the cursor to the clicked moment and ends the range. While comparing A and B, a click moves B instead, or
    /// A if it is before A.
    pub(super) fn pin_clicked(&mut self, pointer: Pointer) {
        let Some(moment) = self.moment_under(pointer.x) else { return };
        match self.pinned.range.filter(|_| self.view_scope() == ViewScope::Change) {
            Some(Span { from, to }) => self.show_range(moment, if moment < from { to } else { from }),
            None => drop(self.end_range()),
        }
        self.pin(moment);
    }

    /// Returns the moment that the picture shows in this column of the window.
    pub(super) fn moment_under(&self, x: f64) -> Option<u32> {
        let (view, scene) = (self.view.as_ref()?, self.geometry.scene.as_ref()?);
        scene.columns.moment.get(column_under(scene, view, x)?).copied()
    }

    /// Moves the cursor to the device's out-of-memory event, if there was one.
    pub(super) fn pin_out_of_memory(&mut self) {
        if self.device().is_some_and(|device| device.ooms() > 0) {
            self.seek(Sought { from: At::OutOfMemory, to: None });
        }
    }

    /// Moves the cursor to the typed position, or records why the text is invalid.
    pub(super) fn type_moment(&mut self, text: &str) {
        self.pinned.wrong = self.go_to_typed(text).err();
    }

    fn go_to_typed(&mut self, text: &str) -> Result<(), String> {
        match typed(text).ok_or(FORMS)? {
            Typed::Peak => self.pin_and_show(self.peak_moment()),
            Typed::ReservedPeak if self.device().is_some_and(|device| device.knows_reserved()) => {
                self.seek(Sought { from: At::MostReserved, to: None });
            }
            Typed::ReservedPeak => {
                return Err("This snapshot has no segments, so reserved memory is unknown.".to_owned());
            }
            Typed::OutOfMemory if self.device().is_some_and(|device| device.ooms() > 0) => {
                self.seek(Sought { from: At::OutOfMemory, to: None });
            }
            Typed::OutOfMemory => return Err("This device has no out-of-memory event.".to_owned()),
            Typed::End => self.pin_and_show(self.end_moment()),
            Typed::Event(event) => {
                let events = u64::from(self.end_moment());
                if event >= events {
                    let last = events.checked_sub(1).ok_or("This device has no events.")?;
                    return Err("The last event is ".to_owned() + &grouped(last) + ".");
                }
                self.pin_and_show(u32::try_from(event).unwrap_or(u32::MAX).saturating_add(1));
            }
            Typed::Time(us) => {
                let times = self.device().and_then(|device| device.time_us);
                let (first, last) = times.ok_or("This snapshot has no timestamps.")?;
                let span = last.abs_diff(first);
                if us > span {
                    let length = super::moment::elapsed(i64::try_from(span).unwrap_or(i64::MAX));
                    return Err("The last event is at ".to_owned() + &length + ".");
                }
                let x = us.saturating_add(time_axis_margin(span)) as f64;
                self.seek(Sought { from: At::X(Axis::Time, x), to: None });
            }
        }
        Ok(())
    }

    /// Requests the moment of a position that only the worker can resolve. The cursor or range is set once it answers.
    pub(super) fn seek(&mut self, sought: Sought) {
        self.pinned.sought = Some(sought);
    }

    /// Returns the column of a moment, in device pixels from the window's left. It may be outside the window. On the
    /// time axis, `facts` has to be known.
    pub(super) fn facts_px(&self, moment: u32, facts: Option<&MomentFacts>) -> Option<f64> {
        let x = match self.axis {
            Axis::Events => f64::from(moment) + 0.5,
            Axis::Time => facts?.place.time as f64,
        };
        Some(self.view?.column_from_x(x))
    }

    /// Returns the cursor's column and its moment. On the time axis, both belong to the previous position until the
    /// worker has answered.
    pub fn pin_px(&self) -> Option<(f64, u32)> {
        self.device()?;
        let facts = self.pinned_facts();
        let moment = match self.axis {
            Axis::Events => self.pinned.moment,
            Axis::Time => facts?.moment,
        };
        Some((self.facts_px(moment, facts)?, moment))
    }
}

/// Reset, question and answer hooks of the cursor and the range.
pub(super) const PART: Part = Part { reset, asks: &[(Turn::Last, ask)], take };

/// Moves the cursor to the peak if another device is shown.
fn reset(state: &mut Shared, change: Change) {
    if change.is_of_device() {
        state.pinned = Pinned { moment: state.peak_moment(), ..Pinned::default() };
        state.views.node = None;
        state.rescope();
    }
}

/// Asks for missing facts about the cursor and the range, one question of each kind at a time.
fn ask(state: &mut Shared, device: i64, effects: &mut Vec<Effect>) {
    let (pinned, serials) = (&mut state.pinned, &mut state.serial);
    pinned.facts.ask(pinned.moment, device, serials, effects, |moment| Question::Moments(vec![At::Moment(moment)]));
    if let Some(sought) = pinned.sought {
        let moments =
            |sought: Sought| Question::Moments([Some(sought.from), sought.to].into_iter().flatten().collect());
        pinned.seeking.ask(sought, device, serials, effects, moments);
    }
    let Some(span) = pinned.range else { return };
    if state.slices.facts.asked().is_none() {
        pinned.range_facts.ask(span, device, serials, effects, Question::Range);
    }
    let ends = |span: Span| Question::Moments([span.from, span.to].map(At::Moment).to_vec());
    pinned.ends.ask(span, device, serials, effects, ends);
}

/// Takes the worker's answers about moments and the range.
fn take(state: &mut Shared, serial: u32, answer: Answer, _: &mut Vec<Effect>) -> Option<Answer> {
    let pinned = &mut state.pinned;
    match answer {
        Answer::Range(facts) => {
            pinned.range_facts.take(serial, facts);
        }
        Answer::Moments(moments) => match (pinned.seeking.answered(serial), moments.as_slice()) {
            (Some(sought), found) => arrive(state, sought, found),
            (None, &[facts]) if pinned.facts.take(serial, facts) => {}
            (None, &[from, to]) if pinned.ends.take(serial, [from, to]) => {}
            _ => return Some(Answer::Moments(moments)),
        },
        other => return Some(other),
    }
    None
}

/// Applies the resolved moments of a requested position.
fn arrive(state: &mut Shared, sought: Sought, moments: &[MomentFacts]) {
    // A newer request overrides this one only if it sets the cursor. A range that is being dragged keeps updating.
    if sought.to.is_none() && state.pinned.sought != Some(sought) {
        return;
    }
    state.pinned.sought.take_if(|newest| *newest == sought);
    match *moments {
        [facts] => state.pin_and_show(facts.moment),
        [from, to] => state.show_range(from.moment, to.moment),
        _ => {}
    }
}

/// Scrolls the window to a cursor that was set outside it.
pub(super) fn follow(state: &mut Shared) {
    if state.pinned.follow == Follow::No || state.pinned.facts.about(&state.pinned.moment).is_none() {
        return;
    }
    let (Some((x, _)), Some(view)) = (state.pin_px(), state.view) else { return };
    state.pinned.follow = Follow::No;
    let width = f64::from(view.width_px);
    if !(0.0..width).contains(&x) {
        state.navigate(|plane, view| plane.moved(view, x - width / 2.0, 0.0));
    }
}

impl Shared {
    /// Recomputes the scope of the views from the cursor, the range and the choice between them.
    pub(super) fn rescope(&mut self) {
        self.views.scope = self.pinned.about.scope(self.pinned.moment, self.pinned.range);
    }
}
