//! Computes the peak that remains without a group of allocations, for all groups in one pass over the trace.
//!
//! The groups are numbered in this order: call sites, categories, [`KINDS`], [`Groupings`].

mod results;

use super::groupings::Groupings;
use super::kept_activations::KeptActivations;
use super::kinds::{KINDS, SavingKind};
use super::matched_stacks::MatchedStacks;
use super::stale_gradients::StaleGradients;
use crate::report::step_finder::Steps;
use crate::roles::Role;
use crate::side::Side;
use analysis::{Change, Changes, GroupEffect, PeakWithout};
use base::slice::{OutOfTime, SliceResult, TimeSlice};
use base::units::Moment;
use history::replay::{AllocationId, Curve};
use history::snapshot::StackId;
use protocol::Grouping;

/// Properties of an allocation that determine its groups and the changes that affect it.
#[derive(Clone, Copy, Debug)]
pub(super) struct AllocationTraits {
    pub(super) site: u32,
    /// Group number in [`Grouping::Category`]. 0 means unexplained bytes.
    pub(super) category: u32,
    role: Role,
    /// True if the trace contains both the allocation and its free.
    has_full_lifetime: bool,
}

/// Pass over the trace that computes, for each group, the peak without that group's allocations.
pub(super) struct PeakPass {
    pub(super) peak: (u32, u64),
    site_count: u32,
    category_count: u32,
    roles: Vec<Role>,
    changes: Changes,
    without: Option<PeakWithout>,
    pub(super) groupings: Groupings,
    held_over: HeldOver,
    stale_gradients: StaleGradients,
    kept_activations: KeptActivations,
    kept_gradients: KeptGradients,
    /// Bytes at the peak: buckets of DistributedDataParallel, and gradients beside them.
    bucket_bytes: i64,
    unbucketed_bytes: i64,
    /// Call sites of KV caches, found by their growth.
    caches: Vec<u32>,
    pub(super) results: Vec<GroupEffect>,
}

/// Memory that stays live from one step into the next, and should be freed within a step. Gradients are in
/// [`StaleGradients`].
struct HeldOver {
    /// Start of each step except the first, in ascending order.
    step_starts: Vec<u32>,
    /// Number of step starts that the pass has reached.
    starts_passed: usize,
    /// Live bytes that were allocated since the last step start.
    new_bytes: i64,
}

/// Gradients that are never freed. To compute the effect of freeing them, the pass excludes their bytes from the start
/// of each step, except the first, to the step's backward pass.
#[derive(Default)]
struct KeptGradients {
    live_bytes: i64,
    /// Bytes that are currently excluded. `left_out_since` is the moment when they were excluded.
    excluded_bytes: i64,
    left_out_since: u32,
    /// Ranges of moments with excluded gradients, in ascending order.
    excluded_spans: Vec<(u32, u32)>,
}

impl HeldOver {
    /// Returns whether an allocation should be freed within a step.
    fn includes(traits: AllocationTraits) -> bool {
        let is_of_step = matches!(traits.role, Role::Activation | Role::Temporary | Role::Unknown | Role::Other);
        is_of_step && traits.has_full_lifetime
    }

    /// Returns the start of the current step. In the first step, returns 0.
    fn current_start(&self) -> u32 {
        self.starts_passed.checked_sub(1).and_then(|last| self.step_starts.get(last).copied()).unwrap_or(0)
    }
}

/// Returns the role of an allocation. `category` is its group number, `is_cache` returns whether its call site
/// belongs to a KV cache.
fn role_of(roles: &[Role], category: u32, is_cache: impl FnOnce() -> bool) -> Role {
    let role = category.checked_sub(1).and_then(|index| roles.get(index as usize).copied()).unwrap_or(Role::Other);
    let may_be_cache = matches!(role, Role::Activation | Role::Temporary | Role::Unknown);
    if may_be_cache && is_cache() { Role::KvCache } else { role }
}

impl PeakPass {
    /// Creates the pass. `caches` has the call sites of KV caches that were found by their growth.
    pub(super) fn new(side: Side<'_>, steps: &Steps, caches: Vec<u32>) -> PeakPass {
        let count = |by| side.group_count(by);
        let (site_count, category_count) = (count(Grouping::CallSite), count(Grouping::Category));
        let (Moment(moment), bytes) = side.history.live_peak();
        let peak = (moment, bytes);
        let names = side.file.groups.categories.set().categories();
        let step_starts = steps.spans.iter().skip(1).map(|step| step.from).collect();
        PeakPass {
            peak,
            site_count,
            category_count,
            roles: names.iter().map(|name| Role::from_name(name)).collect(),
            changes: Changes::default(),
            without: None,
            groupings: Groupings::default(),
            kept_gradients: KeptGradients::default(),
            bucket_bytes: 0,
            unbucketed_bytes: 0,
            caches,
            held_over: HeldOver { step_starts, starts_passed: 0, new_bytes: 0 },
            stale_gradients: StaleGradients::default(),
            kept_activations: KeptActivations::new(steps, side.history.event_count()),
            results: Vec::new(),
        }
    }

    pub(super) fn traits(&self, side: Side<'_>, id: AllocationId) -> AllocationTraits {
        self.traits_with_stack(side, id, side.stack(id))
    }

    /// Returns the properties of an allocation whose stack is already known.
    fn traits_with_stack(&self, side: Side<'_>, id: AllocationId, stack: StackId) -> AllocationTraits {
        let category = side.group(Grouping::Category, id);
        let site = side.file.groups.call_site_group(stack);
        let has_full_lifetime = side.history.allocations.allocated_at(id) > Moment::START
            && side.history.allocations.freed_at(id).is_some();
        AllocationTraits {
            site,
            category,
            role: role_of(&self.roles, category, || self.caches.contains(&site)),
            has_full_lifetime,
        }
    }

    /// Continues processing the changes of the trace until all are processed or the time slice is used up.
    pub(super) fn step(&mut self, side: Side<'_>, matched: &MatchedStacks, slice: &mut TimeSlice) -> SliceResult {
        if !self.results.is_empty() {
            return Ok(());
        }
        let (mut changes, without) = (self.changes, self.without.take());
        let mut without = match without {
            Some(without) => without,
            None => self.start(side, slice)?,
        };
        let result =
            changes.step(side.history, slice, |change| self.process_change(side, matched, &mut without, change));
        self.changes = changes;
        if result.is_err() {
            self.without = Some(without);
            return Err(OutOfTime);
        }
        if self.kept_gradients.excluded_bytes > 0 && !self.kept_gradients.excluded_spans.is_empty() {
            self.kept_gradients.excluded_spans.push((self.kept_gradients.left_out_since, u32::MAX));
        }
        self.results = without.finish();
        Ok(())
    }

    fn start(&mut self, side: Side<'_>, slice: &mut TimeSlice) -> SliceResult<PeakWithout> {
        let (roles, caches) = (&self.roles, &self.caches);
        let group = |id, by| side.group(by, id);
        let is_cache = |id| !caches.is_empty() && caches.contains(&group(id, Grouping::CallSite));
        let role = |id| role_of(roles, group(id, Grouping::Category), || is_cache(id));
        self.stale_gradients.step(side, role, slice)?;
        // The backward pass needs them, so they are not counted.
        if !self.stale_gradients.has_backward() {
            self.kept_activations.step(side, role, slice)?;
        }
        let kinds = self.site_count + self.category_count;
        let groups = self.groupings.step(side, kinds + KINDS.len() as u32, slice)?;
        let mut without = PeakWithout::new(groups, self.peak.0);
        let awaited = |event| side.history.awaiting_free_change(event);
        let awaited = Curve::new(&side.history.awaiting_free, &awaited).at(Moment::START);
        without.change(kinds + SavingKind::AwaitingFree as u32, 0, awaited);
        Ok(without)
    }

    fn process_change(
        &mut self,
        side: Side<'_>,
        matched: &MatchedStacks,
        without: &mut PeakWithout,
        Change { id, moment, bytes, awaiting }: Change,
    ) {
        let kind = |kind: SavingKind| self.site_count + self.category_count + kind as u32;
        let (stale, held) = (kind(SavingKind::PreviousGradients), kind(SavingKind::HeldOver));
        while let Some((start, bytes)) = self.stale_gradients.next_start(moment) {
            without.change(stale, start, bytes);
            without.add(start, 0);
        }
        // Memory that is live at the start of a step was held over from the step before.
        while let Some(&begin) =
            self.held_over.step_starts.get(self.held_over.starts_passed).filter(|&&begin| begin < moment)
        {
            self.held_over.starts_passed += 1;
            without.change(held, begin, std::mem::take(&mut self.held_over.new_bytes));
            let kept = self.kept_gradients.live_bytes
                - std::mem::replace(&mut self.kept_gradients.excluded_bytes, self.kept_gradients.live_bytes);
            if kept == self.kept_gradients.live_bytes {
                self.kept_gradients.left_out_since = begin;
            }
            without.change(kind(SavingKind::UnfreedGradients), begin, kept);
            without.add(begin, 0);
        }
        if awaiting != 0 {
            without.change(kind(SavingKind::AwaitingFree), moment, awaiting);
        }
        if bytes == 0 {
            return without.add(moment, 0);
        }
        let stack = side.stack(id);
        let traits = self.traits_with_stack(side, id, stack);
        without.change(traits.site, moment, bytes);
        without.change(self.site_count + traits.category, moment, bytes);
        self.groupings.add_change(side, without, (id, stack), (moment, bytes));
        let is_done = |saving| saving == SavingKind::Activations && matched.is_checkpointed(stack);
        for &saving in SavingKind::of_role(traits.role).iter().filter(|&&saving| !is_done(saving)) {
            let saved = saving.saved_bytes(traits.role, bytes.saturating_abs());
            without.change(kind(saving), moment, saved * bytes.signum());
        }
        if matched.is_loss(stack) {
            without.change(kind(SavingKind::Loss), moment, bytes);
        }
        if matched.is_attention_score(stack) {
            without.change(kind(SavingKind::AttentionScores), moment, bytes);
        }
        let at_peak = if moment <= self.peak.0 { bytes } else { 0 };
        if matched.is_bucket(stack) {
            self.bucket_bytes = self.bucket_bytes.saturating_add(at_peak);
        } else if traits.role == Role::Gradient && matched.has_buckets() {
            self.unbucketed_bytes = self.unbucketed_bytes.saturating_add(at_peak);
            without.change(kind(SavingKind::BucketViews), moment, bytes);
        }
        if self.kept_activations.contains(side.history, id, traits.role) {
            without.change(kind(SavingKind::KeptActivations), moment, bytes);
        }
        if bytes < 0 && traits.role == Role::Gradient && self.stale_gradients.is_stale(side.history, id) {
            without.change(stale, moment, bytes);
        }
        if self.kept_gradients.excluded_bytes > 0 && bytes > 0 && side.file.backward.contains(stack) {
            without.change(
                kind(SavingKind::UnfreedGradients),
                moment,
                -std::mem::take(&mut self.kept_gradients.excluded_bytes),
            );
            self.kept_gradients.excluded_spans.push((self.kept_gradients.left_out_since, moment));
        }
        if traits.role == Role::Gradient && side.history.allocations.freed_at(id).is_none() {
            self.kept_gradients.live_bytes = self.kept_gradients.live_bytes.saturating_add(bytes);
        }
        if HeldOver::includes(traits) {
            if bytes > 0 || side.history.allocations.allocated_at(id).0 > self.held_over.current_start() {
                self.held_over.new_bytes = self.held_over.new_bytes.saturating_add(bytes);
            } else {
                without.change(held, moment, bytes);
            }
        }
        without.add(moment, bytes);
    }
}
