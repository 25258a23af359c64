//! Assigns consecutive indices to exported frames. Adds synthetic frames for allocations without a stack.

use analysis::site;
use engine::{Side, tables};
use hashbrown::HashMap;
use history::replay::AllocationId;
use history::snapshot::{FrameId, StackId};
use std::borrow::Cow;

/// Origin of the stack that is exported for an allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum StackOrigin {
    Allocation,
    /// Stack that freed the allocation, because the allocating stack is unknown.
    Free,
    NoStack,
    /// Unexplained bytes: no event or block allocates them.
    Unexplained,
}

impl StackOrigin {
    fn frame(self) -> Option<&'static str> {
        match self {
            StackOrigin::Allocation => None,
            StackOrigin::Free => Some("allocated before recording (stacks of their frees)"),
            StackOrigin::NoStack => Some(site::NO_STACK),
            StackOrigin::Unexplained => Some("unexplained bytes"),
        }
    }
}

/// Stack of an allocation, and where it comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Stack {
    pub(crate) root: StackOrigin,
    pub(crate) id: StackId,
}

impl Stack {
    pub(crate) fn of_allocation(side: Side<'_>, id: AllocationId) -> Stack {
        if side.history.allocations.is_unexplained(id) {
            return Stack { root: StackOrigin::Unexplained, id: StackId::NONE };
        }
        let stack = side.stack(id);
        let root = match side.snapshot().stacks.innermost(stack) {
            None => StackOrigin::NoStack,
            Some(_) if side.is_of_free(id, stack) => StackOrigin::Free,
            Some(_) => StackOrigin::Allocation,
        };
        Stack { root, id: if root == StackOrigin::NoStack { StackId::NONE } else { stack } }
    }
}

/// A frame of an exported stack: a recorded or a synthetic one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Frame {
    /// A synthetic outermost frame that explains the origin of the stack.
    Root(StackOrigin),
    Recorded(FrameId),
}

/// Function, file and line of an exported frame.
pub(crate) struct Texts<'a> {
    pub(crate) name: Cow<'a, str>,
    /// Path of the file. Empty if unknown.
    pub(crate) file: Cow<'a, str>,
    /// Line number. 0 if unknown.
    pub(crate) line: u32,
}

impl Frame {
    pub(crate) fn texts<'a>(self, side: Side<'a>) -> Texts<'a> {
        let snapshot = side.snapshot();
        match self {
            Frame::Root(root) => Texts { name: root.frame().unwrap_or_default().into(), file: Cow::default(), line: 0 },
            Frame::Recorded(id) => Texts {
                name: tables::function(snapshot, id),
                file: tables::file(snapshot, id).unwrap_or_default(),
                line: tables::line(snapshot, id).unwrap_or(0),
            },
        }
    }
}

/// Returns the frames of a stack, outermost first.
pub(crate) fn outermost_first(side: Side<'_>, stack: Stack) -> Vec<Frame> {
    let mut frames: Vec<Frame> = side.snapshot().stacks.frames(stack.id).map(Frame::Recorded).collect();
    frames.extend((stack.root != StackOrigin::Allocation).then_some(Frame::Root(stack.root)));
    frames.reverse();
    frames
}

/// Indices of exported frames, counted from 0.
#[derive(Default)]
pub(crate) struct FrameNumbers {
    numbers: HashMap<Frame, u32, foldhash::fast::RandomState>,
    pub(crate) frames: Vec<Frame>,
}

impl FrameNumbers {
    pub(crate) fn number(&mut self, frame: Frame) -> u32 {
        let next = self.frames.len() as u32;
        let number = *self.numbers.entry(frame).or_insert(next);
        if number == next {
            self.frames.push(frame);
        }
        number
    }
}
