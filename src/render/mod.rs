//! Geometry → pixels: the WebGPU renderer and its CPU twin. Knows `timeline`'s scene and view, not the history, not the DOM.
