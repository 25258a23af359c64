//! Simulation of common allocator settings in the background, and of plans after an OOM, for the reports that quote it.
//! It starts once all reports have arrived, and gives way to simulations that the user requests.

use crate::features::insights::data::{BackgroundSimulation, INITIAL_ROWS, InsightsTab, TopicQuestion};
use crate::plot::comparing::part::insight_pairing;
use crate::state::outbox::Outbox;
use crate::state::settings::Dialog;
use crate::state::shared::Shared;
use protocol::{OomPlan, Question, Simulations, Topic, WhatIf, WhatIfQuestion};
use std::rc::Rc;

/// Maximum number of allocations of a trace that is simulated in the background. The requests of a longer trace take
/// too long to pass on without a noticeable pause.
const MAX_ALLOCATIONS: u64 = 1_000_000;

/// Returns whether the shown device is simulated in the background, and the result is not known yet.
pub(super) fn is_expected(tab: &InsightsTab, shared: &Shared) -> bool {
    let BackgroundSimulation { known, has_failed, .. } = &tab.background;
    let has_trace = shared.device().is_some_and(|of| of.device >= 0 && (1..=MAX_ALLOCATIONS).contains(&of.allocations));
    shared.simulates_apart && known.is_none() && !has_failed && has_trace
}

/// Requests the simulation if the page has nothing else to do.
pub(super) fn ask(tab: &mut InsightsTab, shared: &Shared, device: i64, out: &mut Outbox) {
    // The simulator has one request at a time. One of the user replaces that of the background.
    if shared.simulation.is_some() {
        return;
    }
    let is_shown = shared.device().is_some_and(|of| of.device == device);
    let is_busy =
        tab.pending.is_some() || shared.rules.dialog == Dialog::Open || next_unknown_topic(tab, shared).is_some();
    if !is_shown || !is_expected(tab, shared) || tab.background.pending.is_some() || is_busy {
        return;
    }
    let question = match tab.background.settings {
        None => WhatIfQuestion::common_settings(shared.capacity_without_oom()),
        Some(_) => {
            let Some(plan) = OomPlan::ALL.get(tab.background.plans.len()) else { return };
            out.ask(device, Question::PlannedSizes(Box::new(plan.question())));
            WhatIfQuestion { is_planned: true, ..WhatIfQuestion::default() }
        }
    };
    tab.background.pending = Some(out.ask(device, Question::WhatIf(Box::new(question))));
}

/// Takes a result. After the last one, drops the reports that quote it, except for the visible one, which stays until
/// the new one has arrived.
pub(super) fn take(tab: &mut InsightsTab, shared: &Shared, answer: WhatIf) {
    let BackgroundSimulation { pending, settings, plans, known, .. } = &mut tab.background;
    *pending = None;
    match settings {
        None => *settings = Some(answer),
        Some(_) => {
            let is_proved = answer.proof.refused.is_none() && answer.proof.is_exact;
            plans.push(answer.runs.into_iter().next().filter(|_| is_proved));
        }
    }
    // Plans are simulated only for an OOM that the simulation reproduces.
    let has_oom = shared.device().is_some_and(|device| device.oom_count() > 0);
    let has_plans = has_oom && settings.as_ref().is_some_and(|settings| settings.recorded().is_some());
    if has_plans && plans.len() < OomPlan::ALL.len() {
        return;
    }
    let (settings, plans) = (settings.take().unwrap_or_default(), std::mem::take(plans));
    *known = Some(Rc::new(Simulations { settings, plans }));
    let shown = tab.topic;
    tab.reports.retain(|(question, _)| !question.topic.quotes_simulations() || question.topic == shown);
}

/// Returns the request for a topic that has no report yet. `None` if all topics have one, or while another request is
/// pending.
pub(super) fn next_unknown_topic(tab: &InsightsTab, shared: &Shared) -> Option<TopicQuestion> {
    let InsightsTab { pending, reports, version, .. } = tab;
    let is_known_topic = |topic: Topic| reports.iter().any(|(of, _)| of.topic == topic);
    let is_unknown = |topic: &Topic| !topic.depends_on_range() && !is_known_topic(*topic);
    // The verdict of a comparison is shown on every tab.
    let pairing = insight_pairing(shared).filter(|_| shared.comparing.pair.is_some());
    let pairing = pairing.filter(|wanted| reports.iter().all(|(of, _)| of.pairing != Some(*wanted)));
    // The alarm needs few reports, so these come first.
    let others = Topic::ALARMS.into_iter().chain(Topic::ALL).find(is_unknown);
    let topic = pairing.map(|_| Topic::Comparison).or(others).filter(|_| pending.is_none())?;
    let cursor_or_version = topic.depends_on_cursor().then_some(shared.cursor.moment);
    let (rows, version, is_simulated) = (INITIAL_ROWS as u32, *version, is_simulated(tab, topic));
    Some(TopicQuestion { topic, cursor_or_version, rows, version, range: None, is_simulated, pairing })
}

/// Returns whether a report on a topic can quote simulations now.
pub(super) fn is_simulated(tab: &InsightsTab, topic: Topic) -> bool {
    topic.quotes_simulations() && tab.background.known.is_some()
}
