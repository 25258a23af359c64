//! Groups of a plan that an allocation belongs to, and groups by their names.

use super::growth::{BatchGrowth, Roles};
use crate::open::OpenFile;
use crate::roles::Role;
use crate::side::Side;
use analysis::category::is_category;
use analysis::{IdSet, PlanMembership};
use history::replay::AllocationId;
use protocol::Arrangement;

/// Criterion for the allocations that belong to a group of the plan.
pub(super) enum GroupMembers {
    Role(Role),
    /// Index of a category in the rule set.
    Category(u8),
    Found(IdSet),
    /// Allocations in this set that also grow with the batch size.
    Growing(IdSet),
    /// Activations with one of these stacks.
    Stacks(IdSet),
    /// Allocations whose stacks are at or below a node of a tree.
    Node(Arrangement, u32),
}

/// Returns the groups that contain an allocation, and whether the allocation grows with the batch size.
pub(super) fn plan_groups_of(
    (members, growth): (&[GroupMembers], &BatchGrowth),
    roles: &Roles,
    side: Side<'_>,
    id: AllocationId,
) -> PlanMembership {
    let Side { file, history } = side;
    let role = roles.role(side, id);
    let grows = growth.grows(history, id, role);
    let has = |members: &GroupMembers| match members {
        GroupMembers::Role(wanted) => *wanted == role,
        GroupMembers::Category(wanted) => {
            let categories = &file.groups.categories;
            categories.category(history, id) == *wanted && !history.allocations.is_unexplained(id)
        }
        GroupMembers::Found(found) => found.contains(id.0),
        GroupMembers::Growing(found) => grows && found.contains(id.0),
        GroupMembers::Stacks(stacks) => role == Role::Activation && stacks.contains(side.stack(id).0),
        GroupMembers::Node(arrangement, node) => {
            let subtree = file.stack_trees.subtree(*arrangement, *node);
            subtree.is_some_and(|subtree| subtree.contains(&file.stack_trees.stack_keys, side.device_data(), id))
        }
    };
    let groups = (0u32..).zip(members).fold(0, |groups, (index, members)| groups | u32::from(has(members)) << index);
    PlanMembership { groups, grows }
}

/// Resolves a group name to a category or role. Returns `None` if no category has that name.
pub(super) fn resolve_name(file: &OpenFile, name: &str) -> Option<GroupMembers> {
    let names = file.groups.categories.set().categories();
    let index = names.iter().position(|it| is_category(it, name.trim()));
    let role = Role::from_name(name.trim());
    // Role names that no category has are searched for in frames instead.
    let has_role = || role != Role::Other && names.iter().any(|it| Role::from_name(it) == role);
    match index {
        _ if has_role() => Some(GroupMembers::Role(role)),
        index => index.and_then(|index| u8::try_from(index).ok()).map(GroupMembers::Category),
    }
}
