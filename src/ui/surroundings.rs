//! Data shown around the timeline (marks, overview, legend, outline of the selection): requested when missing or
//! outdated.

mod data;

pub use data::{LegendKey, OutlineKey, Surroundings};

use super::change::{AskPhase, Change};
use super::effect::Effect;
use super::part::Part;
use super::shared::Shared;
use engine::protocol::{Answer, Grouping, Plot, Question};
use std::collections::BTreeSet;
use std::rc::Rc;

/// Maximum width of the requested overview, in pixels. Wider minimaps stretch it.
const OVERVIEW_PX: u32 = 2048;

/// Reset, question and answer hooks of the data around the timeline.
pub(super) const PART: Part = Part { reset, asks: &[(AskPhase::AfterScene, ask)], take };

/// Drops the data of the previous device. Faded colours are kept between lanes, because colours mean the same in all of
/// them.
fn reset(state: &mut Shared, change: Change) {
    match change {
        Change::Device => state.surroundings = Surroundings::default(),
        Change::Lane => {
            state.surroundings =
                Surroundings { faded: std::mem::take(&mut state.surroundings.faded), ..Surroundings::default() };
        }
        Change::File | Change::Categories | Change::InternalFrames => {}
    }
}

fn ask(state: &mut Shared, device: i64, effects: &mut Vec<Effect>) {
    let (axis, colouring) = (state.axis, state.coloured_by());
    let rules = if colouring == Grouping::Category { state.rules.active_version() } else { 0 };
    let coloured = LegendKey { colouring, moment: state.cursor.moment, rules };
    let stack = state.selection.as_deref().and_then(|selection| selection.stack);
    let outlined = state.outline_key();
    let (around, serials) = (&mut state.surroundings, &mut state.serial);
    around.marks.ask((), device, serials, effects, |()| Question::Marks);
    around.overview.ask(axis, device, serials, effects, |axis| Question::Overview { axis, width_px: OVERVIEW_PX });
    let legend = |LegendKey { colouring, moment, .. }| Question::Legend { colouring, at: Some(moment) };
    around.legend.ask(coloured, device, serials, effects, legend);
    if let Some(stack) = stack {
        around.same_stack.ask(stack, device, serials, effects, Question::SameStack);
    }
    if let Some(of) = outlined {
        let outline = |OutlineKey { allocation, view, looks }| Question::Outline { view, looks, allocation };
        around.outline.ask(of, device, serials, effects, outline);
    }
}

fn take(state: &mut Shared, serial: u32, answer: Answer, _: &mut Vec<Effect>) -> Option<Answer> {
    let around = &mut state.surroundings;
    match answer {
        Answer::Marks(marks) => around.marks.take(serial, Rc::new(*marks)),
        Answer::Overview(overview) => around.overview.take(serial, Rc::new(*overview)),
        Answer::Legend(entries) => around.legend.take(serial, Rc::new(entries)),
        Answer::Outline(rects) => around.outline.take(serial, Rc::new(rects)),
        Answer::SameStack(tally) => around.same_stack.take(serial, tally),
        other => return Some(other),
    };
    None
}

impl Shared {
    /// Returns what to outline in the shown scene: the selection, or the chosen segment in the plot of reserved bytes.
    pub fn outline_key(&self) -> Option<OutlineKey> {
        let scene = self.geometry.scene.as_ref()?;
        let allocation = match self.looks.plot {
            // In this plot, ids identify ranges of reserved memory.
            Plot::Reserved(_) => self.selected_segment()?.segment.range,
            _ => self.selection.as_ref()?.allocation,
        };
        Some(OutlineKey { allocation, view: scene.view, looks: self.geometry.looks.without_highlight() })
    }

    /// Fades an entry of the legend, or shows it again. If all would be faded, none is.
    pub(super) fn toggle_faded(&mut self, slot: u32) {
        if !self.surroundings.faded.remove(&slot) {
            self.surroundings.faded.insert(slot);
        }
        self.unfade_when_all_are_faded();
    }

    /// Fades all other entries of the legend, or shows all again if the others are faded already.
    pub(super) fn fade_others(&mut self, slot: u32) {
        let slots = self.surroundings.legend.latest().map(|entries| entries.iter().map(|entry| entry.slot).collect());
        let others: BTreeSet<u32> =
            slots.into_iter().flat_map(|all: Vec<u32>| all).filter(|&other| other != slot).collect();
        self.surroundings.faded = if self.surroundings.faded == others { BTreeSet::new() } else { others };
    }

    fn unfade_when_all_are_faded(&mut self) {
        let entries = self.surroundings.legend.latest();
        if entries.is_some_and(|entries| entries.iter().all(|entry| self.surroundings.faded.contains(&entry.slot))) {
            self.surroundings.faded.clear();
        }
    }
}
