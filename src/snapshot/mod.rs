//! Values → frames, stacks, events, segments. Faithful to the file, draws no conclusions.

pub mod event;
