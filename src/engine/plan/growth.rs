//! Decides which allocations grow with the batch size.
//!
//! A recording has sizes and stacks, but no shapes. Categories therefore decide, with exceptions for memory that has
//! the size of the model instead of the batch:
//!
//! - workspaces of cuBLAS, which count as activations because the first forward pass allocates them,
//! - copies of parameters in half precision, which `torch.autocast` caches,
//! - temporaries of the optimizer, which have the sizes of parameters.

use crate::open::OpenFile;
use crate::roles::Role;
use crate::side::Side;
use analysis::{Change, Changes};
use base::slice::{SliceResult, TimeSlice};
use foldhash::fast::RandomState;
use hashbrown::HashMap;
use history::replay::{AllocationId, DeviceHistory};

/// Sizes of cuBLAS workspaces in bytes, as PyTorch allocates them: `parseChosenWorkspaceSize` for Hopper and for other
/// GPUs, and the default of `CUBLASLT_WORKSPACE_SIZE`.
const WORKSPACE_BYTES: [u64; 3] = [(4096 * 8) << 10, (4096 * 2 + 16 * 8) << 10, 1 << 20];

/// Role of each category, by category index.
pub(super) struct Roles(Vec<Role>);

impl Roles {
    pub(super) fn new(file: &OpenFile) -> Roles {
        Roles(file.groups.categories.set().categories().iter().map(|name| Role::from_name(name)).collect())
    }

    pub(super) fn role(&self, Side { file, history }: Side<'_>, id: AllocationId) -> Role {
        let categories = &file.groups.categories;
        if history.allocations.is_unexplained(id) {
            return Role::Other;
        }
        self.0.get(usize::from(categories.category(history, id))).copied().unwrap_or(Role::Other)
    }
}

/// Counts for a size that parameters have.
#[derive(Clone, Copy, Default)]
struct ParameterSize {
    parameters: u32,
    /// Live activations of half this size, now and at most.
    live_halves: u32,
    max_halves: u32,
}

/// Sizes of the parameters of a device, in bytes.
#[derive(Default)]
pub(super) struct BatchGrowth {
    next: usize,
    changes: Changes,
    sizes: HashMap<u64, ParameterSize, RandomState>,
}

impl BatchGrowth {
    /// Continues collecting the sizes of parameters. Must be complete before [`BatchGrowth::grows`] is called.
    pub(super) fn step(&mut self, side: Side<'_>, roles: &Roles, slice: &mut TimeSlice) -> SliceResult {
        let BatchGrowth { next, changes, sizes } = self;
        while let Some(part) = slice.next_range(next, side.history.allocations.len(), 2)? {
            for id in part.map(|index| AllocationId(index as u32)) {
                if roles.role(side, id) == Role::Parameter {
                    sizes.entry(side.history.allocations.size(id)).or_default().parameters += 1;
                }
            }
        }
        if sizes.is_empty() {
            return Ok(());
        }
        changes.step(side.history, slice, |Change { id, bytes, .. }| {
            let size = side.history.allocations.size(id).saturating_mul(2);
            if bytes != 0
                && let Some(counts) = sizes.get_mut(&size)
                && roles.role(side, id) == Role::Activation
            {
                counts.live_halves = counts.live_halves.saturating_add_signed(if bytes > 0 { 1 } else { -1 });
                counts.max_halves = counts.max_halves.max(counts.live_halves);
            }
        })
    }

    /// Returns whether an allocation grows in proportion to the batch size.
    pub(super) fn grows(&self, history: &DeviceHistory, id: AllocationId, role: Role) -> bool {
        let (allocations, size) = (&history.allocations, history.allocations.size(id));
        let is_recorded = id.0 as usize >= allocations.early_count();
        let is_freed = allocations.freed_at(id).is_some();
        let is_parameter_sized = || self.sizes.contains_key(&size);
        let is_workspace = || !is_freed && WORKSPACE_BYTES.contains(&size);
        match role {
            // A KV cache has an entry per sequence and token.
            Role::Input | Role::KvCache => true,
            Role::Activation => is_recorded && !is_workspace() && !self.is_half_precision_copy(size),
            Role::Temporary => is_recorded && !is_parameter_sized(),
            Role::Unknown => is_recorded && !is_workspace() && (is_freed || !is_parameter_sized()),
            Role::Parameter | Role::Optimizer | Role::Gradient | Role::Other => false,
        }
    }

    /// Returns whether an allocation that [`BatchGrowth::grows`] excludes only because of its size may grow with the
    /// batch. `is_copy`: its stack copies a parameter. `is_backward`: it belongs to the backward pass.
    pub(super) fn may_grow(
        &self,
        history: &DeviceHistory,
        id: AllocationId,
        role: Role,
        [is_copy, is_backward]: [bool; 2],
    ) -> bool {
        let size = history.allocations.size(id);
        id.0 as usize >= history.allocations.early_count()
            && match role {
                Role::Activation => !is_copy && self.is_half_precision_copy(size),
                Role::Temporary => is_backward && self.sizes.contains_key(&size),
                _ => false,
            }
    }

    /// Returns whether activations of this size are copies of parameters: parameters have twice the size, and no more
    /// activations of this size than parameters are ever live.
    fn is_half_precision_copy(&self, size: u64) -> bool {
        self.sizes.get(&size.saturating_mul(2)).is_some_and(|counts| counts.max_halves <= counts.parameters)
    }
}
