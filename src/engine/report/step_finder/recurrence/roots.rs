//! Stacks that agree with a candidate for the number of steps, by the function of their outermost Python frame.

use super::occurrences::Occurrences;
use crate::report::frame_roles::{FrameRoles, Role};
use hashbrown::HashMap;
use history::snapshot::{FrameId, Snapshot, StackId, StringId};

/// Agreeing stacks whose outermost Python frames are in the same function.
pub(super) struct Root {
    /// Frame of the function, with the line of the first stack.
    outermost: FrameId,
    pub(super) agreeing_stacks: u32,
    /// Python frames that all of these stacks share, outermost first.
    common_frames: Vec<FrameId>,
    /// Stack that has the fewest live bytes before its second allocation, with its allocations and these live bytes.
    pub(super) anchor: (StackId, Occurrences, i64),
    /// True if one of the stacks calls a module, an optimizer or the backward pass.
    has_model: bool,
    /// True if an allocation of one of the stacks is freed.
    has_free: bool,
}

/// Agreeing stacks of the current candidate.
#[derive(Default)]
pub(super) struct Roots {
    roots: Vec<Root>,
    index: HashMap<(StringId, StringId), u32, foldhash::fast::RandomState>,
    roles: FrameRoles,
}

impl Roots {
    /// Adds an agreeing stack, with its allocations and the live bytes before the second one.
    pub(super) fn add(&mut self, snapshot: &Snapshot, anchor: (StackId, Occurrences, i64)) {
        let (stack, seen, live) = anchor;
        let frames = self.roles.python_frames(snapshot, stack);
        // The backward pass runs on its own threads. Without Python frames, steps look the same as operators there.
        let Some(&outermost) = frames.first() else { return };
        let has_model = frames.iter().any(|&frame| {
            let role = self.roles.classify(snapshot, frame);
            matches!(role, Role::Forward | Role::Library | Role::ModuleCall)
        });
        let function = snapshot.frames.frame(outermost);
        let next = self.roots.len() as u32;
        let index = *self.index.entry((function.name, function.filename)).or_insert(next);
        let Some(root) = self.roots.get_mut(index as usize) else {
            let (common_frames, has_free) = (frames, seen.has_free);
            self.roots.push(Root { outermost, agreeing_stacks: 1, common_frames, anchor, has_model, has_free });
            return;
        };
        root.agreeing_stacks += 1;
        root.has_model |= has_model;
        root.has_free |= seen.has_free;
        let common = root.common_frames.iter().zip(&frames).take_while(|(caller, frame)| caller == frame).count();
        root.common_frames.truncate(common);
        let (_, first, min) = root.anchor;
        if (live, seen.first) < (min, first.first) {
            root.anchor = anchor;
        }
    }

    /// Returns the function with the most stacks, the first of several. Removes all stacks.
    pub(super) fn take_best(&mut self) -> Option<Root> {
        self.index.clear();
        let mut roots = std::mem::take(&mut self.roots).into_iter();
        let first = roots.next()?;
        Some(roots.fold(first, |best, it| if it.agreeing_stacks > best.agreeing_stacks { it } else { best }))
    }

    /// Returns whether what repeats is a part of a step, or of the construction of a model.
    pub(super) fn is_part_of_step(&mut self, snapshot: &Snapshot, root: &Root) -> bool {
        let frames = if root.common_frames.is_empty() { &[root.outermost][..] } else { &root.common_frames };
        let roles: Vec<Role> = frames.iter().map(|&frame| self.roles.classify(snapshot, frame)).collect();
        let is_setup = !root.has_model && (!root.has_free || roles.contains(&Role::Setup));
        // A thread of the backward pass may start in a module or an optimizer.
        let is_inside = match root.common_frames.is_empty() {
            true => !roles.iter().all(|role| matches!(role, Role::Other | Role::Setup)),
            false => roles.iter().any(|role| matches!(role, Role::Forward | Role::Library)),
        };
        is_setup || is_inside
    }
}
