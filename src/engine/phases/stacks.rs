//! Phases of stacks: forward passes and optimizer steps, by the names of their functions. If a stack has frames of
//! both, the innermost one decides: an optimizer may call a closure that runs the forward pass.

use base::column::Column;
use base::slice::{SliceResult, TimeSlice};
use hashbrown::HashMap;
use history::snapshot::{FrameId, Snapshot, StackId};
use protocol::StepPhase;

/// Functions of a module call. The others are methods of `nn.Module`.
const MODULE_FUNCTIONS: [&[u8]; 4] = [b"forward", b"_call_impl", b"_wrapped_call_impl", b"_slow_forward"];
/// Folders with optimizers: of PyTorch, Apex, Megatron, bitsandbytes and DeepSpeed.
const OPTIMIZER_FOLDERS: [&str; 4] = ["optim", "optimizer", "optimizers", "deepspeed"];
/// File whose function `wrapper` calls the `step` of every optimizer.
const HOOKS_FILE: &str = "torch/optim/optimizer.py";
/// Maximum length of a path in bytes. Longer paths are not examined.
const MAX_PATH_LEN: usize = 4096;

/// Phase of each stack, without those of the backward pass.
#[derive(Default)]
pub(crate) struct PhaseStacks {
    /// Phase of each stack, as its index in [`StepPhase::ALL`] plus one. 0 for none.
    phases: Column<u8>,
    frames: HashMap<FrameId, u8, foldhash::fast::RandomState>,
}

base::heap_bytes!(PhaseStacks: phases);

impl PhaseStacks {
    /// Continues examining the stacks until all are examined or the time slice is used up.
    pub(crate) fn step(&mut self, snapshot: &Snapshot, slice: &mut TimeSlice) -> SliceResult {
        let mut next = self.phases.len();
        while let Some(part) = slice.next_range(&mut next, snapshot.stacks.len(), 2)? {
            for id in part.map(|id| StackId(id as u32)) {
                let phase = snapshot.stacks.innermost(id).map_or(0, |(callers, frame)| {
                    let own = *self.frames.entry(frame).or_insert_with(|| frame_phase(snapshot, frame));
                    // Callers have lower ids than their callees.
                    if own == 0 { self.phases.get(callers.0 as usize).unwrap_or(0) } else { own }
                });
                self.phases.push(phase);
            }
        }
        Ok(())
    }

    /// Returns the phase of a stack. `None` if no frame names one.
    pub(crate) fn phase(&self, stack: StackId) -> Option<StepPhase> {
        let index = self.phases.get(stack.0 as usize)?.checked_sub(1)?;
        StepPhase::ALL.get(usize::from(index)).copied()
    }
}

fn frame_phase(snapshot: &Snapshot, frame: FrameId) -> u8 {
    let frame = snapshot.frames.frame(frame);
    let name = snapshot.strings.bytes(frame.name);
    // Since Python 3.11, names may be qualified: `AdamW.step`.
    let function = name.rsplit(|&letter| letter == b'.').next().unwrap_or(name);
    let is_optimizer = || {
        let path = snapshot.strings.bytes(frame.filename);
        path.len() <= MAX_PATH_LEN && is_optimizer_file(function, &String::from_utf8_lossy(path))
    };
    match function {
        _ if MODULE_FUNCTIONS.contains(&function) => StepPhase::Forward as u8 + 1,
        b"step" | b"wrapper" if is_optimizer() => StepPhase::Optimizer as u8 + 1,
        _ => 0,
    }
}

/// Returns whether the function `step` or `wrapper` in this file is an optimizer step.
fn is_optimizer_file(function: &[u8], path: &str) -> bool {
    let path = path.replace('\\', "/").to_ascii_lowercase();
    if function == b"wrapper" {
        return path.ends_with(HOOKS_FILE);
    }
    let (folders, file) = path.rsplit_once('/').unwrap_or(("", &path));
    let is_in_folder = folders.split('/').any(|folder| OPTIMIZER_FOLDERS.contains(&folder));
    // Schedulers of the learning rate have steps, too.
    (is_in_folder || file.contains("optim")) && !file.contains("sched")
}
