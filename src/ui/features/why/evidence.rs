//! What a click on evidence does: all that it says, and what the click before has brought goes.

use super::data::{Brought, Why};
use crate::effect::Effect;
use crate::shared::Shared;
use crate::{find, selecting};
use engine::protocol::{At, Evidence, MomentFacts, Question, Span};
use picture::timeline::Axis;

/// A span that is shown has this part of it around it.
const AROUND: f64 = 0.04;

/// Does all that the evidence says.
pub(super) fn follow(why: &mut Why, shared: &mut Shared, evidence: Evidence, effects: &mut Vec<Effect>) {
    let Evidence { span, moment, allocation, find, open } = evidence;
    if let Some((place, with)) = open {
        shared.ranks.wanted = Some((place as usize, with.map(|with| with as usize)));
        return;
    }
    let brought = Brought { find: find.clone(), allocation };
    let before = std::mem::replace(&mut why.brought, brought);
    if find.is_some() || allocation.is_some() {
        // A node would stand out before it.
        shared.views.node = None;
    }
    let searched = before.find.is_some_and(|before| before == shared.find.text);
    if let Some(text) = find.or(searched.then(String::new)) {
        find::typed(shared, text);
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
        show(why, shared, span, effects);
    }
    if let Some(moment) = moment {
        shared.end_range();
        shared.pin_and_show(moment);
    }
}

/// Brings a span into the window. Where it is on the time axis, the worker has to say.
fn show(why: &mut Why, shared: &mut Shared, span: Span, effects: &mut Vec<Effect>) {
    shared.pointer_leads();
    let Some(device) = shared.device().map(|device| device.device) else { return };
    match shared.axis {
        Axis::Events => fill(shared, f64::from(span.from), f64::from(span.to) + 1.0),
        Axis::Time => {
            let serial = shared.next_serial();
            why.sought = Some((serial, span));
            let at = [span.from, span.to].map(At::Moment).to_vec();
            effects.push(Effect::ask(serial, device, Question::Moments(at)));
        }
    }
}

/// Takes the worker's answer about moments, if it is one to a question of this file.
pub(crate) fn found(shared: &mut Shared, span: Span, moments: &[MomentFacts]) {
    let x = |facts: &MomentFacts| facts.place.time as f64;
    match (shared.axis, moments) {
        (Axis::Time, [from, to]) => fill(shared, x(from), x(to)),
        // The axis was turned meanwhile.
        _ => fill(shared, f64::from(span.from), f64::from(span.to) + 1.0),
    }
}

/// What lies between two places of the axis fills the window, with the whole stack there.
fn fill(shared: &mut Shared, from: f64, to: f64) {
    let around = (to - from) * AROUND;
    shared.navigate(|plane, view| {
        let view = plane.over(view, [from - around, to + around]);
        plane.centred(view, from.midpoint(to))
    });
}
