//! Matches allocations against the rules with conditions other than frames.

use super::{CompiledSet, MODEL_EARLIER, MODEL_LATER, PYTHON, StackResult};
use crate::category::{Birth, CategoryRule, End, ModelCall, StackKind, StackOrigin};

/// Properties of an allocation that rules have conditions on.
#[derive(Clone, Copy, Debug)]
pub struct AllocationFacts<'a> {
    pub allocated: StackResult,
    /// Bits ([`StackResult::bits`]) of the stack that freed the allocation. 0 if the stack is unknown.
    pub freed: u64,
    /// True if the allocation's stack was recorded and has frames.
    pub has_stack: bool,
    /// Category that the file recorded for the allocation.
    pub recorded: Option<&'a [u8]>,
    /// First moment at which the allocation is live.
    pub allocated_at: u32,
    /// First moment at which the allocation is no longer live. `u32::MAX` if it is live at the end.
    pub freed_at: u32,
}

/// Conditions of a rule that are tested first: they take little time, and most allocations fail them.
#[derive(Clone, Copy, Debug)]
pub(super) struct QuickTest {
    /// Bit of the rule's pattern. 0 for frame-only rules and for rules without a pattern.
    bit: u64,
    of: StackOrigin,
    is_recorded: bool,
    /// Index of the category in [`CategoryRule::classified`].
    classified: Option<u8>,
}

impl QuickTest {
    /// Creates the test of a rule with the bit of its pattern. `index_of` returns the index of a category.
    pub(super) fn new(rule: &CategoryRule, bit: u64, index_of: impl Fn(&str) -> u8) -> QuickTest {
        let (is_recorded, classified) = (rule.recorded.is_some(), rule.classified.as_deref().map(index_of));
        QuickTest { bit, of: rule.of, is_recorded, classified }
    }
}

impl CompiledSet {
    /// Returns the first rule that matches an allocation, ignoring rules that compare sizes. Returns
    /// [`NO_RULE`](super::NO_RULE) if none does.
    pub fn rule_of(&self, facts: &AllocationFacts<'_>) -> u16 {
        let category = self.category(facts.allocated.rule);
        for &rule in &self.lifetime_rules {
            if rule > facts.allocated.rule {
                break;
            }
            let Some(quick) = self.quick_tests.get(usize::from(rule)) else { break };
            if (facts.recorded.is_some() || !quick.is_recorded)
                && quick.classified.is_none_or(|classified| classified == category)
                && facts.has_bit(quick)
                && self.matches(rule, facts)
            {
                return rule;
            }
        }
        facts.allocated.rule
    }

    /// Returns false if no allocation with this result for its stack matches a rule, whatever its lifetime.
    pub fn may_match(&self, rule: u16, allocated: StackResult) -> bool {
        self.quick_tests.get(usize::from(rule)).is_some_and(|quick| {
            let has_bit = quick.of == StackOrigin::Freed || allocated.bits & quick.bit == quick.bit;
            has_bit && quick.classified.is_none_or(|classified| classified == self.category(allocated.rule))
        })
    }

    /// Returns true if all conditions of a rule hold, except the one on the size. Must not be called for frame-only
    /// rules.
    pub fn matches(&self, rule: u16, facts: &AllocationFacts<'_>) -> bool {
        let index = usize::from(rule);
        let (Some(rule), Some(quick)) = (self.rules.get(index), self.quick_tests.get(index)) else { return false };
        let lived =
            if facts.freed_at == u32::MAX { u32::MAX } else { facts.freed_at.saturating_sub(facts.allocated_at) };
        let is = |wanted: bool, so: bool| wanted == so;
        facts.has_bit(quick)
            && rule.recorded.as_ref().is_none_or(|recorded| facts.recorded == Some(recorded.as_bytes()))
            && rule.classified.as_ref().is_none_or(|classified| self.name_of(facts.allocated.rule) == Some(classified))
            && rule.allocated.is_none_or(|allocated| is(allocated == Birth::Before, facts.allocated_at == 0))
            && rule.ends.is_none_or(|ends| is(ends == End::Live, facts.freed_at == u32::MAX))
            && lived >= rule.least
            && rule.most.is_none_or(|max_events| lived <= max_events)
            && rule.stack.is_none_or(|stack| match stack {
                StackKind::Missing => !facts.has_stack,
                StackKind::Native => facts.has_stack && facts.allocated.bits & PYTHON == 0,
                StackKind::Python => facts.allocated.bits & PYTHON != 0,
            })
            && rule.model.is_none_or(|model| match model {
                ModelCall::Later => facts.allocated.bits & MODEL_LATER != 0,
                ModelCall::Earlier => facts.allocated.bits & MODEL_EARLIER != 0,
            })
    }

    fn name_of(&self, rule: u16) -> Option<&String> {
        self.rules.get(usize::from(rule)).map(|rule| &rule.category)
    }
}

impl AllocationFacts<'_> {
    /// Returns whether the stack that a rule looks at matches the rule's pattern, if it has one.
    fn has_bit(&self, test: &QuickTest) -> bool {
        let bits = if test.of == StackOrigin::Freed { self.freed } else { self.allocated.bits };
        bits & test.bit == test.bit
    }
}
