//! History → answers.

pub mod site;

pub use site::Sites;
