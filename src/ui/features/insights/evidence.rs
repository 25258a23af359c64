//! Showing of evidence: search, selection, range or cursor. The effect of the previous evidence is undone.

use super::data::{EvidenceEffect, InsightsTab};
use crate::effect::Effect;
use crate::shared::Shared;
use crate::{find, selecting};
use engine::protocol::{Evidence, MomentFacts, MomentSpec, Question, Span};
use picture::timeline::Axis;

/// Margin on either side of a shown span, as a fraction of its length.
const SPAN_MARGIN: f64 = 0.04;

/// Shows evidence.
pub(super) fn show_evidence(why: &mut InsightsTab, shared: &mut Shared, evidence: Evidence, effects: &mut Vec<Effect>) {
    let Evidence { span, moment, allocation, find, open } = evidence;
    if let Some((place, with)) = open {
        shared.ranks.wanted = Some((place as usize, with.map(|with| with as usize)));
        return;
    }
    let evidence_effect = EvidenceEffect { find: find.clone(), allocation };
    let before = std::mem::replace(&mut why.evidence_effect, evidence_effect);
    if find.is_some() || allocation.is_some() {
        // A selected node would take precedence.
        shared.views.node = None;
    }
    let searched = before.find.is_some_and(|before| before == shared.find.text);
    if let Some(text) = find.or(searched.then(String::new)) {
        find::set_text(shared, text);
    }
    let selected = shared.selection.as_deref().map(|selection| selection.allocation);
    match allocation {
        Some(allocation) => selecting::select(shared, allocation, effects),
        None if selected.is_some() && selected == before.allocation => {
            (shared.selection, shared.selecting) = (None, None);
        }
        None => {}
    }
    if let Some(span) = span {
        show_span(why, shared, span, effects);
    }
    if let Some(moment) = moment {
        shared.end_range();
        shared.go_to(moment);
    }
}

/// Zooms to a span. On the time axis, its position must be requested first.
fn show_span(why: &mut InsightsTab, shared: &mut Shared, span: Span, effects: &mut Vec<Effect>) {
    shared.follow_pointer();
    let Some(device) = shared.device().map(|device| device.device) else { return };
    match shared.axis {
        Axis::Events => zoom_to(shared, f64::from(span.from), f64::from(span.to) + 1.0),
        Axis::Time => {
            let serial = shared.next_serial();
            why.pending_span = Some((serial, span));
            let at = [span.from, span.to].map(MomentSpec::Moment).to_vec();
            effects.push(Effect::ask(serial, device, Question::Moments(at)));
        }
    }
}

/// Handles the reply with the position of a span on the time axis.
pub(crate) fn on_moments(shared: &mut Shared, span: Span, moments: &[MomentFacts]) {
    let x = |facts: &MomentFacts| facts.position.time as f64;
    match (shared.axis, moments) {
        (Axis::Time, [from, to]) => zoom_to(shared, x(from), x(to)),
        // The axis may have changed meanwhile.
        _ => zoom_to(shared, f64::from(span.from), f64::from(span.to) + 1.0),
    }
}

/// Zooms to a part of the axis, with the full height of the stack there.
fn zoom_to(shared: &mut Shared, from: f64, to: f64) {
    let around = (to - from) * SPAN_MARGIN;
    shared.navigate(|plane, view| {
        let view = plane.view_between(view, [from - around, to + around]);
        plane.centred(view, from.midpoint(to))
    });
}
