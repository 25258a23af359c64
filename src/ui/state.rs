//! Everything the page knows: what all features share, and each feature's own state.

use super::shared::Shared;
use std::ops::{Deref, DerefMut};

/// Everything the page knows. Only [`super::update()`] changes it.
#[derive(Clone, Debug, Default)]
pub struct State {
    /// What all features share.
    pub shared: Shared,
}

/// What is shared is read as if it stood in the state itself.
impl Deref for State {
    type Target = Shared;

    fn deref(&self) -> &Shared {
        &self.shared
    }
}

impl DerefMut for State {
    fn deref_mut(&mut self) -> &mut Shared {
        &mut self.shared
    }
}
