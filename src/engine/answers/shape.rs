//! A tree built from stacks. It grows as stems occur. Existing nodes keep their numbers, so folding, zoom and selection
//! stay valid at every moment.
//!
//! ```text
//! 0            everything
//! ├ 1          <module> train.py:7            a class of frames
//! │ └ 2        step train.py:31
//! ├ 3          no stack                       a note
//! └ 4          internal frames only           a note: all frames are hidden, as in the threads of the backward pass
//!   └ 5        MulBackward0                   the call site, as in the legend: the autograd node for C++
//!     └ 6      mul_Tensor                     the operator
//! ```

use super::classes::{Classes, LEFT_OUT};
use super::stems::{StackOf, Stem, Stems};
use crate::device::Open;
use crate::protocol::{Arrangement, Merge, Root};
use analysis::{InternalRules, Sites};
use base::slice::{Slice, Sliced};
use hashbrown::HashMap;
use history::snapshot::{FrameId, StackId, Stacks};

/// Maximum number of nodes of a tree, some 30 bytes each. Stacks that need more are collected under a note.
pub(super) const MOST_NODES: usize = 4_000_000;
/// Maximum number of frames of a stack. Deeper stacks are collected under the same note. CPython's own stacks end at a
/// thousand frames.
const MOST_FRAMES: usize = 4096;

/// A node that does not stand for a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Note {
    Everything,
    /// Bytes that no recorded allocation explains.
    Unexplained,
    NoStack,
    /// Allocated before recording. The stacks below are those of the frees.
    OfFrees,
    /// Stacks whose frames are all hidden.
    Internal,
    /// Stacks that are too deep, or that no longer fit into the tree.
    TooMany,
}

/// Notes below the root. Their keys count down from `u32::MAX - 1` in this order.
const NOTES: [Note; 5] = [Note::Unexplained, Note::NoStack, Note::OfFrees, Note::Internal, Note::TooMany];

impl Note {
    fn key(self) -> u32 {
        u32::MAX - NOTES.iter().position(|note| *note == self).map_or(0, |place| place as u32 + 1)
    }

    /// Returns the label shown for the note.
    pub(super) fn text(self) -> &'static str {
        match self {
            Note::Everything => "all allocations",
            Note::Unexplained => "unexplained bytes",
            Note::NoStack => "no stack",
            Note::OfFrees => "allocated before recording (stacks of their frees)",
            Note::Internal => "internal frames only",
            Note::TooMany => "truncated: too deep, or too many stacks",
        }
    }
}

/// Content of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Class(u32),
    Note(Note),
}

/// A tree built from stacks, for one arrangement.
pub(crate) struct Shape {
    pub(super) arrangement: Arrangement,
    pub(super) classes: Classes,
    most_nodes: usize,
    /// The nodes, stored as stacks whose frames are classes or the keys of notes.
    tree: Stacks,
    /// By stem: its node, for the stems added so far.
    of_stem: Vec<u32>,
    /// By stack: its node, 0 if not added yet, and its number of frames. Filled only if outermost frames come first.
    of_stack: Vec<(u32, u16)>,
    /// Scratch buffer: stack and class of each frame of the stack being added.
    path: Vec<(u32, u32)>,
    /// Cache by frame: 1 if it is an operator, else 0.
    operators: HashMap<FrameId, u32, foldhash::fast::RandomState>,
}

impl Shape {
    pub(super) fn new(arrangement: Arrangement, most_nodes: usize) -> Shape {
        let (classes, tree) = (Classes::default(), Stacks::default());
        let (of_stem, of_stack, path, operators) = Default::default();
        Shape { arrangement, classes, most_nodes, tree, of_stem, of_stack, path, operators }
    }

    /// Adds the missing stems.
    pub(super) fn grow(&mut self, open: Open<'_>, stems: &Stems, rules: &InternalRules, slice: &mut Slice) -> Sliced {
        self.classes.step(open, self.arrangement, rules, slice)?;
        let mut next = self.of_stem.len();
        // Some stacks are thousands of frames long.
        while let Some(part) = slice.part(&mut next, stems.len(), 256)? {
            for stem in part {
                let node = self.put(open, stems.at(stem as u32)).or_else(|| self.note(Note::TooMany));
                self.of_stem.push(node.unwrap_or(0));
            }
        }
        Ok(())
    }

    fn note(&mut self, note: Note) -> Option<u32> {
        self.tree.child(0, note.key())
    }

    /// Returns the node of a stem, which is added if needed. `None` if the stack is too deep or the tree is full.
    fn put(&mut self, open: Open<'_>, stem: Stem) -> Option<u32> {
        let (stack, whose) = match stem {
            Stem::Unexplained => return self.note(Note::Unexplained),
            Stem::NoStack => return self.note(Note::NoStack),
            Stem::Of(stack, whose) => (stack, whose),
        };
        let outermost_first = self.arrangement.root == Root::Outermost;
        let remembers = outermost_first && whose == StackOf::Alloc;
        if remembers && self.of_stack.is_empty() {
            self.of_stack = vec![(0, 0); open.snapshot.stacks.len()];
        }
        let mut path = std::mem::take(&mut self.path);
        path.clear();
        // Node and depth of the callers, if known. The depth counts all frames, so the limit does not depend on the
        // order of insertion.
        let mut known = (0, 0);
        let mut at = stack;
        while let Some((callers, frame)) = open.snapshot.stacks.innermost(at) {
            known = self.of_stack.get(at.0 as usize).copied().filter(|_| remembers).unwrap_or_default();
            if known.0 != 0 || path.len() > MOST_FRAMES {
                break;
            }
            path.push((at.0, self.classes.of(frame)));
            at = callers;
        }
        if outermost_first {
            path.reverse();
        }
        let fits = usize::from(known.1) + path.len() <= MOST_FRAMES
            && self.tree.len() + path.len() + NOTES.len() < self.most_nodes;
        let put = if fits { self.put_in(known, &path, whose) } else { None };
        self.path = path;
        if put == Some(0) { self.put_by_names(open, stack) } else { put }
    }

    /// Returns the node of a stack whose frames are all hidden: below a note, by call site and operator. The two are
    /// swapped if innermost frames come first.
    fn put_by_names(&mut self, open: Open<'_>, stack: StackId) -> Option<u32> {
        let note = self.note(Note::Internal)?;
        let (site, frame) = open.groups.call_site_of(stack);
        let snapshot = open.snapshot;
        let is_operator = |frame: &FrameId| {
            *self.operators.entry(*frame).or_insert_with(|| Sites::is_operator(snapshot, *frame).into()) == 1
        };
        let operator =
            snapshot.stacks.frames(stack).take(MOST_FRAMES).find(is_operator).filter(|&it| Some(it) != frame);
        let mut names = [frame.map(|frame| (frame, site)), operator.map(|frame| (frame, 0))];
        if self.arrangement.root == Root::Innermost {
            names.reverse();
        }
        let mut node = note;
        for (frame, site) in names.into_iter().flatten() {
            let class = self.classes.naming(snapshot, self.arrangement.merge, frame, site)?;
            if self.key(node) != Some(class) && self.tree.len() + NOTES.len() < self.most_nodes {
                node = self.tree.child(node, class)?;
            }
        }
        Some(node)
    }

    /// Adds `path` below a node that has `depth` frames above and in it. Returns the last node, or 0 if all frames are
    /// hidden.
    fn put_in(&mut self, (mut node, mut depth): (u32, u16), path: &[(u32, u32)], whose: StackOf) -> Option<u32> {
        if whose == StackOf::Free {
            node = self.note(Note::OfFrees)?;
        }
        for &(stack, class) in path {
            // Consecutive frames of one file share a node. A recursive function gets a node for each call.
            let repeats = self.arrangement.merge == Merge::File && self.key(node) == Some(class);
            if class != LEFT_OUT && !repeats {
                node = self.tree.child(node, class)?;
            }
            depth += 1;
            if whose == StackOf::Alloc
                && let Some(known) = self.of_stack.get_mut(stack as usize)
            {
                *known = (node, depth);
            }
        }
        Some(node)
    }

    /// Returns the class of a node's frames, or the key of its note. `None` for the root.
    pub(super) fn key(&self, node: u32) -> Option<u32> {
        self.tree.innermost(StackId(node)).map(|(_, key)| key.0)
    }

    /// Returns the content of a node. An unknown node counts as the root.
    pub(super) fn kind(&self, node: u32) -> Kind {
        let Some(key) = self.key(node) else { return Kind::Note(Note::Everything) };
        let note = (u32::MAX - key).checked_sub(1).and_then(|place| NOTES.get(place as usize));
        note.map_or(Kind::Class(key), |&note| Kind::Note(note))
    }

    /// Returns the parent of a node, which has a lower number. `None` for the root and for an unknown node.
    pub(crate) fn parent(&self, node: u32) -> Option<u32> {
        self.tree.innermost(StackId(node)).map(|(parent, _)| parent.0)
    }

    /// Returns the number of nodes. Node numbers are below it.
    pub(crate) fn len(&self) -> usize {
        self.tree.len()
    }

    /// Returns the node of a stem, or the root if the stem was not added.
    pub(super) fn of_stem(&self, stem: u32) -> u32 {
        self.of_stem.get(stem as usize).copied().unwrap_or(0)
    }

    pub(super) fn heap_bytes(&self) -> usize {
        let numbers = self.of_stem.capacity() * size_of::<u32>() + self.of_stack.capacity() * size_of::<(u32, u16)>();
        self.classes.heap_bytes() + self.tree.heap_bytes() + numbers
    }
}
