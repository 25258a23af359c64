//! Shows evidence by setting the search, the selection, the range or the cursor. First undoes the effects of the
//! previous evidence.

use super::data::{EvidenceEffect, InsightsTab};
use crate::effect::Effect;
use crate::shared::Shared;
use crate::{find, selecting};
use picture::timeline::Axis;
use protocol::{Evidence, MomentFacts, MomentSpec, Question, Span};

/// Margin on either side of a span when zooming to it, as a fraction of the span's length.
const SPAN_MARGIN: f64 = 0.04;

/// Shows evidence, and undoes the search and the selection of the previous evidence.
pub(super) fn show_evidence(tab: &mut InsightsTab, shared: &mut Shared, evidence: Evidence, effects: &mut Vec<Effect>) {
    let Evidence { span, moment, allocation, find, open } = evidence;
    if let Some((file_index, with)) = open {
        shared.ranks.wanted = Some((file_index as usize, with.map(|with| with as usize)));
        return;
    }
    let evidence_effect = EvidenceEffect { find: find.clone(), allocation };
    let previous = std::mem::replace(&mut tab.evidence_effect, evidence_effect);
    if find.is_some() || allocation.is_some() {
        // A selected node would take precedence.
        shared.views.node = None;
    }
    let searched = previous.find.is_some_and(|previous| previous == shared.find.text);
    if let Some(text) = find.or(searched.then(String::new)) {
        find::set_text(shared, text);
    }
    let selected = shared.selection.as_deref().map(|selection| selection.allocation);
    match allocation {
        Some(allocation) => selecting::select(shared, allocation, effects),
        None if selected.is_some() && selected == previous.allocation => {
            (shared.selection, shared.selecting) = (None, None);
        }
        None => {}
    }
    if let Some(span) = span {
        show_span(tab, shared, span, effects);
    }
    if let Some(moment) = moment {
        shared.end_range();
        shared.go_to(moment);
    }
}

/// Zooms to a span of events. On the time axis, first requests the positions of its ends.
fn show_span(tab: &mut InsightsTab, shared: &mut Shared, span: Span, effects: &mut Vec<Effect>) {
    shared.follow_pointer();
    let Some(device) = shared.device().map(|device| device.device) else { return };
    match shared.axis {
        Axis::Events => zoom_to(shared, f64::from(span.from), f64::from(span.to) + 1.0),
        Axis::Time => {
            let serial = shared.next_serial();
            tab.pending_span = Some((serial, span));
            let at = [span.from, span.to].map(MomentSpec::Moment).to_vec();
            effects.push(Effect::ask(serial, device, Question::Moments(at)));
        }
    }
}

/// Zooms to a span of events once the positions of its ends on the time axis are known.
pub(crate) fn on_moments(shared: &mut Shared, span: Span, moments: &[MomentFacts]) {
    let x = |facts: &MomentFacts| facts.position.time as f64;
    match (shared.axis, moments) {
        (Axis::Time, [from, to]) => zoom_to(shared, x(from), x(to)),
        // The axis may have changed meanwhile.
        _ => zoom_to(shared, f64::from(span.from), f64::from(span.to) + 1.0),
    }
}

/// Zooms to a part of the axis and shows the full height of the stack there.
fn zoom_to(shared: &mut Shared, from: f64, to: f64) {
    let margin = (to - from) * SPAN_MARGIN;
    shared.navigate(|plane, view| {
        let view = plane.view_between(view, [from - margin, to + margin]);
        plane.centred(view, from.midpoint(to))
    });
}
