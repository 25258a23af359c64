//! Frames of an export, renumbered, and synthetic frames for allocations without a stack.

use engine::Side;
use hashbrown::HashMap;
use history::replay::AllocationId;
use history::snapshot::{FrameId, StackId};
use std::borrow::Cow;

/// Origin of an allocation's stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Root {
    Own,
    /// Only the stack of its free is known.
    OfFree,
    NoStack,
    /// Bytes without an event or block.
    Unexplained,
}

impl Root {
    fn frame(self) -> Option<&'static str> {
        match self {
            Root::Own => None,
            Root::OfFree => Some("allocated before recording (stacks of their frees)"),
            Root::NoStack => Some("no stack"),
            Root::Unexplained => Some("unexplained bytes"),
        }
    }
}

/// Stack of an allocation with its origin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Stack {
    pub(crate) root: Root,
    pub(crate) id: StackId,
}

impl Stack {
    pub(crate) fn of(side: Side<'_>, id: AllocationId) -> Stack {
        if side.history.allocations.is_unexplained(id) {
            return Stack { root: Root::Unexplained, id: StackId::NONE };
        }
        let stack = side.stack(id);
        let root = match side.snapshot().stacks.innermost(stack) {
            None => Root::NoStack,
            Some(_) if side.is_of_free(id, stack) => Root::OfFree,
            Some(_) => Root::Own,
        };
        Stack { root, id: if root == Root::NoStack { StackId::NONE } else { stack } }
    }
}

/// A frame of an export.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Frame {
    /// A synthetic frame.
    Root(Root),
    Of(FrameId),
}

/// Texts of a frame.
pub(crate) struct Texts<'a> {
    pub(crate) name: Cow<'a, str>,
    /// Empty if there is none.
    pub(crate) file: Cow<'a, str>,
    /// 0 if there is none.
    pub(crate) line: u32,
}

impl Frame {
    pub(crate) fn texts<'a>(self, side: Side<'a>) -> Texts<'a> {
        let snapshot = side.snapshot();
        match self {
            Frame::Root(root) => Texts { name: root.frame().unwrap_or_default().into(), file: Cow::default(), line: 0 },
            Frame::Of(id) => {
                let frame = snapshot.frames.frame(id);
                let file = snapshot.strings.text(frame.filename);
                // PyTorch writes these for C++ frames without debug information.
                let is_known = !matches!(&*file, "??" | "none");
                Texts {
                    name: snapshot.strings.text(frame.name),
                    file: if is_known { file } else { Cow::default() },
                    // Files contain 2^64 − 1 for unknown lines.
                    line: u32::try_from(frame.line).ok().filter(|&line| line <= i32::MAX as u32).unwrap_or(0),
                }
            }
        }
    }
}

/// Returns the frames of a stack, outermost first.
pub(crate) fn outermost_first(side: Side<'_>, stack: Stack) -> Vec<Frame> {
    let mut frames: Vec<Frame> = side.snapshot().stacks.frames(stack.id).map(Frame::Of).collect();
    frames.extend((stack.root != Root::Own).then_some(Frame::Root(stack.root)));
    frames.reverse();
    frames
}

/// Numbers of the frames that occur, starting at 0.
#[derive(Default)]
pub(crate) struct Numbered {
    numbers: HashMap<Frame, u32, foldhash::fast::RandomState>,
    pub(crate) frames: Vec<Frame>,
}

impl Numbered {
    pub(crate) fn number(&mut self, frame: Frame) -> u32 {
        let next = self.frames.len() as u32;
        let number = *self.numbers.entry(frame).or_insert(next);
        if number == next {
            self.frames.push(frame);
        }
        number
    }
}
