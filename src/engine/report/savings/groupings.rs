//! Groupings of allocations by call stack, module, annotation, compiled region and autograd node.
//!
//! Annotations and regions have numbers in the file, and modules in the module tree. Stacks and autograd nodes get a
//! number at their first use, because the snapshot has far more stacks than a device uses.

use crate::open::OpenFile;
use crate::protocol::Grouping;
use crate::report::modules::ModuleTree;
use analysis::{PeakWithout, site};
use base::slice::{SliceResult, TimeSlice};
use hashbrown::HashMap;
use history::replay::{AllocationId, DeviceHistory};
use history::snapshot::{FrameId, Snapshot, StackId, StringId};
use std::ops::Range;

type IndexByKey<K> = HashMap<K, u32, foldhash::fast::RandomState>;

/// Groups of the pass, apart from call sites, categories and saving kinds.
#[derive(Default)]
pub(super) struct Groupings {
    pub(super) tree: ModuleTree,
    /// Numbers of the first annotation, the first compiled region and the first module, and the number after the last
    /// module.
    first_groups: [u32; 4],
    /// Cached annotation groups of the last free and of the last allocation, each with the range of allocation moments
    /// that have this group.
    annotation_cache: [(u32, Range<u32>); 2],
    stack_index: IndexByKey<StackId>,
    pub(super) stacks: Vec<GroupedStack>,
    node_index: IndexByKey<StringId>,
    /// Group and frame of each autograd node. Nodes are distinguished by the name of their frame.
    pub(super) nodes: Vec<(u32, FrameId)>,
}

/// Call stack, with its group and the group of its autograd node. `node_group` is 0 if the stack has no such node.
#[derive(Clone, Copy)]
pub(super) struct GroupedStack {
    pub(super) stack: StackId,
    pub(super) group: u32,
    node_group: u32,
}

impl Groupings {
    /// Builds the module tree and assigns group numbers from `first` on. Returns the first number that is not used.
    pub(super) fn step(
        &mut self,
        file: &OpenFile,
        history: &DeviceHistory,
        first: u32,
        slice: &mut TimeSlice,
    ) -> SliceResult<usize> {
        self.tree.step(&file.snapshot, slice)?;
        let count = |by| file.groups.group_count(history, by);
        let regions = first + count(Grouping::Annotation);
        let modules = regions + count(Grouping::CompileContext);
        self.first_groups = [first, regions, modules, modules + self.tree.modules.len() as u32];
        Ok(self.first_groups[3] as usize)
    }

    /// Adds a change of an allocation's bytes to all groups of the allocation.
    pub(super) fn add_change(
        &mut self,
        file: &OpenFile,
        history: &DeviceHistory,
        without: &mut PeakWithout,
        (id, stack): (AllocationId, StackId),
        (moment, bytes): (u32, i64),
    ) {
        let [annotations, regions, modules, _] = self.first_groups;
        let allocated_at = history.allocations.allocated_at(id);
        let (group, around) = &mut self.annotation_cache[usize::from(bytes > 0)];
        if !around.contains(&allocated_at.0) {
            (*group, *around) = file.groups.regions.annotation_range(history, allocated_at);
        }
        // Allocations outside annotations are not listed.
        if *group > 0 {
            without.change(annotations + *group, moment, bytes);
        }
        if modules - regions > 2 {
            let group = file.groups.group_of(&file.snapshot, history, id, Grouping::CompileContext);
            without.change(regions + group, moment, bytes);
        }
        let mut module = self.tree.module_of(stack);
        while module > 0 {
            without.change(modules + module, moment, bytes);
            module = self.tree.modules.get(module as usize).map_or(0, |module| module.parent);
        }
        let GroupedStack { group, node_group, .. } = self.grouped_stack(&file.snapshot, stack, without);
        without.change(group, moment, bytes);
        if node_group > 0 {
            without.change(node_group, moment, bytes);
        }
    }

    /// Returns the index of a stack in `stacks`. `None` if the stack has not occurred in the pass.
    pub(super) fn index_of(&self, stack: StackId) -> Option<u32> {
        self.stack_index.get(&normalized(stack)).copied()
    }

    fn grouped_stack(&mut self, snapshot: &Snapshot, stack: StackId, without: &mut PeakWithout) -> GroupedStack {
        if let Some(known) = self.index_of(stack).and_then(|index| self.stacks.get(index as usize)) {
            return *known;
        }
        let stack = normalized(stack);
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
        self.stack_index.insert(stack, self.stacks.len() as u32);
        self.stacks.push(known);
        known
    }

    /// Returns the group of an annotation, a region or a module, by its number.
    pub(super) fn group(&self, by: NumberedGrouping, number: u32) -> u32 {
        self.first_groups[by as usize] + number
    }
}

/// Maps the empty stack to [`StackId::NONE`].
fn normalized(stack: StackId) -> StackId {
    if stack == StackId::EMPTY { StackId::NONE } else { stack }
}

/// Groupings whose groups have known numbers before the pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NumberedGrouping {
    Annotation,
    Region,
    Module,
}
