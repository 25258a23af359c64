//! Conditions of a rule on an allocation, other than those on frames and sizes.

use super::results::{MODEL_EARLIER, MODEL_LATER, PYTHON, StackResult};
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

    /// Returns false if the rule does not match an allocation. `category` is the index of the category by frames.
    pub(super) fn passes(&self, facts: &AllocationFacts<'_>, category: u8) -> bool {
        (facts.recorded.is_some() || !self.is_recorded)
            && self.classified.is_none_or(|classified| classified == category)
            && self.matches_stack(facts)
    }

    /// Returns false if the rule matches no allocation with this result for its stack, whatever its lifetime.
    pub(super) fn passes_stack(&self, allocated: StackResult, category: u8) -> bool {
        (self.of == StackOrigin::Freed || allocated.bits & self.bit == self.bit)
            && self.classified.is_none_or(|classified| classified == category)
    }

    /// Returns whether the stack that the rule looks at matches its pattern, if it has one.
    fn matches_stack(&self, facts: &AllocationFacts<'_>) -> bool {
        let bits = if self.of == StackOrigin::Freed { facts.freed } else { facts.allocated.bits };
        bits & self.bit == self.bit
    }

    /// Returns whether all conditions of the rule hold, except the one on the size. `category` is the name of the
    /// category by frames.
    pub(super) fn matches(&self, rule: &CategoryRule, facts: &AllocationFacts<'_>, category: Option<&String>) -> bool {
        let lived =
            if facts.freed_at == u32::MAX { u32::MAX } else { facts.freed_at.saturating_sub(facts.allocated_at) };
        let is = |wanted: bool, so: bool| wanted == so;
        self.matches_stack(facts)
            && rule.recorded.as_ref().is_none_or(|recorded| facts.recorded == Some(recorded.as_bytes()))
            && rule.classified.as_ref().is_none_or(|classified| category == Some(classified))
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
}
