//! WebGPU renderer of the pictures that [`picture`] lays out. It agrees with the CPU renderer pixel for pixel.
//!
//! It is a crate of its own, so that everything else has the same features in all parts of the page, and is built once.

mod canvases;
mod painter;
mod rects;
mod signal;

pub use canvases::{Gpu, SurfaceId};
pub use painter::{Painter, RenderError};
