//! Statements about savings. There is one for each change that would lower the peak of this trace.

use super::kinds::{Saving, SavingKind};
use crate::report::frame_words::has_frame_with;
use crate::report::insight::Given;
use crate::report::layout::Layout;
use crate::report::leaks::Lifetimes;
use crate::report::live_sites::sites_evidence;
use crate::report::recording::{without_events, without_stacks};
use crate::report::simulated::Simulated;
use crate::report::site_sums::{SiteSum, label};
use crate::report::writer::{
    ReportWriter, allocation_evidence, bytes_text, category_query, is_notable, moment_evidence, moment_text,
};
use crate::side::Side;
use analysis::site::with_site;
use base::units::{percent, pluralize};
use history::replay::AllocationId;
use protocol::{Evidence, Grouping, SegmentsKept, Tone, WhatIf};

/// Divisor of the peak. A saving of more bytes than the quotient (5 %) is the headline of the report.
const MIN_HEADLINE_PART: u64 = 20;

/// Returns the sentence about the largest saving, such as `Saving: 8-bit optimizer state, 1.20 GiB of the peak (26 %).`
fn headline(saving: &Saving, peak: u64) -> String {
    let (label, bytes) = (saving.kind.texts().label, bytes_text(saving.saved_bytes));
    let comma = if label.ends_with(" at most") { "" } else { "," };
    format!("Saving: {label}{comma} {bytes} of the peak ({}).", percent(saving.saved_bytes, peak))
}

/// Writes the report for a trace without allocations.
pub(super) fn write_nothing_to_save(writer: &mut ReportWriter<'_>) {
    let text = without_events(writer.side);
    let text = text.unwrap_or_else(|| "Nothing to save: nothing is live during the trace.".to_owned());
    writer.add_statement(Tone::Fact, text, None);
}

/// Writes one statement per change, and one per leak, the largest effect first. All changes to optimizer state share
/// one statement.
pub(super) fn write_insights(
    writer: &mut ReportWriter<'_>,
    (moment, peak, min_bytes): (u32, u64, u64),
    savings: &[Saving],
    accumulations: Option<&Lifetimes>,
    &Given { side, steps, growth, plans, .. }: &Given<'_>,
) {
    let steps = &steps.steps;
    let mut reported: Vec<SavingKind> = Vec::new();
    let leaks = match accumulations {
        Some(lifetimes) => lifetimes.accumulations(side),
        None => growth.map_or_else(Vec::new, |growth| growth.leaks(side)),
    };
    let mut leaks = leaks.iter().peekable();
    let has_leaks = leaks.peek().is_some();
    let mut write_leaks = |writer: &mut ReportWriter<'_>, min_saved: u64| {
        while let Some((group, _)) = leaks.next_if(|(_, saved)| *saved >= min_saved) {
            match (accumulations, growth) {
                (Some(lifetimes), _) => lifetimes.write_accumulation(writer, *group),
                (None, Some(growth)) => growth.write_statement(writer, *group, &SiteSum::default()),
                (None, None) => {}
            }
        }
    };
    for saving in savings {
        write_leaks(writer, saving.saved_bytes);
        if !(is_optimizer(&saving.kind) && reported.iter().any(is_optimizer)) {
            write_statement(writer, (moment, peak), saving, savings);
            if reported.is_empty() && saving.saved_bytes > peak / MIN_HEADLINE_PART {
                writer.set_headline(headline(saving, peak));
            }
        }
        reported.push(saving.kind);
    }
    write_leaks(writer, 0);
    if let Some(text) = without_events(side) {
        return writer.add_statement(Tone::Fact, text, None);
    }
    if savings.is_empty() && !has_leaks {
        let hint = without_stacks(writer.side.file);
        let hint = hint.unwrap_or_else(|| {
            "See the call sites below. If much of the peak is unknown, set finer category rules.".to_owned()
        });
        let bytes = bytes_text(min_bytes);
        // The report on OOMs gives advice that lowers the peak.
        let (tone, text) = match plans.iter().find(|effect| effect.max_certain() >= min_bytes) {
            Some(effect) => {
                let plan = effect.plan.name();
                let text = format!(
                    "See Out of memory for {plan}. No other common change lowers peak live bytes by {bytes} or more. {hint}"
                );
                (Tone::Fact, text)
            }
            None => (Tone::Good, format!("No common change lowers peak live bytes by {bytes} or more. {hint}")),
        };
        writer.add_statement(tone, text, Some(moment_evidence(moment)));
    }
    if steps.spans.len() < 2 {
        let text = steps.describe() + " What is held over from one step into the next is unknown.";
        writer.add_statement(Tone::Fact, text, None);
    }
}

fn is_optimizer(kind: &SavingKind) -> bool {
    matches!(kind, SavingKind::EightBitOptimizer | SavingKind::ShardedOptimizer | SavingKind::OffloadedOptimizer)
}

/// Returns the sentence about gradients of the last step.
fn stale_gradients_text(peak: u64, saving: &Saving) -> String {
    let [bytes, peak, without] = [saving.concerned_bytes, peak, saving.effect.peak].map(bytes_text);
    format!(
        "{bytes} of the last step's gradients are live at the peak: call zero_grad(set_to_none=True) before forward: \
         {peak} → {without} (recounted)."
    )
}

fn write_statement(writer: &mut ReportWriter<'_>, (moment, peak): (u32, u64), saving: &Saving, all: &[Saving]) {
    let side = writer.side;
    let texts = saving.kind.texts();
    if saving.kind == SavingKind::PreviousGradients {
        let first = saving.top_sites.first();
        let evidence =
            first.map_or_else(|| moment_evidence(moment), |&(_, _, id)| allocation_evidence(id.0, Some(moment)));
        writer.add_statement(Tone::Fact, stale_gradients_text(peak, saving), Some(evidence));
        writer.set_parts_chart(&[("peak without it", saving.effect.peak), ("saved", saving.saved_bytes)]);
        writer.set_fix(&format!("{} {}", texts.fix, texts.caveat));
        return;
    }
    let mut text = format!(
        "{}: {} at the peak ({})",
        texts.subject,
        bytes_text(saving.concerned_bytes),
        percent(saving.concerned_bytes, peak)
    );
    let is_all = saving.top_sites.first().is_some_and(|&(_, bytes, _)| bytes == saving.concerned_bytes);
    // Scalars beside large tensors are not worth a name.
    let is_named = |&(index, site): &(usize, &(u32, u64, AllocationId))| {
        index == 0 || u128::from(site.1) * 100 >= u128::from(saving.concerned_bytes)
    };
    for (index, &(site, bytes, _)) in saving.top_sites.iter().enumerate().filter(is_named) {
        let site = label(side, site);
        text.push_str(&match index {
            0 if is_all => [", all ", &with_site("by", &site)].concat(),
            0 => [", most ", &with_site("by", &site)].concat(),
            _ => [", ", &site].concat(),
        });
        if !is_all {
            text.push_str(&format!(" ({})", bytes_text(bytes)));
        }
    }
    text.push_str(". ");
    // Lists all changes that share the statement, in their order.
    let same = |other: &&Saving| other.kind == saving.kind || [other.kind, saving.kind].iter().all(is_optimizer);
    let alternatives: Vec<&Saving> = all.iter().filter(same).collect();
    for (index, saving) in alternatives.iter().enumerate() {
        let condition = saving.kind.texts().condition;
        let condition = match index {
            0 => format!("{condition}, the peak is"),
            _ => format!("; {}:", lowercase_first(condition)),
        };
        let [peak, saved_text] = [saving.effect.peak, saving.saved_bytes].map(bytes_text);
        let source = saving.kind.source();
        text.push_str(&format!("{condition} {peak} (−{saved_text}, {source})"));
    }
    if saving.effect.moment == moment {
        text.push('.');
    } else {
        text.push_str(&format!(", reached {}.", moment_text(saving.effect.moment)));
    }
    let evidence = Evidence { moment: Some(moment), ..concerned_evidence(side, saving) };
    writer.add_statement(Tone::Fact, text, Some(evidence));
    writer.set_parts_chart(&[("peak without it", saving.effect.peak), ("saved", saving.saved_bytes)]);
    let fix = match is_optimizer(&saving.kind) {
        true => {
            "Use an 8-bit optimizer, shard its state over data-parallel ranks (ZeRO-1, FSDP), or offload it to the CPU."
                .to_owned()
        }
        false => optimizer_temporary(side, saving)
            .map_or_else(|| format!("{} {}", texts.fix, texts.caveat), |id| optimizer_temporaries_fix(side, id)),
    };
    writer.set_fix(&fix);
}

/// Returns evidence that finds the allocations that a change affects: those of their category, or else those of the
/// largest call sites.
fn concerned_evidence(side: Side<'_>, saving: &Saving) -> Evidence {
    let Some(&(_, _, largest)) = saving.top_sites.first() else { return Evidence::default() };
    let is_category = is_optimizer(&saving.kind)
        || matches!(saving.kind, SavingKind::Activations | SavingKind::KeptActivations | SavingKind::Temporaries);
    if is_category {
        let category = side.group(Grouping::Category, largest);
        let name = side.group_label(Grouping::Category, category);
        return Evidence { find: Some(category_query(&name)), ..Evidence::default() };
    }
    let sites: Vec<u32> = saving.top_sites.iter().map(|&(site, ..)| site).collect();
    sites_evidence(side, &sites).unwrap_or_else(|| allocation_evidence(largest.0, None))
}

/// Words in the frames of the optimizer's step.
const OPTIMIZER_WORDS: [&str; 4] = ["torch/optim/", "optimizer", "_multi_tensor_", "_single_tensor_"];

/// Returns whether an allocation was made in the optimizer's step, by its stack.
pub(in crate::report) fn is_in_optimizer_step(side: Side<'_>, id: AllocationId) -> bool {
    has_frame_with(side.snapshot(), side.stack(id), &OPTIMIZER_WORDS)
}

/// Returns advice on temporaries of the optimizer's step. `id` is one of them.
pub(in crate::report) fn optimizer_temporaries_fix(side: Side<'_>, id: AllocationId) -> String {
    let is_single = has_frame_with(side.snapshot(), side.stack(id), &["_single_tensor_"]);
    let other = if is_single { "" } else { ", or one that updates a tensor at a time (foreach=False)" };
    format!("Use a fused optimizer (fused=True){other}. A part of the temporaries stays live.")
}

/// Returns the largest temporary if it was made in the optimizer's step.
fn optimizer_temporary(side: Side<'_>, saving: &Saving) -> Option<AllocationId> {
    let &(_, _, id) = saving.top_sites.first().filter(|_| saving.kind == SavingKind::Temporaries)?;
    is_in_optimizer_step(side, id).then_some(id)
}

/// Converts the first letter to lower case, so that the text can be used within a sentence.
fn lowercase_first(text: &str) -> String {
    let mut letters = text.chars();
    // Only the first letter, so CPU stays as it is.
    letters.next().map_or_else(String::new, |first| first.to_lowercase().chain(letters).collect())
}

/// Writes statements about segments that are empty or pinned by a few blocks at the peak of reserved bytes, and the
/// simulated setting that lowers this peak most.
pub(super) fn write_reserved(
    writer: &mut ReportWriter<'_>,
    kept: &SegmentsKept,
    layout: &Layout,
    simulation: Option<&WhatIf>,
) {
    let reserved = layout.total.reserved;
    let simulated = Simulated::new(simulation, writer.side.history);
    let is_cuda = writer.side.history.device >= 0;
    if let (Ok(simulated), true) = (&simulated, is_cuda) {
        simulated.write_best(writer);
        // What lowers the live bytes matters more: it lowers the reserved bytes too.
        let headline = if writer.report.headline.is_none() { simulated.headline(MIN_HEADLINE_PART) } else { None };
        headline.into_iter().for_each(|text| writer.set_headline(text));
    }
    let SegmentsKept { empty, single_block: pinned, by_site, .. } = kept;
    if is_notable(empty.bytes, reserved) {
        let text = format!(
            "Reserved at its peak: {}, of which {} with {} ({}). PyTorch releases {} before an OOM.",
            bytes_text(reserved),
            pluralize(empty.count.into(), "empty segment"),
            bytes_text(empty.bytes),
            percent(empty.bytes, reserved),
            if empty.count == 1 { "it" } else { "them" }
        );
        writer.add_statement(Tone::Fact, text, Some(moment_evidence(layout.moment)));
    }
    let Some(first) = by_site.first() else { return };
    if is_notable(pinned.bytes, reserved) {
        let text = format!(
            "Reserved at its peak: {}, of which {} free (cached) in {} pinned by one block{}. Most {} ({}).",
            bytes_text(reserved),
            bytes_text(pinned.bytes),
            pluralize(pinned.count.into(), "segment"),
            if pinned.count == 1 { "" } else { " each" },
            with_site("by", &first.call_site),
            bytes_text(first.free.bytes)
        );
        writer.add_statement(Tone::Fact, text, Some(allocation_evidence(first.allocation, Some(layout.moment))));
        match simulated {
            Ok(simulated) if is_cuda => simulated.write_expandable_unless_best(writer),
            Err(unknown) if is_cuda => writer.add_statement(Tone::Fact, unknown, None),
            _ => {}
        }
    }
}
