//! History → pixels: geometry in whole device pixels, and what draws it.

// History → geometry in whole device pixels.
pub mod timeline;

// The outline of an allocation: thin rectangles along the edges of its quads.
pub mod outline;

// What stands around a picture: bars, lines and texts, and the sheet they are on.
pub mod shapes;

// Geometry → pixels: the WebGPU renderer and its CPU twin.
pub mod render;

// Geometry and shapes → SVG.
pub mod svg;
