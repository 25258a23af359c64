//! More ways to tell allocations into groups: by call stack, module, annotation, compiled region, step of the backward pass.
//!
//! Annotations and regions are numbered by the file, modules by the tree of stacks. Stacks and steps of the backward pass are numbered
//! when the run first comes to one: the snapshot has far more stacks than a device has allocated by.

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

/// The groups of the run that are neither call sites, nor categories, nor changes.
#[derive(Default)]
pub(super) struct Families {
    pub(super) tree: Tree,
    /// The first group of annotations, of compiled regions, of modules, and the one after all these.
    starts: [u32; 4],
    /// The annotation of what was freed, and of what was allocated last, and the moments of birth that have the same.
    annotated: [(u32, Range<u32>); 2],
    places: Numbers<StackId>,
    pub(super) stacks: Vec<Stack>,
    node_places: Numbers<StringId>,
    /// Steps of the backward pass, by the name of their frame: its group and the frame.
    pub(super) nodes: Vec<(u32, FrameId)>,
}

/// A call stack, its group, and that of the step of the backward pass that it is in, 0 in none.
#[derive(Clone, Copy)]
pub(super) struct Stack {
    pub(super) stack: StackId,
    pub(super) group: u32,
    node: u32,
}

impl Families {
    /// Reads the modules, and numbers from `first` on.
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

    /// At a moment an allocation grows by so many bytes, and with it all groups that it is in.
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
        // What is in none is not listed.
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

    /// The place of a stack that the run came to.
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

    /// The group of what is in an annotation, in a region or in a module of this number.
    pub(super) fn group(&self, by: Numbered, number: u32) -> u32 {
        self.starts[by as usize] + number
    }
}

/// A stack without frames is as good as none.
fn recorded(stack: StackId) -> StackId {
    if stack == StackId::EMPTY { StackId::NONE } else { stack }
}

/// The groups that have numbers before the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Numbered {
    Annotation,
    Region,
    Module,
}
