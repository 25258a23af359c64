//! Requests and replies ↔ messages between page and worker.
