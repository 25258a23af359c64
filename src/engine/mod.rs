//! The app without a face: [`Request`] in, [`Reply`] out, in slices.

pub mod protocol;

pub use protocol::{Reply, Request};
