//! The worker's shell: message queue ↔ engine.
