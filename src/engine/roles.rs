//! Roles of categories in training, derived from the category names of the standard rule set and of Mosaic.

/// Role of a category in training.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Parameter,
    Optimizer,
    Gradient,
    Activation,
    Temporary,
    Input,
    /// Everything else, such as KV caches, communication buffers, user-defined and unknown categories.
    Other,
}

/// Category names of each role, compared case-insensitively.
const NAMES: [(Role, &[&str]); 6] = [
    (Role::Parameter, &["parameter", "parameters", "weights"]),
    (Role::Optimizer, &["optimizer state", "optimizer", "optimizer states"]),
    (Role::Gradient, &["gradient", "gradients", "backward"]),
    (Role::Activation, &["activation", "activations"]),
    (Role::Temporary, &["temporary", "temporaries"]),
    (Role::Input, &["input", "inputs"]),
];

impl Role {
    /// Returns the role of a category by its name.
    pub(super) fn from_name(name: &str) -> Role {
        let has = |names: &[&str]| names.iter().any(|it| it.eq_ignore_ascii_case(name));
        NAMES.iter().find(|(_, names)| has(names)).map_or(Role::Other, |&(role, _)| role)
    }
}
