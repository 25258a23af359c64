//! Growth of KV caches. In inference, the keys and values of all tokens stay live, so the caches of all layers grow in
//! each step. This is not a leak. It is reported in one statement.

use super::kept::Amount;
use super::replaced::Sizes;
use super::site_growth::SiteGrowth;
use super::statements::{is_notable_growth, steady_text};
use super::{Growth, MIN_STEPS, min_steps};
use crate::report::frame_roles::FrameRoles;
use crate::report::frame_words::has_frame_with;
use crate::report::site_sums::label;
use crate::report::writer::{ReportWriter, bytes_text};
use crate::side::Side;
use base::units::pluralize;
use history::replay::AllocationId;
use history::snapshot::{Snapshot, StackId};
use protocol::{Evidence, Tone};

/// Words in the names of functions and files that store keys and values.
const CACHE_WORDS: [&str; 15] = [
    "kv_cache",
    "kvcache",
    "cache_utils.py",
    "key_cache",
    "value_cache",
    "k_cache",
    "v_cache",
    "key_value",
    "dynamiccache",
    "dynamiclayer",
    "update_cache",
    "append_kv",
    "update_kv",
    "past_kv",
    "update_and_fetch",
];
const ATTENTION_WORDS: [&str; 2] = ["attention", "attn"];

/// Growing call sites of KV caches.
struct KvCache {
    /// Groups of the call sites, most growth first.
    groups: Vec<u32>,
    /// Growth of all of these call sites together.
    growth: SiteGrowth,
    /// True if no name in the stacks says so: tensors of the model are replaced by larger ones.
    is_inferred: bool,
}

impl KvCache {
    /// Finds the KV caches among growing call sites, most growth first. `None` if there are none, or if the trace has a
    /// backward pass.
    fn find(side: Side<'_>, growing: &[(u32, &SiteGrowth)]) -> Option<KvCache> {
        if !side.file.backward.is_empty() {
            return None;
        }
        let snapshot = side.snapshot();
        let stack = |site: &SiteGrowth| side.stack(AllocationId(site.newest));
        let select = |is_cache: &mut dyn FnMut(&SiteGrowth) -> bool| -> Vec<(u32, &SiteGrowth)> {
            growing.iter().copied().filter(|(_, site)| is_cache(site)).collect()
        };
        let named = select(&mut |site| has_frame_with(snapshot, stack(site), &CACHE_WORDS));
        let is_inferred = named.is_empty();
        let mut roles = FrameRoles::default();
        let sites = match is_inferred {
            true => select(&mut |site| !site.has_more_allocations() && is_of_model(snapshot, &mut roles, stack(site))),
            false => named,
        };
        let mut all = sites.iter();
        let mut growth = all.next()?.1.clone();
        all.for_each(|(_, site)| growth.add(site));
        // There is a key and a value. The output of the model may grow as well, but is one tensor.
        (!is_inferred || growth.live_count() > 1).then(|| KvCache {
            groups: sites.iter().map(|(group, _)| *group).collect(),
            growth,
            is_inferred,
        })
    }
}

/// Returns the growth of tensors that get larger. Each increase counts as a step.
fn growth_of(sizes: &Sizes) -> SiteGrowth {
    let count = sizes.tensors();
    let amount = |size: u64| Amount { bytes: size.saturating_mul(count), count };
    let [first, last] = [sizes.first, sizes.last].map(amount);
    let range = sizes.increase.map(|(min, max)| (min.saturating_mul(count), max.saturating_mul(count)));
    SiteGrowth {
        live: last,
        first,
        baseline: first,
        previous: last,
        rises: sizes.steps,
        rise_range: range,
        late_rise_range: range,
        settled_count: count,
        newest: sizes.newest,
        ..SiteGrowth::default()
    }
}

/// Returns whether a stack is in the model: in a `forward` or in attention.
fn is_of_model(snapshot: &Snapshot, roles: &mut FrameRoles, stack: StackId) -> bool {
    let frames = roles.python_frames(snapshot, stack);
    (!frames.is_empty() && roles.is_inside(snapshot, &frames)) || has_frame_with(snapshot, stack, &ATTENTION_WORDS)
}

impl SiteGrowth {
    /// Adds the growth of another call site. Steps count as risen if both sites rise. The values of the chart are
    /// dropped.
    fn add(&mut self, other: &SiteGrowth) {
        let amounts = [
            (&mut self.live, other.live),
            (&mut self.first, other.first),
            (&mut self.baseline, other.baseline),
            (&mut self.previous, other.previous),
        ];
        for (sum, amount) in amounts {
            (sum.bytes, sum.count) = (sum.bytes.saturating_add(amount.bytes), sum.count.saturating_add(amount.count));
        }
        (self.rises, self.early_rises) = (self.rises.min(other.rises), self.early_rises.min(other.early_rises));
        self.is_cut |= other.is_cut;
        (self.falls, self.early_falls) = (self.falls.max(other.falls), self.early_falls.max(other.early_falls));
        let add = |((a, b), (c, d)): ((u64, u64), (u64, u64))| (a.saturating_add(c), b.saturating_add(d));
        self.rise_range = self.rise_range.zip(other.rise_range).map(add);
        self.late_rise_range = self.late_rise_range.zip(other.late_rise_range).map(add);
        self.values = Vec::new();
    }
}

impl Growth {
    fn find_caches(&self, side: Side<'_>, ranked: &[u32]) -> Option<KvCache> {
        if self.moments.is_empty() {
            let replaced = self.replaced.growing().into_iter();
            let replaced: Vec<(u32, SiteGrowth)> = replaced.map(|(group, sizes)| (group, growth_of(sizes))).collect();
            let growing: Vec<(u32, &SiteGrowth)> = replaced.iter().map(|(group, growth)| (*group, growth)).collect();
            return KvCache::find(side, &growing);
        }
        let growing = ranked.iter().filter_map(|&group| Some((group, self.sites.get(group as usize)?)));
        KvCache::find(side, &growing.collect::<Vec<_>>())
    }

    /// Returns the call sites of KV caches.
    pub(in crate::report) fn kv_caches(&self, side: Side<'_>) -> Vec<u32> {
        self.find_caches(side, &self.ranked(MIN_STEPS)).map_or_else(Vec::new, |caches| caches.groups)
    }

    /// Writes a statement about the growth of KV caches, if there is any, and returns their groups.
    pub(super) fn write_caches(&self, writer: &mut ReportWriter<'_>, ranked: &[u32], tones: &[Tone]) -> Vec<u32> {
        let side = writer.side;
        let Some(KvCache { groups, growth, is_inferred }) = self.find_caches(side, ranked) else {
            return Vec::new();
        };
        if tones.contains(&Tone::Fact) && is_notable_growth(side.history, &growth) {
            let others = match groups.len() as u64 - 1 {
                0 => String::new(),
                others => format!(" and {}", pluralize(others, "more call site")),
            };
            let first = groups.first().map_or_else(String::new, |&group| label(side, group));
            let name = first + &others;
            let (text, total) = match self.moments.is_empty() {
                true => {
                    let is_constant = growth.rise_range.is_some_and(|(min, max)| min == max);
                    (steady_text(&name, (growth.growth(), growth.rises), is_constant, ""), growth.growth())
                }
                false => self.describe_growth(&growth, &name),
            };
            let text = format!(
                "KV cache{}: {text}: {} in all, {} {}.",
                if is_inferred { " (inferred)" } else { "" },
                bytes_text(total),
                bytes_text(growth.previous.bytes),
                if growth.is_cut { "at most" } else { "after the last step" }
            );
            let span = self.span_of(&growth);
            let evidence = Evidence {
                span,
                allocation: Some(growth.newest),
                moment: span.map(|span| span.to),
                ..Evidence::default()
            };
            writer.add_statement(Tone::Fact, text, Some(evidence));
        }
        groups
    }

    /// Writes a statement about the growth of KV caches, if there is any.
    pub(in crate::report) fn write_kv_cache(&self, writer: &mut ReportWriter<'_>) {
        let ranked = self.ranked(min_steps(writer.question).value);
        self.write_caches(writer, &ranked, &[Tone::Fact]);
    }
}
