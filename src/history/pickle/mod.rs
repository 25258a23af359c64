//! Bytes → Python values, as they arrive.
//!
//! [`Machine`] is fed chunks of any size and pushes each finished value to a [`Builder`], whose handle type is small and
//! `Copy`. It knows Python's opcodes and nothing of torch. Opcodes that name, import or call something are refused: a snapshot
//! has none, and nothing in a file is ever executed.
//!
//! A container is *open* until it is finished. It is finished when its parent takes it (APPEND(S), SETITEM(S), TUPLE*, STOP), and
//! a dict also when `}` or `]` is pushed directly on top of it, where it can't be a key: so a list of millions of entries, written
//! in one batch by torch's C++ pickler, holds one open entry, not millions. Finishing writes the container's handle into
//! every place that named it: memo slots, whether PUT came before its contents (Python) or after them (C++), and the stack, where
//! a container may stand twice before it is taken (a segment's `frames` that its blocks have as well).
//!
//! A batch longer than any tuple belongs to the container below its MARK, which gets it in parts: memory goes with the nesting, never
//! with the length of a list.

pub mod builder;
mod cursor;
mod dict_short_cut;
pub mod error;
mod fault;
pub mod limits;
mod lines;
mod list_short_cut;
pub mod machine;
mod memo;
pub mod opcode;
mod open;
mod path;
mod pile;
mod room;
mod slices;
mod stack;
mod whole;

pub use builder::Builder;
pub use error::{ErrorKind, PickleError};
pub use limits::Limits;
pub use machine::Machine;
