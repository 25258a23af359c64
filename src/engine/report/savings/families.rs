//! Further groupings of allocations: by call stack, module, annotation, compiled region and autograd node.
//!
//! Annotations and regions are numbered by the file, modules by the tree of stacks. Stacks and autograd nodes are
//! numbered at their first use, because the snapshot has far more stacks than a device uses.

use crate::open::OpenFile;
use crate::protocol::Grouping;
use crate::report::modules::Tree;
use analysis::{PeakWithout, site};
use base::slice::{Slice, Sliced};
use hashbrown::HashMap;
use history::replay::{AllocationId, DeviceHistory};
use history::snapshot::{FrameId, Snapshot, StackId, StringId};
use std::ops::Range;

type Numbers<K> = HashMap<K, u32, foldhash::fast::RandomState>;

/// Groups of the pass other than call sites, categories and changes.
#[derive(Default)]
pub(super) struct Families {
    pub(super) tree: Tree,
    /// First group of annotations, of compiled regions and of modules, and the end of the modules.
    starts: [u32; 4],
    /// Cached annotation of the last free and of the last allocation, each with the range of allocation moments for
    /// which it is valid.
    annotated: [(u32, Range<u32>); 2],
    places: Numbers<StackId>,
    pub(super) stacks: Vec<Stack>,
    node_places: Numbers<StringId>,
    /// Autograd nodes by the name of their frame: group and frame.
    pub(super) nodes: Vec<(u32, FrameId)>,
}

/// Call stack with its group and the group of its autograd node. `node` is 0 if there is none.
#[derive(Clone, Copy)]
pub(super) struct Stack {
    pub(super) stack: StackId,
    pub(super) group: u32,
    node: u32,
}

impl Families {
    /// Builds the tree of modules and numbers the groups from `first` on. Returns the number of groups.
    pub(super) fn step(
        &mut self,
        file: &OpenFile,
        history: &DeviceHistory,
        first: u32,
        slice: &mut Slice,
    ) -> Sliced<usize> {
        self.tree.step(&file.snapshot, slice)?;
        let count = |by| file.groups.count(history, by);
        let regions = first + count(Grouping::Annotation);
        let modules = regions + count(Grouping::CompileContext);
        self.starts = [first, regions, modules, modules + self.tree.modules.len() as u32];
        Ok(self.starts[3] as usize)
    }

    /// Adds a change of an allocation's bytes to all groups of the allocation.
    pub(super) fn change(
        &mut self,
        file: &OpenFile,
        history: &DeviceHistory,
        without: &mut PeakWithout,
        (id, stack): (AllocationId, StackId),
        (moment, bytes): (u32, i64),
    ) {
        let [annotations, regions, modules, _] = self.starts;
        let born = history.allocations.born(id);
        let (group, around) = &mut self.annotated[usize::from(bytes > 0)];
        if !around.contains(&born.0) {
            (*group, *around) = file.groups.regions.annotation_around(history, born);
        }
        // Allocations outside annotations are not listed.
        if *group > 0 {
            without.change(annotations + *group, moment, bytes);
        }
        if modules - regions > 2 {
            let group = file.groups.of(&file.snapshot, history, id, Grouping::CompileContext);
            without.change(regions + group, moment, bytes);
        }
        let mut module = self.tree.of(stack);
        while module > 0 {
            without.change(modules + module, moment, bytes);
            module = self.tree.modules.get(module as usize).map_or(0, |module| module.parent);
        }
        let Stack { group, node, .. } = self.of_stack(&file.snapshot, stack, without);
        without.change(group, moment, bytes);
        if node > 0 {
            without.change(node, moment, bytes);
        }
    }

    /// Returns the index of a stack in `stacks`, if the pass has met it.
    pub(super) fn place(&self, stack: StackId) -> Option<u32> {
        self.places.get(&recorded(stack)).copied()
    }

    fn of_stack(&mut self, snapshot: &Snapshot, stack: StackId, without: &mut PeakWithout) -> Stack {
        if let Some(known) = self.place(stack).and_then(|place| self.stacks.get(place as usize)) {
            return *known;
        }
        let stack = recorded(stack);
        let mut frames = snapshot.stacks.frames(stack);
        let node = frames.find(|&frame| site::is_backward(snapshot, snapshot.frames.frame(frame))).map_or(0, |frame| {
            let next = self.nodes.len() as u32;
            let place = *self.node_places.entry(snapshot.frames.frame(frame).name).or_insert(next);
            if place == next {
                self.nodes.push((without.grow(), frame));
            }
            self.nodes.get(place as usize).map_or(0, |&(group, _)| group)
        });
        let known = Stack { stack, group: without.grow(), node };
        self.places.insert(stack, self.stacks.len() as u32);
        self.stacks.push(known);
        known
    }

    /// Returns the group of an annotation, a region or a module.
    pub(super) fn group(&self, by: Numbered, number: u32) -> u32 {
        self.starts[by as usize] + number
    }
}

/// Maps the empty stack to [`StackId::NONE`].
fn recorded(stack: StackId) -> StackId {
    if stack == StackId::EMPTY { StackId::NONE } else { stack }
}

/// Groupings with numbers that are known before the pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Numbered {
    Annotation,
    Region,
    Module,
}
