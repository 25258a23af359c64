//! Statements about growing call sites.

use super::certainty::Certainty;
use super::effect::{MAX_EFFECTS, MAX_STATEMENTS};
use super::site_growth::SiteGrowth;
use super::{Growth, MIN_STEPS, min_steps};
use crate::report::leaks::held::holder_text;
use crate::report::leaks::leaking_site::LeakingSite;
use crate::report::site_sums::{SiteSum, SiteSums, label};
use crate::report::writer::{ReportWriter, bytes_text, is_notable, truncate};
use crate::side::Side;
use analysis::{Sites, site};
use base::sorted::sorted_by_key;
use base::units::{group_digits, pluralize};
use history::replay::{AllocationId, DeviceHistory};
use history::snapshot::{Snapshot, StackId};
use protocol::{Chart, Evidence, Span, Tone};

/// Maximum number of values in a chart. A small chart cannot show more values distinctly.
const MAX_VALUES: u32 = 96;

/// Returns the text for the caller of a stack's call site, such as ` (called at train.py:13 main)`. Empty if no other
/// function of the user's own code is in the stack.
pub(in crate::report) fn caller_text(snapshot: &Snapshot, stack: StackId) -> String {
    let frames = snapshot.stacks.frames(stack).map(|frame| snapshot.frames.frame(frame));
    let mut user_frames = frames.filter(|frame| Sites::is_user(snapshot, frame));
    let Some(call_site) = user_frames.next() else { return String::new() };
    let caller = user_frames.find(|frame| (frame.name, frame.filename) != (call_site.name, call_site.filename));
    caller.map_or_else(String::new, |frame| [" (called at ", &truncate(&site::short(snapshot, frame)), ")"].concat())
}

/// Returns the newest allocation of a call site that is live at the end of the trace, if there is one.
pub(super) fn newest_live(never_freed: &SiteSum) -> Option<u32> {
    Some(never_freed).filter(|sum| sum.count > 0).map(|sum| sum.last)
}

/// Returns whether the growth of a call site is worth a statement.
pub(super) fn is_notable_growth(history: &DeviceHistory, site: &SiteGrowth) -> bool {
    is_notable(site.growth(), history.live_peak().1)
}

/// Advice on a leak.
pub(in crate::report) const FIX: &str = "Free what this line keeps alive: entries of a list that every step appends to, \
                                         or a loss with its graph (use loss.item()).";

/// Returns the beginning of a sentence on growth by `total` bytes in each of several steps.
pub(super) fn steady_text(name: &str, (total, steps): (u64, u32), is_constant: bool, after: &str) -> String {
    let mean = bytes_text(total / u64::from(steps.max(1)));
    let (constant, on_average) = match is_constant {
        true => (mean + " ", String::new()),
        false => (String::new(), format!(", {mean} on average")),
    };
    format!("{name} grew {constant}in each of the {}{after}{on_average}", pluralize(steps.into(), "step"))
}

/// Returns true if the smallest and the largest growth of a step are equal.
fn is_constant(range: Option<(u64, u64)>) -> bool {
    range.is_some_and(|(min, max)| min == max)
}

/// Returns a sentence on the peak without a leak, preceded by a space. `is_late`: without its first two steps.
fn effect_text(peak: u64, without: u64, is_late: bool) -> String {
    let it = if is_late { "the growth after the first two steps" } else { "it" };
    match peak.saturating_sub(without) {
        0 => " The peak of this trace stays the same (recounted).".to_owned(),
        saved => format!(
            " Without {it}, the peak is {} instead of {} (−{}, recounted).",
            bytes_text(without),
            bytes_text(peak),
            bytes_text(saved)
        ),
    }
}

impl Growth {
    /// Returns the groups of the largest growing call sites, each with the moment at which its growth starts.
    pub(super) fn largest(&self) -> Vec<(u32, u32)> {
        let start = |site: &SiteGrowth| {
            let index = if self.rises_always(site) { 0 } else { self.baseline as usize };
            self.moments.get(index).copied().unwrap_or(u32::MAX)
        };
        let ranked = self.ranked(MIN_STEPS).into_iter().take(MAX_EFFECTS);
        ranked.filter_map(|group| Some((group, start(self.sites.get(group as usize)?)))).collect()
    }

    /// Returns the sentence about a growing call site.
    fn describe(&self, site: &SiteGrowth, name: &str) -> String {
        let (mut text, bytes) = self.describe_growth(site, name);
        let total = bytes_text(bytes);
        let freed = match () {
            () if site.is_kept => ", counting only what is never freed",
            () if site.frees_older => ", though older ones are freed",
            () => ", none freed",
        };
        text.push_str(&match self.certainty(site) {
            Certainty::Likely => format!("{freed}: {total} in all (likely a leak)."),
            Certainty::Possible => format!("{freed}: {total} in all (possibly a leak)."),
            Certainty::Evicts => {
                format!(": {total} in all. Other steps free as much as they allocate (not necessarily a leak).")
            }
            Certainty::Unsteady => format!(": {total} in all, not steadily (a cache that fills, or a slow leak)."),
            Certainty::FreedLater => {
                let when = if site.is_cut { "at the end" } else { "after the last step" };
                // More than the growth is freed if the call site had live allocations before.
                match site.freed_later() >= bytes {
                    true => format!(": {total} in all, freed {when}."),
                    false => format!(": {total} in all, of which {} is freed {when}.", bytes_text(site.freed_later())),
                }
            }
            Certainty::Larger => {
                format!(": {total} in all. Its allocations get larger, not more (not necessarily a leak).")
            }
        });
        text
    }

    /// Returns the growth of a call site in bytes as stated, the number of measured steps, and whether these are all
    /// steps.
    fn stated_growth(&self, site: &SiteGrowth) -> (u64, u32, bool) {
        // The first two steps may add more, such as the cache of a prompt.
        let compared = self.compared_of(site);
        let is_late_constant = site.rises == compared && is_constant(site.late_rise_range);
        match self.rises_always(site) && (is_constant(site.rise_range) || !is_late_constant) {
            true => (site.previous.bytes.saturating_sub(site.first.bytes), self.baseline + compared, true),
            false => (site.growth(), compared, false),
        }
    }

    /// Returns the beginning of the sentence, with the growth per step, and the growth in all steps.
    pub(super) fn describe_growth(&self, site: &SiteGrowth, name: &str) -> (String, u64) {
        let (total, steps, always) = self.stated_growth(site);
        let after = match (always || self.baseline == 0, site.is_cut) {
            (true, false) => "",
            (true, true) => " before the last",
            (false, false) => " after the first two",
            (false, true) => " after the first two and before the last",
        };
        let mean = bytes_text(total / u64::from(steps.max(1)));
        let text = if always || site.rises == steps {
            let is_constant = is_constant(if always { site.rise_range } else { site.late_rise_range });
            steady_text(name, (total, steps), is_constant, after)
        } else {
            let rises = group_digits(site.rises.into());
            let mean = match site.rises * 2 < steps {
                true => bytes_text(total / u64::from(site.rises.max(1))) + " each time",
                false => mean + " per step",
            };
            format!("{name} grew in {rises} of {}{after}, {mean}", pluralize(steps.into(), "step"))
        };
        (text, total)
    }

    /// Returns the short sentence about a call site that leaks, such as `Likely leak: train.py:71 log keeps 42.0 MiB
    /// more per step, 336 MiB in all.`
    fn headline(&self, site: &SiteGrowth, name: &str) -> String {
        let certainty = if self.certainty(site) == Certainty::Likely { "Likely" } else { "Possible" };
        let (total, steps, _) = self.stated_growth(site);
        let [mean, total] = [total / u64::from(steps.max(1)), total].map(bytes_text);
        format!("{certainty} leak: {name} keeps {mean} more per step, {total} in all.")
    }

    /// Returns the index of the moment at which the stated growth starts: 0 or the baseline.
    fn stated_start(&self, site: &SiteGrowth) -> u32 {
        if self.stated_growth(site).2 { 0 } else { self.baseline }
    }

    /// Returns a chart of a call site's live bytes at the ends of the steps that the statement counts. If there are too
    /// many steps, the chart shows the first, the last, and evenly spaced ones between them.
    fn chart(&self, site: &SiteGrowth) -> Chart {
        let first = self.stated_start(site);
        let steps = self.last_compared(site).saturating_sub(first);
        let per_value = steps.div_ceil(MAX_VALUES - 1).max(1);
        let [start, baseline, last_but_one, last] = &self.end_labels;
        let last = if site.is_cut { last_but_one } else { last };
        let (label, bytes) = if first == 0 { (start, site.first.bytes) } else { (baseline, site.baseline.bytes) };
        let at = |end: u32| {
            let after = site.values.partition_point(|&(known, _)| known <= first + end);
            after.checked_sub(1).and_then(|last| site.values.get(last)).map_or(bytes, |&(_, bytes)| bytes)
        };
        let values = (0..=steps.div_ceil(per_value)).map(|index| at((index * per_value).min(steps))).collect();
        Chart::Line { values, ends: [label, last].map(String::clone) }
    }

    /// Writes statements about the top three growing call sites. Statements whose tone is not in `tones` are skipped.
    /// `never_freed` has the allocations that are live at the end of the trace.
    pub(in crate::report) fn write_statements(
        &self,
        writer: &mut ReportWriter<'_>,
        never_freed: &SiteSums,
        tones: &[Tone],
    ) {
        let mut ranked = self.ranked(min_steps(writer.question).value);
        let caches = self.write_caches(writer, &ranked, tones);
        ranked.retain(|group| !caches.contains(group));
        for group in ranked.into_iter().take(MAX_STATEMENTS) {
            let site = self.sites.get(group as usize).filter(|site| tones.contains(&self.tone(site)));
            if site.is_some_and(|site| is_notable_growth(writer.side.history, site)) {
                self.write_statement(writer, group, &never_freed.get(group));
            }
        }
    }

    /// Writes the statement about a growing call site. `never_freed` has its allocations that are live at the end of
    /// the trace. A click selects the newest one.
    pub(in crate::report) fn write_statement(&self, writer: &mut ReportWriter<'_>, group: u32, never_freed: &SiteSum) {
        let side = writer.side;
        let Some(site) = self.sites.get(group as usize) else { return };
        let stack = side.stack(AllocationId(site.newest));
        let text = self.describe(site, &(label(side, group) + &caller_text(side.snapshot(), stack)));
        let text = text + &holder_text(side, never_freed);
        let allocation = newest_live(never_freed);
        let span = self.span(self.stated_start(site), self.last_compared(site));
        let evidence = Evidence { span, allocation, moment: span.map(|span| span.to), ..Evidence::default() };
        writer.add_statement(self.tone(site), text, Some(evidence));
        if self.tone(site) == Tone::Alarm && writer.report.headline.is_none() {
            writer.set_headline(self.headline(site, &label(side, group)));
        }
        writer.set_chart(self.chart(site));
        if self.is_leak(site) {
            // The first two steps may have allocated what stays.
            let is_late = self.baseline > 0 && !self.rises_always(site) && site.baseline.bytes > 0;
            let effect = self.effects.effect(group);
            let effect = effect.map(|effect| effect_text(side.history.live_peak().1, effect.peak, is_late));
            writer.set_fix(&effect.map_or_else(String::new, |effect| FIX.to_owned() + &effect));
        }
    }

    /// Returns the call sites that leak, each with the reduction of the peak without the leak, the largest reduction
    /// first.
    pub(in crate::report) fn leaks(&self, side: Side<'_>) -> Vec<(u32, u64)> {
        let (caches, peak) = (self.kv_caches(side), side.history.live_peak().1);
        let ranked = self.ranked(MIN_STEPS).into_iter().filter(|group| !caches.contains(group));
        let effect = |group: u32| {
            let site = self.sites.get(group as usize).filter(|site| self.is_leak(site))?;
            let saved = peak.saturating_sub(self.effects.effect(group)?.peak);
            (is_notable_growth(side.history, site) && is_notable(saved, peak)).then_some((group, saved))
        };
        let effects = ranked.take(MAX_STATEMENTS).filter_map(effect).collect();
        sorted_by_key(effects, |&(_, saved): &(u32, u64)| !u128::from(saved))
    }

    /// Returns the largest call sites that leak.
    pub(in crate::report::leaks) fn leaking_sites(&self, side: Side<'_>) -> Vec<LeakingSite> {
        let caches = self.kv_caches(side);
        let ranked = self.ranked(MIN_STEPS).into_iter().filter(|group| !caches.contains(group));
        let leak = |group: u32| {
            let site = self.sites.get(group as usize).filter(|site| self.is_leak(site))?;
            let is_likely = self.certainty(site) == Certainty::Likely;
            let start = if self.rises_always(site) { 0 } else { self.baseline };
            let Span { from, to } = self.span(start, self.last_compared(site))?;
            Some(LeakingSite { group, from, to, is_likely })
        };
        ranked.take(MAX_STATEMENTS).filter_map(leak).collect()
    }

    /// Returns whether at least two steps were found, so that growth is known.
    pub(in crate::report) fn is_known(&self) -> bool {
        self.compared() > 0
    }

    /// Writes the statements about growth and the table. `never_freed` has the allocations that are live at the end of
    /// the trace.
    pub(in crate::report::leaks) fn write(&self, writer: &mut ReportWriter<'_>, never_freed: &SiteSums) {
        let history = writer.side.history;
        let fewest = min_steps(writer.question);
        let (compared, ranked) = (self.compared(), self.ranked(fewest.value));
        let span = self.span(self.baseline, self.baseline + compared);
        let worthy = ranked.iter().filter_map(|&group| self.sites.get(group as usize));
        let worthy = worthy.filter(|site| is_notable_growth(history, site)).count();
        let mut unsteady = self.unsteady(fewest.value);
        unsteady.retain(|&group| self.sites.get(group as usize).is_some_and(|site| is_notable_growth(history, site)));
        let steps = pluralize(compared.into(), "step") + if self.baseline > 0 { " after the first two" } else { "" };
        if u64::from(compared) < fewest.value.max(1) {
            let needed = group_digits(fewest.value.max(2).saturating_add(self.baseline.into()));
            let text = match self.steps {
                0 => "Growth per step is unknown: no steps found.".to_owned(),
                steps => {
                    format!("Growth per step is unknown: {} found, {needed} needed.", pluralize(steps.into(), "step"))
                }
            };
            if history.event_count() > 0 {
                writer.add_statement(Tone::Fact, text, None);
            }
        } else if ranked.is_empty() && unsteady.is_empty() {
            let text = format!("No call site grows over {steps}.");
            writer.add_statement(Tone::Good, text, Some(Evidence { span, ..Evidence::default() }));
        } else if worthy == 0 && !ranked.is_empty() {
            let count = pluralize(ranked.len() as u64, "call site");
            let verb = if ranked.len() == 1 { "grows" } else { "grow" };
            let text = format!("{count} {verb} over {steps}, each by less than 1 % of the peak: see the table.");
            writer.add_statement(Tone::Fact, text, Some(Evidence { span, ..Evidence::default() }));
        }
        self.write_statements(writer, never_freed, &[Tone::Alarm, Tone::Fact]);
        unsteady
            .into_iter()
            .take(MAX_STATEMENTS)
            .for_each(|group| self.write_statement(writer, group, &never_freed.get(group)));
        self.write_sheet(writer, never_freed, &ranked);
    }
}
