//! What stands around the stack: asked for when it is missing or of something else, kept as long as it holds.

use super::action::Effect;
use super::state::State;
use engine::protocol::{Grouping, LegendEntry, Looks, Marks, Overview, Plot, Reply, Request, Tally};
use picture::timeline::{Axis, OutlineRect, View};
use std::collections::BTreeSet;
use std::rc::Rc;

/// The widest silhouette that is asked for; wider minimaps stretch it.
const OVERVIEW_PX: u32 = 2048;

/// What stands around the stack of the shown device.
#[derive(Clone, Debug, Default)]
pub struct Surroundings {
    /// Marks and annotations.
    pub marks: Answer<(), Rc<Marks>>,
    /// The silhouette of everything.
    pub overview: Answer<Axis, Rc<Overview>>,
    /// What colours mean.
    pub legend: Answer<Coloured, Rc<Vec<LegendEntry>>>,
    /// Where the selection is.
    pub outline: Answer<Outlined, Rc<Vec<OutlineRect>>>,
    /// What has the stack of the selection.
    pub same_stack: Answer<u32, Tally>,
    /// Slots of the palette that are faded, by the legend.
    pub faded: BTreeSet<u32>,
}

/// What a legend is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Coloured {
    /// What colours tell.
    pub colouring: Grouping,
    /// The moment beside the peak.
    pub at: u32,
    /// The set of rules that tells categories, where colours tell those.
    pub rules: u32,
}

/// What an outline is of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outlined {
    /// The allocation; where what was reserved is shown, the range.
    pub allocation: u32,
    /// The window of the scene: the outline moves with it while panning.
    pub view: View,
    /// Order and colours of the scene; what stands out does not matter.
    pub looks: Looks,
}

/// Something the worker is asked once, about `of`.
#[derive(Clone, Debug)]
pub struct Answer<Q, A> {
    asked: Option<(u32, Q)>,
    known: Option<(Q, A)>,
}

impl<Q, A> Default for Answer<Q, A> {
    fn default() -> Self {
        Answer { asked: None, known: None }
    }
}

impl<Q: PartialEq + Copy, A> Answer<Q, A> {
    /// The last answer, whatever it was about.
    pub fn latest(&self) -> Option<&A> {
        self.known.as_ref().map(|(_, answer)| answer)
    }

    /// What the last answer was about.
    pub fn question(&self) -> Option<Q> {
        self.known.as_ref().map(|(question, _)| *question)
    }

    /// The answer about `of`.
    pub fn about(&self, of: Q) -> Option<&A> {
        self.known.as_ref().filter(|(known, _)| *known == of).map(|(_, answer)| answer)
    }

    /// Whether it has to be asked about `of` now: there is one question at a time.
    pub(super) fn wants(&self, of: Q) -> bool {
        self.asked.is_none() && self.about(of).is_none()
    }

    /// It was asked about `of`, as question `serial`.
    pub(super) fn ask(&mut self, serial: u32, of: Q) {
        self.asked = Some((serial, of));
    }

    /// Takes the answer to question `serial`; one to another question is dropped.
    pub(super) fn take(&mut self, serial: u32, answer: A) {
        if let Some((_, of)) = self.asked.take_if(|(asked, _)| *asked == serial) {
            self.known = Some((of, answer));
        }
    }
}

/// Asks for what is missing. To be called when the scene is there: the stack comes first.
pub(super) fn ask(state: &mut State, effects: &mut Vec<Effect>) {
    let Some(device) = state.device().map(|device| device.device) else { return };
    let (axis, colouring) = (state.axis, state.told_by_colour());
    if state.around.marks.wants(()) {
        let serial = state.next_serial();
        state.around.marks.ask(serial, ());
        effects.push(Effect::Ask(Request::Marks { serial, device }));
    }
    if state.around.overview.wants(axis) {
        let serial = state.next_serial();
        state.around.overview.ask(serial, axis);
        effects.push(Effect::Ask(Request::Overview { serial, device, axis, width_px: OVERVIEW_PX }));
    }
    let rules = if colouring == Grouping::Category { state.rules.told_version() } else { 0 };
    let coloured = Coloured { colouring, at: state.pinned.moment, rules };
    if state.around.legend.wants(coloured) {
        let serial = state.next_serial();
        state.around.legend.ask(serial, coloured);
        effects.push(Effect::Ask(Request::Legend { serial, device, colouring, at: Some(coloured.at) }));
    }
    let stack = state.selection.as_deref().and_then(|selection| selection.stack);
    if let Some(stack) = stack.filter(|&stack| state.around.same_stack.wants(stack)) {
        let serial = state.next_serial();
        state.around.same_stack.ask(serial, stack);
        effects.push(Effect::Ask(Request::SameStack { serial, device, stack }));
    }
    if let Some(of) = state.outlined().filter(|&of| state.around.outline.wants(of)) {
        let serial = state.next_serial();
        state.around.outline.ask(serial, of);
        let Outlined { allocation, view, looks } = of;
        effects.push(Effect::Ask(Request::Outline { serial, device, view, looks, allocation }));
    }
}

/// Takes an answer of one of these kinds.
pub(super) fn take(state: &mut State, reply: Reply) {
    match reply {
        Reply::Marks { serial, marks, .. } => state.around.marks.take(serial, Rc::new(*marks)),
        Reply::Overview { serial, overview, .. } => state.around.overview.take(serial, Rc::new(*overview)),
        Reply::Legend { serial, entries, .. } => state.around.legend.take(serial, Rc::new(entries)),
        Reply::Outline { serial, rects, .. } => state.around.outline.take(serial, Rc::new(rects)),
        Reply::SameStack { serial, tally } => state.around.same_stack.take(serial, tally),
        _ => {}
    }
}

impl Surroundings {
    /// What these colours mean, with what there is of each at the moment, or at the one before until that is known.
    pub fn legend_of(&self, colouring: Grouping) -> Option<&Rc<Vec<LegendEntry>>> {
        self.legend.latest().filter(|_| self.legend.question().is_some_and(|of| of.colouring == colouring))
    }
}

impl State {
    /// What is to be outlined: the selection, or the chosen segment, in the scene that is shown.
    pub fn outlined(&self) -> Option<Outlined> {
        let scene = self.geometry.scene.as_ref()?;
        let allocation = match self.looks.plot {
            // There, ids are those of ranges.
            Plot::Reserved(_) => self.chosen_segment()?.segment.range,
            _ => self.selection.as_ref()?.allocation,
        };
        Some(Outlined { allocation, view: scene.view, looks: self.geometry.looks.plain() })
    }

    /// Fades one meaning of the colours, or brings it back.
    pub(super) fn toggle_slot(&mut self, slot: u32) {
        if !self.around.faded.remove(&slot) {
            self.around.faded.insert(slot);
        }
        self.unfade_when_all_are_faded();
    }

    /// Fades all other meanings, or brings all back when they are faded already.
    pub(super) fn isolate_slot(&mut self, slot: u32) {
        let slots = self.around.legend.latest().map(|entries| entries.iter().map(|entry| entry.slot).collect());
        let others: BTreeSet<u32> =
            slots.into_iter().flat_map(|all: Vec<u32>| all).filter(|&other| other != slot).collect();
        self.around.faded = if self.around.faded == others { BTreeSet::new() } else { others };
    }

    fn unfade_when_all_are_faded(&mut self) {
        let entries = self.around.legend.latest();
        if entries.is_some_and(|entries| entries.iter().all(|entry| self.around.faded.contains(&entry.slot))) {
            self.around.faded.clear();
        }
    }
}
