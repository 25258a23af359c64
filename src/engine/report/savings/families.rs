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
use history::snapshot::{FrameId, Snapshot, StackId};

type Numbers<K> = HashMap<K, u32, foldhash::fast::RandomState>;

/// The groups of the run that are neither call sites, nor categories, nor changes.
#[derive(Default)]
pub(super) struct Families {
    pub(super) tree: Tree,
    /// The first group of annotations, of compiled regions, of modules, and the one after all these.
    starts: [u32; 4],
    /// By stack: its group, and that of the step of the backward pass, 0 in none.
    of_stack: HashMap<u32, (u32, u32), foldhash::fast::RandomState>,
    of_node: Numbers<String>,
    pub(super) stacks: Vec<(StackId, u32)>,
    /// Each with its innermost frame.
    pub(super) nodes: Vec<(FrameId, u32)>,
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
        (id, moment, bytes): (AllocationId, u32, i64),
    ) {
        let [annotations, regions, modules, _] = self.starts;
        let group = |by| file.groups.of(&file.snapshot, history, id, by);
        without.change(annotations + group(Grouping::Annotation), moment, bytes);
        without.change(regions + group(Grouping::CompileContext), moment, bytes);
        let stack = file.stack(history, id);
        let mut module = self.tree.of(stack);
        while module > 0 {
            without.change(modules + module, moment, bytes);
            module = self.tree.modules.get(module as usize).map_or(0, |module| module.parent);
        }
        let (stack, node) = self.of_stack(&file.snapshot, stack, without);
        without.change(stack, moment, bytes);
        if node > 0 {
            without.change(node, moment, bytes);
        }
    }

    fn of_stack(&mut self, snapshot: &Snapshot, stack: StackId, without: &mut PeakWithout) -> (u32, u32) {
        let stack = if stack == StackId::EMPTY { StackId::NONE } else { stack };
        if let Some(&known) = self.of_stack.get(&stack.0) {
            return known;
        }
        let of_stack = without.grow();
        self.stacks.push((stack, of_stack));
        let mut frames = snapshot.stacks.frames(stack);
        let is_node = |&frame: &FrameId| site::is_backward(snapshot, snapshot.frames.frame(frame));
        let node = frames.find(is_node).map_or(0, |frame| {
            let name = site::parts(snapshot, snapshot.frames.frame(frame)).0;
            *self.of_node.entry(name).or_insert_with(|| {
                let group = without.grow();
                self.nodes.push((frame, group));
                group
            })
        });
        self.of_stack.insert(stack.0, (of_stack, node));
        (of_stack, node)
    }

    /// The group of what is in an annotation, in a region or in a module of this number.
    pub(super) fn group(&self, by: Numbered, number: u32) -> u32 {
        self.starts[by as usize] + number
    }
}

/// The groups that have numbers before the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Numbered {
    Annotation,
    Region,
    Module,
}
