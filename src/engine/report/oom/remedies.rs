//! Changes that may avoid an OOM: allocator settings, and plans with smaller sizes. The report says how many bytes each
//! leaves live, and whether the request would then have fitted.

use super::facts::OomFacts;
use crate::report::insight::Given;
use crate::report::oom_plans::OomPlanEffect;
use crate::report::simulated::Simulated;
use crate::report::writer::{ReportWriter, bytes_text, is_notable, moment_evidence};
use base::sorted::sorted_by_key;
use base::units::percent;
use protocol::{OomPlan, Tone, WhatIfRun};

/// Writes the statements. If the request alone is larger than the device's memory, no setting can help.
pub(super) fn write(writer: &mut ReportWriter<'_>, facts: &OomFacts, given: &Given<'_>, is_too_large: bool) {
    if given.side.history.device < 0 {
        return;
    }
    let simulated = Simulated::new(given.simulation, given.side.history);
    let limit = given.simulation.and_then(|answer| answer.limit).filter(|limit| limit.is_fraction);
    if let (Some(limit), Ok(_)) = (limit, &simulated) {
        let [low, high] = [limit.low, limit.high].map(bytes_text);
        let range = if low == high { low } else { [&low, " to ", &high].concat() };
        let text = ["Memory limit: ", &range, " reserved, by a memory fraction (implied by the recording)."];
        writer.add_statement(Tone::Fact, text.concat(), None);
    }
    match &simulated {
        _ if is_too_large => {}
        Ok(simulated) => simulated.write_for_oom(writer, facts.event),
        Err(unknown) => writer.add_statement(Tone::Fact, unknown.clone(), None),
    }
    let Some(index) = given.side.history.oom_events().position(|event| event == facts.event) else { return };
    let saved = |effect: &OomPlanEffect| effect.saved_bytes.get(index).copied().unwrap_or(0);
    let notable = given.plans.iter().filter(|effect| is_notable(saved(effect), facts.live)).collect();
    for effect in sorted_by_key(notable, |effect: &&OomPlanEffect| u128::from(!saved(effect))) {
        let run = given_run(given, effect).or(effect.run.as_ref());
        let fits = simulated.as_ref().ok().zip(run).and_then(|(simulated, run)| simulated.would_fit(facts.event, run));
        let assumed = effect.assumed_bytes.get(index).copied().unwrap_or(0);
        let is_assumed = assumed > saved(effect) / 2;
        let share = percent(assumed, saved(effect));
        let of_unknown = " of the difference is memory of unknown category, which may not shrink.";
        let assumption = [" Only assumed: ", &share, of_unknown].concat();
        let text = [
            "With ",
            effect.plan.name(),
            ", ",
            &bytes_text(facts.live.saturating_sub(saved(effect))),
            " instead of ",
            &bytes_text(facts.live),
            " live at the OOM (planned); ",
            match fits {
                Some(true) => "this request would have fitted (simulated).",
                // The simulation does not scale the request.
                Some(false) if effect.plan == OomPlan::HalfBatch => {
                    "this request would not have fitted at its recorded size (simulated)."
                }
                Some(false) => "this request would not have fitted (simulated).",
                None => "not known whether this request would have fitted.",
            },
            if is_assumed { &assumption } else { "" },
        ];
        writer.add_statement(Tone::Fact, text.concat(), Some(moment_evidence(facts.event.saturating_add(1))));
        // Advice whose outcome is not known would be a guess.
        if fits == Some(true) && !is_assumed {
            writer.set_fix(fix(effect.plan));
        }
    }
}

/// Returns the run of a plan that the question contains.
fn given_run<'a>(given: &Given<'a>, effect: &OomPlanEffect) -> Option<&'a WhatIfRun> {
    given.question.simulations.as_ref()?.plans.get(effect.plan as usize)?.as_ref()
}

/// Returns what to do for a plan.
fn fix(plan: OomPlan) -> &'static str {
    match plan {
        OomPlan::HalfBatch => "Halve the batch size.",
        OomPlan::Checkpoint => {
            "Checkpoint the blocks that allocate the activations (torch.utils.checkpoint). A step takes about a third longer."
        }
        OomPlan::Sharded => "Shard parameters, gradients and optimizer state over 8 devices (FSDP, ZeRO-3).",
    }
}
