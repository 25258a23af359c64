//! Call sites: the frame of a stack that represents it for the user.
//!
//! The call site is the innermost frame of the user's own code, else the innermost Python frame, else the innermost
//! frame. If a stack has only C++ frames, as in backward threads, the call site is its backward node or operator,
//! because the innermost frames belong to the recorder.

mod words;

use base::column::Column;
use history::python_path::STANDARD_LIBRARY;
use history::snapshot::{Frame, FrameId, Snapshot, StackId, StringId};
use std::fmt::Write;
pub use words::{NO_STACK, NO_STACK_BEFORE_RECORDING, largest_site, listed_site, with_site};

/// Substrings of paths of library code, as opposed to the user's own code.
const LIBRARY_PATHS: [&str; 9] = [
    "/site-packages/torch/",
    "/dist-packages/torch/",
    STANDARD_LIBRARY,
    "site-packages/",
    "dist-packages/",
    "<frozen",
    "torch/csrc",
    "torch/_",
    "<string>",
];

/// Origin of a frame's code: the user, a library, or C++.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CodeOrigin {
    User,
    /// PyTorch, another package, or Python's standard library.
    Library,
    Native,
}

/// Origin of a frame, in ascending order of preference for the call site.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Origin {
    /// C++ frame other than an operator or backward node. Includes frames without a file or name.
    Native,
    /// C++ frame of a PyTorch operator.
    Operator,
    /// C++ frame of a node in the backward graph.
    Backward,
    /// PyTorch, another package, or Python's standard library.
    Library,
    User,
}

/// Maximum length of a path in bytes. Only corrupt files have longer ones, which would take minutes to examine.
const MAX_PATH_LEN: usize = 4096;

fn origin_by_file(snapshot: &Snapshot, file: StringId) -> Origin {
    match snapshot.strings.bytes(file).len() {
        0..=MAX_PATH_LEN => origin(&snapshot.strings.text(file)),
        _ => Origin::Native,
    }
}

fn origin_of(snapshot: &Snapshot, frame: &Frame) -> Origin {
    let by_file = origin_by_file(snapshot, frame.filename);
    if by_file != Origin::Native {
        return by_file;
    }
    if snapshot.strings.bytes(frame.name).len() > MAX_PATH_LEN {
        return Origin::Native;
    }
    identify_native(&snapshot.strings.text(frame.name)).map_or(Origin::Native, |(origin, _)| origin)
}

/// Returns true if autograd runs a backward node in this frame, such as
/// `torch::autograd::generated::MulBackward0::apply(…)`.
pub fn is_backward(snapshot: &Snapshot, frame: &Frame) -> bool {
    origin_of(snapshot, frame) == Origin::Backward
}

/// Returns the origin of a C++ function and the part of its name that identifies a node or operator, such as
/// `MulBackward0` in `torch::autograd::generated::MulBackward0::apply(…)` or `mul_Tensor` in
/// `at::_ops::mul_Tensor::call(…)`.
fn identify_native(name: &str) -> Option<(Origin, &str)> {
    let last_before = |end: &str| name.split_once(end)?.0.rsplit("::").next();
    if name.starts_with("torch::autograd::") {
        return Some((Origin::Backward, last_before("::apply(")?));
    }
    name.strip_prefix("at::_ops::")?.split("::").next().map(|operator| (Origin::Operator, operator))
}

fn origin(filename: &str) -> Origin {
    if filename.contains('\\') {
        // On Windows Python's standard library is in `Lib`, next to the packages.
        let filename = filename.replace('\\', "/");
        return if filename.contains("/Lib/") { Origin::Library } else { origin(&filename) };
    }
    match filename {
        "" | "??" | "none" => Origin::Native,
        name if is_native_file(name) => Origin::Native,
        name if LIBRARY_PATHS.iter().any(|part| name.contains(part)) => Origin::Library,
        _ => Origin::User,
    }
}

/// Extensions of C++ sources, which occur in builds with debug information, and of binaries.
const NATIVE_EXTENSIONS: [&str; 21] = [
    "a", "c", "cc", "cpp", "cu", "cuh", "cxx", "dll", "dylib", "exe", "h", "hh", "hpp", "hxx", "inc", "inl", "o",
    "pyd", "S", "s", "so",
];

/// Returns true if a file is a C++ source or a binary. If there is no debug information, PyTorch names the binary in
/// place of the source file: `libc.so.6`, `libpython3.11.so.1.0`, `/usr/bin/python3.11`.
fn is_native_file(path: &str) -> bool {
    // The kernel marks binaries that were replaced while they ran.
    let path = path.strip_suffix(" (deleted)").unwrap_or(path);
    let (folders, file) = path.rsplit_once('/').unwrap_or(("", path));
    let is_version = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    // Versions of shared libraries follow the extension.
    let (name, version) = file.rsplit_once(".so.").unwrap_or((file, ""));
    let is_library = name.len() < file.len() && is_version(version);
    let has_extension = || {
        let extension = file.rsplit_once('.').map_or("", |(_, extension)| extension);
        NATIVE_EXTENSIONS.contains(&extension)
    };
    let interpreter = || {
        // `d` marks a debug build, `t` a free-threaded one.
        let version = file.strip_prefix("pypy").or(file.strip_prefix("python"))?.trim_end_matches(['d', 't']);
        (is_version(version) && (!version.is_empty() || folders.ends_with("bin"))).then_some(())
    };
    is_library || has_extension() || interpreter().is_some() || matches!(file, "[vdso]" | "[vsyscall]")
}

/// Cache of the call sites of a snapshot's stacks, which are computed on demand.
pub struct Sites {
    /// Origin of each frame, or `None` if not computed yet.
    origins: Vec<Option<Origin>>,
    /// Call site of each stack, as frame id plus one. 0 if not computed yet.
    by_stack: Column<u32>,
}

base::heap_bytes!(Sites: origins, by_stack);

impl Sites {
    /// Creates an empty cache. Frames and stacks are examined on demand, so that no time slice has to examine all of
    /// them.
    pub fn new(snapshot: &Snapshot) -> Sites {
        let by_stack = (0..snapshot.stacks.len()).map(|_| 0).collect();
        Sites { origins: vec![None; snapshot.frames.len()], by_stack }
    }

    /// Returns true if the frame is the user's own code.
    pub fn is_user(snapshot: &Snapshot, frame: &Frame) -> bool {
        origin_of(snapshot, frame) == Origin::User
    }

    /// Returns true if frames with this file are C++.
    pub fn is_native(snapshot: &Snapshot, file: StringId) -> bool {
        origin_by_file(snapshot, file) == Origin::Native
    }

    /// Returns whether a frame's code belongs to the user, to a library, or is C++.
    pub fn code_origin(snapshot: &Snapshot, frame: &Frame) -> CodeOrigin {
        match origin_of(snapshot, frame) {
            Origin::User => CodeOrigin::User,
            Origin::Library => CodeOrigin::Library,
            Origin::Native | Origin::Operator | Origin::Backward => CodeOrigin::Native,
        }
    }

    /// Returns true if a frame is the C++ function of a PyTorch operator.
    pub fn is_operator(snapshot: &Snapshot, frame: FrameId) -> bool {
        origin_of(snapshot, snapshot.frames.frame(frame)) == Origin::Operator
    }

    fn origin(&mut self, snapshot: &Snapshot, frame: FrameId) -> Origin {
        let look = || origin_of(snapshot, snapshot.frames.frame(frame));
        self.origins.get_mut(frame.0 as usize).map_or(Origin::Native, |known| *known.get_or_insert_with(look))
    }

    /// Returns the innermost frame of the user's own code in a stack, or `None`.
    pub fn user_frame(&mut self, snapshot: &Snapshot, stack: StackId) -> Option<FrameId> {
        self.call_site(snapshot, stack).filter(|&frame| self.origin(snapshot, frame) == Origin::User)
    }

    /// Returns the call site of a stack. `None` if the stack has no frames.
    pub fn call_site(&mut self, snapshot: &Snapshot, stack: StackId) -> Option<FrameId> {
        match self.by_stack.get(stack.0 as usize) {
            None => return None,
            Some(0) => {}
            Some(known) => return Some(FrameId(known - 1)),
        }
        let frame = preferred_frame(snapshot, stack, &mut |frame| self.origin(snapshot, frame))?;
        self.by_stack.set(stack.0 as usize, frame.0 + 1);
        Some(frame)
    }
}

/// Returns the call site of a stack without a cache, for the stacks of a few events.
pub fn call_site(snapshot: &Snapshot, stack: StackId) -> Option<FrameId> {
    preferred_frame(snapshot, stack, &mut |frame| origin_of(snapshot, snapshot.frames.frame(frame)))
}

/// Returns the innermost frame with the most preferred origin.
fn preferred_frame(snapshot: &Snapshot, stack: StackId, origin: &mut dyn FnMut(FrameId) -> Origin) -> Option<FrameId> {
    let mut best: Option<(Origin, FrameId)> = None;
    for frame in snapshot.stacks.frames(stack) {
        let origin = origin(frame);
        if best.is_none_or(|(known, _)| origin > known) {
            best = Some((origin, frame));
        }
        if origin == Origin::User {
            break;
        }
    }
    best.map(|(_, frame)| frame)
}

/// Maximum length of a call site in a list row, in bytes. Longer text would not fit on any screen.
const MAX_ROW_LEN: usize = 512;

/// Formats a frame like [`short`], truncated to the maximum length in a list row.
pub fn short_truncated(snapshot: &Snapshot, frame: FrameId) -> String {
    truncated(short(snapshot, snapshot.frames.frame(frame)))
}

/// Truncates a call site to the maximum length in a list row.
pub fn truncated(mut site: String) -> String {
    let mut end = site.len().min(MAX_ROW_LEN);
    while !site.is_char_boundary(end) {
        end -= 1;
    }
    site.truncate(end);
    site
}

/// Formats a frame on one line, such as `train.py:233 train_step`. A C++ frame is shortened to its node or operator.
pub fn short(snapshot: &Snapshot, frame: &Frame) -> String {
    let (mut text, line, name) = parts(snapshot, frame);
    // Writing to a String never fails. Line 0 means no line.
    match line {
        None => {}
        Some(0) => drop(write!(text, " {name}")),
        Some(line) => drop(write!(text, ":{line} {name}")),
    }
    text
}

/// Formats the function of a frame, such as `train.py train_step`: [`short`] without the line.
pub fn function(snapshot: &Snapshot, frame: &Frame) -> String {
    let (mut text, line, name) = parts(snapshot, frame);
    if line.is_some() && !name.is_empty() {
        text.push(' ');
        text.push_str(&name);
    }
    text
}

/// Returns the file name of a frame, or the name of a C++ frame as in [`short`].
pub fn file(snapshot: &Snapshot, frame: &Frame) -> String {
    parts(snapshot, frame).0
}

/// Returns the part of a C++ function's name that identifies the backward node or operator, or the whole name if there
/// is none.
pub fn identifying_word(name: &str) -> &str {
    identify_native(name).map_or(name, |(_, word)| word)
}

/// Returns the three parts of [`short`]: file, line and function. For a C++ frame, the first part is its node, operator
/// or name, and the others are empty. Each text has at most 4096 bytes.
pub fn parts(snapshot: &Snapshot, frame: &Frame) -> (String, Option<i128>, String) {
    let text = |id: StringId| {
        let bytes = snapshot.strings.bytes(id);
        String::from_utf8_lossy(bytes.get(..MAX_PATH_LEN).unwrap_or(bytes)).into_owned()
    };
    let name = text(frame.name);
    if origin_of(snapshot, frame) < Origin::Library {
        let word = identify_native(&name).map_or(&*name, |(_, word)| word).to_owned();
        return (word, None, String::new());
    }
    let file = text(frame.filename);
    let base = file.rsplit(['/', '\\']).next().unwrap_or(&file).to_owned();
    (base, Some(frame.line), name)
}

#[cfg(test)]
#[path = "../../tests/units/analysis/site.rs"]
mod tests;
