//! Sizes of all allocations under a memory plan, as input for the allocator simulation.

use super::Plan;
use super::growth::Roles;
use super::membership::plan_groups_of;
use crate::open::OpenFile;
use allocator::transfer::put;
use analysis::PlanMembership;
use base::slice::{SliceResult, TimeSlice};
use history::replay::AllocationId;
use protocol::{Factor, PlanQuestion};

/// Cost of one allocation, in steps of the time slice.
const STEPS: u32 = 8;

/// Time-sliced computation of the planned size of each allocation.
pub(crate) struct PlannedSizes {
    plan: Plan,
    next: usize,
    bytes: Vec<u8>,
}

impl PlannedSizes {
    pub(crate) fn new(device: i64, question: &PlanQuestion) -> PlannedSizes {
        PlannedSizes { plan: Plan::new(device, question), next: 0, bytes: Vec::new() }
    }

    /// Continues computing and returns the planned size of each allocation in id order, encoded in eight bytes each.
    /// Empty if the plan is invalid.
    pub(crate) fn step(&mut self, file: &mut OpenFile, slice: &mut TimeSlice) -> SliceResult<Vec<u8>> {
        file.categorize(slice)?;
        if self.plan.resolve(file, slice)?.is_err() {
            return Ok(Vec::new());
        }
        let file = &*file;
        let Some(side) = file.side(self.plan.device) else { return Ok(Vec::new()) };
        let roles = Roles::new(file);
        self.plan.growth.step(side, &roles, slice)?;
        let PlannedSizes { plan, next, bytes } = self;
        let Ok((factors, _)) = plan.factors() else { return Ok(Vec::new()) };
        let mut last = (PlanMembership::default(), Factor::ONE);
        while let Some(part) = slice.next_range(next, side.history.allocations.len(), STEPS)? {
            for number in part {
                let id = AllocationId(number as u32);
                let membership = plan_groups_of((&plan.members, &plan.growth), &roles, side, id);
                if membership != last.0 {
                    let batch = if membership.grows { plan.question.batch } else { Factor::ONE };
                    let Some(factor) = factors.of(membership.groups).and_then(|factor| factor.product(batch)) else {
                        return Ok(Vec::new());
                    };
                    last = (membership, factor);
                }
                put(bytes, last.1.scaled(side.history.allocations.size(id)), 8);
            }
        }
        Ok(std::mem::take(bytes))
    }
}
