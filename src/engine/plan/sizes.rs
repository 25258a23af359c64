//! The sizes of all allocations under a plan, for the simulated allocator.

use super::{Plan, in_plan, roles};
use crate::open::OpenFile;
use crate::protocol::{Factor, PlanQuestion};
use analysis::{Factors, InPlan};
use base::slice::{Slice, Sliced};
use history::replay::AllocationId;

/// Steps that an allocation takes.
const STEPS: u32 = 8;
/// Factors that are kept: plans have few groups, so few combinations of them.
const MOST_KEPT: usize = 32;

/// Sizes on their way.
pub(crate) struct Sizes {
    plan: Plan,
    factors: Option<Factors>,
    kept: Vec<(InPlan, Factor)>,
    next: usize,
    bytes: Vec<u8>,
}

impl Sizes {
    pub(crate) fn new(device: i64, question: &PlanQuestion) -> Sizes {
        let (factors, kept, next, bytes) = Default::default();
        Sizes { plan: Plan::new(device, question), factors, kept, next, bytes }
    }

    /// The bytes of each allocation, as eight of them, by number; none where the plan cannot be carried out.
    pub(crate) fn step(&mut self, file: &mut OpenFile, slice: &mut Slice) -> Sliced<Vec<u8>> {
        file.categorize(slice)?;
        if self.plan.resolve(file, slice)?.is_err() {
            return Ok(Vec::new());
        }
        let file = &*file;
        let Some(history) = file.history(self.plan.device) else { return Ok(Vec::new()) };
        let Sizes { plan, factors, kept, next, bytes } = self;
        let factors = match factors {
            Some(factors) => factors,
            None => match plan.factors() {
                Ok((new, _)) => factors.insert(new),
                Err(_) => return Ok(Vec::new()),
            },
        };
        let (roles, count) = (roles(file), history.allocations.len());
        bytes.reserve(8 * (count - *next));
        while let Some(part) = slice.part(next, count, STEPS)? {
            for number in part {
                let id = AllocationId(number as u32);
                let of = in_plan(&plan.members, &roles, file, history, id);
                let factor = match kept.iter().find(|(other, _)| *other == of) {
                    Some((_, factor)) => *factor,
                    None => {
                        let batch = if of.grows { plan.question.batch } else { Factor::ONE };
                        let Some(factor) = factors.of(of.groups).and_then(|factor| factor.and(batch)) else {
                            return Ok(Vec::new());
                        };
                        if kept.len() < MOST_KEPT {
                            kept.push((of, factor));
                        }
                        factor
                    }
                };
                bytes.extend_from_slice(&factor.scaled(history.allocations.size(id)).to_le_bytes());
            }
        }
        Ok(std::mem::take(bytes))
    }
}
