//! What part a category plays in training, by its name, in our set of rules and in Mosaic's.

/// The part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Parameter,
    Optimizer,
    Gradient,
    Activation,
    Temporary,
    Input,
    /// Any other: a KV cache, buffers of collectives, a category of the user's own, unknown.
    Other,
}

/// The names that categories of a part have.
const NAMES: [(Role, &[&str]); 6] = [
    (Role::Parameter, &["parameter", "parameters", "weights"]),
    (Role::Optimizer, &["optimizer state", "optimizer", "optimizer states"]),
    (Role::Gradient, &["gradient", "gradients", "backward"]),
    (Role::Activation, &["activation", "activations"]),
    (Role::Temporary, &["temporary", "temporaries"]),
    (Role::Input, &["input", "inputs"]),
];

impl Role {
    /// That of a category.
    pub(super) fn named(name: &str) -> Role {
        let has = |names: &[&str]| names.iter().any(|it| it.eq_ignore_ascii_case(name));
        NAMES.iter().find(|(_, names)| has(names)).map_or(Role::Other, |&(role, _)| role)
    }
}
