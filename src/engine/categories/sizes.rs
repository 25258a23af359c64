//! Rules that compare sizes. They match an allocation if reference allocations of a related size are live at the same
//! time.

use super::facts::{DeviceRules, Needed, free_stack, with_facts};
use super::stacks::StackResults;
use crate::origin::alloc_stack;
use analysis::category::compiled::{CompiledSet, NO_RULE, SizeRule};
use analysis::category::{Birth, Place, StackOrigin};
use base::slice::{SliceResult, TimeSlice};
use hashbrown::HashMap;
use history::replay::{AllocationId, DeviceHistory};
use history::snapshot::Snapshot;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Size in bytes, and the frame id of the call site (0 if the rule does not depend on the call site).
type SizeKey = (u64, u32);

/// Reference allocations of one size.
#[derive(Default)]
struct SizeReferences {
    /// Moments at which the live references are freed, while allocations are visited in order of time.
    freed_at: BinaryHeap<Reverse<u32>>,
    /// Maximum number of references that are live at the same time.
    max_live: u32,
    /// Number of allocations that the rule can still match with these references.
    remaining: u64,
}

/// Applies size rules in three passes per rule: collects the sizes that candidates need, counts the reference
/// allocations of these sizes, and classifies the candidates.
#[derive(Default)]
pub(super) struct SizeMatching {
    /// Position to continue from: indices of the rule, the pass and the allocation.
    position: (usize, u8, usize),
    references: HashMap<SizeKey, SizeReferences, foldhash::fast::RandomState>,
}

impl SizeMatching {
    /// Continues applying the rules until all are applied or the time slice is used up.
    pub(super) fn step(
        &mut self,
        set: &CompiledSet,
        stacks: &StackResults,
        (snapshot, history): (&Snapshot, &DeviceHistory),
        rules: &mut DeviceRules,
        slice: &mut TimeSlice,
    ) -> SliceResult {
        while let Some(rule) = set.size_rules().nth(self.position.0) {
            // Allocations from before recording have the lowest ids.
            let condition = set.rules().get(usize::from(rule.rule));
            let are_early = condition.is_some_and(|rule| rule.allocated == Some(Birth::Before));
            let allocations = &history.allocations;
            let count = if are_early && self.position.1 != 1 { allocations.early_count() } else { allocations.len() };
            while let Some(part) = slice.next_range(&mut self.position.2, count, 1)? {
                for id in part {
                    self.examine(set, stacks, (snapshot, history), rules, &rule, AllocationId(id as u32));
                }
            }
            self.position = match self.position.1 {
                // Without candidates, the other passes are skipped.
                0 if !self.references.is_empty() => (self.position.0, 1, 0),
                1 => {
                    for references in self.references.values_mut() {
                        references.remaining =
                            u64::from(references.max_live) * rule.like.each.map_or(u64::from(u32::MAX), u64::from);
                    }
                    (self.position.0, 2, 0)
                }
                _ => {
                    self.references = HashMap::default();
                    (self.position.0 + 1, 0, 0)
                }
            };
        }
        Ok(())
    }

    fn examine(
        &mut self,
        set: &CompiledSet,
        stacks: &StackResults,
        (snapshot, history): (&Snapshot, &DeviceHistory),
        rules: &mut DeviceRules,
        rule: &SizeRule<'_>,
        id: AllocationId,
    ) {
        let known = rules.rule(id);
        let at_site = rule.like.at == Place::Anchored;
        if self.position.1 == 1 {
            let is_reference = match rule.category {
                Some(category) => set.category(known) == category && known != NO_RULE,
                None => stacks.result(alloc_stack(snapshot, history, id)).bits & rule.bit != 0,
            };
            if !is_reference {
                return;
            }
            let (allocated_at, freed_at, size) = history.allocations.span(id);
            let site = if at_site { stacks.site(free_stack(history, id)) } else { 0 };
            if let Some(references) = self.references.get_mut(&(size, site)) {
                while references.freed_at.peek().is_some_and(|&Reverse(freed_at)| freed_at <= allocated_at) {
                    references.freed_at.pop();
                }
                references.freed_at.push(Reverse(freed_at));
                references.max_live = references.max_live.max(references.freed_at.len() as u32);
            }
            return;
        }
        // Earlier rules take precedence.
        if known < rule.rule || history.allocations.is_unexplained(id) {
            return;
        }
        let stack = alloc_stack(snapshot, history, id);
        if !set.may_match(rule.rule, stacks.result(stack)) {
            return;
        }
        let Some(condition) = set.rules().get(usize::from(rule.rule)) else { return };
        let needed = Needed { free_stack: condition.of == StackOrigin::Freed, recorded: condition.recorded.is_some() };
        if !with_facts(needed, stacks, &rules.facts, (snapshot, history), id, |facts| set.matches(rule.rule, facts)) {
            return;
        }
        let (first, second) = rule.like.ratio;
        let (first, second) = (u64::from(first), u64::from(second));
        let scaled = history.allocations.size(id).checked_mul(second);
        let Some(scaled) = scaled.filter(|scaled| *scaled > 0 && scaled % first == 0) else { return };
        let size = scaled / first;
        let site = if at_site { stacks.site(stack) } else { 0 };
        if self.position.1 == 0 {
            self.references.entry((size, site)).or_default();
        } else if let Some(references) =
            self.references.get_mut(&(size, site)).filter(|references| references.remaining > 0)
        {
            references.remaining -= 1;
            rules.rules.set(id.0 as usize, rule.rule);
        }
    }
}
