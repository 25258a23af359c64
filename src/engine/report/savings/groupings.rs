//! Groups of allocations by call stack, module, annotation, compiled region and autograd node.
//!
//! Annotations, regions and modules are numbered in advance. Call stacks and autograd nodes get a group number when
//! they first occur, because the snapshot has far more stacks than a device uses.

use crate::report::modules::ModuleTree;
use crate::side::Side;
use analysis::{PeakWithout, site};
use base::slice::{SliceResult, TimeSlice};
use hashbrown::HashMap;
use history::replay::AllocationId;
use history::snapshot::{FrameId, Snapshot, StackId, StringId};
use protocol::Grouping;
use std::ops::Range;

/// Groups that are used in the pass in addition to call sites, categories and kinds of savings.
#[derive(Default)]
pub(super) struct Groupings {
    pub(super) tree: ModuleTree,
    /// Group numbers of the first annotation, the first compiled region and the first module, and the number after the
    /// last module.
    first_groups: [u32; 4],
    /// Cached annotation groups of the last free and the last allocation, each with the range of allocation moments to
    /// which the group applies.
    annotation_cache: [(u32, Range<u32>); 2],
    /// Maps each stack to a 1-based index into `stacks`. 0 if the stack has not occurred yet. A vector is faster than a
    /// hash table.
    stack_index: Vec<u32>,
    pub(super) stacks: Vec<GroupedStack>,
    node_index: HashMap<StringId, u32, foldhash::fast::RandomState>,
    /// Group number and frame of each autograd node. Nodes are considered different if the names of their frames
    /// differ.
    pub(super) nodes: Vec<(u32, FrameId)>,
}

/// A call stack, its group number, and the group number of its autograd node. `node_group` is 0 if the stack has no
/// autograd node.
#[derive(Clone, Copy)]
pub(super) struct GroupedStack {
    pub(super) stack: StackId,
    pub(super) group: u32,
    node_group: u32,
}

impl Groupings {
    /// Continues building the module tree. Then assigns group numbers, starting with `first`, and returns the first
    /// unused number.
    pub(super) fn step(&mut self, side: Side<'_>, first: u32, slice: &mut TimeSlice) -> SliceResult<usize> {
        self.tree.step(side.snapshot(), slice)?;
        self.stack_index = vec![0; side.file.snapshot.stacks.len()];
        let count = |by| side.group_count(by);
        let regions = first + count(Grouping::Annotation);
        let modules = regions + count(Grouping::CompileContext);
        self.first_groups = [first, regions, modules, modules + self.tree.modules.len() as u32];
        Ok(self.first_groups[3] as usize)
    }

    /// Adds a change in the live bytes of an allocation to all groups to which the allocation belongs.
    pub(super) fn add_change(
        &mut self,
        side: Side<'_>,
        without: &mut PeakWithout,
        (id, stack): (AllocationId, StackId),
        (moment, bytes): (u32, i64),
    ) {
        let [annotations, regions, modules, _] = self.first_groups;
        let allocated_at = side.history.allocations.allocated_at(id);
        let (group, around) = &mut self.annotation_cache[usize::from(bytes > 0)];
        if !around.contains(&allocated_at.0) {
            (*group, *around) = side.file.groups.regions.annotation_range(side.history, allocated_at);
        }
        // Allocations outside annotations are not listed.
        if *group > 0 {
            without.change(annotations + *group, moment, bytes);
        }
        if modules - regions > 2 {
            let group = side.group(Grouping::CompileContext, id);
            without.change(regions + group, moment, bytes);
        }
        let mut module = self.tree.module_of(stack);
        while module > 0 {
            without.change(modules + module, moment, bytes);
            module = self.tree.modules.get(module as usize).map_or(0, |module| module.parent);
        }
        let GroupedStack { group, node_group, .. } = self.grouped_stack(side.snapshot(), stack, without);
        without.change(group, moment, bytes);
        if node_group > 0 {
            without.change(node_group, moment, bytes);
        }
    }

    /// Returns the position of a stack in `stack_index`. [`StackId::NONE`] has that of the empty stack.
    fn position(&self, stack: StackId) -> usize {
        Some(stack.0 as usize).filter(|&position| position < self.stack_index.len()).unwrap_or(0)
    }

    /// Returns the index of a stack in `stacks`. `None` if the stack has not occurred yet.
    pub(super) fn index_of(&self, stack: StackId) -> Option<u32> {
        self.stack_index.get(self.position(stack)).and_then(|index| index.checked_sub(1))
    }

    fn grouped_stack(&mut self, snapshot: &Snapshot, stack: StackId, without: &mut PeakWithout) -> GroupedStack {
        if let Some(known) = self.index_of(stack).and_then(|index| self.stacks.get(index as usize)) {
            return *known;
        }
        let stack = if stack == StackId::EMPTY { StackId::NONE } else { stack };
        let mut frames = snapshot.stacks.frames(stack);
        let node_group =
            frames.find(|&frame| site::is_backward(snapshot, snapshot.frames.frame(frame))).map_or(0, |frame| {
                let next = self.nodes.len() as u32;
                let index = *self.node_index.entry(snapshot.frames.frame(frame).name).or_insert(next);
                if index == next {
                    self.nodes.push((without.add_group(), frame));
                }
                self.nodes.get(index as usize).map_or(0, |&(group, _)| group)
            });
        let known = GroupedStack { stack, group: without.add_group(), node_group };
        self.stacks.push(known);
        let position = self.position(stack);
        self.stack_index.get_mut(position).into_iter().for_each(|index| *index = self.stacks.len() as u32);
        known
    }

    /// Returns the group number of an annotation, region or module. `number` is its index within the grouping.
    pub(super) fn group(&self, by: NumberedGrouping, number: u32) -> u32 {
        self.first_groups[by as usize] + number
    }
}

/// Groupings whose groups are numbered before the pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NumberedGrouping {
    Annotation,
    Region,
    Module,
}
