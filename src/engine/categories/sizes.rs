//! Rules that compare sizes: allocations are matched one to one with live reference allocations of a related size.

use super::facts::{DeviceRules, freed, made, with_facts};
use super::stacks::Stacks;
use analysis::category::Place;
use analysis::category::compiled::{Compiled, NO_RULE, SizeRule};
use base::slice::{Slice, Sliced};
use hashbrown::HashMap;
use history::replay::{AllocationId, DeviceHistory};
use history::snapshot::Snapshot;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Size in bytes, and a call site if the rule depends on it, else 0.
type Key = (u64, u32);

/// Reference allocations of one size.
#[derive(Default)]
struct Alike {
    /// Freed-at moments of those that are live at the current position of the pass.
    deaths: BinaryHeap<Reverse<u32>>,
    /// Maximum number live at once.
    most: u32,
    /// Number of candidates that can still be matched.
    left: u64,
}

/// Three passes for each rule: collect the sizes that candidates need, count the reference allocations of these sizes,
/// classify the candidates.
#[derive(Default)]
pub(super) struct Sizes {
    /// Rule, pass and allocation to continue with.
    at: (usize, u8, usize),
    alike: HashMap<Key, Alike, foldhash::fast::RandomState>,
}

impl Sizes {
    /// Applies the remaining rules.
    pub(super) fn step(
        &mut self,
        set: &Compiled,
        stacks: &Stacks,
        (snapshot, history): (&Snapshot, &DeviceHistory),
        rules: &mut DeviceRules,
        slice: &mut Slice,
    ) -> Sliced {
        while let Some(rule) = set.sizes().nth(self.at.0) {
            let count = history.allocations.len();
            while let Some(part) = slice.part(&mut self.at.2, count, 1)? {
                for id in part {
                    self.look(set, stacks, (snapshot, history), rules, &rule, AllocationId(id as u32));
                }
            }
            self.at = match self.at.1 {
                // Without candidates, the other passes are skipped.
                0 if !self.alike.is_empty() => (self.at.0, 1, 0),
                1 => {
                    for alike in self.alike.values_mut() {
                        alike.left = u64::from(alike.most) * rule.like.each.map_or(u64::from(u32::MAX), u64::from);
                    }
                    (self.at.0, 2, 0)
                }
                _ => {
                    self.alike = HashMap::default();
                    (self.at.0 + 1, 0, 0)
                }
            };
        }
        Ok(())
    }

    fn look(
        &mut self,
        set: &Compiled,
        stacks: &Stacks,
        (snapshot, history): (&Snapshot, &DeviceHistory),
        rules: &mut DeviceRules,
        rule: &SizeRule<'_>,
        id: AllocationId,
    ) {
        let known = rules.rule(id);
        let at_site = rule.like.at == Place::Here;
        if self.at.1 == 1 {
            let is_it = match rule.category {
                Some(category) => set.category(known) == category && known != NO_RULE,
                None => stacks.of(made(snapshot, history, id)).bits & rule.bit != 0,
            };
            if !is_it {
                return;
            }
            let (born, died, size) = history.allocations.span(id);
            let site = if at_site { stacks.site(freed(history, id)) } else { 0 };
            if let Some(alike) = self.alike.get_mut(&(size, site)) {
                while alike.deaths.peek().is_some_and(|&Reverse(death)| death <= born) {
                    alike.deaths.pop();
                }
                alike.deaths.push(Reverse(died));
                alike.most = alike.most.max(alike.deaths.len() as u32);
            }
            return;
        }
        // Earlier rules take precedence.
        if known < rule.rule || history.allocations.is_unexplained(id) {
            return;
        }
        let (first, second) = rule.like.ratio;
        let scaled = u128::from(history.allocations.size(id)) * u128::from(second);
        if scaled == 0 || scaled % u128::from(first) != 0 {
            return;
        }
        let Ok(size) = u64::try_from(scaled / u128::from(first)) else { return };
        let stack = made(snapshot, history, id);
        let site = if at_site { stacks.site(stack) } else { 0 };
        if !with_facts(set, stacks, (snapshot, history), id, |facts| set.holds(rule.rule, facts)) {
            return;
        }
        if self.at.1 == 0 {
            self.alike.entry((size, site)).or_default();
        } else if let Some(alike) = self.alike.get_mut(&(size, site)).filter(|alike| alike.left > 0) {
            alike.left -= 1;
            rules.rules.set(id.0 as usize, rule.rule);
        }
    }
}
