//! Compiled category rules. They are matched against frames first, then against stacks (innermost frame plus the result
//! for its callers), then against allocations.

mod matching;
mod results;

pub use matching::AllocationFacts;
use matching::QuickTest;
pub use results::{FrameResult, MODEL_EARLIER, MODEL_LATER, NO_RULE, PYTHON, StackResult};

use super::pattern::Pattern;
use super::problem::SetProblem;
use super::{
    CategoryRule, CategorySet, Looked, MAX_MIXED_RULES, MAX_RULES, MAX_SIZE_RULES, Order, SizeCondition, StackOrigin,
    Turn,
};

/// Compiled patterns of a rule. A frame must match all that are present.
#[derive(Clone, Debug, Default)]
struct Patterns {
    name: Option<Pattern>,
    file: Option<Pattern>,
    frame: Option<Pattern>,
}

impl Patterns {
    fn matches(&self, name: &str, file: &str) -> bool {
        let holds =
            |pattern: &Option<Pattern>, text: &str| pattern.as_ref().is_none_or(|pattern| pattern.matches(text));
        holds(&self.name, name)
            && holds(&self.file, file)
            && self.frame.as_ref().is_none_or(|frame| frame.matches(name) || frame.matches(file))
    }
}

/// Result that a matching pattern sets: a frame-only rule, or a bit.
#[derive(Clone, Copy, Debug)]
enum PatternTarget {
    Rule(u16, Looked),
    Bit(u8),
}

/// A rule with a condition on the size relative to another allocation.
#[derive(Clone, Copy, Debug)]
pub struct SizeRule<'a> {
    /// Index of the rule.
    pub rule: u16,
    pub like: &'a SizeCondition,
    /// Bit that must be set for the stack of the other allocation. 0 if the rule names no function.
    pub bit: u64,
    /// Index of the category that the other allocation must have, if the rule names one. `u8::MAX` if no rule assigns
    /// the named category.
    pub category: Option<u8>,
}

/// A category set, compiled for matching.
#[derive(Clone, Debug, Default)]
pub struct CompiledSet {
    name: String,
    rules: Vec<CategoryRule>,
    names: Vec<String>,
    /// Index of each rule's category in `names`. Unknown categories map to "unknown".
    categories: Vec<u8>,
    /// Group of each rule. Within a group, the rule that matches the innermost frame wins.
    groups: Vec<u16>,
    patterns: Vec<(Patterns, PatternTarget)>,
    /// Conditions of each rule that are tested first.
    quick_tests: Vec<QuickTest>,
    /// Indices of the rules that compare sizes, each with the bit for the other allocation's function, or 0.
    size_bits: Vec<(u16, u64)>,
    /// Indices of the rules with conditions other than frames, except for rules that compare sizes.
    lifetime_rules: Vec<u16>,
    /// Masks of the bits that a stack takes from any of its frames, from its innermost frame only, and from its call
    /// site only.
    masks: [u64; 3],
}

impl CompiledSet {
    /// Compiles a category set. Rules that [`CategorySet::parse`] would reject never match.
    pub fn new(set: &CategorySet) -> CompiledSet {
        let names = set.categories();
        let mut made = CompiledSet { masks: [PYTHON, 0, MODEL_LATER | MODEL_EARLIER], ..CompiledSet::default() };
        let number = |name: &str| names.iter().position(|it| it == name).unwrap_or(names.len() - 1) as u8;
        let (mut group, mut was_together, mut next_bit) = (0, false, 0);
        for (at, rule) in (0u16..).zip(set.rules.iter().take(MAX_RULES)) {
            let is_frames_only = rule.is_frames_only();
            let is_together = set.order == Order::Frames
                && is_frames_only
                && (rule.frames, rule.turn) == (Looked::Any, Turn::Ordered);
            group += u16::from(at > 0 && !(is_together && was_together));
            was_together = is_together;
            made.groups.push(group);
            made.categories.push(number(&rule.category));
            let mut bit_of = |looked: Looked, patterns: Patterns| {
                let limit = (MAX_MIXED_RULES + MAX_SIZE_RULES) as u8;
                let bit = if next_bit < limit { 1u64 << next_bit } else { 0 };
                if bit != 0 {
                    made.masks[looked as usize] |= bit;
                    made.patterns.push((patterns, PatternTarget::Bit(next_bit)));
                    next_bit += 1;
                }
                bit
            };
            let sound = CompiledSet::problems(rule).is_empty();
            let mut bit = 0;
            if sound && rule.has_pattern() && !is_frames_only {
                bit = bit_of(rule.frames, patterns(rule));
            }
            if let Some(like) = rule.like.as_ref().filter(|_| sound && made.size_bits.len() < MAX_SIZE_RULES) {
                let named = like.name.as_ref().and_then(|name| Pattern::new(name).ok());
                let named = named.map(|name| Patterns { name: Some(name), ..Patterns::default() });
                let named = named.map_or(0, |patterns| bit_of(Looked::Any, patterns));
                made.size_bits.push((at, named));
            } else if sound && is_frames_only {
                made.patterns.push((patterns(rule), PatternTarget::Rule(at, rule.frames)));
            } else if sound && rule.like.is_none() && (!rule.has_pattern() || bit != 0) {
                made.lifetime_rules.push(at);
            }
            made.quick_tests.push(QuickTest::new(rule, bit, number));
        }
        made.rules = set.rules.iter().take(MAX_RULES).cloned().collect();
        (made.name, made.names) = (set.name.clone(), names);
        made
    }

    /// Returns the errors in a rule that can be found without looking at other rules.
    pub(super) fn problems(rule: &CategoryRule) -> Vec<SetProblem> {
        let mut problems = Vec::new();
        let like = rule.like.as_ref();
        for (name, pattern) in [
            ("name", rule.name.as_ref()),
            ("file", rule.file.as_ref()),
            ("frame", rule.frame.as_ref()),
            ("name", like.and_then(|like| like.name.as_ref())),
        ] {
            if let Some(Err(wrong)) = pattern.map(|pattern| Pattern::new(pattern)) {
                problems.push(SetProblem::Pattern(name, wrong));
            }
        }
        if like.is_some_and(|like| like.category.is_some() == like.name.is_some()) {
            problems.push(SetProblem::Conflict("\"like\" needs either a category or a name"));
        }
        if !rule.has_pattern() && (rule.of, rule.frames, rule.turn) != Default::default() {
            let sentence = "\"of\", \"frames\" and \"turn\" need a pattern";
            problems.push(SetProblem::Conflict(sentence));
        }
        problems
    }

    /// Returns the number of patterns that [`CompiledSet::match_pattern`] must be called for.
    pub fn patterns(&self) -> usize {
        self.patterns.len()
    }

    /// Matches one pattern against a frame with this function name and file, and stores the result in `frame`. Must be
    /// called for all patterns in ascending order.
    pub fn match_pattern(&self, pattern: usize, name: &str, file: &str, frame: &mut FrameResult) {
        let Some((patterns, goal)) = self.patterns.get(pattern) else { return };
        match *goal {
            PatternTarget::Rule(rule, looked) => {
                let first = &mut frame.first[looked as usize];
                if *first == NO_RULE && patterns.matches(name, file) {
                    *first = rule;
                }
            }
            PatternTarget::Bit(bit) => {
                if patterns.matches(name, file) {
                    frame.bits |= 1 << bit;
                }
            }
        }
    }

    /// Combines the results of a stack's innermost frame, of its callers, and of its call site. The call site includes
    /// flags such as [`MODEL_LATER`].
    pub fn stack(&self, frame: FrameResult, callers: StackResult, site: FrameResult) -> StackResult {
        let group = |rule: u16| self.groups.get(usize::from(rule)).copied().unwrap_or(NO_RULE);
        let [any, innermost, _] = frame.first;
        // In a group the inner frame wins.
        let inherited_rule = if group(any) <= group(callers.inherited_rule) { any } else { callers.inherited_rule };
        let [on, inner, site_mask] = self.masks;
        StackResult {
            inherited_rule,
            rule: inherited_rule.min(innermost).min(site.first[Looked::Site as usize]),
            bits: ((frame.bits | callers.bits) & on) | (frame.bits & inner) | (site.bits & site_mask),
        }
    }

    /// Returns the first rule that matches an allocation, ignoring rules that compare sizes, or [`NO_RULE`].
    pub fn rule_of(&self, facts: &AllocationFacts<'_>) -> u16 {
        let category = self.category(facts.allocated.rule);
        for &rule in &self.lifetime_rules {
            if rule > facts.allocated.rule {
                break;
            }
            if self.quick_tests.get(usize::from(rule)).is_some_and(|quick| quick.passes(facts, category))
                && self.matches(rule, facts)
            {
                return rule;
            }
        }
        facts.allocated.rule
    }

    /// Returns false if a rule matches no allocation with this result for its stack, whatever its lifetime.
    pub fn may_match(&self, rule: u16, allocated: StackResult) -> bool {
        let category = self.category(allocated.rule);
        self.quick_tests.get(usize::from(rule)).is_some_and(|quick| quick.passes_stack(allocated, category))
    }

    /// Returns true if all conditions of a rule hold, except the one on the size. Must not be called for frame-only
    /// rules.
    pub fn matches(&self, rule: u16, facts: &AllocationFacts<'_>) -> bool {
        let index = usize::from(rule);
        let category = self.rules.get(usize::from(facts.allocated.rule)).map(|rule| &rule.category);
        let known = self.rules.get(index).zip(self.quick_tests.get(index));
        known.is_some_and(|(rule, quick)| quick.matches(rule, facts, category))
    }

    /// Returns the rules that compare sizes, in the order of the set.
    pub fn size_rules(&self) -> impl Iterator<Item = SizeRule<'_>> {
        self.size_bits.iter().filter_map(|&(rule, bit)| {
            let like = self.rules.get(usize::from(rule))?.like.as_ref()?;
            let named = like.category.as_ref();
            let category = named.and_then(|name| self.names.iter().position(|it| it == name));
            // A category that no rule assigns matches nothing.
            let category = if named.is_some() { Some(category.map_or(u8::MAX, |index| index as u8)) } else { None };
            Some(SizeRule { rule, like, bit, category })
        })
    }

    /// Returns true if a rule depends on the stack that freed an allocation.
    pub fn uses_free_stacks(&self) -> bool {
        self.rules.iter().any(|rule| rule.of == StackOrigin::Freed)
    }

    /// Returns true if a rule depends on where the model is called.
    pub fn uses_model_call(&self) -> bool {
        self.rules.iter().any(|rule| rule.model.is_some())
    }

    /// Returns the category of a rule, as an index into [`CompiledSet::categories`]. [`NO_RULE`] maps to "unknown".
    pub fn category(&self, rule: u16) -> u8 {
        let unknown = self.names.len().saturating_sub(1) as u8;
        self.categories.get(usize::from(rule)).copied().unwrap_or(unknown)
    }

    /// Returns the names of all categories, in the order of [`CategorySet::categories`].
    pub fn categories(&self) -> &[String] {
        &self.names
    }

    /// Returns true if a rule compares sizes.
    pub fn compares_sizes(&self, rule: u16) -> bool {
        self.rules.get(usize::from(rule)).is_some_and(|rule| rule.like.is_some())
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    pub fn rules(&self) -> &[CategoryRule] {
        &self.rules
    }
}

fn patterns(rule: &CategoryRule) -> Patterns {
    let read = |text: &Option<String>| text.as_ref().and_then(|text| Pattern::new(text).ok());
    Patterns { name: read(&rule.name), file: read(&rule.file), frame: read(&rule.frame) }
}
