//! Peaks without each group of allocations, for all groups in one pass over the trace.
//!
//! The groups are numbered in this order: call sites, categories, [`KINDS`], [`Families`].

use super::groupings::{Groupings, NumberedGrouping};
use super::kinds::{KINDS, SavingKind};
use crate::open::OpenFile;
use crate::protocol::Grouping;
use crate::report::steps::Steps;
use crate::roles::Role;
use analysis::{Change, Changes, GroupEffect, IdSet, PeakWithout};
use base::slice::{OutOfTime, SliceResult, TimeSlice};
use base::units::Moment;
use history::replay::{AllocationId, Curve, DeviceHistory};
use history::snapshot::StackId;

/// Properties of an allocation that decide which groups and changes it belongs to.
#[derive(Clone, Copy, Debug)]
pub(super) struct AllocationTraits {
    pub(super) site: u32,
    /// Category as a group of the palette. 0 is unexplained.
    pub(super) category: u32,
    role: Role,
    /// Allocated in the trace and freed in it.
    has_full_lifetime: bool,
}

/// Stacks identified by function names.
#[derive(Clone, Copy)]
pub(super) struct MatchedStacks<'a> {
    pub(super) loss: &'a IdSet,
    pub(super) backward: &'a IdSet,
}

/// Pass over the trace that computes the peak without each group.
pub(super) struct PeakPass {
    pub(super) peak: (u32, u64),
    site_count: u32,
    category_count: u32,
    roles: Vec<Role>,
    changes: Changes,
    without: Option<PeakWithout>,
    pub(super) groupings: Groupings,
    held_over: HeldOver,
    kept_gradients: KeptGradients,
    pub(super) results: Vec<GroupEffect>,
}

/// Memory held over from one step into the next: gradients, and everything else that a step should free.
struct HeldOver {
    /// Starts of all steps but the first, ascending.
    step_starts: Vec<u32>,
    /// Number of starts that have passed.
    starts_passed: usize,
    /// Live bytes allocated since the last start.
    new_bytes: [i64; 2],
}

/// Gradients that are never freed. They are left out from the start of each step but the first to its backward pass.
#[derive(Default)]
struct KeptGradients {
    live_bytes: i64,
    /// Bytes currently left out. `since` is the moment since when.
    excluded_bytes: i64,
    left_out_since: u32,
    /// Ranges of moments where they were left out, in order.
    excluded_spans: Vec<(u32, u32)>,
}

impl HeldOver {
    /// Returns the index of an allocation in [`Held::new`]: 0 for gradients, 1 for other memory, `None` for neither.
    fn index(of: AllocationTraits) -> Option<usize> {
        match of.role {
            _ if !of.has_full_lifetime => None,
            Role::Gradient => Some(0),
            Role::Activation | Role::Temporary | Role::Other => Some(1),
            Role::Parameter | Role::Optimizer | Role::Input => None,
        }
    }

    /// Returns the start of the current step. 0 in the first step.
    fn current_start(&self) -> u32 {
        self.starts_passed.checked_sub(1).and_then(|last| self.step_starts.get(last).copied()).unwrap_or(0)
    }
}

impl PeakPass {
    pub(super) fn new(file: &OpenFile, history: &DeviceHistory, steps: &Steps) -> PeakPass {
        let count = |by| file.groups.group_count(history, by);
        let (site_count, category_count) = (count(Grouping::CallSite), count(Grouping::Category));
        let (Moment(moment), bytes) = history.live_peak();
        let peak = (moment, bytes);
        let names = file.groups.categories.set().categories();
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
            held_over: HeldOver { step_starts, starts_passed: 0, new_bytes: [0; 2] },
            results: Vec::new(),
        }
    }

    /// Returns the properties of an allocation.
    pub(super) fn traits(&self, file: &OpenFile, history: &DeviceHistory, id: AllocationId) -> AllocationTraits {
        self.traits_with_stack(file, history, id, file.stack(history, id))
    }

    /// Like [`Run::of`], for a known stack.
    fn traits_with_stack(
        &self,
        file: &OpenFile,
        history: &DeviceHistory,
        id: AllocationId,
        stack: StackId,
    ) -> AllocationTraits {
        let category = file.groups.group_of(&file.snapshot, history, id, Grouping::Category);
        let role = category.checked_sub(1).and_then(|place| self.roles.get(place as usize).copied());
        let has_full_lifetime =
            history.allocations.allocated_at(id) > Moment::START && history.allocations.freed_at(id).is_some();
        AllocationTraits {
            site: file.groups.call_site_group(stack),
            category,
            role: role.unwrap_or(Role::Other),
            has_full_lifetime,
        }
    }

    /// Continues the pass.
    pub(super) fn step(
        &mut self,
        file: &OpenFile,
        history: &DeviceHistory,
        by: MatchedStacks<'_>,
        slice: &mut TimeSlice,
    ) -> SliceResult {
        if !self.results.is_empty() {
            return Ok(());
        }
        let (mut changes, without) = (self.changes, self.without.take());
        let mut without = match without {
            Some(without) => without,
            None => self.start(file, history, slice)?,
        };
        let done = changes.step(history, slice, |change| self.process_change(file, history, by, &mut without, change));
        self.changes = changes;
        if done.is_err() {
            self.without = Some(without);
            return Err(OutOfTime);
        }
        if self.kept_gradients.excluded_bytes > 0 && !self.kept_gradients.excluded_spans.is_empty() {
            self.kept_gradients.excluded_spans.push((self.kept_gradients.left_out_since, u32::MAX));
        }
        self.results = without.finish();
        Ok(())
    }

    fn start(&mut self, file: &OpenFile, history: &DeviceHistory, slice: &mut TimeSlice) -> SliceResult<PeakWithout> {
        let kinds = self.site_count + self.category_count;
        let groups = self.groupings.step(file, history, kinds + KINDS.len() as u32, slice)?;
        let mut without = PeakWithout::new(groups, self.peak.0);
        let awaited = |event| history.awaiting_free_change(event);
        let awaited = Curve::new(&history.awaiting_free, &awaited).at(Moment::START);
        without.change(kinds + SavingKind::AwaitingFree as u32, 0, awaited);
        Ok(without)
    }

    fn process_change(
        &mut self,
        file: &OpenFile,
        history: &DeviceHistory,
        by: MatchedStacks<'_>,
        without: &mut PeakWithout,
        Change { id, moment, bytes, awaiting }: Change,
    ) {
        let kind = |kind: SavingKind| self.site_count + self.category_count + kind as u32;
        let held = [kind(SavingKind::PreviousGradients), kind(SavingKind::HeldOver)];
        // Memory that is live at the start of a step was held over from the step before.
        while let Some(&begin) =
            self.held_over.step_starts.get(self.held_over.starts_passed).filter(|&&begin| begin < moment)
        {
            self.held_over.starts_passed += 1;
            for (group, new) in held.iter().zip(&mut self.held_over.new_bytes) {
                without.change(*group, begin, std::mem::take(new));
            }
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
        let stack = file.stack(history, id);
        let of = self.traits_with_stack(file, history, id, stack);
        without.change(of.site, moment, bytes);
        without.change(self.site_count + of.category, moment, bytes);
        self.groupings.add_change(file, history, without, (id, stack), (moment, bytes));
        // The other roles belong to no kind.
        if matches!(of.role, Role::Activation | Role::Temporary | Role::Optimizer) {
            for one in KINDS {
                let rid = one.saved_bytes(of.role, bytes.saturating_abs());
                if rid > 0 {
                    without.change(kind(one), moment, rid * bytes.signum());
                }
            }
        }
        if by.loss.contains(stack.0) {
            without.change(kind(SavingKind::Loss), moment, bytes);
        }
        if self.kept_gradients.excluded_bytes > 0 && bytes > 0 && by.backward.contains(stack.0) {
            without.change(
                kind(SavingKind::UnfreedGradients),
                moment,
                -std::mem::take(&mut self.kept_gradients.excluded_bytes),
            );
            self.kept_gradients.excluded_spans.push((self.kept_gradients.left_out_since, moment));
        }
        if of.role == Role::Gradient && history.allocations.freed_at(id).is_none() {
            self.kept_gradients.live_bytes = self.kept_gradients.live_bytes.saturating_add(bytes);
        }
        if let Some(place) = HeldOver::index(of) {
            let is_new = bytes > 0 || history.allocations.allocated_at(id).0 > self.held_over.current_start();
            match (is_new, self.held_over.new_bytes.get_mut(place), held.get(place)) {
                (true, Some(new), _) => *new = new.saturating_add(bytes),
                (false, _, Some(&group)) => without.change(group, moment, bytes),
                _ => {}
            }
        }
        without.add(moment, bytes);
    }

    /// Returns the peak without what a change removes.
    pub(super) fn without_kind(&self, kind: SavingKind) -> GroupEffect {
        // Without a backward pass in any stack, it is unknown when the gradients are needed.
        if kind == SavingKind::UnfreedGradients && self.kept_gradients.excluded_spans.is_empty() {
            return GroupEffect { peak: self.peak.1, moment: self.peak.0, ..GroupEffect::default() };
        }
        self.without_group(self.site_count + self.category_count + kind as u32)
    }

    /// Returns the peak without a category, given its group of the palette.
    pub(super) fn without_category(&self, category: u32) -> GroupEffect {
        self.without_group(self.site_count + category)
    }

    /// Returns the peak without a group of a family.
    pub(super) fn without_numbered(&self, by: NumberedGrouping, number: u32) -> GroupEffect {
        self.without_group(self.groupings.group(by, number))
    }

    /// Returns the peak without a call site.
    pub(super) fn without_site(&self, site: u32) -> GroupEffect {
        self.without_group(site)
    }

    pub(super) fn category_count(&self) -> u32 {
        self.category_count
    }

    /// Returns the peak without a group, by its number in the pass.
    pub(super) fn without_group(&self, group: u32) -> GroupEffect {
        self.results.get(group as usize).copied().unwrap_or_default()
    }

    /// Returns the bytes of an allocation if it is live at the peak and the change concerns it, or else 0.
    pub(super) fn concerned_bytes(
        &self,
        file: &OpenFile,
        history: &DeviceHistory,
        by: MatchedStacks<'_>,
        (kind, id): (SavingKind, AllocationId),
    ) -> u64 {
        let of = self.traits(file, history, id);
        let bytes = history.allocations.size(id);
        // The start of the step with the peak.
        let begin = self.held_over.step_starts.iter().rev().find(|&&begin| begin < self.peak.0).copied().unwrap_or(0);
        let is_held = |place| HeldOver::index(of) == Some(place) && history.allocations.allocated_at(id).0 <= begin;
        let is_concerned = match kind {
            SavingKind::PreviousGradients => is_held(0),
            SavingKind::HeldOver => is_held(1),
            SavingKind::UnfreedGradients => {
                let is_left_out = |&(from, to): &(u32, u32)| (from..to).contains(&self.peak.0);
                of.role == Role::Gradient
                    && history.allocations.freed_at(id).is_none()
                    && self
                        .kept_gradients
                        .excluded_spans
                        .iter()
                        .any(|span| is_left_out(span) && history.allocations.allocated_at(id).0 <= span.0)
            }
            SavingKind::Loss => by.loss.contains(file.stack(history, id).0),
            SavingKind::AwaitingFree => {
                file.device_data(history).awaiting_free(id).is_some_and(|[from, to]| (from..to).contains(&self.peak.0))
            }
            kind => kind.saved_bytes(of.role, i64::try_from(bytes).unwrap_or(i64::MAX)) > 0,
        };
        if is_concerned { bytes } else { 0 }
    }
}
