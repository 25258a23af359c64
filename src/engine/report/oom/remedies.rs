//! Changes that may avoid an OOM: earlier frees, allocator settings, and plans with smaller sizes. The report says how
//! many bytes each leaves live, and whether the request would then have fitted.

use super::facts::{OomFacts, OomState};
use super::freeable::Freeable;
use crate::report::insight::Given;
use crate::report::oom_plans::OomPlanEffect;
use crate::report::simulated::Simulated;
use crate::report::writer::{ReportWriter, bytes_text, is_notable, moment_evidence};
use base::sorted::{sorted_by_key, two_part_key};
use base::units::percent;
use protocol::{OomPlan, Tone, WhatIfRun};

/// Maximum number of fixes. The statements before may have some.
const MAX_FIXES: usize = 2;

/// Writes the statements. Changes that cost little come first. If the request alone is larger than the device's memory,
/// no setting can help.
pub(super) fn write(
    writer: &mut ReportWriter<'_>,
    at_oom @ (facts, _): (&OomFacts, &OomState),
    freeable: Option<&Freeable>,
    given: &Given<'_>,
    is_too_large: bool,
) {
    if let Some(freeable) = freeable {
        freeable.write_leaks(writer, at_oom, given, false);
        freeable.write_stale_gradients(writer, at_oom, given);
    }
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
    if let Some(freeable) = freeable {
        freeable.write_temporaries(writer, at_oom, given);
    }
    write_plans(writer, facts, (given, simulated.ok()));
}

/// Writes the statements about plans: those that avoid the OOM, the smallest cost first, and then the others, the
/// largest effect first.
fn write_plans(
    writer: &mut ReportWriter<'_>,
    facts: &OomFacts,
    (given, simulated): (&Given<'_>, Option<Simulated<'_>>),
) {
    let Some(index) = given.side.history.oom_events().position(|event| event == facts.event) else { return };
    let saved = |effect: &OomPlanEffect| effect.saved_bytes.get(index).copied().unwrap_or(0);
    let assumed = |effect: &OomPlanEffect| effect.assumed_bytes.get(index).copied().unwrap_or(0);
    let notable = given.plans.iter().filter(|effect| is_notable(saved(effect), facts.live));
    let outcomes = notable.map(|effect| {
        let run = given_run(given, effect).or(effect.run.as_ref());
        let fits = simulated.as_ref().zip(run).and_then(|(simulated, run)| simulated.would_fit(facts.event, run));
        (effect, fits, assumed(effect) > saved(effect) / 2)
    });
    // Advice whose outcome is not known would be a guess.
    let is_advised = |fits: Option<bool>, is_assumed: bool| fits == Some(true) && !is_assumed;
    let ranked = sorted_by_key(outcomes.collect(), |&(effect, fits, is_assumed): &(&OomPlanEffect, _, _)| {
        let rank = if is_advised(fits, is_assumed) { effect.plan as u64 } else { OomPlan::ALL.len() as u64 };
        two_part_key(rank, !saved(effect))
    });
    for (effect, fits, is_assumed) in ranked {
        let assumed = assumed(effect);
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
        let fixes = writer.report.statements.iter().filter(|it| !it.fix.is_empty()).count();
        if is_advised(fits, is_assumed) && fixes < MAX_FIXES {
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
        OomPlan::EightBitOptimizer => "Use an 8-bit optimizer (bitsandbytes, torchao).",
        OomPlan::EightBitKvCache => {
            "Store the KV cache in 8 bits (QuantizedCache in transformers, kv_cache_dtype=\"fp8\" in vLLM), or limit the \
             number of tokens."
        }
        OomPlan::OffloadedOptimizer => {
            "Offload the optimizer state to the CPU (torchao's CPUOffloadOptimizer, DeepSpeed ZeRO-Offload)."
        }
        OomPlan::HalfBatch => "Halve the batch size.",
        OomPlan::Checkpoint => {
            "Checkpoint the blocks that allocate the activations (torch.utils.checkpoint). A step takes about a third longer."
        }
        OomPlan::Sharded => "Shard parameters, gradients and optimizer state over 8 devices (FSDP, ZeRO-3).",
    }
}
