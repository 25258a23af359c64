//! The open files: choosing, loading and opening them.

pub(crate) mod candidates;
pub mod first_group;
pub mod heading;
pub mod loading;
pub mod notices;
pub(crate) mod opening;
pub mod partial;
pub(crate) mod parts;
pub mod ranks;
pub(crate) mod snapshot_to_save;
