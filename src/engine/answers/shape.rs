//! Stacks put together to a tree. It grows with the stems that occur; what is there keeps its number, so that folds, zoom and
//! selection hold at every moment.
//!
//! ```text
//! 0            everything
//! ├ 1          <module> train.py:7            a class of frames
//! │ └ 2        step train.py:31
//! ├ 3          no stack                       a note
//! └ 4          internal frames only           a note: every frame is left out, as in the threads of the backward pass
//!   └ 5        MulBackward0                   the call site, as the legend has it: of C++ the node of autograd
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

/// Nodes of a tree; stacks that need more stand together in a note. Some 30 bytes each.
pub(super) const MOST_NODES: usize = 4_000_000;
/// Frames of a stack: deeper ones stand there too. CPython's own end at a thousand.
const MOST_FRAMES: usize = 4096;

/// A node that is no frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Note {
    Everything,
    /// Bytes that nothing explains.
    Unexplained,
    NoStack,
    /// Born before the trace: the stacks below are of their frees.
    OfFrees,
    /// Stacks of frames that are left out.
    Internal,
    /// Stacks that are too deep, or too many.
    TooMany,
}

/// The notes below the root, in the order of their keys from the top.
const NOTES: [Note; 5] = [Note::Unexplained, Note::NoStack, Note::OfFrees, Note::Internal, Note::TooMany];

impl Note {
    fn key(self) -> u32 {
        u32::MAX - NOTES.iter().position(|note| *note == self).map_or(0, |place| place as u32 + 1)
    }

    /// What it is called.
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

/// What a node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Class(u32),
    /// No frame.
    Note(Note),
}

/// Stacks put together to a tree.
pub(crate) struct Shape {
    pub(super) arrangement: Arrangement,
    pub(super) classes: Classes,
    most_nodes: usize,
    /// Its nodes, with classes of frames and the keys of notes for frames.
    tree: Stacks,
    /// The node of each stem, as far as they were put together.
    of_stem: Vec<u32>,
    /// Outermost first: the node of each stack that was gone through, 0 for others; and how many frames it has.
    of_stack: Vec<(u32, u16)>,
    /// Classes of the stack that is put in.
    path: Vec<(u32, u32)>,
    /// 1 for the frames that are operators, 0 for others, of those that were asked.
    operators: HashMap<FrameId, u32, foldhash::fast::RandomState>,
}

impl Shape {
    pub(super) fn new(arrangement: Arrangement, most_nodes: usize) -> Shape {
        let (classes, tree) = (Classes::default(), Stacks::default());
        let (of_stem, of_stack, path, operators) = Default::default();
        Shape { arrangement, classes, most_nodes, tree, of_stem, of_stack, path, operators }
    }

    /// Puts in the stems it does not have.
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

    /// The node of a stem; `None` where it is too deep or there are too many.
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
        // What is known of the callers: the depth counts all frames of the stack, so that it fits or not whatever was put in before.
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

    /// The node of a stack of which every frame is left out: below a note by its call site and its operator, which inner frames first
    /// turns round.
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

    /// Goes down from a node, with so many frames above and in it, along `path`, whose frames are new or already known; 0 where all of
    /// them are left out.
    fn put_in(&mut self, (mut node, mut depth): (u32, u16), path: &[(u32, u32)], whose: StackOf) -> Option<u32> {
        if whose == StackOf::Free {
            node = self.note(Note::OfFrees)?;
        }
        for &(stack, class) in path {
            // Of one file after another, equal ones are one; a function that calls itself is seen twice.
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

    /// The class of a node's frames, or what stands for it; `None` for the root.
    pub(super) fn key(&self, node: u32) -> Option<u32> {
        self.tree.innermost(StackId(node)).map(|(_, key)| key.0)
    }

    /// What a node is; the root for an unknown node.
    pub(super) fn kind(&self, node: u32) -> Kind {
        let Some(key) = self.key(node) else { return Kind::Note(Note::Everything) };
        let note = (u32::MAX - key).checked_sub(1).and_then(|place| NOTES.get(place as usize));
        note.map_or(Kind::Class(key), |&note| Kind::Note(note))
    }

    /// The parent of a node, whose number is lower; `None` for the root and for an unknown node.
    pub(crate) fn parent(&self, node: u32) -> Option<u32> {
        self.tree.innermost(StackId(node)).map(|(parent, _)| parent.0)
    }

    /// How many nodes there are; numbers are below this.
    pub(crate) fn len(&self) -> usize {
        self.tree.len()
    }

    /// The node of a stem; the root for one that is not put in.
    pub(super) fn of_stem(&self, stem: u32) -> u32 {
        self.of_stem.get(stem as usize).copied().unwrap_or(0)
    }

    pub(super) fn heap_bytes(&self) -> usize {
        let numbers = self.of_stem.capacity() * size_of::<u32>() + self.of_stack.capacity() * size_of::<(u32, u16)>();
        self.classes.heap_bytes() + self.tree.heap_bytes() + numbers
    }
}
