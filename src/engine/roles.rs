//! Roles of categories in training. They are derived from the category names of the standard rules and of Mosaic.

use analysis::category::UNKNOWN;

/// Role that a category of memory has in training.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Parameter,
    Optimizer,
    Gradient,
    Activation,
    Temporary,
    Input,
    KvCache,
    /// Memory that no rule matches.
    Unknown,
    /// All other memory, such as communication buffers and user-defined categories.
    Other,
}

/// Category names for each role. Their case is ignored.
const NAMES: [(Role, &[&str]); 8] = [
    (Role::Parameter, &["parameter", "parameters", "weights"]),
    (Role::Optimizer, &["optimizer state", "optimizer", "optimizer states"]),
    (Role::Gradient, &["gradient", "gradients", "backward"]),
    (Role::Activation, &["activation", "activations"]),
    (Role::Temporary, &["temporary", "temporaries"]),
    (Role::Input, &["input", "inputs"]),
    (Role::KvCache, &["kv cache"]),
    (Role::Unknown, &[UNKNOWN]),
];

impl Role {
    /// Returns the role of the category with this name.
    pub(super) fn from_name(name: &str) -> Role {
        let has = |names: &[&str]| names.iter().any(|it| it.eq_ignore_ascii_case(name));
        NAMES.iter().find(|(_, names)| has(names)).map_or(Role::Other, |&(role, _)| role)
    }
}
