//! A weighed tree, as those who show it are lent it.

use super::classes::is_file;
use super::shape::{Kind, Note, Shape};
use super::stems::Stems;
use super::weighed::Weighed;
use crate::device::Open;
use crate::protocol::{Ends, Merge, NodeKind, NodeLabel, Weight};
use analysis::{IdSet, Sites, Whose, site};
use history::replay::AllocationId;
use history::snapshot::{FrameId, StringId};
use picture::timeline::Paint;
use picture::timeline::paint::SHADES;
use std::borrow::Cow;

/// Bytes of a name or a path that are sent: a file may have megabytes in one.
const LONGEST_TEXT: usize = 4000;

/// A weighed tree. Nodes are numbered by the shape: 0 is the root, parents have lower numbers than their children.
#[derive(Clone, Copy)]
pub(crate) struct TreeView<'a> {
    open: Open<'a>,
    stems: &'a Stems,
    shape: &'a Shape,
    weighed: &'a Weighed,
}

impl<'a> TreeView<'a> {
    pub(super) fn new(open: Open<'a>, stems: &'a Stems, shape: &'a Shape, weighed: &'a Weighed) -> TreeView<'a> {
        TreeView { open, stems, shape, weighed }
    }

    /// How many nodes there are; numbers are below this. Not all of them weigh anything.
    pub(crate) fn len(&self) -> usize {
        self.shape.len()
    }

    /// The parent of a node; `None` for the root.
    pub(crate) fn parent(&self, node: u32) -> Option<u32> {
        self.shape.parent(node)
    }

    /// What is in a node and below it; nothing for an unknown node.
    pub(crate) fn weight(&self, node: u32) -> Weight {
        self.weighed.weight(node)
    }

    /// What is live in a node and below it at both ends of a change.
    pub(crate) fn ends(&self, node: u32) -> Ends {
        self.weighed.ends(node)
    }

    /// What has no frame beyond a node.
    pub(crate) fn own(&self, node: u32) -> Weight {
        self.weighed.own(node)
    }

    /// The first of its children that weigh anything, by number; `None` where there are none.
    pub(crate) fn first_child(&self, node: u32) -> Option<u32> {
        self.weighed.first_child(node)
    }

    /// The child of the same parent that comes after this one, by number.
    pub(crate) fn next_child(&self, node: u32) -> Option<u32> {
        self.weighed.next_child(node)
    }

    /// How many children weigh anything.
    pub(crate) fn child_count(&self, node: u32) -> u32 {
        self.weighed.child_count(node)
    }

    /// Those, heaviest or most changed first; of equal ones that with the lower number.
    pub(crate) fn children(&self, node: u32) -> Cow<'a, [u32]> {
        self.weighed.children(node)
    }

    /// The node at which the stack of an allocation (which there must be) ends; `None` where that has not occurred.
    pub(crate) fn node_of(&self, id: AllocationId) -> Option<u32> {
        self.stems.of(self.open, id).map(|stem| self.shape.of_stem(stem)).filter(|&node| node != 0)
    }

    /// Whose code a node is, without its words.
    pub(crate) fn kind(&self, node: u32) -> NodeKind {
        let Some(frame) = self.frame(node) else { return NodeKind::Note };
        match Sites::whose(self.open.snapshot, self.open.snapshot.frames.frame(frame)) {
            Whose::User => NodeKind::User,
            Whose::Library => NodeKind::Library,
            Whose::Native => NodeKind::Native,
        }
    }

    /// The slot of the palette in which the timeline paints what is made at a node; `None` where it is no call site.
    pub(crate) fn slot(&self, node: u32) -> Option<u32> {
        match self.shape.kind(node) {
            Kind::Class(class) => self.shape.classes.site(class).map(Paint::slot_of),
            Kind::Note(Note::NoStack) => Some(Paint::slot_of(0)),
            Kind::Note(Note::Unexplained) => Some(u32::from(Paint::UNEXPLAINED.0) / SHADES),
            Kind::Note(_) => None,
        }
    }

    /// The same number for all nodes that are called the same, and another for all others.
    pub(crate) fn name(&self, node: u32) -> u32 {
        self.shape.key(node).unwrap_or(u32::MAX)
    }

    /// What a node is called.
    pub(crate) fn label(&self, node: u32) -> NodeLabel {
        let snapshot = self.open.snapshot;
        let frame = match self.shape.kind(node) {
            Kind::Note(note) => return NodeLabel { name: note.text().to_owned(), ..NodeLabel::default() },
            Kind::Class(_) => self.frame(node).map(|frame| snapshot.frames.frame(frame)),
        };
        let Some(frame) = frame else { return NodeLabel::default() };
        let merge = self.shape.arrangement.merge;
        let file = self.text(frame.filename);
        let name = if is_file(snapshot, merge, frame) {
            file.rsplit(['/', '\\']).next().unwrap_or(&file).to_owned()
        } else if self.is_named(node) {
            site::word(&self.text(frame.name)).to_owned()
        } else {
            self.text(frame.name)
        };
        let line = if merge == Merge::Line { frame.line.to_string() } else { String::new() };
        NodeLabel { name, file, line, kind: self.kind(node) }
    }

    /// Whether a node names stacks of which every frame is left out.
    fn is_named(&self, node: u32) -> bool {
        let mut above = std::iter::successors(self.parent(node), |&at| self.parent(at));
        above.any(|at| self.shape.kind(at) == Kind::Note(Note::Internal))
    }

    fn frame(&self, node: u32) -> Option<FrameId> {
        match self.shape.kind(node) {
            Kind::Class(class) => self.shape.classes.example(class),
            Kind::Note(_) => None,
        }
    }

    fn text(&self, id: StringId) -> String {
        let bytes = self.open.snapshot.strings.bytes(id);
        match bytes.get(..LONGEST_TEXT) {
            Some(beginning) if bytes.len() > LONGEST_TEXT => String::from_utf8_lossy(beginning).into_owned() + "…",
            _ => String::from_utf8_lossy(bytes).into_owned(),
        }
    }

    /// The classes of some frames: what nodes are asked for by [`TreeView::is_of`].
    pub(crate) fn classes(&self, frames: &IdSet) -> IdSet {
        let mut classes = IdSet::below(self.shape.classes.len());
        let ids = std::iter::successors(frames.next_from(0), |&id| frames.next_from(id + 1));
        ids.for_each(|id| classes.insert(self.shape.classes.of(FrameId(id))));
        self.shape.classes.named(frames).for_each(|class| classes.insert(class));
        classes
    }

    /// Whether a node's frame is of one of these classes.
    pub(crate) fn is_of(&self, classes: &IdSet, node: u32) -> bool {
        matches!(self.shape.kind(node), Kind::Class(class) if classes.contains(class))
    }
}
