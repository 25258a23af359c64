//! Peaks without each group of allocations, for all groups in one pass over the trace.
//!
//! The groups are numbered in this order: call sites, categories, [`KINDS`], [`Families`].

use super::families::{Families, Numbered};
use super::kinds::{KINDS, Kind};
use crate::open::OpenFile;
use crate::protocol::Grouping;
use crate::report::steps::Steps;
use crate::roles::Role;
use analysis::{Change, Changes, IdSet, PeakWithout, Without};
use base::slice::{Slice, Sliced, Spent};
use base::units::Moment;
use history::replay::{AllocationId, Curve, DeviceHistory};
use history::snapshot::StackId;

/// Properties of an allocation that decide which groups and changes it belongs to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Of {
    pub(super) site: u32,
    /// Category as a group of the palette. 0 is unexplained.
    pub(super) category: u32,
    role: Role,
    /// Allocated in the trace and freed in it.
    is_whole: bool,
}

/// Stacks identified by function names.
#[derive(Clone, Copy)]
pub(super) struct Stacks<'a> {
    pub(super) loss: &'a IdSet,
    pub(super) backward: &'a IdSet,
}

/// Pass over the trace that computes the peak without each group.
pub(super) struct Run {
    pub(super) peak: (u32, u64),
    sites: u32,
    categories: u32,
    roles: Vec<Role>,
    changes: Changes,
    without: Option<PeakWithout>,
    pub(super) families: Families,
    held: Held,
    kept: Kept,
    pub(super) told: Vec<Without>,
}

/// Memory held over from one step into the next: gradients, and everything else that a step should free.
struct Held {
    /// Starts of all steps but the first, ascending.
    begins: Vec<u32>,
    /// Number of starts that have passed.
    passed: usize,
    /// Live bytes allocated since the last start.
    new: [i64; 2],
}

/// Gradients that are never freed. They are left out from the start of each step but the first to its backward pass.
#[derive(Default)]
struct Kept {
    live: i64,
    /// Bytes currently left out. `since` is the moment since when.
    left_out: i64,
    since: u32,
    /// Ranges of moments where they were left out, in order.
    spans: Vec<(u32, u32)>,
}

impl Held {
    /// Returns the index of an allocation in [`Held::new`]: 0 for gradients, 1 for other memory, `None` for neither.
    fn place(of: Of) -> Option<usize> {
        match of.role {
            _ if !of.is_whole => None,
            Role::Gradient => Some(0),
            Role::Activation | Role::Temporary | Role::Other => Some(1),
            Role::Parameter | Role::Optimizer | Role::Input => None,
        }
    }

    /// Returns the start of the current step. 0 in the first step.
    fn begin(&self) -> u32 {
        self.passed.checked_sub(1).and_then(|last| self.begins.get(last).copied()).unwrap_or(0)
    }
}

impl Run {
    pub(super) fn new(file: &OpenFile, history: &DeviceHistory, steps: &Steps) -> Run {
        let count = |by| file.groups.count(history, by);
        let (sites, categories) = (count(Grouping::CallSite), count(Grouping::Category));
        let (Moment(moment), bytes) = history.most_live();
        let peak = (moment, bytes);
        let names = file.groups.categories.set().categories();
        let begins = steps.spans.iter().skip(1).map(|step| step.from).collect();
        Run {
            peak,
            sites,
            categories,
            roles: names.iter().map(|name| Role::named(name)).collect(),
            changes: Changes::default(),
            without: None,
            families: Families::default(),
            kept: Kept::default(),
            held: Held { begins, passed: 0, new: [0; 2] },
            told: Vec::new(),
        }
    }

    /// Returns the properties of an allocation.
    pub(super) fn of(&self, file: &OpenFile, history: &DeviceHistory, id: AllocationId) -> Of {
        self.of_stack(file, history, id, file.stack(history, id))
    }

    /// Like [`Run::of`], for a known stack.
    fn of_stack(&self, file: &OpenFile, history: &DeviceHistory, id: AllocationId, stack: StackId) -> Of {
        let category = file.groups.of(&file.snapshot, history, id, Grouping::Category);
        let role = category.checked_sub(1).and_then(|place| self.roles.get(place as usize).copied());
        let is_whole = history.allocations.born(id) > Moment::START && history.allocations.died(id).is_some();
        Of { site: file.groups.site(stack), category, role: role.unwrap_or(Role::Other), is_whole }
    }

    /// Continues the pass.
    pub(super) fn step(
        &mut self,
        file: &OpenFile,
        history: &DeviceHistory,
        by: Stacks<'_>,
        slice: &mut Slice,
    ) -> Sliced {
        if !self.told.is_empty() {
            return Ok(());
        }
        let (mut changes, without) = (self.changes, self.without.take());
        let mut without = match without {
            Some(without) => without,
            None => self.begin(file, history, slice)?,
        };
        let done = changes.step(history, slice, |change| self.pass(file, history, by, &mut without, change));
        self.changes = changes;
        if done.is_err() {
            self.without = Some(without);
            return Err(Spent);
        }
        if self.kept.left_out > 0 && !self.kept.spans.is_empty() {
            self.kept.spans.push((self.kept.since, u32::MAX));
        }
        self.told = without.finish();
        Ok(())
    }

    fn begin(&mut self, file: &OpenFile, history: &DeviceHistory, slice: &mut Slice) -> Sliced<PeakWithout> {
        let kinds = self.sites + self.categories;
        let groups = self.families.step(file, history, kinds + KINDS.len() as u32, slice)?;
        let mut without = PeakWithout::new(groups, self.peak.0);
        let awaited = |event| history.pending_change(event);
        let awaited = Curve::new(&history.pending, &awaited).at(Moment::START);
        without.change(kinds + Kind::AwaitingFree as u32, 0, awaited);
        Ok(without)
    }

    fn pass(
        &mut self,
        file: &OpenFile,
        history: &DeviceHistory,
        by: Stacks<'_>,
        without: &mut PeakWithout,
        Change { id, moment, bytes, awaiting }: Change,
    ) {
        let kind = |kind: Kind| self.sites + self.categories + kind as u32;
        let held = [kind(Kind::OldGradients), kind(Kind::HeldOver)];
        // Memory that is live at the start of a step was held over from the step before.
        while let Some(&begin) = self.held.begins.get(self.held.passed).filter(|&&begin| begin < moment) {
            self.held.passed += 1;
            for (group, new) in held.iter().zip(&mut self.held.new) {
                without.change(*group, begin, std::mem::take(new));
            }
            let kept = self.kept.live - std::mem::replace(&mut self.kept.left_out, self.kept.live);
            if kept == self.kept.live {
                self.kept.since = begin;
            }
            without.change(kind(Kind::KeptGradients), begin, kept);
            without.add(begin, 0);
        }
        if awaiting != 0 {
            without.change(kind(Kind::AwaitingFree), moment, awaiting);
        }
        if bytes == 0 {
            return without.add(moment, 0);
        }
        let stack = file.stack(history, id);
        let of = self.of_stack(file, history, id, stack);
        without.change(of.site, moment, bytes);
        without.change(self.sites + of.category, moment, bytes);
        self.families.change(file, history, without, (id, stack), (moment, bytes));
        // The other roles belong to no kind.
        if matches!(of.role, Role::Activation | Role::Temporary | Role::Optimizer) {
            for one in KINDS {
                let rid = one.of_role(of.role, bytes.saturating_abs());
                if rid > 0 {
                    without.change(kind(one), moment, rid * bytes.signum());
                }
            }
        }
        if by.loss.contains(stack.0) {
            without.change(kind(Kind::Loss), moment, bytes);
        }
        if self.kept.left_out > 0 && bytes > 0 && by.backward.contains(stack.0) {
            without.change(kind(Kind::KeptGradients), moment, -std::mem::take(&mut self.kept.left_out));
            self.kept.spans.push((self.kept.since, moment));
        }
        if of.role == Role::Gradient && history.allocations.died(id).is_none() {
            self.kept.live = self.kept.live.saturating_add(bytes);
        }
        if let Some(place) = Held::place(of) {
            let is_new = bytes > 0 || history.allocations.born(id).0 > self.held.begin();
            match (is_new, self.held.new.get_mut(place), held.get(place)) {
                (true, Some(new), _) => *new = new.saturating_add(bytes),
                (false, _, Some(&group)) => without.change(group, moment, bytes),
                _ => {}
            }
        }
        without.add(moment, bytes);
    }

    /// Returns the peak without what a change removes.
    pub(super) fn kind(&self, kind: Kind) -> Without {
        // Without a backward pass in any stack, it is unknown when the gradients are needed.
        if kind == Kind::KeptGradients && self.kept.spans.is_empty() {
            return Without { peak: self.peak.1, moment: self.peak.0, ..Without::default() };
        }
        self.group(self.sites + self.categories + kind as u32)
    }

    /// Returns the peak without a category, given its group of the palette.
    pub(super) fn category(&self, category: u32) -> Without {
        self.group(self.sites + category)
    }

    /// Returns the peak without a group of a family.
    pub(super) fn numbered(&self, by: Numbered, number: u32) -> Without {
        self.group(self.families.group(by, number))
    }

    /// Returns the peak without a call site.
    pub(super) fn site(&self, site: u32) -> Without {
        self.group(site)
    }

    pub(super) fn categories(&self) -> u32 {
        self.categories
    }

    /// Returns the peak without a group, by its number in the pass.
    pub(super) fn group(&self, group: u32) -> Without {
        self.told.get(group as usize).copied().unwrap_or_default()
    }

    /// Returns the bytes of an allocation if it is live at the peak and the change concerns it, or else 0.
    pub(super) fn concerns(
        &self,
        file: &OpenFile,
        history: &DeviceHistory,
        by: Stacks<'_>,
        (kind, id): (Kind, AllocationId),
    ) -> u64 {
        let of = self.of(file, history, id);
        let bytes = history.allocations.size(id);
        // The start of the step with the peak.
        let begin = self.held.begins.iter().rev().find(|&&begin| begin < self.peak.0).copied().unwrap_or(0);
        let is_held = |place| Held::place(of) == Some(place) && history.allocations.born(id).0 <= begin;
        let is_concerned = match kind {
            Kind::OldGradients => is_held(0),
            Kind::HeldOver => is_held(1),
            Kind::KeptGradients => {
                let is_left_out = |&(from, to): &(u32, u32)| (from..to).contains(&self.peak.0);
                of.role == Role::Gradient
                    && history.allocations.died(id).is_none()
                    && self.kept.spans.iter().any(|span| is_left_out(span) && history.allocations.born(id).0 <= span.0)
            }
            Kind::Loss => by.loss.contains(file.stack(history, id).0),
            Kind::AwaitingFree => {
                file.about(history).pending(id).is_some_and(|[from, to]| (from..to).contains(&self.peak.0))
            }
            kind => kind.of_role(of.role, i64::try_from(bytes).unwrap_or(i64::MAX)) > 0,
        };
        if is_concerned { bytes } else { 0 }
    }
}
