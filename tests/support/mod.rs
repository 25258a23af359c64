//! What several integration tests need: histories out of text or chance, and the plain truth about a scene.

pub(crate) mod history;
pub(crate) mod plain;
