//! Activations that stay live until the last allocation of their forward pass, as they do for a backward pass. Under
//! `torch.no_grad()`, each is freed after its last use.

use crate::report::step_finder::Steps;
use crate::roles::Role;
use crate::side::Side;
use base::slice::{SliceResult, TimeSlice};
use history::replay::{AllocationId, DeviceHistory};
use history::snapshot::StackId;

/// A forward pass. Each step has one, and the rest of the trace. Without steps, an allocation outside of a `forward`
/// ends it, and so does another call of the model. If there are several, activations that are never freed say nothing:
/// the trace may end in the forward pass of a training.
#[derive(Clone, Copy)]
struct ForwardPass {
    /// End of the step.
    end: u32,
    /// Moment after the last allocation of the forward pass. 0 if it has none.
    last: u32,
    /// Moment after the next allocation.
    next: u32,
    /// Moment after the last allocation that outlives the pass, and of its free.
    last_outliving: [u32; 2],
    /// The same, of those that are not freed before the next allocation.
    last_staying: [u32; 2],
    /// Number of allocations that outlive the pass and are not freed before the next allocation, minus that of the
    /// others.
    staying: i32,
}

impl ForwardPass {
    fn new(end: u32) -> ForwardPass {
        ForwardPass { end, last: 0, next: u32::MAX, last_outliving: [0; 2], last_staying: [0; 2], staying: 0 }
    }

    /// Returns whether an allocation of this pass stays live until the last one.
    fn is_outlived_by(&self, [allocated_at, freed_at]: [u32; 2]) -> bool {
        (1..=self.last).contains(&allocated_at) && self.last < freed_at
    }

    /// Adds an allocation that outlives the pass.
    fn add_outliving(&mut self, span: [u32; 2]) {
        self.last_outliving = span;
        if span[1] >= self.next {
            (self.last_staying, self.staying) = (span, self.staying.saturating_add(1));
        } else {
            self.staying = self.staying.saturating_sub(1);
        }
    }

    /// Returns the moments after the allocation of the output and its free. A workspace of the last operation is
    /// allocated after the output, but freed before the next allocation.
    fn output(&self) -> [u32; 2] {
        if self.staying >= 0 { self.last_staying } else { self.last_outliving }
    }

    /// Returns whether an allocation of this pass is kept, and not its output. The inputs of the last operation are not
    /// kept: they are freed right after it, while the output stays.
    fn keeps(&self, span: [u32; 2]) -> bool {
        let output = self.output();
        self.is_outlived_by(span) && (span[1] >= self.next || output[1] < self.next) && span[0] < output[0]
    }
}

/// Activations that stay live until the last allocation of their forward pass, without its output.
pub(super) struct KeptActivations {
    /// Forward passes in ascending order.
    passes: Vec<ForwardPass>,
    has_steps: bool,
    next: usize,
    next_searched: usize,
    next_counted: usize,
    /// Pass with the last allocation, if it was one of a forward pass.
    open: Option<usize>,
    /// First allocation of the current pass, without steps, and whether it is the output of a module that no other
    /// module calls.
    first: Option<(AllocationId, bool)>,
    /// Number of activations, and of those that are kept, without outputs.
    count: u64,
    kept_count: u64,
    /// True if there are gradients or optimizer state, by their stacks.
    is_training: bool,
}

/// Minimum number of kept activations.
const MIN_KEPT: u64 = 4;

/// Returns whether only the size of an allocation determines its category.
fn is_by_size(side: Side<'_>, id: AllocationId) -> bool {
    let categories = &side.file.groups.categories;
    categories.set().compares_sizes(categories.rule(side.history, id))
}

impl KeptActivations {
    pub(super) fn new(steps: &Steps, end: u32) -> KeptActivations {
        let ends = steps.spans.iter().map(|step| step.to).chain([end]);
        let passes = ends.map(ForwardPass::new).collect();
        let (next, next_searched, next_counted, open, first, count, kept_count, is_training) = Default::default();
        let has_steps = !steps.spans.is_empty();
        KeptActivations {
            passes,
            has_steps,
            next,
            next_searched,
            next_counted,
            open,
            first,
            count,
            kept_count,
            is_training,
        }
    }

    /// Continues searching for the last allocation and the output of each forward pass, and counting activations.
    pub(super) fn step(
        &mut self,
        side: Side<'_>,
        role: impl Fn(AllocationId) -> Role,
        slice: &mut TimeSlice,
    ) -> SliceResult {
        // Allocations are sorted by moment, so the pass of each is found by moving on from the one before.
        while let Some(part) = slice.next_range(&mut self.next, side.history.allocations.len(), 2)? {
            let mut pass = 0;
            for id in part.map(|id| AllocationId(id as u32)) {
                if !self.is_training && matches!(role(id), Role::Gradient | Role::Optimizer) {
                    self.is_training = !is_by_size(side, id);
                }
                let (allocated_at, stack) = (side.history.allocations.allocated_at(id).0, side.stack(id));
                if allocated_at == 0 {
                    continue;
                }
                let open = self.open.take().and_then(|open| self.passes.get_mut(open));
                open.into_iter().for_each(|pass| pass.next = allocated_at);
                if side.file.is_forward(stack) {
                    if self.is_other_call(side, id, stack) {
                        self.end_pass(allocated_at - 1);
                    }
                    if self.first.is_none() && !self.has_steps {
                        self.first = Some((id, side.file.is_of_outer_module(stack)));
                    }
                    pass = self.pass_of(allocated_at, pass);
                    if let Some(pass) = self.passes.get_mut(pass) {
                        (pass.last, pass.next) = (allocated_at, u32::MAX);
                    }
                    self.open = Some(pass);
                } else if !self.has_steps && !matches!(stack, StackId::NONE | StackId::EMPTY) {
                    self.end_pass(allocated_at - 1);
                }
            }
        }
        let activation = |id| {
            let (allocated_at, freed_at, _) = side.history.allocations.span(id);
            (role(id) == Role::Activation && allocated_at > 0).then_some([allocated_at, freed_at])
        };
        while let Some(part) = slice.next_range(&mut self.next_searched, side.history.allocations.len(), 1)? {
            let mut pass = 0;
            for span in part.filter_map(|id| activation(AllocationId(id as u32))) {
                self.count += 1;
                pass = self.pass_of(span[0], pass);
                let is_known = self.is_known(span[1]);
                let pass = self.passes.get_mut(pass).filter(|pass| is_known && pass.is_outlived_by(span));
                pass.into_iter().for_each(|pass| pass.add_outliving(span));
            }
        }
        while let Some(part) = slice.next_range(&mut self.next_counted, side.history.allocations.len(), 1)? {
            let mut pass = 0;
            for span in part.filter_map(|id| activation(AllocationId(id as u32))) {
                pass = self.pass_of(span[0], pass);
                let is_kept = self.is_known(span[1]) && self.passes.get(pass).is_some_and(|pass| pass.keeps(span));
                self.kept_count += u64::from(is_kept);
            }
        }
        Ok(())
    }

    /// Returns whether an allocation starts another call of the model: the stack is that of the first allocation of the
    /// pass, which is freed already or an output.
    fn is_other_call(&self, side: Side<'_>, id: AllocationId, stack: StackId) -> bool {
        let allocated_at = side.history.allocations.allocated_at(id).0;
        self.first.is_some_and(|(first, is_output)| {
            let freed_at = side.history.allocations.span(first).1;
            side.stack(first) == stack && (is_output || freed_at < allocated_at)
        })
    }

    /// Returns whether the end of an activation is known, or not needed.
    fn is_known(&self, freed_at: u32) -> bool {
        freed_at < u32::MAX || self.has_steps || self.passes.len() == 1
    }

    /// Ends the current pass at a moment, if it has allocations. Does nothing if there are steps.
    fn end_pass(&mut self, moment: u32) {
        self.first = None;
        let Some(pass) = self.passes.last_mut().filter(|pass| pass.last > 0 && !self.has_steps) else { return };
        let end = std::mem::replace(&mut pass.end, moment);
        self.passes.push(ForwardPass::new(end));
    }

    /// Returns the index of the pass of an allocation. It is `known` or later.
    fn pass_of(&self, allocated_at: u32, known: usize) -> usize {
        if self.passes.get(known).is_some_and(|pass| allocated_at <= pass.end) {
            return known;
        }
        self.passes.partition_point(|pass| pass.end < allocated_at)
    }

    /// Returns whether at least a quarter of the activations are kept. Under `torch.no_grad()`, only outputs are.
    pub(super) fn are_usual(&self) -> bool {
        self.kept_count >= MIN_KEPT && self.kept_count * 4 >= self.count
    }

    /// Returns whether an allocation is an activation that is still live after the last allocation of its forward pass,
    /// and not its output. `false` for all allocations unless that is usual.
    pub(super) fn contains(&self, history: &DeviceHistory, id: AllocationId, role: Role) -> bool {
        if role != Role::Activation || !self.are_usual() {
            return false;
        }
        let (allocated_at, freed_at, _) = history.allocations.span(id);
        let pass = self.passes.get(self.passes.partition_point(|pass| pass.end < allocated_at));
        self.is_known(freed_at) && pass.is_some_and(|pass| pass.keeps([allocated_at, freed_at]))
    }

    /// Returns whether there are gradients or optimizer state.
    pub(super) fn is_training(&self) -> bool {
        self.is_training
    }
}
