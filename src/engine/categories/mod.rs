//! Assigns a category to each allocation of a file by a set of rules. The work is done in time slices: frames first,
//! then stacks, then allocations, then rules about sizes.

mod device_facts;
mod facts;
mod sizes;
mod stacks;

use super::backward_stacks::BackwardStacks;
use super::origin::has_recorded_categories;
use super::roles::Role;
use analysis::CategorySet;
use analysis::category::compiled::CompiledSet;
pub(super) use analysis::category::compiled::NO_RULE;
use analysis::category::is_category;
use base::slice::{SliceResult, TimeSlice};
use device_facts::DeviceFacts;
use facts::{DeviceRules, Needed, with_facts};
use history::replay::{AllocationId, DeviceHistory};
use history::snapshot::Snapshot;
use protocol::{CategoryDetails, CategoryRule, REASON_RECORDER};
use sizes::SizeMatching;
use stacks::{DEFAULT_SET, StackResults};
use std::sync::{Arc, OnceLock};

/// Returns the standard rules, which are compiled once for all files.
pub(super) fn standard_rules() -> Arc<CompiledSet> {
    static RULES: OnceLock<Arc<CompiledSet>> = OnceLock::new();
    RULES.get_or_init(|| Arc::new(CompiledSet::new(&CategorySet::standard()))).clone()
}

/// Categories of the allocations of one file.
pub(super) struct Categories {
    set: Arc<CompiledSet>,
    stacks: StackResults,
    by_device: Vec<DeviceRules>,
    sizes: SizeMatching,
    /// Result of [`has_recorded_categories`], once it is known.
    has_recorded: Option<bool>,
    is_done: bool,
}

base::heap_bytes!(Categories: stacks, [by_device]);

impl Categories {
    /// Creates the categories for a set of rules. Nothing is classified yet.
    pub(super) fn new(set: Arc<CompiledSet>) -> Categories {
        let (stacks, by_device, sizes) = Default::default();
        Categories { set, stacks, by_device, sizes, has_recorded: None, is_done: false }
    }

    /// Continues classifying allocations until all are classified or the time slice is used up. `backward` is complete.
    pub(super) fn step(
        &mut self,
        (snapshot, backward): (&Snapshot, &BackwardStacks),
        histories: &[DeviceHistory],
        slice: &mut TimeSlice,
    ) -> SliceResult {
        if self.is_done {
            return Ok(());
        }
        self.stacks.step(&self.set, snapshot, slice)?;
        let has_recorded = *self.has_recorded.get_or_insert_with(|| has_recorded_categories(snapshot));
        let needed = Needed { free_stack: self.set.uses_free_stacks(), recorded: has_recorded };
        while let Some(history) = histories.get(self.by_device.len().saturating_sub(1)) {
            if self.by_device.is_empty() {
                self.by_device.push(DeviceRules::new(history.device));
            }
            let Some(rules) = self.by_device.last_mut() else { break };
            rules.facts.step((snapshot, history), backward, slice)?;
            let count = history.allocations.len();
            let mut next = rules.rules.len();
            while let Some(part) = slice.next_range(&mut next, count, 1)? {
                for id in part {
                    let data = (snapshot, history);
                    let id = AllocationId(id as u32);
                    let rule =
                        with_facts(needed, &self.stacks, &rules.facts, data, id, |facts| self.set.rule_of(facts));
                    let is_kept = rules.facts.is_kept(snapshot, history, id) && is_activation(&self.set, rule);
                    rules.rules.push(if is_kept { NO_RULE } else { rule });
                }
            }
            self.sizes.step(&self.set, &self.stacks, (snapshot, history), rules, slice)?;
            self.sizes = SizeMatching::default();
            rules.facts = DeviceFacts::default();
            match histories.get(self.by_device.len()) {
                Some(next) => self.by_device.push(DeviceRules::new(next.device)),
                None => break,
            }
        }
        self.stacks = StackResults::default();
        self.is_done = true;
        Ok(())
    }

    /// Returns the index of the rule that classified an allocation. Returns [`NO_RULE`] if no rule matched, or if the
    /// allocation is not classified yet.
    pub(super) fn rule(&self, history: &DeviceHistory, id: AllocationId) -> u16 {
        self.by_device.iter().find(|rules| rules.device == history.device).map_or(NO_RULE, |rules| rules.rule(id))
    }

    /// Returns the category of an allocation, as an index into the categories of the set.
    pub(super) fn category(&self, history: &DeviceHistory, id: AllocationId) -> u8 {
        self.set.category(self.rule(history, id))
    }

    /// Returns whether an allocation's category has this name or label, ignoring case. False for unexplained bytes.
    pub(super) fn has_name(&self, history: &DeviceHistory, id: AllocationId, name: &str) -> bool {
        let category = self.set.categories().get(usize::from(self.category(history, id)));
        category.is_some_and(|category| is_category(category, name)) && !history.allocations.is_unexplained(id)
    }

    /// Returns the name of an allocation's category. `None` for unexplained bytes, and as long as some allocations are
    /// not classified.
    pub(super) fn name(&self, history: &DeviceHistory, id: AllocationId) -> Option<String> {
        let is_known = self.is_done && !history.allocations.is_unexplained(id);
        self.set.categories().get(usize::from(self.category(history, id))).filter(|_| is_known).cloned()
    }

    /// Returns the category of an allocation and the rule that classified it. `None` for unexplained bytes. `is_named`
    /// is true if a recorder names a tensor in the allocation, which may be the reason for the category.
    pub(super) fn details(&self, history: &DeviceHistory, id: AllocationId, is_named: bool) -> Option<CategoryDetails> {
        let rule = self.rule(history, id);
        let name = self.set.categories().get(usize::from(self.set.category(rule)))?.clone();
        let known = self.set.rules().get(usize::from(rule));
        let details = CategoryDetails {
            name,
            rule: known.map(|_| u32::from(rule) + 1),
            reason: match known {
                Some(rule) if is_named && rule.recorded.is_some() => REASON_RECORDER.to_owned(),
                known => known.map_or_else(String::new, CategoryRule::reason),
            },
        };
        (!history.allocations.is_unexplained(id)).then_some(details)
    }

    /// Returns the compiled rules and their categories.
    pub(super) fn set(&self) -> &CompiledSet {
        &self.set
    }
}

/// Returns whether a rule of the default set assigns activations, and does not follow a category in the file.
fn is_activation(set: &CompiledSet, rule: u16) -> bool {
    let known = set.rules().get(usize::from(rule)).filter(|_| set.name() == DEFAULT_SET);
    known.is_some_and(|rule| rule.recorded.is_none() && Role::from_name(&rule.category) == Role::Activation)
}
