//! Stacks of the backward pass, by the names of their functions.

use analysis::{IdSet, site};
use base::slice::{SliceResult, TimeSlice};
use hashbrown::HashMap;
use history::snapshot::{FrameId, Snapshot, StackId};

/// Functions that run the backward pass.
const FUNCTIONS: [&[u8]; 4] = [b"backward", b"_engine_run_backward", b"run_backward", b"backward_step"];
/// Functions of activation checkpointing that compute activations again during the backward pass.
const RECOMPUTE_FUNCTIONS: [&[u8]; 2] = [b"unpack_hook", b"recompute_fn"];
/// C++ function that runs each node of the autograd graph.
const ENGINE: &[u8] = b"torch::autograd::Engine::";

/// Stacks with a frame of the backward pass.
#[derive(Default)]
pub(super) struct BackwardStacks {
    stacks: IdSet,
    next: usize,
    frames: HashMap<FrameId, bool, foldhash::fast::RandomState>,
}

base::heap_bytes!(BackwardStacks: stacks);

impl BackwardStacks {
    /// Continues examining the stacks until all are examined or the time slice is used up.
    pub(super) fn step(&mut self, snapshot: &Snapshot, slice: &mut TimeSlice) -> SliceResult {
        let count = snapshot.stacks.len();
        if self.next == 0 {
            self.stacks = IdSet::with_bound(count);
        }
        // Callers have lower ids than their callees.
        while let Some(part) = slice.next_range(&mut self.next, count, 2)? {
            for id in part.map(|id| id as u32) {
                let Some((callers, frame)) = snapshot.stacks.innermost(StackId(id)) else { continue };
                if self.stacks.contains(callers.0)
                    || *self.frames.entry(frame).or_insert_with(|| is_backward(snapshot, frame))
                {
                    self.stacks.insert(id);
                }
            }
        }
        Ok(())
    }

    /// Returns true if no stack has a frame of the backward pass.
    pub(super) fn is_empty(&self) -> bool {
        self.stacks.count() == 0
    }

    /// Returns whether a stack has a frame of the backward pass.
    pub(super) fn contains(&self, stack: StackId) -> bool {
        self.stacks.contains(stack.0)
    }
}

fn is_backward(snapshot: &Snapshot, frame: FrameId) -> bool {
    let frame = snapshot.frames.frame(frame);
    let name = snapshot.strings.bytes(frame.name);
    // Since Python 3.11, names may be qualified.
    let function = name.rsplit(|&letter| letter == b'.').next().unwrap_or(name);
    FUNCTIONS.contains(&function)
        || RECOMPUTE_FUNCTIONS.contains(&function)
        || name.starts_with(ENGINE)
        || site::is_backward(snapshot, frame)
}
