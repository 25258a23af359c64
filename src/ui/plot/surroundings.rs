//! Data shown around the timeline: marks, the overview curve, the legend, and the outline of the selection. It is
//! requested whenever it is missing or outdated.

pub use crate::state::surroundings::{LegendKey, OutlineKey, Surroundings};

use crate::plot::{legend, plots};
use crate::state::change::AskPhase;
use crate::state::outbox::Outbox;
use crate::state::part::Part;
use crate::state::shared::Shared;
use protocol::{Answer, Grouping, Plot, Question};
use std::collections::BTreeSet;
use std::rc::Rc;

/// Number of columns of the overview curve. A wider minimap stretches the curve.
const OVERVIEW_PX: u32 = 2048;

/// Callbacks of the data around the timeline.
pub(crate) const PART: Part = Part { asks: &[(AskPhase::AfterScene, ask)], take };

fn ask(state: &mut Shared, device: i64, out: &mut Outbox) {
    let (axis, colouring) = (state.axis, legend::coloured_by(state));
    let rules = if colouring == Grouping::Category { state.rules.active_version() } else { 0 };
    let coloured = LegendKey { colouring, moment: state.cursor.moment, rules };
    let stack = state.selection.as_deref().and_then(|selection| selection.stack);
    let outlined = outline_key(state);
    let surroundings = &mut state.surroundings;
    // Phases need a pass over the trace, so the other marks are shown before.
    let has_marks = surroundings.marks.latest().is_some();
    let marks = |with_phases| if with_phases { Question::Phases } else { Question::Marks };
    surroundings.marks.ask(has_marks, device, out, marks);
    surroundings.overview.ask(axis, device, out, |axis| Question::Overview { axis, width_px: OVERVIEW_PX });
    let legend = |LegendKey { colouring, moment, .. }| Question::Legend { colouring, at: Some(moment) };
    surroundings.legend.ask(coloured, device, out, legend);
    if let Some(stack) = stack {
        surroundings.same_stack.ask(stack, device, out, Question::SameStack);
    }
    if let Some(key) = outlined {
        let outline =
            |OutlineKey { allocation, view, plot_settings }| Question::Outline { view, plot_settings, allocation };
        surroundings.outline.ask(key, device, out, outline);
    }
}

fn take(state: &mut Shared, serial: u32, answer: Answer, _: &mut Outbox) -> Option<Answer> {
    let surroundings = &mut state.surroundings;
    match answer {
        Answer::Marks(marks) => surroundings.marks.take(serial, Rc::new(*marks)),
        Answer::Overview(overview) => surroundings.overview.take(serial, Rc::new(*overview)),
        Answer::Legend(entries) => surroundings.legend.take(serial, Rc::new(entries)),
        Answer::Outline(rects) => surroundings.outline.take(serial, Rc::new(rects)),
        Answer::SameStack(tally) => surroundings.same_stack.take(serial, tally),
        other => return Some(other),
    };
    None
}

/// Returns the inputs for the outline to draw: that of the selected allocation, or in the plot of reserved bytes,
/// of the selected segment. `None` if nothing is selected.
pub fn outline_key(state: &Shared) -> Option<OutlineKey> {
    let scene = state.scene()?;
    let allocation = match state.plot_settings.plot {
        // In this plot, ids identify ranges of reserved memory.
        Plot::Reserved(_) => plots::segment::selected_segment(state)?.segment.range,
        _ => state.selection.as_ref()?.allocation,
    };
    Some(OutlineKey { allocation, view: scene.view, plot_settings: state.drawn_settings().without_highlight() })
}

/// Fades the legend entry with this palette index, or shows it again. If all entries would be faded, shows all
/// entries.
pub(crate) fn toggle_faded(state: &mut Shared, slot: u32) {
    if !state.surroundings.faded.remove(&slot) {
        state.surroundings.faded.insert(slot);
    }
    unfade_when_all_are_faded(state);
}

/// Fades all legend entries except the one with this palette index. If they are already faded, shows all entries.
pub(crate) fn fade_others(state: &mut Shared, slot: u32) {
    let entries = state.surroundings.legend.latest().into_iter().flat_map(|entries| entries.iter());
    let mut others = BTreeSet::new();
    for entry in entries.filter(|entry| entry.slot != slot) {
        others.insert(entry.slot);
    }
    state.surroundings.faded = if state.surroundings.faded == others { BTreeSet::new() } else { others };
}

fn unfade_when_all_are_faded(state: &mut Shared) {
    let entries = state.surroundings.legend.latest();
    if entries.is_some_and(|entries| entries.iter().all(|entry| state.surroundings.faded.contains(&entry.slot))) {
        state.surroundings.faded.clear();
    }
}
