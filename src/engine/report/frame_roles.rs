//! Roles of Python frames in calls of `nn.Module`: PyTorch's wrappers, `forward` methods, optimizer and backward code,
//! and functions that construct a model.

use analysis::Sites;
use hashbrown::HashMap;
use history::snapshot::{FrameId, Snapshot, StackId};

/// Role of a frame in the chain of module calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Native,
    /// PyTorch's own code between the caller of a module and the module's `forward`.
    ModuleCall,
    /// A function wrapper of PyTorch, such as `torch.compile`. It is ignored in the chain of calls.
    Wrapper,
    /// A `forward` method. It belongs to a module if it is called by a [`Role::ModuleCall`] frame.
    Forward,
    /// Code of PyTorch's optimizers or backward pass, which loops over parameters or operators.
    Library,
    /// A function that constructs or loads a model.
    Setup,
    Other,
}

/// File that defines `Module.__call__`. The path is the same in all PyTorch versions.
const MODULE_FILE: &str = "torch/nn/modules/module.py";
const MODULE_CALL_FUNCTIONS: [&[u8]; 5] =
    [b"_call_impl", b"_wrapped_call_impl", b"_slow_forward", b"inner", b"__call__"];
/// Files with PyTorch's function wrappers: `torch.compile`, autocast and `no_grad`.
const WRAPPER_FILES: [&str; 3] =
    ["torch/_dynamo/eval_frame.py", "torch/amp/autocast_mode.py", "torch/utils/_contextlib.py"];

/// Functions that construct or load a model.
const SETUP_FUNCTIONS: [&[u8]; 9] = [
    b"__init__",
    b"from_pretrained",
    b"load_state_dict",
    b"load_model",
    b"load_weights",
    b"create_weights",
    b"reset_parameters",
    b"_apply",
    b"to_empty",
];

/// Paths of PyTorch code that loops over parameters or operators.
const LIBRARY_PATHS: [&str; 2] = ["torch/optim/", "torch/autograd/"];

/// Maximum length of a path in bytes. Frames with longer paths are treated as native.
const MAX_PATH_LEN: usize = 4096;

/// Determines the roles of frames and caches them.
#[derive(Default)]
pub(super) struct FrameRoles {
    roles: HashMap<FrameId, Role, foldhash::fast::RandomState>,
}

impl FrameRoles {
    /// Returns the role of a frame. The result is cached.
    pub(super) fn classify(&mut self, snapshot: &Snapshot, frame: FrameId) -> Role {
        *self.roles.entry(frame).or_insert_with(|| role(snapshot, frame))
    }

    /// Returns the Python frames of a stack, outermost first.
    pub(super) fn python_frames(&mut self, snapshot: &Snapshot, stack: StackId) -> Vec<FrameId> {
        let mut frames: Vec<FrameId> = snapshot.stacks.frames(stack).collect();
        frames.retain(|&frame| self.classify(snapshot, frame) != Role::Native);
        frames.reverse();
        frames
    }

    /// Returns whether one of the frames is a `forward` method or code of an optimizer or the backward pass. Also
    /// returns true if there are no frames.
    pub(super) fn is_inside(&mut self, snapshot: &Snapshot, calls: &[FrameId]) -> bool {
        let mut roles = calls.iter().map(|&frame| self.classify(snapshot, frame));
        calls.is_empty() || roles.any(|role| matches!(role, Role::Library | Role::Forward))
    }

    /// Returns whether one of the frames constructs or loads a model.
    pub(super) fn is_setup(&mut self, snapshot: &Snapshot, calls: &[FrameId]) -> bool {
        calls.iter().any(|&frame| self.classify(snapshot, frame) == Role::Setup)
    }
}

fn role(snapshot: &Snapshot, frame: FrameId) -> Role {
    let frame = snapshot.frames.frame(frame);
    let file = snapshot.strings.bytes(frame.filename);
    if file.len() > MAX_PATH_LEN || Sites::is_native(snapshot, frame.filename) {
        return Role::Native;
    }
    let file = String::from_utf8_lossy(file).replace('\\', "/");
    let name = snapshot.strings.bytes(frame.name);
    // Since Python 3.11, names may be qualified: `Linear.forward`.
    let name = name.rsplit(|&letter| letter == b'.').next().unwrap_or(name);
    match name {
        _ if file.ends_with(MODULE_FILE) && MODULE_CALL_FUNCTIONS.contains(&name) => Role::ModuleCall,
        _ if WRAPPER_FILES.iter().any(|path| file.ends_with(path)) => Role::Wrapper,
        b"forward" => Role::Forward,
        _ if LIBRARY_PATHS.iter().any(|path| file.contains(path)) => Role::Library,
        _ if SETUP_FUNCTIONS.contains(&name) => Role::Setup,
        _ => Role::Other,
    }
}
