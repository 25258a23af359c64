//! Assigns call stacks to `nn.Module` instances. This is done once for every stack of the snapshot. Callers are
//! processed before their callees.
//!
//! A module appears in a stack as a `forward` method that is called by PyTorch's `Module.__call__`. Two modules are
//! considered different if they have different parent modules (or calling frames outside all modules), different frames
//! between parent and module, or different files with their `forward`.

use crate::report::frame_roles::{FrameRoles, Role};
use analysis::site;
use base::slice::{SliceResult, TimeSlice};
use hashbrown::HashMap;
use history::snapshot::{FrameId, Snapshot, StackId, StringId};

/// A module, identified by the chain of calls that leads to it.
#[derive(Clone, Copy, Debug)]
pub(in crate::report) struct Module {
    /// Index of the calling module, or 0 if there is none. A parent has a lower index than its children.
    pub(in crate::report) parent: u32,
    /// Number of modules that enclose this one.
    pub(in crate::report) depth: u32,
    pub(in crate::report) call: Option<FrameId>,
    /// A frame of the module's `forward`. Other frames of the same `forward` may have other lines.
    pub(in crate::report) forward: Option<FrameId>,
}

impl Module {
    /// Returns the class name of the module, if the frame records it. Otherwise, returns the file of its `forward`.
    pub(in crate::report) fn class(self, snapshot: &Snapshot) -> String {
        let Some(forward) = self.forward else { return String::new() };
        let (file, _, name) = site::parts(snapshot, snapshot.frames.frame(forward));
        match name.rsplit('.').nth(1) {
            Some(class) => class.to_owned(),
            None => file,
        }
    }

    /// Returns the code location of the call in short form. Empty if unknown.
    pub(in crate::report) fn call_location(self, snapshot: &Snapshot) -> String {
        self.call.map_or_else(String::new, |call| site::short(snapshot, snapshot.frames.frame(call)))
    }
}

/// Position of a stack in the chain of module calls.
#[derive(Clone, Copy, Default)]
struct Position {
    module: u32,
    /// Index of the path, which consists of the frames from the module's `forward` to the end of the stack. Outside of
    /// modules, the path consists only of the innermost frame.
    path: u32,
    /// True if the innermost frame is PyTorch code that calls a module.
    in_module_call: bool,
}

/// All modules of a snapshot, and the module of each stack.
#[derive(Default)]
pub(in crate::report) struct ModuleTree {
    roles: FrameRoles,
    positions: Vec<Position>,
    /// The modules. The first item represents code outside of modules.
    pub(in crate::report) modules: Vec<Module>,
    module_numbers: HashMap<(u32, u32, StringId), u32, foldhash::fast::RandomState>,
    /// Innermost frame of each path. The first path is empty.
    paths: Vec<Option<FrameId>>,
    path_numbers: HashMap<(u32, FrameId), u32, foldhash::fast::RandomState>,
}

impl ModuleTree {
    /// Continues assigning stacks to modules until all are assigned or the time slice is used up.
    pub(in crate::report) fn step(&mut self, snapshot: &Snapshot, slice: &mut TimeSlice) -> SliceResult {
        let count = snapshot.stacks.len();
        if self.positions.is_empty() {
            self.positions = Vec::with_capacity(count);
            self.positions.push(Position::default());
            self.modules.push(Module { parent: 0, depth: 0, call: None, forward: None });
            self.paths.push(None);
        }
        for stack in self.positions.len()..count {
            slice.tick()?;
            let position = snapshot.stacks.innermost(StackId(stack as u32)).map(|(callers, frame)| {
                let before = self.positions.get(callers.0 as usize).copied().unwrap_or_default();
                self.with_frame(snapshot, before, frame)
            });
            self.positions.push(position.unwrap_or_default());
        }
        Ok(())
    }

    /// Returns the index of a stack's innermost module, or 0 if the stack is outside of modules.
    pub(in crate::report) fn module_of(&self, stack: StackId) -> u32 {
        self.positions.get(stack.0 as usize).map_or(0, |position| position.module)
    }

    /// Returns the position of a stack that consists of the stack at `before` and one more frame.
    fn with_frame(&mut self, snapshot: &Snapshot, before: Position, frame: FrameId) -> Position {
        let role = self.roles.classify(snapshot, frame);
        match role {
            Role::Native => before,
            Role::ModuleCall => Position { in_module_call: true, ..before },
            Role::Wrapper if before.in_module_call => before,
            Role::Forward if before.in_module_call => {
                let file = snapshot.frames.frame(frame).filename;
                let next = self.modules.len() as u32;
                let module = *self.module_numbers.entry((before.module, before.path, file)).or_insert(next);
                if module == next {
                    let depth = self.modules.get(before.module as usize).map_or(0, |parent| parent.depth);
                    let depth = depth + u32::from(before.module > 0);
                    let call = self.paths.get(before.path as usize).copied().flatten();
                    self.modules.push(Module { parent: before.module, depth, call, forward: Some(frame) });
                }
                Position { module, path: self.path_number(0, frame), in_module_call: false }
            }
            _ => {
                let path = if before.module == 0 { 0 } else { before.path };
                Position { module: before.module, path: self.path_number(path, frame), in_module_call: false }
            }
        }
    }

    fn path_number(&mut self, before: u32, frame: FrameId) -> u32 {
        let next = self.paths.len() as u32;
        let path = *self.path_numbers.entry((before, frame)).or_insert(next);
        if path == next {
            self.paths.push(Some(frame));
        }
        path
    }
}
