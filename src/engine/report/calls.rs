//! Which frames are torch's own way of calling a module, and which calls repeat something over layers or parameters.

use analysis::Sites;
use hashbrown::HashMap;
use history::snapshot::{FrameId, Snapshot, StackId};

/// What a frame is in the calls of modules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Native,
    /// torch's own code between the caller of a module and its `forward`.
    Call,
    /// What torch wraps a function in: the same as what calls it.
    Wrapper,
    /// A `forward`; a module's, where torch's code called it.
    Forward,
    /// In torch's optimizers or its backward pass: a loop in there is over parameters or operators.
    Library,
    Other,
}

/// `Module.__call__`, in all versions.
const CALL: &str = "torch/nn/modules/module.py";
const CALLS: [&[u8]; 5] = [b"_call_impl", b"_wrapped_call_impl", b"_slow_forward", b"inner", b"__call__"];
/// `torch.compile`, autocast, `no_grad`.
const WRAPPERS: [&str; 3] = ["torch/_dynamo/eval_frame.py", "torch/amp/autocast_mode.py", "torch/utils/_contextlib.py"];

/// Where parameters and operators are gone through.
const LIBRARY: [&str; 2] = ["torch/optim/", "torch/autograd/"];

/// Longer paths are nobody's.
const LONGEST_PATH: usize = 4096;

/// The roles of frames, found once each.
#[derive(Default)]
pub(super) struct Calls {
    roles: HashMap<FrameId, Role, foldhash::fast::RandomState>,
}

impl Calls {
    /// The role of a frame.
    pub(super) fn role(&mut self, snapshot: &Snapshot, frame: FrameId) -> Role {
        *self.roles.entry(frame).or_insert_with(|| role(snapshot, frame))
    }

    /// The Python frames of a stack, outermost first.
    pub(super) fn python(&mut self, snapshot: &Snapshot, stack: StackId) -> Vec<FrameId> {
        let mut frames: Vec<FrameId> = snapshot.stacks.frames(stack).collect();
        frames.retain(|&frame| self.role(snapshot, frame) != Role::Native);
        frames.reverse();
        frames
    }

    /// Whether calls are in a `forward`, an optimizer or the backward pass; so is what has no calls.
    pub(super) fn is_inside(&mut self, snapshot: &Snapshot, calls: &[FrameId]) -> bool {
        let mut roles = calls.iter().map(|&frame| self.role(snapshot, frame));
        calls.is_empty() || roles.any(|role| matches!(role, Role::Library | Role::Forward))
    }
}

fn role(snapshot: &Snapshot, frame: FrameId) -> Role {
    let frame = snapshot.frames.frame(frame);
    let file = snapshot.strings.bytes(frame.filename);
    if file.len() > LONGEST_PATH || Sites::is_native(snapshot, frame.filename) {
        return Role::Native;
    }
    let file = String::from_utf8_lossy(file).replace('\\', "/");
    let name = snapshot.strings.bytes(frame.name);
    // Since Python 3.11 a name may be qualified: `Linear.forward`.
    let name = name.rsplit(|&letter| letter == b'.').next().unwrap_or(name);
    match name {
        _ if file.ends_with(CALL) && CALLS.contains(&name) => Role::Call,
        _ if WRAPPERS.iter().any(|path| file.ends_with(path)) => Role::Wrapper,
        b"forward" => Role::Forward,
        _ if LIBRARY.iter().any(|path| file.contains(path)) => Role::Library,
        _ => Role::Other,
    }
}
