//! Rendering of memory histories: geometry in whole device pixels, drawn with WebGPU, on the CPU or as SVG.
//!
//! `timeline` turns a history and a view into a `Scene` of quads. `render` draws scenes. The GPU and the CPU produce
//! identical pixels. `shapes` describes the axes and labels around a picture, and `svg` writes everything as text.
//!
//! Start with `timeline/mod.rs`, `timeline/scene.rs` and `render/mod.rs`.

// History to geometry.
pub mod timeline;

// Outline of an allocation: thin rectangles along the edges of its quads.
pub mod outline;

// Bars, lines and texts around a picture.
pub mod shapes;

// Geometry to pixels: the WebGPU renderer and its CPU twin.
pub mod render;

// Geometry and shapes to SVG.
pub mod svg;
