//! Helpers for several integration tests: histories from text or random, and brute-force checks of scenes.

pub(crate) mod brute_force_scene;
pub(crate) mod history;
