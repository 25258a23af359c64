//! Geometry → pixels: the WebGPU renderer and its CPU twin. Knows `timeline`'s scene and view, not the history, not the DOM.
//!
//! Everything drawn is a rectangle with edges in whole device pixels and flat colours. There are two primitives, `rects` for the
//! timeline and `flames` for the flame graph, and each exists twice: in WGSL on the GPU and in the [`twin`] on the CPU, which is the
//! fallback, the pixels of exports and the reference of the tests. What both need is decided once, in integers, before either
//! begins: `layers` turns a scene into rectangles in drawing order, `placement` says where each pixel edge of the scene lies in the
//! window. So the two agree pixel for pixel.

/// A picture's inputs and output.
pub mod drawing;
/// The boxes of a flame graph.
pub mod flames;
/// Which colours a theme has.
pub mod look;
mod oklch;

/// A scene as rectangles in drawing order.
pub mod layers;
/// Where a scene's pixel edges lie in the window.
pub mod placement;
/// The CPU twin.
pub mod twin;

/// Drawing with WebGPU into a canvas.
#[cfg(feature = "gpu")]
pub mod gpu;
/// Drawing with WebGPU into any texture.
#[cfg(feature = "gpu")]
pub mod painter;
#[cfg(feature = "gpu")]
mod rects;
#[cfg(feature = "gpu")]
mod signal;

pub use drawing::{Drawing, Lane, OverlayRect, RgbaImage};
pub use flames::{Flame, Tile};
pub use look::Look;
pub use twin::{Bars, Twin};

#[cfg(feature = "gpu")]
pub use gpu::{Gpu, Which};
#[cfg(feature = "gpu")]
pub use painter::{Painter, RenderError};
