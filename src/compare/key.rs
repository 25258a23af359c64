//! What two files have in common: the keys that allocations are compared by, from strict to loose.

use serde::{Deserialize, Serialize};

/// By what allocations of two files are held to be alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Key {
    /// Every frame: file, line and function.
    Stack,
    /// The Python frames; a stack without any by its operator.
    PythonFrames,
    /// The same without lines.
    NoLines,
    /// The same without folders either.
    NoFolders,
    /// The call site: file name, line and function.
    CallSite,
    Category,
    /// The innermost annotation around the allocation.
    Annotation,
    /// The `nn.Module` that allocates.
    Module,
    /// The pool of the allocator.
    Pool,
}

impl Key {
    /// All of them; those that are tried automatically come first, the strictest before the looser.
    pub const ALL: [Key; 9] = [
        Key::Stack,
        Key::PythonFrames,
        Key::NoLines,
        Key::NoFolders,
        Key::CallSite,
        Key::Category,
        Key::Annotation,
        Key::Module,
        Key::Pool,
    ];
    /// Those that are tried automatically to sum up what is live.
    pub const AUTOMATIC: [Key; 6] =
        [Key::Stack, Key::PythonFrames, Key::NoLines, Key::NoFolders, Key::CallSite, Key::Category];
    /// Those that are tried to pair allocations.
    pub const LADDER: [Key; 5] = [Key::Stack, Key::PythonFrames, Key::NoLines, Key::NoFolders, Key::CallSite];

    /// As the command line and JSON have it.
    pub fn name(self) -> &'static str {
        match self {
            Key::Stack => "stack",
            Key::PythonFrames => "python-frames",
            Key::NoLines => "no-lines",
            Key::NoFolders => "no-folders",
            Key::CallSite => "call-site",
            Key::Category => "category",
            Key::Annotation => "annotation",
            Key::Module => "module",
            Key::Pool => "pool",
        }
    }

    /// For people.
    pub fn title(self) -> &'static str {
        match self {
            Key::Stack => "call stack",
            Key::PythonFrames => "Python frames",
            Key::NoLines => "Python frames without lines",
            Key::NoFolders => "Python frames without lines and folders",
            Key::CallSite => "call site",
            Key::Category => "category",
            Key::Annotation => "annotation",
            Key::Module => "module",
            Key::Pool => "pool",
        }
    }
}
