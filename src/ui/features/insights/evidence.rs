//! Shows evidence by setting the search, the selection, the range or the cursor. First undoes the effects of the
//! previous evidence.

use crate::features::insights::data::{EvidenceEffect, InsightsTab};
use crate::state::outbox::{Intent, Outbox};
use crate::state::shared::Shared;
use picture::timeline::Axis;
use protocol::{Evidence, MomentFacts, MomentSpec, Question, Span};

/// Shows evidence in the device at `index`, and undoes the search and the selection of the previous evidence.
pub(super) fn show_evidence(
    tab: &mut InsightsTab,
    shared: &Shared,
    index: usize,
    evidence: Evidence,
    out: &mut Outbox,
) {
    let Evidence { span, moment, allocation, find, open } = evidence;
    if let Some((file_index, with)) = open {
        out.intend(Intent::OpenFile(file_index as usize, with.map(|with| with as usize)));
        return;
    }
    let evidence_effect = EvidenceEffect { find: find.clone(), allocation };
    let previous = std::mem::replace(&mut tab.evidence_effect, evidence_effect);
    if find.is_some() || allocation.is_some() {
        // A selected node would take precedence.
        out.intend(Intent::Node(None));
    }
    let searched = previous.find.is_some_and(|previous| previous == shared.find.text);
    out.intents.extend(find.or(searched.then(String::new)).map(Intent::Search));
    let selected = shared.selection.as_deref().map(|selection| selection.allocation);
    match allocation {
        Some(_) => out.intend(Intent::Select(allocation)),
        None if selected.is_some() && selected == previous.allocation => {
            out.intend(Intent::Select(None));
        }
        None => {}
    }
    if let Some(span) = span {
        show_span(tab, shared, index, span, out);
    }
    if let Some(moment) = moment {
        out.intend(Intent::EndRange);
        out.intend(Intent::MoveCursor(moment));
    }
}

/// Zooms to a span of events. On the time axis, first requests the positions of its ends.
fn show_span(tab: &mut InsightsTab, shared: &Shared, index: usize, span: Span, out: &mut Outbox) {
    out.intend(Intent::FollowPointer);
    match shared.device_at(index) {
        Some(device) if shared.axis == Axis::Time && device.time_us.is_some() => {
            let at = [span.from, span.to].map(MomentSpec::Moment).to_vec();
            tab.pending_span = Some((out.ask(device.device, Question::Moments(at)), span));
        }
        _ => out.intend(Intent::ShowRange(events_of(span))),
    }
}

/// Returns the edges of a span on the event axis.
fn events_of(span: Span) -> [f64; 2] {
    [f64::from(span.from), f64::from(span.to) + 1.0]
}

/// Zooms to a span of events once the positions of its ends on the time axis are known.
pub(crate) fn on_moments(shared: &Shared, span: Span, moments: &[MomentFacts], out: &mut Outbox) {
    let x = |facts: &MomentFacts| facts.position.time as f64;
    out.intend(Intent::ShowRange(match (shared.axis, moments) {
        (Axis::Time, [from, to]) => [x(from), x(to)],
        // The axis may have changed meanwhile.
        _ => events_of(span),
    }));
}
