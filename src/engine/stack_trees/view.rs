//! Read access to a tree of stacks and the weights of its nodes.

use super::classes::is_whole_file;
use super::shape::{NodeContent, SpecialNode, TreeShape};
use super::stack_keys::StackKeys;
use super::weighted_tree::WeightedTree;
use crate::device::DeviceData;
use analysis::{CodeOrigin, IdSet, Sites, site};
use history::replay::AllocationId;
use history::snapshot::{FrameId, StringId};
use picture::timeline::Paint;
use picture::timeline::paint::SHADES;
use protocol::{Ends, Merge, NodeKind, NodeLabel, Weight};
use std::borrow::Cow;

/// Maximum length in bytes of a name or path that is sent. Strings in a file may be megabytes long.
const MAX_TEXT_LEN: usize = 4000;

/// A tree of stacks with the weights of its nodes. The root has the id 0, and parents have lower ids than their
/// children.
#[derive(Clone, Copy)]
pub(crate) struct TreeView<'a> {
    data: DeviceData<'a>,
    stack_keys: &'a StackKeys,
    shape: &'a TreeShape,
    weighed: &'a WeightedTree,
}

impl<'a> TreeView<'a> {
    pub(super) fn new(
        data: DeviceData<'a>,
        stack_keys: &'a StackKeys,
        shape: &'a TreeShape,
        weighed: &'a WeightedTree,
    ) -> TreeView<'a> {
        TreeView { data, stack_keys, shape, weighed }
    }

    /// Returns the number of nodes, including nodes whose weight is zero.
    pub(crate) fn len(&self) -> usize {
        self.shape.len()
    }

    /// Returns the parent of a node. `None` for the root.
    pub(crate) fn parent(&self, node: u32) -> Option<u32> {
        self.shape.parent(node)
    }

    /// Returns the total weight of a node, including all nodes below it.
    pub(crate) fn weight(&self, node: u32) -> Weight {
        self.weighed.weight(node)
    }

    /// Returns the live weight of a subtree at the start and at the end of the range of a change.
    pub(crate) fn ends(&self, node: u32) -> Ends {
        self.weighed.ends(node)
    }

    /// Returns the weight of the stacks that end exactly at a node.
    pub(crate) fn self_weight(&self, node: u32) -> Weight {
        self.weighed.self_weight(node)
    }

    /// Returns the child with the lowest id whose weight is nonzero.
    pub(crate) fn first_child(&self, node: u32) -> Option<u32> {
        self.weighed.first_child(node)
    }

    /// Returns the sibling with the next higher id whose weight is nonzero.
    pub(crate) fn next_sibling(&self, node: u32) -> Option<u32> {
        self.weighed.next_sibling(node)
    }

    /// Returns the number of children whose weight is nonzero.
    pub(crate) fn child_count(&self, node: u32) -> u32 {
        self.weighed.child_count(node)
    }

    /// Returns the children whose weight is nonzero, heaviest or most changed first. The lower id wins ties.
    pub(crate) fn children(&self, node: u32) -> Cow<'a, [u32]> {
        self.weighed.children(node)
    }

    /// Returns the node at which the stack of an allocation ends. `None` if the tree does not contain the stack. The
    /// allocation must exist.
    pub(crate) fn node_of(&self, id: AllocationId) -> Option<u32> {
        self.stack_keys
            .number_of(self.data, id)
            .map(|stack_key| self.shape.node_of_stack_key(stack_key))
            .filter(|&node| node != 0)
    }

    /// Returns the kind of code that a node represents. This is cheaper than getting its label.
    pub(crate) fn kind(&self, node: u32) -> NodeKind {
        let Some(frame) = self.frame(node) else { return NodeKind::Note };
        match Sites::code_origin(self.data.snapshot, self.data.snapshot.frames.frame(frame)) {
            CodeOrigin::User => NodeKind::User,
            CodeOrigin::Library => NodeKind::Library,
            CodeOrigin::Native => NodeKind::Native,
        }
    }

    /// Returns the palette slot of a node's call site in the timeline. `None` if the node is not a call site.
    pub(crate) fn slot(&self, node: u32) -> Option<u32> {
        match self.shape.kind(node) {
            NodeContent::Class(class) => self.shape.classes.call_site_group(class).map(Paint::slot_of),
            NodeContent::Special(SpecialNode::NoStack) => Some(Paint::slot_of(0)),
            NodeContent::Special(SpecialNode::Unexplained) => Some(u32::from(Paint::UNEXPLAINED.0) / SHADES),
            NodeContent::Special(_) => None,
        }
    }

    /// Returns an id for the name of a node: its frame class, or the key of a special node. `u32::MAX` for the root.
    /// Nodes with the same id have the same name.
    pub(crate) fn name_id(&self, node: u32) -> u32 {
        self.shape.node_key(node).unwrap_or(u32::MAX)
    }

    pub(crate) fn label(&self, node: u32) -> NodeLabel {
        let snapshot = self.data.snapshot;
        let frame = match self.shape.kind(node) {
            NodeContent::Special(note) => return NodeLabel { name: note.label().to_owned(), ..NodeLabel::default() },
            NodeContent::Class(_) => self.frame(node).map(|frame| snapshot.frames.frame(frame)),
        };
        let Some(frame) = frame else { return NodeLabel::default() };
        let merge = self.shape.arrangement.merge;
        let file = self.text(frame.filename);
        let name = if is_whole_file(snapshot, merge, frame) {
            file.rsplit(['/', '\\']).next().unwrap_or(&file).to_owned()
        } else if self.is_below_hidden(node) {
            site::identifying_word(&self.text(frame.name)).to_owned()
        } else {
            self.text(frame.name)
        };
        let line = if merge == Merge::Line { frame.line.to_string() } else { String::new() };
        NodeLabel { name, file, line, kind: self.kind(node) }
    }

    /// Returns whether a node is below [`SpecialNode::Internal`], which collects stacks with only hidden frames.
    fn is_below_hidden(&self, node: u32) -> bool {
        let mut ancestors = std::iter::successors(self.parent(node), |&node| self.parent(node));
        ancestors.any(|node| self.shape.kind(node) == NodeContent::Special(SpecialNode::Internal))
    }

    fn frame(&self, node: u32) -> Option<FrameId> {
        match self.shape.kind(node) {
            NodeContent::Class(class) => self.shape.classes.first_frame(class),
            NodeContent::Special(_) => None,
        }
    }

    fn text(&self, id: StringId) -> String {
        let bytes = self.data.snapshot.strings.bytes(id);
        match bytes.get(..MAX_TEXT_LEN) {
            Some(beginning) if bytes.len() > MAX_TEXT_LEN => String::from_utf8_lossy(beginning).into_owned() + "…",
            _ => String::from_utf8_lossy(bytes).into_owned(),
        }
    }

    /// Returns the frame classes of a set of frames, as input for [`TreeView::is_in_classes`].
    pub(crate) fn classes(&self, frames: &IdSet) -> IdSet {
        let mut classes = IdSet::with_bound(self.shape.classes.len());
        let ids = std::iter::successors(frames.next_from(0), |&id| frames.next_from(id + 1));
        ids.for_each(|id| classes.insert(self.shape.classes.class_of(FrameId(id))));
        self.shape.classes.stand_in_classes(frames).for_each(|class| classes.insert(class));
        classes
    }

    /// Returns whether a node represents one of these frame classes.
    pub(crate) fn is_in_classes(&self, classes: &IdSet, node: u32) -> bool {
        matches!(self.shape.kind(node), NodeContent::Class(class) if classes.contains(class))
    }
}
