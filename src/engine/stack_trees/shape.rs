//! A tree built from stacks. It grows as new stack keys (stack and origin) occur. Existing nodes keep their ids, so
//! open nodes, zoom and selection stay valid at every moment.
//!
//! ```text
//! 0            everything
//! ├ 1          <module> train.py:7            a class of frames
//! │ └ 2        step train.py:31
//! ├ 3          no stack recorded                       a note
//! └ 4          backward and library frames    a note: all frames are hidden, as in the threads of the backward pass
//!   └ 5        MulBackward0                   the call site, as in the legend: the autograd node for C++
//!     └ 6      mul_Tensor                     the operator
//! ```

use super::classes::{FrameClasses, HIDDEN};
use super::stack_keys::{StackKey, StackKeys, StackOrigin};
use crate::device::DeviceData;
use analysis::{InternalRules, Sites, site};
use base::slice::{SliceResult, TimeSlice};
use hashbrown::HashMap;
use history::snapshot::{FrameId, StackId, Stacks};
use protocol::{Arrangement, Merge, Root};

/// Maximum number of nodes of a tree, which take about 30 bytes each. Further stacks are shown under
/// [`SpecialNode::Truncated`].
pub(super) const MAX_NODES: usize = 4_000_000;
/// Maximum number of frames of a stack. Deeper stacks are shown under [`SpecialNode::Truncated`]. CPython limits its
/// own stacks to a thousand frames by default.
const MAX_FRAMES: usize = 4096;

/// A node that does not represent a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SpecialNode {
    Everything,
    /// Bytes that belong to no recorded allocation.
    Unexplained,
    NoStack,
    /// Allocations made before recording. The stacks below this node are the stacks of their frees.
    FreeStacks,
    /// Stacks whose frames are all hidden.
    Internal,
    /// Stacks that are too deep, or for which the tree has too many nodes.
    Truncated,
}

/// Special nodes directly below the root. Their keys are `u32::MAX - 1`, `u32::MAX - 2` and so on, in this order.
const SPECIAL_NODES: [SpecialNode; 5] = [
    SpecialNode::Unexplained,
    SpecialNode::NoStack,
    SpecialNode::FreeStacks,
    SpecialNode::Internal,
    SpecialNode::Truncated,
];

impl SpecialNode {
    fn key(self) -> u32 {
        u32::MAX - SPECIAL_NODES.iter().position(|note| *note == self).map_or(0, |index| index as u32 + 1)
    }

    /// Returns the display label of the node.
    pub(super) fn label(self) -> &'static str {
        match self {
            SpecialNode::Everything => "all allocations",
            SpecialNode::Unexplained => "unexplained bytes",
            SpecialNode::NoStack => site::NO_STACK,
            SpecialNode::FreeStacks => "allocated before recording (stacks of their frees)",
            SpecialNode::Internal => "backward and library frames",
            SpecialNode::Truncated => "truncated: too deep, or too many stacks",
        }
    }
}

/// Content of a tree node: a class of frames, or a special node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NodeContent {
    Class(u32),
    Special(SpecialNode),
}

/// Tree of merged stacks without weights: a call tree or an inverted tree.
pub(crate) struct TreeShape {
    pub(super) arrangement: Arrangement,
    pub(super) classes: FrameClasses,
    most_nodes: usize,
    /// The nodes, stored as stacks. The "frames" of these stacks are classes of frames or keys of special nodes.
    tree: Stacks,
    /// Node of each stack key (stack and origin) that was added so far, by stack key index.
    nodes_by_stack_key: Vec<u32>,
    /// Node of each stack (0 if not added yet), and its number of frames. Empty if innermost frames are at the root.
    nodes_by_stack: Vec<(u32, u16)>,
    /// Reused buffer with the stack and the class of each frame of the stack being added.
    path: Vec<(u32, u32)>,
    /// Cached results: 1 if the frame is an operator, otherwise 0.
    operators: HashMap<FrameId, u32, foldhash::fast::RandomState>,
}

base::heap_bytes!(TreeShape: classes, tree, nodes_by_stack_key, nodes_by_stack);

impl TreeShape {
    pub(super) fn new(arrangement: Arrangement, most_nodes: usize) -> TreeShape {
        let (classes, tree) = (FrameClasses::default(), Stacks::default());
        let (nodes_by_stack_key, nodes_by_stack, path, operators) = Default::default();
        TreeShape { arrangement, classes, most_nodes, tree, nodes_by_stack_key, nodes_by_stack, path, operators }
    }

    /// Continues adding nodes for stack keys (stack and origin) that the tree does not contain yet.
    pub(super) fn grow(
        &mut self,
        data: DeviceData<'_>,
        stack_keys: &StackKeys,
        rules: &InternalRules,
        slice: &mut TimeSlice,
    ) -> SliceResult {
        self.classes.step(data, self.arrangement, rules, slice)?;
        let mut next = self.nodes_by_stack_key.len();
        // Some stacks are thousands of frames long.
        while let Some(part) = slice.next_range(&mut next, stack_keys.len(), 256)? {
            for stack_key in part {
                let node = self
                    .insert(data, stack_keys.get(stack_key as u32))
                    .or_else(|| self.special_node(SpecialNode::Truncated));
                self.nodes_by_stack_key.push(node.unwrap_or(0));
            }
        }
        Ok(())
    }

    fn special_node(&mut self, note: SpecialNode) -> Option<u32> {
        self.tree.child(0, note.key())
    }

    /// Returns the node of a stack key (stack and origin) and adds it if necessary. `None` if the stack is too deep or
    /// the tree is full.
    fn insert(&mut self, data: DeviceData<'_>, stack_key: StackKey) -> Option<u32> {
        let (stack, origin) = match stack_key {
            StackKey::Unexplained => return self.special_node(SpecialNode::Unexplained),
            StackKey::NoStack => return self.special_node(SpecialNode::NoStack),
            StackKey::Stack(stack, origin) => (stack, origin),
        };
        let outermost_first = self.arrangement.root == Root::Outermost;
        let is_cached = outermost_first && origin == StackOrigin::Alloc;
        if is_cached && self.nodes_by_stack.is_empty() {
            self.nodes_by_stack = vec![(0, 0); data.snapshot.stacks.len()];
        }
        let mut path = std::mem::take(&mut self.path);
        path.clear();
        // Node and depth of the callers, if known. The depth counts all frames, so the limit does not depend on the
        // order of insertion.
        let mut known = (0, 0);
        let mut current = stack;
        while let Some((callers, frame)) = data.snapshot.stacks.innermost(current) {
            known = self.nodes_by_stack.get(current.0 as usize).copied().filter(|_| is_cached).unwrap_or_default();
            if known.0 != 0 || path.len() > MAX_FRAMES {
                break;
            }
            path.push((current.0, self.classes.class_of(frame)));
            current = callers;
        }
        if outermost_first {
            path.reverse();
        }
        let fits = usize::from(known.1) + path.len() <= MAX_FRAMES
            && self.tree.len() + path.len() + SPECIAL_NODES.len() < self.most_nodes;
        let node = if fits { self.insert_path(known, &path, origin) } else { None };
        self.path = path;
        if node == Some(0) { self.insert_hidden_stack(data, stack) } else { node }
    }

    /// Returns the node of a stack whose frames are all hidden, below [`SpecialNode::Internal`]. The node is found by
    /// call site and operator. If innermost frames are at the root, their order is reversed.
    fn insert_hidden_stack(&mut self, data: DeviceData<'_>, stack: StackId) -> Option<u32> {
        let note = self.special_node(SpecialNode::Internal)?;
        let (site, frame) = data.groups.call_site_of(stack);
        let snapshot = data.snapshot;
        let is_operator = |frame: &FrameId| {
            *self.operators.entry(*frame).or_insert_with(|| Sites::is_operator(snapshot, *frame).into()) == 1
        };
        let operator = snapshot.stacks.frames(stack).take(MAX_FRAMES).find(is_operator).filter(|&it| Some(it) != frame);
        let mut names = [frame.map(|frame| (frame, site)), operator.map(|frame| (frame, 0))];
        if self.arrangement.root == Root::Innermost {
            names.reverse();
        }
        let mut node = note;
        for (frame, site) in names.into_iter().flatten() {
            let class = self.classes.stand_in_class(snapshot, self.arrangement.merge, frame, site)?;
            if self.node_key(node) != Some(class) && self.tree.len() + SPECIAL_NODES.len() < self.most_nodes {
                node = self.tree.child(node, class)?;
            }
        }
        Some(node)
    }

    /// Adds the frames of `path` below `node`. `depth` is the number of frames of the stack up to `node`. Returns the
    /// last node, or 0 if all frames are hidden.
    fn insert_path(
        &mut self,
        (mut node, mut depth): (u32, u16),
        path: &[(u32, u32)],
        origin: StackOrigin,
    ) -> Option<u32> {
        if origin == StackOrigin::Free {
            node = self.special_node(SpecialNode::FreeStacks)?;
        }
        for &(stack, class) in path {
            // Consecutive frames of one file share a node. A recursive function gets a node for each call.
            let repeats = self.arrangement.merge == Merge::File && self.node_key(node) == Some(class);
            if class != HIDDEN && !repeats {
                node = self.tree.child(node, class)?;
            }
            depth += 1;
            if origin == StackOrigin::Alloc
                && let Some(known) = self.nodes_by_stack.get_mut(stack as usize)
            {
                *known = (node, depth);
            }
        }
        Some(node)
    }

    /// Returns the frame class of a node, or the key of a special node. `None` for the root.
    pub(super) fn node_key(&self, node: u32) -> Option<u32> {
        self.tree.innermost(StackId(node)).map(|(_, key)| key.0)
    }

    /// Returns the content of a node. An unknown node is treated as the root.
    pub(super) fn kind(&self, node: u32) -> NodeContent {
        let Some(key) = self.node_key(node) else { return NodeContent::Special(SpecialNode::Everything) };
        let note = (u32::MAX - key).checked_sub(1).and_then(|index| SPECIAL_NODES.get(index as usize));
        note.map_or(NodeContent::Class(key), |&note| NodeContent::Special(note))
    }

    /// Returns the parent of a node. `None` for the root and for an unknown node. A parent has a lower id than its
    /// children.
    pub(crate) fn parent(&self, node: u32) -> Option<u32> {
        self.tree.innermost(StackId(node)).map(|(parent, _)| parent.0)
    }

    /// Returns the number of nodes, which is the upper bound (exclusive) of node ids.
    pub(crate) fn len(&self) -> usize {
        self.tree.len()
    }

    /// Returns the node of a stack key (stack and origin), or the root if the stack key was not added yet.
    pub(super) fn node_of_stack_key(&self, stack_key: u32) -> u32 {
        self.nodes_by_stack_key.get(stack_key as usize).copied().unwrap_or(0)
    }
}
