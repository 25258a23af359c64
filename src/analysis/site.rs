//! Call sites: which frame of a stack is the one its reader looks for.
//!
//! The site of a stack is its innermost frame of the user's own code; without one, the innermost Python frame; without that, the
//! innermost frame. A stack of C++ alone (the threads of the backward pass have no Python) is told by the step of the backward
//! pass, or else by the operator: its innermost frames are those of the recording itself.

use base::column::Column;
use history::snapshot::{Frame, FrameId, Snapshot, StackId, StringId};
use std::fmt::Write;

/// Parts of a file name that say: not the user's own code.
const LIBRARY_PATHS: [&str; 9] = [
    "/site-packages/torch/",
    "/dist-packages/torch/",
    "/lib/python3",
    "site-packages/",
    "dist-packages/",
    "<frozen",
    "torch/csrc",
    "torch/_",
    "<string>",
];

/// Whose code a frame is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whose {
    User,
    /// torch's, another package's, or Python's own.
    Library,
    Native,
}

/// What a frame's file tells of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Origin {
    /// No file, or one without a name: C++.
    Native,
    /// C++: an operator of torch.
    Operator,
    /// C++: a step of the backward pass.
    Backward,
    /// torch, another package, or Python's own library.
    Library,
    User,
}

/// No file system has a longer path; looking through a megabyte for every frame of a stack takes minutes.
const LONGEST_PATH: usize = 4096;

fn origin_by_file(snapshot: &Snapshot, file: StringId) -> Origin {
    match snapshot.strings.bytes(file).len() {
        0..=LONGEST_PATH => origin(&snapshot.strings.text(file)),
        _ => Origin::Native,
    }
}

fn origin_of(snapshot: &Snapshot, frame: &Frame) -> Origin {
    let by_file = origin_by_file(snapshot, frame.filename);
    if by_file != Origin::Native {
        return by_file;
    }
    let name = snapshot.strings.text(frame.name);
    match told_by(&name) {
        _ if name.len() > LONGEST_PATH => Origin::Native,
        Some((told, _)) => told,
        None => Origin::Native,
    }
}

/// Whether a frame is a step of the backward pass, as autograd runs it: `torch::autograd::generated::MulBackward0::apply(…)`.
pub fn is_backward(snapshot: &Snapshot, frame: &Frame) -> bool {
    origin_of(snapshot, frame) == Origin::Backward
}

/// What a C++ function's name tells, and in which word: `torch::autograd::generated::MulBackward0::apply(…)`, `at::_ops::mul_Tensor::call(…)`.
fn told_by(name: &str) -> Option<(Origin, &str)> {
    let last_before = |end: &str| name.split_once(end)?.0.rsplit("::").next();
    if name.starts_with("torch::autograd::") {
        return Some((Origin::Backward, last_before("::apply(")?));
    }
    name.strip_prefix("at::_ops::")?.split("::").next().map(|operator| (Origin::Operator, operator))
}

fn origin(filename: &str) -> Origin {
    if filename.contains('\\') {
        // On Windows, where Python's own library is in `Lib`, beside the packages.
        let filename = filename.replace('\\', "/");
        return if filename.contains("/Lib/") { Origin::Library } else { origin(&filename) };
    }
    match filename {
        "" | "??" | "none" => Origin::Native,
        name if LIBRARY_PATHS.iter().any(|part| name.contains(part)) => Origin::Library,
        name if name.ends_with(".py") || name.starts_with("<ipython") || name.starts_with("/tmp/ipykernel") => {
            Origin::User
        }
        // A C++ source file, where the build had debug information.
        name if [".cpp", ".cc", ".cu", ".c", ".h", ".cuh", ".hpp", ".S", ".o", ".so"]
            .iter()
            .any(|end| name.ends_with(end)) =>
        {
            Origin::Native
        }
        _ => Origin::User,
    }
}

/// The sites of a snapshot's stacks.
pub struct Sites {
    /// By frame; `None` where not asked yet.
    origins: Vec<Option<Origin>>,
    /// By stack: the frame plus one, 0 where not asked yet.
    of_stack: Column<u32>,
}

impl Sites {
    /// Nothing looked at yet: frames and stacks are when asked for, so that no slice has to look at all.
    pub fn new(snapshot: &Snapshot) -> Sites {
        let of_stack = (0..snapshot.stacks.len()).map(|_| 0).collect();
        Sites { origins: vec![None; snapshot.frames.len()], of_stack }
    }

    /// Bytes on the heap.
    pub fn heap_bytes(&self) -> usize {
        self.origins.capacity() + self.of_stack.heap_bytes()
    }

    /// Whether the frame is the user's own code.
    pub fn is_user(snapshot: &Snapshot, frame: &Frame) -> bool {
        origin_of(snapshot, frame) == Origin::User
    }

    /// Whether the frames of a file are C++, whatever they are called.
    pub fn is_native(snapshot: &Snapshot, file: StringId) -> bool {
        origin_by_file(snapshot, file) == Origin::Native
    }

    /// Whose code a frame is.
    pub fn whose(snapshot: &Snapshot, frame: &Frame) -> Whose {
        match origin_of(snapshot, frame) {
            Origin::User => Whose::User,
            Origin::Library => Whose::Library,
            Origin::Native | Origin::Operator | Origin::Backward => Whose::Native,
        }
    }

    /// Whether a frame is the C++ of an operator of torch.
    pub fn is_operator(snapshot: &Snapshot, frame: FrameId) -> bool {
        origin_of(snapshot, snapshot.frames.frame(frame)) == Origin::Operator
    }

    fn origin(&mut self, snapshot: &Snapshot, frame: FrameId) -> Origin {
        let look = || origin_of(snapshot, snapshot.frames.frame(frame));
        self.origins.get_mut(frame.0 as usize).map_or(Origin::Native, |known| *known.get_or_insert_with(look))
    }

    /// The innermost frame of the user's own code in a stack, if it has one.
    pub fn of_user(&mut self, snapshot: &Snapshot, stack: StackId) -> Option<FrameId> {
        self.of(snapshot, stack).filter(|&frame| self.origin(snapshot, frame) == Origin::User)
    }

    /// The site of a stack; `None` for one without frames.
    pub fn of(&mut self, snapshot: &Snapshot, stack: StackId) -> Option<FrameId> {
        match self.of_stack.get(stack.0 as usize) {
            None => return None,
            Some(0) => {}
            Some(known) => return Some(FrameId(known - 1)),
        }
        let mut best: Option<(Origin, FrameId)> = None;
        for frame in snapshot.stacks.frames(stack) {
            let origin = self.origin(snapshot, frame);
            if best.is_none_or(|(known, _)| origin > known) {
                best = Some((origin, frame));
            }
            if origin == Origin::User {
                break;
            }
        }
        let (_, frame) = best?;
        self.of_stack.set(stack.0 as usize, frame.0 + 1);
        Some(frame)
    }
}

/// Bytes of a call site in a row of a list: more than any screen is wide.
const LONGEST_IN_ROW: usize = 512;

/// [`short`], for the row of a list: cut off where no screen reaches.
pub fn in_row(snapshot: &Snapshot, frame: FrameId) -> String {
    let mut site = short(snapshot, snapshot.frames.frame(frame));
    let mut end = site.len().min(LONGEST_IN_ROW);
    while !site.is_char_boundary(end) {
        end -= 1;
    }
    site.truncate(end);
    site
}

/// A frame on one line: `train.py:233 train_step`; a C++ frame is its name, or the word of it that tells.
pub fn short(snapshot: &Snapshot, frame: &Frame) -> String {
    let (mut text, line, name) = parts(snapshot, frame);
    // Writing to a String never fails. Line 0 is none.
    match line {
        None => {}
        Some(0) => drop(write!(text, " {name}")),
        Some(line) => drop(write!(text, ":{line} {name}")),
    }
    text
}

/// The word of a C++ function's name that tells which step of the backward pass or which operator it is; of any other the whole name.
pub fn word(name: &str) -> &str {
    told_by(name).map_or(name, |(_, word)| word)
}

/// The parts of [`short`]: file, line and function; of a C++ frame the name alone. No part has more than 4096 bytes.
pub fn parts(snapshot: &Snapshot, frame: &Frame) -> (String, Option<i128>, String) {
    let text = |id: StringId| {
        let bytes = snapshot.strings.bytes(id);
        String::from_utf8_lossy(bytes.get(..LONGEST_PATH).unwrap_or(bytes)).into_owned()
    };
    let name = text(frame.name);
    if origin_of(snapshot, frame) < Origin::Library {
        let word = told_by(&name).map_or(&*name, |(_, word)| word).to_owned();
        return (word, None, String::new());
    }
    let file = text(frame.filename);
    let base = file.rsplit(['/', '\\']).next().unwrap_or(&file).to_owned();
    (base, Some(frame.line), name)
}

#[cfg(test)]
#[path = "../../tests/units/analysis/site.rs"]
mod tests;
