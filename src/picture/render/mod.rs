//! Rendering of geometry to pixels. Depends on the timeline's scene and view, not on the history or the DOM.
//!
//! Everything is a rectangle with edges in whole device pixels and flat colours. There are two primitives, `rects` for
//! the timeline and `flames` for the flame graph. Each is implemented in WGSL in the crate `gpu`, and on the CPU in
//! [`cpu`], which is the fallback, the renderer of exports and the reference for tests. What both share is computed
//! first, in integers: `layers` turns a scene into rectangles in drawing order, and `placement` maps pixel edges of the
//! scene to the window. So both agree pixel for pixel.

/// Input of the renderers, and the rendered picture.
pub mod drawing;
/// Boxes of the flame graph.
pub mod flames;
mod oklch;
/// Colours of the themes.
pub mod theme;

/// The CPU renderer.
pub mod cpu;
/// Rectangles of a scene in drawing order.
pub mod layers;
/// Positions of a scene's pixel edges in the window.
pub mod placement;

pub use cpu::{Bars, CpuRenderer};
pub use drawing::{Drawing, Lane, OverlayRect, RgbaImage};
pub use flames::{Flame, Tile};
pub use theme::PictureTheme;
