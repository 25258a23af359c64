//! History → geometry in whole device pixels.
//!
//! The stack at a moment has every live allocation above those of lower rank. A [`Scene`] shows, in each column of the window,
//! the exact stack at the column's largest moment; so no peak is ever hidden, at any zoom.

pub mod paint;
pub mod scene;
pub mod view;

pub use paint::Paint;
pub use scene::{Quad, QuadIdentity, Scene};
pub use view::View;
